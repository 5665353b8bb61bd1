"""Inviting, changing and removing members of the staff."""

from typing import Any

import graphene

from app.graphql.context import Info
from app.graphql.errors import PayloadProblem
from app.graphql.mutations.metadata import metadata_input, pairs
from app.graphql.mutations.payloads import MutationPayload, answers, errors_of, former_errors_of
from app.services.people.staff import (
    NewStaff,
    StaffChanges,
    create_staff,
    delete_several_staff,
    delete_staff,
    update_staff,
)
from app.services.people.user_status import reset_second_factors
from app.services.people.users import Details

_USER = "app.graphql.types.users.User"
_PERMISSION = "app.graphql.types.permissions.PermissionEnum"
_IDS = graphene.List(graphene.NonNull(graphene.ID))
_NOTE = "A note about the staff member, which staff with MANAGE_STAFF see."
_DETAILS = ("first_name", "last_name", "email", "is_active", "note")


class StaffCreateInput(graphene.InputObjectType):
    """The staff member to create."""

    first_name = graphene.String()
    last_name = graphene.String()
    email = graphene.String()
    is_active = graphene.Boolean()
    note = graphene.String(description=_NOTE)
    metadata = metadata_input()
    private_metadata = metadata_input("private")
    add_groups = _IDS
    redirect_url = graphene.String(
        description="URL of the invitation link. No email is sent without it."
    )


class StaffUpdateInput(graphene.InputObjectType):
    """Fields to update. Omitted fields keep their values."""

    first_name = graphene.String()
    last_name = graphene.String()
    email = graphene.String()
    is_active = graphene.Boolean()
    note = graphene.String(description=_NOTE)
    metadata = metadata_input()
    private_metadata = metadata_input("private")
    add_groups = _IDS
    remove_groups = _IDS
    add_permissions = graphene.List(
        graphene.NonNull(_PERMISSION),
        description="Permissions to grant directly, which the caller must have.",
    )
    remove_permissions = graphene.List(
        graphene.NonNull(_PERMISSION),
        description=(
            "Direct permissions to remove, which the caller must have. Permissions that a group "
            "grants stay."
        ),
    )


class StaffPayload(MutationPayload):
    """``errors``, and the person."""

    class Meta:
        abstract = True

    errors = errors_of("problems.StaffError")
    staff_errors = former_errors_of("problems.StaffError")
    user = graphene.Field(_USER)

    def resolve_staff_errors(self, _info: Info) -> list[PayloadProblem]:
        return self.errors or []


class StaffCreate(StaffPayload):
    """The new staff member, or the customer who became one."""


class StaffUpdate(StaffPayload):
    """The updated staff member."""


class StaffDelete(StaffPayload):
    """The deleted staff member."""


class StaffBulkDelete(MutationPayload):
    """The result for several staff members."""

    count = graphene.NonNull(graphene.Int, description="How many were deleted: all or none.")
    errors = errors_of("problems.StaffError")
    staff_errors = former_errors_of("problems.StaffError")

    def resolve_count(self, _info: Info) -> int:
        return self.count or 0

    def resolve_staff_errors(self, _info: Info) -> list[PayloadProblem]:
        return self.errors or []


class UserSecondFactorReset(StaffPayload):
    """The user, who has no second factor and no session now."""


class StaffMutations(graphene.ObjectType):
    """The staff, managed by people who hold MANAGE_STAFF."""

    staff_create = graphene.Field(
        StaffCreate,
        description=(
            "Creates a staff member, or makes the customer with that email one. With "
            "`redirectUrl`, a link to set a password is sent by email. For staff with "
            "MANAGE_STAFF, not for apps."
        ),
        input=graphene.NonNull(StaffCreateInput),
    )
    staff_update = graphene.Field(
        StaffUpdate,
        description=(
            "Updates a staff member, their groups and direct permissions. A deactivated staff "
            "member is signed out everywhere. For staff with MANAGE_STAFF, not for apps."
        ),
        id=graphene.ID(required=True),
        input=graphene.NonNull(StaffUpdateInput),
    )
    staff_delete = graphene.Field(
        StaffDelete,
        description=(
            "Deletes a staff member and all their data. For staff with MANAGE_STAFF, not for apps."
        ),
        id=graphene.ID(required=True),
    )

    staff_bulk_delete = graphene.Field(
        StaffBulkDelete,
        description=(
            "Deletes staff members and all their data, at most 100; all or none. For staff with "
            "MANAGE_STAFF, not for apps."
        ),
        ids=graphene.Argument(
            graphene.NonNull(graphene.List(graphene.NonNull(graphene.ID))),
            description="The global IDs of the staff members.",
        ),
    )

    user_second_factor_reset = graphene.Field(
        UserSecondFactorReset,
        description=(
            "Removes all second factors and recovery codes of a user who lost them, ends their "
            "sessions and mails them. For staff with MANAGE_STAFF (for staff) or MANAGE_USERS "
            "(for customers), not for apps, and not for the own account. Not available to "
            "dashboard extensions."
        ),
        id=graphene.ID(required=True),
    )

    @staticmethod
    @answers(StaffCreate)
    def resolve_staff_create(_root: object, info: Info, input: dict[str, Any]) -> StaffCreate:
        new = NewStaff(
            email=input.get("email") or "",
            first_name=input.get("first_name") or "",
            last_name=input.get("last_name") or "",
            is_active=input.get("is_active"),
            note=input.get("note") or "",
            groups=tuple(input.get("add_groups") or ()),
            redirect_url=input.get("redirect_url") or "",
            metadata=pairs(input.get("metadata")),
            private_metadata=pairs(input.get("private_metadata")),
        )
        return StaffCreate(user=create_staff(info.context.ports, info.context.actor, new))

    @staticmethod
    @answers(StaffUpdate)
    def resolve_staff_update(
        _root: object, info: Info, id: str, input: dict[str, Any]
    ) -> StaffUpdate:
        changes = StaffChanges(
            Details(
                **{name: input[name] for name in _DETAILS if name in input},
                metadata=pairs(input.get("metadata")),
                private_metadata=pairs(input.get("private_metadata")),
            ),
            add_groups=tuple(input.get("add_groups") or ()),
            remove_groups=tuple(input.get("remove_groups") or ()),
            add_permissions=frozenset(input.get("add_permissions") or ()),
            remove_permissions=frozenset(input.get("remove_permissions") or ()),
        )
        return StaffUpdate(user=update_staff(info.context.ports, info.context.actor, id, changes))

    @staticmethod
    @answers(StaffDelete)
    def resolve_staff_delete(_root: object, info: Info, id: str) -> StaffDelete:
        keep = info.context.loaders(info).accounts.keep
        return StaffDelete(
            user=delete_staff(info.context.ports, info.context.actor, id, before=keep)
        )

    @staticmethod
    @answers(StaffBulkDelete)
    def resolve_staff_bulk_delete(_root: object, info: Info, ids: list[str]) -> StaffBulkDelete:
        return StaffBulkDelete(
            count=delete_several_staff(info.context.ports, info.context.actor, ids)
        )

    @staticmethod
    @answers(UserSecondFactorReset)
    def resolve_user_second_factor_reset(
        _root: object, info: Info, id: str
    ) -> UserSecondFactorReset:
        return UserSecondFactorReset(
            user=reset_second_factors(info.context.ports, info.context.actor, id)
        )
