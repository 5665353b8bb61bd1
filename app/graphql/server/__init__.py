"""The GraphQL server behind ``/graphql/``: HTTP, batches, limits, validation and execution.

It knows no particular schema; ``app.graphql.schema`` gives it the shop's.
"""
