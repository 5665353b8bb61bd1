"""The types of the schema, one file a noun.

They name each other by dotted path (``graphene.Field("app.graphql.types.users.User")``) and never
import each other, so that none has to be loaded before another. What they show is a plain value of
``domain``; a resolver that needs more calls one use case.
"""
