"""The report on a pasted token, check by check.

A plain value that each edge shows in its own form.
"""
