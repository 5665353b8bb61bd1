"""Creating, changing, installing and deleting apps, with the webhooks that belong to them.

``installation_worker`` does the background part of an installation; ``handshakes`` hands the
token to the app.
"""
