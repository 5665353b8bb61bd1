"""The documentation: every block of code in it is run or checked, and the site is built."""
