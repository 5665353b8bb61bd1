"""What every mutation answers beside its own fields: the list of what was wrong."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

import graphene
from graphql import GraphQLResolveInfo

from app.domain.errors import Refused
from app.graphql.errors import PayloadProblem, payload_problems

Arguments = ParamSpec("Arguments")
Payload = TypeVar("Payload", bound="graphene.ObjectType")
Resolver = Callable[Concatenate[object, GraphQLResolveInfo, Arguments], Payload]


def errors_of(type_name: str) -> graphene.Field:
    """The field ``errors`` of a payload, a list of that error type."""
    return graphene.NonNull(
        graphene.List(graphene.NonNull(f"app.graphql.types.problems.{type_name}"))
    )


class AccountPayload(graphene.ObjectType):
    """``errors``, and the same under the older name ``accountErrors``."""

    class Meta:
        abstract = True

    errors = errors_of("AccountError")
    account_errors = errors_of("AccountError")

    def resolve_errors(self, _info: GraphQLResolveInfo) -> list[PayloadProblem]:
        return self.errors or []

    def resolve_account_errors(self, _info: GraphQLResolveInfo) -> list[PayloadProblem]:
        return self.errors or []


def answers(
    payload: type[Payload],
) -> Callable[[Resolver[Arguments, Payload]], Resolver[Arguments, Payload]]:
    """Turn what a use case refuses into a payload of this type that carries the problems."""

    def decorate(resolver: Resolver[Arguments, Payload]) -> Resolver[Arguments, Payload]:
        @wraps(resolver)
        def resolve(
            root: object,
            info: GraphQLResolveInfo,
            /,
            *args: Arguments.args,
            **kwargs: Arguments.kwargs,
        ) -> Payload:
            try:
                return resolver(root, info, *args, **kwargs)
            except Refused as refused:
                refusal: Payload = payload(errors=payload_problems(refused))
                return refusal

        return resolve

    return decorate
