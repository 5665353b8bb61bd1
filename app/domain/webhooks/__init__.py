"""Webhooks: which events they can subscribe to, and what is refused.

Events themselves are in ``events``.
"""
