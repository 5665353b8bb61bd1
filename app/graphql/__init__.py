"""The GraphQL edge: ``/graphql/``.

Two halves that ``view`` joins. The shop's interface: ``schema`` is made of ``queries`` and
``mutations``, which return ``types``; ``errors`` maps what use cases raise; ``context`` is what a
resolver gets to know. And the endpoint, which would serve any schema: ``endpoint`` speaks HTTP and
has ``request`` read what was sent; ``exchange`` asks who sent it, whether they may come in, and
has ``documents`` and ``execution`` do the rest within ``limits``; ``answers`` writes it down.
"""
