"""Extracts the sentences that people read, and keeps ``app/translations`` current.

``make translations`` runs it. ``sources`` lists what is translated, ``extraction`` finds its
sentences, ``catalogues`` reads, updates and checks the catalogues.
"""
