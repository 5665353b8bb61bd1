"""The ring of signing keys: next, active, retired.

One rule decides which key signs and which ones verify.
"""
