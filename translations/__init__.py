"""Extracts the sentences that people read, and keeps ``app/translations`` current.

``make translations`` runs it. ``extraction`` finds the sentences of the application,
``catalogues`` holds the catalogues against them and writes them again.
"""
