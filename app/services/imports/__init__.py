"""Importing from another installation or a file.

Rules are in ``app.domain.imports``.
"""
