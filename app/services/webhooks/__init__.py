"""Webhooks: their settings, who receives an event, and the payload of an event.

``lists`` reads, ``changes`` writes, within ``app_reach``; ``subscribers`` finds who receives an
event, ``payloads`` makes what they get. Sending is in ``deliveries``.
"""
