"""Entries of the audit log, and the topics they belong to.

The entries are written by ``app.services.audit``.
"""
