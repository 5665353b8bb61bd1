"""What lists of every subject share: pages by cursor, filters by range, text search.

It knows no record of its own; rooms with lists pass it their queries.
"""
