"""Checks of the source code: layout, imports, names and printed docs."""
