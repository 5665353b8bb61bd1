"""Another instance, worked on over its GraphQL API.

``api`` sends a document with a token and returns the response's data or raises its error,
``instance`` is the port of that name, and makes saved logins.
"""
