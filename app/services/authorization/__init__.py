"""Who can call which use case: the declarations above every use case and the register they fill.

Every other room builds on it; the access page, the console's buttons and the tests read the
register.
"""
