"""Apps: creating, installing, changing and deleting them, their tokens and dashboard extensions.

``app_lists`` reads; ``app_changes``, ``app_tokens`` and ``installation_requests`` write;
``extensions`` lists dashboard extensions and makes their tokens. ``installation_worker`` does the
background part of an installation.
"""
