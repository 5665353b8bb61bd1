"""Permission groups."""

import graphene
from graphql import GraphQLResolveInfo

from app.domain import users as domain
from app.domain.ids import to_global_id


class Group(graphene.ObjectType):
    """A permission group."""

    id = graphene.NonNull(graphene.ID)
    name = graphene.NonNull(graphene.String)

    def resolve_id(self: domain.Group, _info: GraphQLResolveInfo) -> str:
        return to_global_id("Group", self.id)
