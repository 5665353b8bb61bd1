"""Columns that only the previous release uses.

An upgrade first adds what the new release needs, while servers of the previous one keep working.
What only those need is listed here until a later release drops it. The migration that drops a
column is marked ``contract = True``.
"""

RETIRED_COLUMNS = {("sessions", "wrong_passwords")}
"""Tables and columns: in the database, but in no model."""
