"""Password rules, formats of password hashes, and the purposes of emailed links.

The lists of common words and names are data for the rules.
"""
