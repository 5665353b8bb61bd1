"""Latchkey as an OpenID provider: clients, consents, grants and their tokens.

``clients`` manages clients, ``consents`` what people let third parties do, ``grants`` writes codes
and sessions of clients. The protocol is spoken by ``app.oauth``.
"""
