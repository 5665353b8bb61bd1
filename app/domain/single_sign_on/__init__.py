"""Identity providers: settings, discovery, tokens and their claims about people.

Sources: OpenID Connect Core and Discovery, RFC 9068.
"""
