"""The rules of the house that a machine can check: of the source itself, whatever it does."""
