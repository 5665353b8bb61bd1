"""Events and mails that a use case promises in its own transaction, for the worker to deliver.

``publisher`` writes, and ``security_notices`` for changes of an account; ``stored_events`` and
``link_secrets`` read; nothing here talks to the network.
"""
