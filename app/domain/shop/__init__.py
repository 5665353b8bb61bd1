"""The shop's settings, its two switches, and who would be locked out by a change.

Source: contract, part 1.
"""
