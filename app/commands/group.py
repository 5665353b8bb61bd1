"""``flask group``: permission groups."""

from __future__ import annotations

import click

from app.commands.command import Group
from app.commands.output import Column, output
from app.commands.permissions import permission_option
from app.domain.actor import OPERATOR
from app.domain.groups import PermissionGroup
from app.domain.pages import LONGEST_PAGE, PageRequest, read_cursor
from app.domain.permissions import Permission
from app.services import groups
from app.web.installation import installation

command = Group(
    "group",
    short_help="Create and list permission groups.",
    help="Create and list permission groups: what their members may do.",
    examples=[
        ("flask group create Support --permission MANAGE_ORDERS", "a group with one permission"),
        ("flask group list", "all of them"),
    ],
)

_COLUMNS = (
    Column[PermissionGroup]("id", "Id", lambda group: group.id),
    Column[PermissionGroup]("name", "Name", lambda group: group.name, short=True),
    Column[PermissionGroup]("members", "Members", lambda group: group.members),
    Column[PermissionGroup]("permissions", "Permissions", lambda group: sorted(group.permissions)),
)


@command.command(
    "create",
    examples=[
        (
            "flask group create Support --permission MANAGE_ORDERS --permission MANAGE_USERS",
            "orders and customers",
        )
    ],
)
@click.argument("name")
@permission_option
def create(name: str, *, permissions: tuple[Permission, ...]) -> None:
    """Make a group; people join it by `flask user create --group`."""
    new = groups.NewGroup(name, frozenset(permissions))
    output().one(groups.create_group(installation().ports, OPERATOR, new), _COLUMNS)


@command.command("list", examples=[("flask group list --json", "for a script")])
@click.option(
    "--limit", type=click.IntRange(1, LONGEST_PAGE), default=LONGEST_PAGE, help="How many at most."
)
@click.option("--after", default="", help="Where the last list ended, as it said.")
def list_(*, limit: int, after: str) -> None:
    """List the groups by name."""
    request = PageRequest(limit, cursor=read_cursor(after, "after") if after else ())
    page = groups.list_groups(installation().ports, OPERATOR, request)
    out = output()
    out.rows(page.items, _COLUMNS, empty="No group yet. Make one: flask group create NAME")
    if page.has_next:
        out.say(f"There are more: --after {page.cursors[-1]}")
