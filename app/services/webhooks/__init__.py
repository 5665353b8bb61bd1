"""Webhooks: their settings, who receives an event, and the payload of an event.

Use cases: ``details``, ``changes``, ``lists``, ``names``, ``queries``. Sending is in
``deliveries``.
"""
