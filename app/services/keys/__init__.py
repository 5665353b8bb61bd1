"""The ring of signing keys: next, active and retired.

``ring`` serves every process, ``rotation`` is the use case that replaces keys, ``stored_keys``
reads and writes the records.
"""
