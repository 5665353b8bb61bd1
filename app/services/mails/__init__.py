"""Emails: sent from the outbox, kept in the mail log, and made from a shop's own templates.

The worker calls ``sending``; staff read and send again in ``mail_log`` and edit templates in
``mail_templates``. Templates of this application are in ``app/templates/mail``.
"""
