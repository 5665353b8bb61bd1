"""Deliveries of webhooks: statuses, message IDs and signatures.

Sources: RFC 7797, Standard Webhooks.
"""
