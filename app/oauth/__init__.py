"""The OpenID provider's endpoints, below ``/oauth`` and ``/.well-known``.

``protocol`` is Authlib's authorization server on our use cases, ``endpoints`` its routes. They ask
the hosted pages who is signed in, through ``HostedPages``.
"""
