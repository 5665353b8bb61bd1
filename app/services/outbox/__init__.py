"""Events and emails that a use case writes in its own transaction, for the worker to deliver.

``publisher`` writes, and ``security_notices`` for changes of an account; nothing here talks to the
network.
"""
