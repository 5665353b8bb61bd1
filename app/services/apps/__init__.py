"""Apps as they are: lists, activation, tokens and dashboard extensions.

Creating, changing, installing and deleting an app is in ``app_lifecycle``, above webhooks.
"""
