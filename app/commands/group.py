"""``flask group``: permission groups."""

from functools import partial

import click

from app.commands.name_completion import complete_group, complete_staff_email
from app.commands.terminal.command import Group
from app.commands.terminal.options import (
    PermissionType,
    fields_option,
    page_options,
    permission_option,
    show_page,
)
from app.commands.terminal.output import Column, output
from app.commands.terminal.prompts import confirm_action, yes_option
from app.domain.authorization.permissions import Permission, PermissionGroup
from app.domain.values.ids import to_global_id
from app.domain.values.inputs import ABSENT
from app.domain.values.pages import PageRequest
from app.services.people import groups
from app.services.people.directory import find_user
from app.web.installation import operator

command = Group(
    "group",
    short_help="Create, list, update and delete permission groups.",
    help="Create, list, update and delete permission groups. NAME is the exact name of a group.",
    examples=[
        ("flask group create Support --permission MANAGE_ORDERS", "a group with one permission"),
        ("flask group update Support --add-user bob@example.com", "add a member"),
        ("flask group list", "all groups"),
    ],
)

_COLUMNS: tuple[Column[PermissionGroup], ...] = (
    Column("id", "ID", lambda group: group.id),
    Column("name", "Name", lambda group: group.name, short=True),
    Column("members", "Members", lambda group: group.members),
    Column("permissions", "Permissions", lambda group: sorted(group.permissions)),
)
_permissions_option = partial(click.option, type=PermissionType(), multiple=True)
_members_option = partial(click.option, multiple=True, shell_complete=complete_staff_email)


@command.command(
    "create",
    examples=[
        (
            "flask group create Support --permission MANAGE_ORDERS --permission MANAGE_USERS",
            "a group with two permissions",
        )
    ],
)
@click.argument("name")
@permission_option
def create(name: str, *, permissions: tuple[Permission, ...]) -> None:
    """Create a group. Add people with `flask user create --group`."""
    new = groups.NewGroup(name, frozenset(permissions))
    output().show_item(groups.create_group(*operator(), new), _COLUMNS)


@command.command("list", examples=[("flask group list --json", "for a script")])
@click.option("--search", default="", help="Only names that contain this text.")
@page_options
@fields_option(_COLUMNS)
def list_(*, search: str, request: PageRequest) -> None:
    """List groups by name."""
    page = groups.list_groups(*operator(), request, groups.GroupFilter(search=search))
    show_page(page, _COLUMNS, empty="No groups. Create one with: flask group create NAME")


@command.command(
    "update",
    examples=[
        ("flask group update Support --add-permission MANAGE_USERS", "grant a permission"),
        ("flask group update Support --remove-user bob@example.com", "remove a member"),
        ('flask group update Support --name "First line"', "rename it"),
    ],
)
@click.argument("name", shell_complete=complete_group)
@click.option("--name", "new_name", help="New name.")
@_permissions_option("--add-permission", "added", help="A permission to grant. Repeatable.")
@_permissions_option("--remove-permission", "removed", help="A permission to remove. Repeatable.")
@_members_option("--add-user", "joining", help="Email of a staff member to add. Repeatable.")
@_members_option("--remove-user", "leaving", help="Email of a member to remove. Repeatable.")
def update(
    name: str,
    *,
    new_name: str | None,
    added: tuple[Permission, ...],
    removed: tuple[Permission, ...],
    joining: tuple[str, ...],
    leaving: tuple[str, ...],
) -> None:
    """Update a group. Changes apply from its members' next request."""
    if new_name is None and not (added or removed or joining or leaving):
        raise click.UsageError("Nothing to update. Use --name, --add-permission, --add-user …")
    changes = groups.GroupChanges(
        name=ABSENT if new_name is None else new_name,
        add_permissions=frozenset(added),
        remove_permissions=frozenset(removed),
        add_users=_user_ids(joining),
        remove_users=_user_ids(leaving),
    )
    group_id = _id(name)
    output().show_item(groups.update_group(*operator(), group_id, changes), _COLUMNS)


@command.command(
    "delete",
    examples=[
        ("flask group delete Support", "asks to confirm"),
        ("flask group delete Support --yes", "without a prompt"),
    ],
)
@click.argument("name", shell_complete=complete_group)
@yes_option
def delete(name: str, *, yes: bool) -> None:
    """Delete a group. Its members lose its permissions."""
    group_id = _id(name)
    confirm_action(f"Delete group {name}?", yes=yes)
    output().show_item(
        groups.delete_group(*operator(), group_id), _COLUMNS, f"Deleted group {name}."
    )


def _id(name: str) -> str:
    [group] = groups.find_groups(*operator(), [name])
    return to_global_id("Group", group.id)


def _user_ids(emails: tuple[str, ...]) -> tuple[str, ...]:
    users = (find_user(*operator(), email) for email in emails)
    return tuple(to_global_id("User", user.id) for user in users)
