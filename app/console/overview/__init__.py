"""Home, search, and the list of all pages with the checks before each of them."""
