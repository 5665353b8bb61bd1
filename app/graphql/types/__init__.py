"""The types of the schema, one file per noun.

They name each other by dotted path (``graphene.Field("app.graphql.types.users.User")``) and never
import each other, so that none must be loaded before another. They show plain values of
``domain``; a resolver that needs more calls one use case.
"""
