"""Problems that apps report about themselves, and errors of mutations about apps."""

from enum import StrEnum

import graphene
from graphql import GraphQLError, IntValueNode, ValueNode

from app.domain.accounts.users import User
from app.domain.authorization.permissions import Caller
from app.domain.values.errors import PermissionDenied
from app.graphql import fields
from app.graphql.app_nodes import ProblemNode
from app.graphql.connections import Node
from app.graphql.context import Info


class _WholeNumber(graphene.Scalar):
    """A whole number that isn't negative."""

    class Meta:
        abstract = True

    @classmethod
    def parse_value(cls, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _LIMIT:
            raise GraphQLError(f"{cls.__name__} can't be {value!r}: enter a number from 0 on.")
        return value

    @classmethod
    def parse_literal(cls, node: ValueNode, _variables: object = None) -> int:
        return cls.parse_value(int(node.value) if isinstance(node, IntValueNode) else None)

    @staticmethod
    def serialize(value: int) -> int:
        return value


_LIMIT = 2**31


class PositiveInt(_WholeNumber):
    """A whole number from 0 on."""


class Minute(_WholeNumber):
    """A number of minutes, from 0 on."""


class _DismissedBy(StrEnum):
    APP = "APP"
    USER = "USER"


AppProblemDismissedByEnum = fields.described_enum(
    _DismissedBy,
    "AppProblemDismissedByEnum",
    "Who dismissed a problem.",
    {"APP": "By the app itself.", "USER": "By a person."},
)


class AppProblemDismissed(graphene.ObjectType):
    """Who dismissed a problem."""

    by = graphene.NonNull(
        AppProblemDismissedByEnum, description="Whether the app or a person dismissed it."
    )
    user = graphene.Field(
        "app.graphql.types.users.User",
        description="The person; null for an app and a deleted account. Requires MANAGE_STAFF.",
    )
    user_email = graphene.String(
        description="The person's email, also of a deleted account. For staff."
    )

    def resolve_by(self: ProblemNode, _info: Info) -> _DismissedBy:
        return _DismissedBy.USER if self.dismissed_by else _DismissedBy.APP

    def resolve_user(self: ProblemNode, _info: Info) -> User | None:
        return self.app.loader.dismissers.get(self.dismissed_by_id or 0)

    def resolve_user_email(self: ProblemNode, info: Info) -> str | None:
        if not info.context.actor.is_staff:
            raise PermissionDenied(Caller.STAFF)
        return self.dismissed_by or None


class AppProblem(fields.ObjectType, interfaces=(Node,)):
    """A problem that an app reported about itself."""

    id = fields.own_id("AppProblem")
    key = graphene.NonNull(graphene.String, description="The app's name for this kind of problem.")
    message = graphene.NonNull(graphene.String, description="What the app said last.")
    count = graphene.NonNull(graphene.Int, description="How often it was reported.")
    is_critical = graphene.NonNull(
        graphene.Boolean, description="Whether it was reported as often as the app calls critical."
    )
    created_at = graphene.NonNull(graphene.DateTime)
    updated_at = graphene.NonNull(graphene.DateTime)
    dismissed = graphene.Field(
        AppProblemDismissed, description="Who dismissed it; null if it isn't dismissed."
    )

    def resolve_dismissed(self: ProblemNode, _info: Info) -> ProblemNode | None:
        return None if self.dismissed_by is None else self


AppProblemCreateError = fields.error_type(
    "AppProblemCreateError", "An error of `appProblemCreate`.", "The invalid input."
)
AppProblemDismissError = fields.error_type(
    "AppProblemDismissError", "An error of `appProblemDismiss`.", "The invalid input."
)


class AppError(fields.MutationError, graphene.ObjectType):
    """An error of an app mutation."""

    field = graphene.String(description="The invalid input or manifest key.")
    code = graphene.NonNull("app.graphql.types.error_codes.AppErrorCode")
    permissions = graphene.List(
        graphene.NonNull("app.graphql.types.permissions.PermissionEnum"),
        description="The permissions the error is about.",
        resolver=fields.part_or_null("permissions"),
    )
