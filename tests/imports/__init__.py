"""Importing from databases of the platform, from files, and exporting."""
