"""Building blocks of lists: pages by cursor, filters, records by name.

It knows no record of its own; rooms with lists pass it their queries.
"""
