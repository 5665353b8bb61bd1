"""The rules as truth tables: no ports, no records, no framework."""
