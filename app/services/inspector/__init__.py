"""The token inspector: explains a pasted token, whether it is valid, and what it can do.

``inspect`` is the use case; ``own_tokens`` explains tokens of Latchkey.
"""
