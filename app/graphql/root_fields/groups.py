"""Find, make, change and delete permission groups."""

from enum import StrEnum
from typing import Any

import graphene

from app.domain.authorization.permissions import PermissionGroup
from app.domain.values.inputs import ABSENT
from app.domain.values.pages import Page
from app.graphql.connections import (
    connection_arguments,
    make_connection,
    page_request,
    sorting_input,
    values_in,
)
from app.graphql.context import Info
from app.graphql.root_fields.payloads import (
    MutationPayload,
    errors_of,
    former_errors_of,
    mutation,
    query,
)
from app.services.people import groups

_GROUP = "app.graphql.types.groups.Group"
_PERMISSIONS = graphene.List(graphene.NonNull("app.graphql.types.permissions.PermissionEnum"))
_IDS = graphene.List(graphene.NonNull(graphene.ID))


class PermissionGroupCreateInput(graphene.InputObjectType):
    """The group to create."""

    add_permissions = _PERMISSIONS
    add_users = _IDS
    add_channels = graphene.List(
        graphene.NonNull(graphene.ID),
        description="Channels that members of a restricted group have access to; ignored without "
        "`restrictedAccessToChannels`.",
    )
    name = graphene.NonNull(graphene.String)
    restricted_access_to_channels = graphene.Boolean(
        default_value=False, description="Whether members have access to these channels alone."
    )


class PermissionGroupUpdateInput(graphene.InputObjectType):
    """Fields to update. Omitted fields keep their values."""

    add_permissions = _PERMISSIONS
    add_users = _IDS
    add_channels = graphene.List(
        graphene.NonNull(graphene.ID),
        description="Channels to give members of a restricted group access to.",
    )
    name = graphene.String()
    remove_permissions = _PERMISSIONS
    remove_users = _IDS
    remove_channels = graphene.List(
        graphene.NonNull(graphene.ID),
        description="Channels to take from members of a restricted group.",
    )
    restricted_access_to_channels = graphene.Boolean(
        description="Whether members have access to the group's channels alone."
    )


class GroupPayload(MutationPayload, abstract=True):
    """``errors``, and the group."""

    errors = errors_of("problems.PermissionGroupError")
    permission_group_errors = former_errors_of("problems.PermissionGroupError")
    group = graphene.Field(_GROUP)


class PermissionGroupCreate(GroupPayload):
    """The new group."""


class PermissionGroupUpdate(GroupPayload):
    """The updated group."""


class PermissionGroupDelete(GroupPayload):
    """The deleted group."""


class GroupMutations(graphene.ObjectType):
    """Permission groups, managed by people who hold MANAGE_STAFF."""

    @mutation(
        "Creates a permission group. For staff with MANAGE_STAFF, who can only grant "
        "permissions they have.",
        input=graphene.NonNull(PermissionGroupCreateInput),
    )
    def permission_group_create(
        _root: object, info: Info, input: dict[str, Any]
    ) -> PermissionGroupCreate:
        new = groups.NewGroup(
            name=input["name"],
            permissions=frozenset(input.get("add_permissions") or ()),
            users=tuple(input.get("add_users") or ()),
            is_restricted=bool(input.get("restricted_access_to_channels")),
            channels=tuple(input.get("add_channels") or ()),
        )
        return PermissionGroupCreate(group=groups.create_group(*info.context.caller, new))

    @mutation(
        "Updates a permission group, its permissions and its members immediately. For "
        "staff with MANAGE_STAFF who have all permissions of the group.",
        id=graphene.ID(required=True),
        input=graphene.NonNull(PermissionGroupUpdateInput),
    )
    def permission_group_update(
        _root: object, info: Info, id: str, input: dict[str, Any]
    ) -> PermissionGroupUpdate:
        changes = groups.GroupChanges(
            name=(input["name"] or "") if "name" in input else ABSENT,
            add_permissions=frozenset(input.get("add_permissions") or ()),
            remove_permissions=frozenset(input.get("remove_permissions") or ()),
            add_users=tuple(input.get("add_users") or ()),
            remove_users=tuple(input.get("remove_users") or ()),
            is_restricted=input.get("restricted_access_to_channels"),
            add_channels=tuple(input.get("add_channels") or ()),
            remove_channels=tuple(input.get("remove_channels") or ()),
        )
        group = groups.update_group(*info.context.caller, id, changes)
        return PermissionGroupUpdate(group=group)

    @mutation(
        "Deletes a permission group. Its members immediately lose the permissions only "
        "it granted. For staff with MANAGE_STAFF who have all permissions of the group.",
        id=graphene.ID(required=True),
    )
    def permission_group_delete(_root: object, info: Info, id: str) -> PermissionGroupDelete:
        return PermissionGroupDelete(group=groups.delete_group(*info.context.caller, id))


GroupCountableConnection = make_connection("Group", _GROUP)


class GroupSort(StrEnum):
    NAME = "NAME"


PermissionGroupSortField = graphene.Enum.from_enum(
    GroupSort, name="PermissionGroupSortField", description="The sort orders of groups."
)


PermissionGroupSortingInput = sorting_input(
    "PermissionGroupSortingInput", "groups", PermissionGroupSortField
)


class PermissionGroupFilterInput(graphene.InputObjectType):
    """Filters for groups."""

    search = graphene.String(description="Matches part of the name.")
    ids = graphene.List(graphene.NonNull(graphene.ID))


class GroupQueries(graphene.ObjectType):
    """Permission groups; both need MANAGE_STAFF."""

    @query(
        GroupCountableConnection,
        filter=PermissionGroupFilterInput(),
        sort_by=PermissionGroupSortingInput(),
        **connection_arguments(),
        description="Permission groups, sorted by name. Requires MANAGE_STAFF.",
    )
    def permission_groups(_root: object, info: Info, **arguments: Any) -> Page[PermissionGroup]:
        filter_ = arguments.get("filter") or {}
        filter_ = groups.GroupFilter(
            search=filter_.get("search") or "",
            ids=values_in(filter_.get("ids")),
            descending=(arguments.get("sort_by") or {}).get("direction") == "DESC",
        )
        request = page_request("permissionGroups", arguments)
        page = groups.list_groups(*info.context.caller, request, filter_)
        info.context.loaders(info).groups.add_groups(info, (group.id for group in page.items))
        return page

    @query(
        _GROUP,
        description="A permission group by ID. Requires MANAGE_STAFF.",
        id=graphene.ID(required=True),
    )
    def permission_group(_root: object, info: Info, id: str) -> PermissionGroup | None:
        return groups.show_group(*info.context.caller, id)
