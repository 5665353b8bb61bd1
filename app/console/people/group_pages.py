"""The view models of groups: the list, a group's page, and the groups to choose from."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from app.console.exports import Columns
from app.console.formatting import html_text
from app.console.lists import RowCount
from app.console.parts import Consequence, Question
from app.console.people.person_page import email_below_name, name_of
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.authorization.grants import is_manageable, manage_problem
from app.domain.authorization.groups import PermissionGroup
from app.domain.authorization.permissions import Permission, in_order
from app.domain.values.ids import to_global_id
from app.domain.values.text import translatable
from app.web.translation import problem_text, text

SORTS = {"members": translatable("Most members")}
"""The sort orders of the list besides by name."""

_LABELS = 4
"""Permissions that a row of the list names."""

_BOLD = Markup("<b>{}</b>")

COLUMNS: Columns[PermissionGroup] = {
    "id": lambda group: to_global_id("Group", group.id),
    "name": lambda group: group.name,
    "permissions": lambda group: ", ".join(one.value for one in in_order(group.permissions)),
    "members": lambda group: group.members,
}
"""The columns of the list as a file."""

COUNT = RowCount(
    none="No groups",
    no_match="No matching groups",
    one="1 group",
    many="{count} groups",
    some="{matching} of {total} groups",
)


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A group in the list."""

    id: int
    name: str
    is_locked: bool
    permissions: str
    members: int
    members_label: str


@dataclass(frozen=True, slots=True)
class Member:
    """A group's member; ``remove_label`` names the button that removes them."""

    id: int
    name: str
    email: str
    is_active: bool
    remove_label: str


@dataclass(frozen=True, slots=True)
class GroupPage:
    """A group; ``why_not`` says why the viewer can't edit it."""

    id: int
    name: str
    summary: str
    has_members: bool
    why_not: str
    members: tuple[Member, ...]
    members_summary: str
    dialog: Question | None


@dataclass(frozen=True, slots=True)
class GroupChip:
    """A group that an account can be in; ``id`` is its global ID."""

    id: str
    name: str
    permissions: str
    is_chosen: bool
    is_editable: bool


@dataclass(frozen=True, slots=True)
class GroupChoice:
    """The groups to choose from; ``note`` says which the viewer can't change."""

    chips: tuple[GroupChip, ...]
    note: str


def group_row(group: PermissionGroup, actor: Actor) -> GroupRow:
    """Return a row of the list."""
    return GroupRow(
        id=group.id,
        name=group.name,
        is_locked=not is_manageable(actor, group.permissions),
        permissions=_some(group.permissions),
        members=group.members,
        members_label=text("members of {name}", name=group.name),
    )


def make_group_page(
    group: PermissionGroup, members: Sequence[User], actor: Actor, question_name: str = ""
) -> GroupPage:
    """Return a group's page; ``question_name`` is ``delete`` or empty."""
    problem = manage_problem(actor, group.permissions)
    can_delete = question_name == "delete" and problem is None
    return GroupPage(
        id=group.id,
        name=group.name,
        summary=_member_count(group.members),
        has_members=bool(group.members),
        why_not="" if problem is None else problem_text(problem),
        members=tuple(_member(user) for user in members),
        members_summary=_member_count(group.members),
        dialog=_deletion(group) if can_delete else None,
    )


def group_choice(
    groups: Iterable[PermissionGroup],
    chosen: Collection[int],
    actor: Actor,
    *,
    is_editable: bool = True,
) -> GroupChoice:
    """Return ``groups`` to choose from; those with permissions the actor lacks are fixed."""
    chips, locked = [], []
    for group in groups:
        has_all = is_manageable(actor, group.permissions)
        chips.append(
            GroupChip(
                id=to_global_id("Group", group.id),
                name=group.name,
                permissions=_all(group.permissions),
                is_chosen=group.id in chosen,
                is_editable=is_editable and has_all,
            )
        )
        if not has_all:
            locked.append(group.name)
    return GroupChoice(tuple(chips), _note(locked))


def _note(locked: Sequence[str]) -> str:
    if not locked:
        return text("Members get the group's permissions immediately.")
    return html_text(
        "You can't change who is in {groups}: it has permissions you don't have.",
        "You can't change who is in {groups}: they have permissions you don't have.",
        count=len(locked),
        groups=Markup(", ").join(_BOLD.format(name) for name in locked),
    )


def _member(user: User) -> Member:
    name = name_of(user)
    return Member(
        id=user.id,
        name=name,
        email=email_below_name(user),
        is_active=user.is_active,
        remove_label=text("Remove {name} from the group", name=name),
    )


def _member_count(members: int) -> str:
    if not members:
        return text("No members")
    return text("{count:,} member", "{count:,} members", count=members)


def _labels(permissions: Collection[Permission]) -> list[str]:
    return sorted(text(permission.label) for permission in permissions)


def _all(permissions: Collection[Permission]) -> str:
    return ", ".join(_labels(permissions)) or text("No permissions")


def _some(permissions: Collection[Permission]) -> str:
    if len(permissions) <= _LABELS:
        return _all(permissions)
    return text(
        "{labels} +{more}",
        labels=", ".join(_labels(permissions)[:_LABELS]),
        more=len(permissions) - _LABELS,
    )


def _deletion(group: PermissionGroup) -> Question:
    loses: tuple[Consequence, ...] = ()
    if group.members and group.permissions:
        sentence = html_text(
            Markup(
                "<b>{count:,} member</b> loses these permissions unless another group grants "
                "them: {permissions}."
            ),
            Markup(
                "<b>{count:,} members</b> lose these permissions unless another group grants "
                "them: {permissions}."
            ),
            count=group.members,
            permissions=_all(group.permissions),
        )
        loses = (Consequence("bad", sentence),)
    return Question(
        title=text("Delete the group {name}?", name=group.name),
        endpoint="console.staff.groups.delete",
        arguments={"key": group.id},
        consequences=(
            *loses,
            Consequence("warn", text("This can't be undone.")),
            Consequence("ok", text("No account is removed and no one is signed out.")),
        ),
        action=text("Delete group"),
    )
