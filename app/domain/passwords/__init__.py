"""Which passwords are accepted, and what emailed links are for.

The lists of common words and names are data for that rule.
"""
