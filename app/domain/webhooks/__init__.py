"""Webhooks: subscribable events, and what is refused.

Events themselves are in ``events``.
"""
