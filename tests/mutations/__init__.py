"""Mutants: each breaks a rule in a copy of the project, and a test must fail."""
