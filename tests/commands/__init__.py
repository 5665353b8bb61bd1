"""The command line: what it shows, and how it ends."""
