"""The use cases, on SQLite and PostgreSQL, with time that stands still."""
