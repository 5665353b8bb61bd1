"""Queries about permission groups."""

from enum import StrEnum
from typing import Any

import graphene

from app.domain.authorization.permissions import PermissionGroup
from app.domain.values.pages import Page
from app.graphql.connections import connection_arguments, make_connection, page_request
from app.graphql.context import Info
from app.services.people.groups import GroupFilter, list_groups, show_group

_GROUP = "app.graphql.types.groups.Group"

GroupCountableConnection = make_connection("Group", _GROUP)


class GroupSort(StrEnum):
    NAME = "NAME"


PermissionGroupSortField = graphene.Enum.from_enum(
    GroupSort, name="PermissionGroupSortField", description="The sort orders of groups."
)


class PermissionGroupSortingInput(graphene.InputObjectType):
    """Sort order of groups."""

    direction = graphene.InputField("app.graphql.types.lists.OrderDirection", required=True)
    field = graphene.InputField(PermissionGroupSortField, required=True)


class PermissionGroupFilterInput(graphene.InputObjectType):
    """Filters for groups."""

    search = graphene.String(description="Matches part of the name.")
    ids = graphene.List(graphene.NonNull(graphene.ID))


class GroupQueries(graphene.ObjectType):
    """Permission groups; both need MANAGE_STAFF."""

    permission_groups = graphene.Field(
        GroupCountableConnection,
        filter=PermissionGroupFilterInput(),
        sort_by=PermissionGroupSortingInput(),
        **connection_arguments(),
        description="Permission groups, sorted by name. Requires MANAGE_STAFF.",
    )
    permission_group = graphene.Field(
        _GROUP,
        description="A permission group by ID. Requires MANAGE_STAFF.",
        id=graphene.ID(required=True),
    )

    @staticmethod
    def resolve_permission_groups(
        _root: object, info: Info, **arguments: Any
    ) -> Page[PermissionGroup]:
        filter_ = arguments.get("filter") or {}
        ids = filter_.get("ids")
        filter_ = GroupFilter(
            search=filter_.get("search") or "",
            ids=None if ids is None else tuple(ids),
            descending=(arguments.get("sort_by") or {}).get("direction") == "DESC",
        )
        request = page_request("permissionGroups", arguments)
        page = list_groups(info.context.ports, info.context.actor, request, filter_)
        info.context.loaders(info).groups.add_groups(info, (group.id for group in page.items))
        return page

    @staticmethod
    def resolve_permission_group(_root: object, info: Info, id: str) -> PermissionGroup | None:
        return show_group(info.context.ports, info.context.actor, id)
