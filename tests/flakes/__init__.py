"""Runs the tests that depend on time many times beside busy processes: none may fail.

``make flakes`` runs it. ``timed`` finds the tests; ``__main__`` loads the machine and runs them.
"""
