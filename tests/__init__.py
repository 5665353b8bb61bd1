"""The tests, laid out as the application is: one folder a layer, one file a noun.

``servers`` keeps the real PostgreSQL and Valkey of a run, ``fixtures`` hands out what they hold,
``house`` checks the rules that the source itself must keep.
"""
