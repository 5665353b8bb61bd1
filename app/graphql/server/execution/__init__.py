"""Reading and running documents with graphql-core, including parts that it doesn't document.

No other module imports more than graphql-core's top level (a house test checks it), so that an
upgrade is checked here alone: ``tests/graphql/test_graphql_core.py`` fails on another version than
the one these modules were written against, and names what to look at. ``validation`` turns text
into a valid document, ``variables`` coerces the values of variables, and ``executor`` runs an
operation: for requests, and for the subscription queries of webhooks.
"""
