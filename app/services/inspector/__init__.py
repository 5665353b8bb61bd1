"""The token inspector: what a pasted token is, whether it is valid, and what it can do.

``inspect`` is the use case; the other modules each know one kind of token.
"""
