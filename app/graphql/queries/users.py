"""Queries about people."""

import graphene
from graphql import GraphQLResolveInfo

from app.domain.errors import TokenRejected
from app.domain.users import User
from app.graphql.context import RequestContext


class UserQueries(graphene.ObjectType):
    """Who the caller is."""

    me = graphene.Field(
        "app.graphql.types.users.User",
        description="The person who is calling; null without a credential, or for an app.",
    )

    @staticmethod
    def resolve_me(_root: object, info: GraphQLResolveInfo) -> User | None:
        context: RequestContext = info.context
        if context.actor.fault is not None:
            raise TokenRejected(context.actor.fault)
        return context.identity.user
