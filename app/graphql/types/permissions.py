"""Permissions, as granted and as held by a person."""

import graphene

from app.domain.authorization import permissions as domain
from app.graphql.fields import attribute, itself

_ALL = "Permissions of people and apps."
PermissionEnum = graphene.Enum.from_enum(
    domain.Permission,
    name="PermissionEnum",
    description=lambda value: _ALL if value is None else value.label,
)


class Permission(graphene.ObjectType):
    """A permission: its code and its name."""

    code = graphene.NonNull(PermissionEnum, resolver=itself)
    name = graphene.NonNull(graphene.String, resolver=attribute("label"))
