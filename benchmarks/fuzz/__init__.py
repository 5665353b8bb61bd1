"""``make fuzz``: random input for every public entry point of a running installation."""
