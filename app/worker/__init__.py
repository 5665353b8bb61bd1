"""EDGE: background work, in a process next to the server or on other machines."""
