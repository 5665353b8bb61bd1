"""Another instance, worked on over its GraphQL API.

``api`` sends a document and says what came of it, ``credentials`` hold the token that goes along
and renew it, ``answers`` read what came back, ``instance`` joins them to the port of that name,
``sign_in`` opens a login that is kept.
"""
