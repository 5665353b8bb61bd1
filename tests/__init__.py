"""The tests, in the same folders as the application: one folder per layer and subject.

``servers`` keeps the real PostgreSQL and Valkey of a run, ``fixtures`` hands out what they hold,
``house`` checks the rules that the source itself must keep.
"""
