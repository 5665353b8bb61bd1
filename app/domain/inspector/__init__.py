"""What a pasted token is, check by check.

A plain report that each edge shows in its own form.
"""
