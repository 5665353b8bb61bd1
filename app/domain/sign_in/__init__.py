"""Tokens of our own, the login throttle's arithmetic, and devices of sessions.

Source: contract, parts 1 and 3.
"""
