"""What the mutations about apps have in common."""

import graphene
from graphql import GraphQLResolveInfo

from app.graphql.errors import PayloadProblem


class AppPayload(graphene.ObjectType):
    """``errors``: what was wrong with the input."""

    class Meta:
        abstract = True

    errors = graphene.NonNull(
        graphene.List(graphene.NonNull("app.graphql.types.app_problems.AppError"))
    )

    def resolve_errors(self, _info: GraphQLResolveInfo) -> list[PayloadProblem]:
        return self.errors or []
