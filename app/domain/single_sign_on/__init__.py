"""Identity providers: settings, discovery, tokens and what they say about a person.

Sources: OpenID Connect Core and Discovery, RFC 9068.
"""
