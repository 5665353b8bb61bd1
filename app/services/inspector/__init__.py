"""The token inspector: explains a pasted token, whether it is valid, and what it can do.

``inspect`` is the use case; the other modules each know one kind of token.
"""
