"""Declare who can call which use case, and keep the register of the declarations.

Every other room builds on it; the access page, the console's buttons and the tests read the
register.
"""
