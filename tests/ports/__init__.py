"""Tests of the values and caches in ``app/ports``."""
