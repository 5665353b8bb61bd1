"""Emails of the shop: their kinds, how they look, and the log of what was sent."""
