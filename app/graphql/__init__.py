"""EDGE: the GraphQL API at ``/graphql/``.

``schema`` is made of ``root_fields`` and ``events``, which return ``types``; ``errors``
maps what use cases raise; ``context`` is what a resolver gets. ``server`` would serve any schema:
HTTP, limits, validation and execution. ``payloads`` runs the subscription queries of webhooks on
the same schema.
"""
