"""What stands in the ports themselves: the values, and what one process remembers."""
