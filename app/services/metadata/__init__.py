"""Metadata of users and apps.

``user_metadata`` and ``app_metadata`` each read and write; ``stored_metadata`` holds the records'
part. The rules are in ``app.domain.values.metadata``.
"""
