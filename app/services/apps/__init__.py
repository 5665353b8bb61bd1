"""Apps: creating, installing, changing and deleting them, their tokens and dashboard extensions.

Read: ``app_lists``, ``summaries``, ``extensions``. Write: ``app_changes``, ``app_status``,
``app_tokens``, ``installation_requests``, ``extension_tokens``. ``installation_worker`` does the
background part of an installation; ``handshakes`` hands the token to the app.
"""
