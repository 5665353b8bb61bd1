"""Sending the mails that use cases have put into the outbox.

The worker is the only caller; the templates are in ``app/templates/mail``.
"""
