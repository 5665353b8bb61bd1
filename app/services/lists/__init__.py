"""Building blocks of lists: pages by cursor, range filters, text search.

It knows no record of its own; rooms with lists pass it their queries.
"""
