"""Making, changing and deleting permission groups."""

from typing import Any

import graphene

from app.domain.values.inputs import ABSENT
from app.graphql.context import Info
from app.graphql.errors import PayloadProblem
from app.graphql.mutations.payloads import MutationPayload, answers, errors_of, former_errors_of
from app.services.people.groups import (
    GroupChanges,
    NewGroup,
    create_group,
    delete_group,
    update_group,
)

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
        default_value=False,
        description="Whether members have access to these channels alone.",
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


class GroupPayload(MutationPayload):
    """``errors``, and the group."""

    class Meta:
        abstract = True

    errors = errors_of("problems.PermissionGroupError")
    permission_group_errors = former_errors_of("problems.PermissionGroupError")
    group = graphene.Field(_GROUP)

    def resolve_permission_group_errors(self, _info: Info) -> list[PayloadProblem]:
        return self.errors or []


class PermissionGroupCreate(GroupPayload):
    """The new group."""


class PermissionGroupUpdate(GroupPayload):
    """The updated group."""


class PermissionGroupDelete(GroupPayload):
    """The deleted group."""


class GroupMutations(graphene.ObjectType):
    """Permission groups, managed by people who hold MANAGE_STAFF."""

    permission_group_create = graphene.Field(
        PermissionGroupCreate,
        description=(
            "Creates a permission group. For staff with MANAGE_STAFF, who can only grant "
            "permissions they have."
        ),
        input=graphene.NonNull(PermissionGroupCreateInput),
    )
    permission_group_update = graphene.Field(
        PermissionGroupUpdate,
        description=(
            "Updates a permission group, its permissions and its members immediately. For "
            "staff with MANAGE_STAFF who have all permissions of the group."
        ),
        id=graphene.ID(required=True),
        input=graphene.NonNull(PermissionGroupUpdateInput),
    )
    permission_group_delete = graphene.Field(
        PermissionGroupDelete,
        description=(
            "Deletes a permission group. Its members immediately lose the permissions only "
            "it granted. For staff with MANAGE_STAFF who have all permissions of the group."
        ),
        id=graphene.ID(required=True),
    )

    @staticmethod
    @answers(PermissionGroupCreate)
    def resolve_permission_group_create(
        _root: object, info: Info, input: dict[str, Any]
    ) -> PermissionGroupCreate:
        new = NewGroup(
            name=input["name"],
            permissions=frozenset(input.get("add_permissions") or ()),
            users=tuple(input.get("add_users") or ()),
            is_restricted=bool(input.get("restricted_access_to_channels")),
            channels=tuple(input.get("add_channels") or ()),
        )
        return PermissionGroupCreate(
            group=create_group(info.context.ports, info.context.actor, new)
        )

    @staticmethod
    @answers(PermissionGroupUpdate)
    def resolve_permission_group_update(
        _root: object, info: Info, id: str, input: dict[str, Any]
    ) -> PermissionGroupUpdate:
        changes = GroupChanges(
            name=(input["name"] or "") if "name" in input else ABSENT,
            add_permissions=frozenset(input.get("add_permissions") or ()),
            remove_permissions=frozenset(input.get("remove_permissions") or ()),
            add_users=tuple(input.get("add_users") or ()),
            remove_users=tuple(input.get("remove_users") or ()),
            is_restricted=input.get("restricted_access_to_channels"),
            add_channels=tuple(input.get("add_channels") or ()),
            remove_channels=tuple(input.get("remove_channels") or ()),
        )
        group = update_group(info.context.ports, info.context.actor, id, changes)
        return PermissionGroupUpdate(group=group)

    @staticmethod
    @answers(PermissionGroupDelete)
    def resolve_permission_group_delete(
        _root: object, info: Info, id: str
    ) -> PermissionGroupDelete:
        return PermissionGroupDelete(
            group=delete_group(info.context.ports, info.context.actor, id)
        )
