"""Home and search."""
