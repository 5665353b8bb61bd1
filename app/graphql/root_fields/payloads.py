"""How queries and mutations are declared, and what all payloads share: the list of errors."""

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import get_annotations
from typing import Any, Concatenate, ParamSpec, TypeVar

import graphene
from graphql import GraphQLError

from app.domain.sign_in.jws import csrf_token_in
from app.domain.values.errors import Problem, Refused, TooManyRequests
from app.graphql.context import Info, RequestContext
from app.graphql.fields import ObjectType
from app.services.authorization.rate_limits import limit_operation
from app.services.second_factors.challenges import SecondFactorRequired
from app.services.sign_in.tokens import TokenPair

Arguments = ParamSpec("Arguments")
Payload = TypeVar("Payload", bound="graphene.ObjectType")
Resolver = Callable[Concatenate[object, Info, Arguments], Payload]


_ERRORS_IN_PAYLOAD_ONLY = frozenset({"tokenCreate", "tokenRefresh", "setPassword"})
"""Contract, "What existing clients hold us to": these never have an error at the top."""


def errors_of(error_type: str) -> graphene.Field:
    """Return the field ``errors`` of a payload; ``error_type`` is a path below ``types``."""
    return _problems(error_type)


def former_errors_of(error_type: str) -> graphene.Field:
    """Return the same field under an older name."""
    return _problems(error_type, deprecation_reason="Use `errors`.")


def _problems(error_type: str, *, deprecation_reason: str | None = None) -> graphene.Field:
    return graphene.Field(
        graphene.NonNull(graphene.List(graphene.NonNull(f"app.graphql.types.{error_type}"))),
        description="Why the operation was refused; empty if it succeeded.",
        deprecation_reason=deprecation_reason,
        resolver=_resolve_errors,
    )


def _resolve_errors(payload: Any, _info: Info) -> Sequence[Problem]:
    return payload.errors or []


def count_field(description: str) -> graphene.NonNull:
    """Return the field with how many a bulk mutation changed: 0 if it was refused."""
    return graphene.NonNull(
        graphene.Int, description=description, resolver=lambda payload, _info: payload.count or 0
    )


class MutationPayload(ObjectType, abstract=True):
    """Base of every payload; each declares ``errors`` with ``errors_of``."""


class AccountPayload(MutationPayload, abstract=True):
    """``errors``, and the same under the older name ``accountErrors``."""

    errors = errors_of("problems.AccountError")
    account_errors = former_errors_of("problems.AccountError")


class UserPayload(AccountPayload, abstract=True):
    """The same with the user who was changed."""

    user = graphene.Field("app.graphql.types.users.User")


class TokenPayload(AccountPayload, abstract=True):
    """The tokens of a session and its user."""

    refresh_token = graphene.String(
        description="A token to get new access tokens with until it expires."
    )
    csrf_token = graphene.String(
        description="The `csrf_token` of the refresh token. Nothing asks for it: the API reads "
        "no cookies."
    )
    token = graphene.String()
    user = graphene.Field("app.graphql.types.users.User")

    def resolve_csrf_token(self, _info: Info) -> str | None:
        return csrf_token_in(self.refresh_token) if self.refresh_token else None


def challenge_field() -> graphene.Field:
    """Return the field with what a sign-in goes on with after SECOND_FACTOR_REQUIRED."""
    return graphene.Field(
        "app.graphql.types.users.SecondFactorChallenge",
        description="What to answer after the error SECOND_FACTOR_REQUIRED.",
    )


def challenge_values(required: SecondFactorRequired) -> dict[str, object]:
    """Return the values of a payload whose sign-in goes on with a second factor."""
    return {"errors": required.problems, "second_factor_challenge": required.challenge}


def token_values(context: RequestContext, tokens: TokenPair) -> dict[str, object]:
    """Return the values of a payload with the tokens of a session, whose user they prove."""
    return {
        "token": tokens.access,
        "refresh_token": tokens.refresh or None,
        "user": context.proven(tokens.user),
    }


def mutation(
    description: str, **arguments: Any
) -> Callable[[Resolver[Arguments, Payload]], graphene.Field]:
    """Declare a field of ``Mutation``; its type is what the function below returns.

    What a use case refuses becomes a payload of that type that carries the problems. The mutation
    is counted against its rate limit first. One over the limit is an error at its field with the
    seconds to wait; an account mutation is a payload with that error all the same::

        @mutation("Deletes an app and its tokens.", id=graphene.ID(required=True))
        def app_delete(_root: object, info: Info, id: str) -> AppDelete:
            return AppDelete(app=delete_app(*info.context.caller, id))
    """

    def declare(resolver: Resolver[Arguments, Payload]) -> graphene.Field:
        payload: type[Payload] = get_annotations(resolver)["return"]

        @wraps(resolver)
        def resolve(
            root: object, info: Info, /, *args: Arguments.args, **kwargs: Arguments.kwargs
        ) -> Payload:
            try:
                limit_operation(*info.context.caller, info.field_name)
                return resolver(root, info, *args, **kwargs)
            except Refused as refused:
                return _refusal(payload, refused)
            except TooManyRequests as limited:
                if not issubclass(payload, AccountPayload):
                    raise
                if info.field_name not in _ERRORS_IN_PAYLOAD_ONLY:
                    info.context.field_errors.append(_error_at(info, limited))
                return _refusal(payload, Refused(Problem(TooManyRequests.CODE, str(limited))))

        return graphene.Field(payload, description=description, resolver=resolve, **arguments)

    return declare


def query(kind: Any, /, **options: Any) -> Callable[[Callable[..., Any]], graphene.Field]:
    """Declare a field of the type ``kind``, which the function below resolves."""

    def declare(resolver: Callable[..., Any]) -> graphene.Field:
        return graphene.Field(kind, resolver=resolver, **options)

    return declare


def _refusal(payload: type[Payload], refused: Refused) -> Payload:
    refusal: Payload = payload(errors=refused.problems)
    return refusal


def _error_at(info: Info, limited: TooManyRequests) -> GraphQLError:
    return GraphQLError(
        str(limited), info.field_nodes, path=info.path.as_list(), original_error=limited
    )


class AppPayload(MutationPayload, abstract=True):
    """``errors``, and the same under the older name ``appErrors``."""

    errors = errors_of("app_problems.AppError")
    app_errors = former_errors_of("app_problems.AppError")
