"""Who is calling: how a bearer token of any kind becomes an ``Actor``, in one statement.

``identify`` is the entry point for edges. Own tokens, app tokens and tokens of identity
providers each have a module that recognizes them.
"""
