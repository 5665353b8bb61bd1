"""EDGE: the GraphQL API at ``/graphql/``.

``schema`` is made of ``queries``, ``mutations`` and ``events``, which return ``types``; ``errors``
maps what use cases raise; ``context`` is what a resolver gets. ``server`` would serve any schema:
HTTP, limits, validation and execution. ``view`` joins the two; ``payloads`` runs the subscription
queries of webhooks on the same schema.
"""
