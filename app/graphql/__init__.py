"""The GraphQL edge: ``POST /graphql/``.

``view`` reads a request and shows the answer; ``documents`` keeps parsed and validated documents;
``schema`` is made of ``queries`` and ``mutations``, which return ``types``; ``errors`` maps what
use cases raise; ``context`` is what a resolver gets to know.
"""
