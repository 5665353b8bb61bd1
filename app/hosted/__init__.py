"""Hosted pages for customers: sign in, register, and one's own account, in the shop's look."""
