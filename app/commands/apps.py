"""``flask app``: apps."""

from __future__ import annotations

import click

from app.commands.app_installations import install, installations
from app.commands.app_output import ALL_COLUMNS, COLUMNS, NO_APP, app_key
from app.commands.app_tokens import tokens
from app.commands.terminal.command import Group
from app.commands.terminal.output import output
from app.commands.terminal.paging import page_options
from app.commands.terminal.permissions import permission_option
from app.commands.terminal.prompts import confirm_action, yes_option
from app.domain.apps.apps import App
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import Problem, Refused
from app.domain.values.pages import PageRequest, read_cursor
from app.domain.values.unset import ABSENT
from app.ports import Ports
from app.services.apps.app_changes import AppChange, NewApp, create_app, delete_app, update_app
from app.services.apps.app_lists import AppFilter, list_apps, show_app
from app.services.apps.app_status import activate_app, deactivate_app
from app.services.webhooks.permission_grants import WebhooksNotConfirmed
from app.web.installation import installation

command = Group(
    "app",
    short_help="Create, install and change apps and their tokens.",
    help="Create, install, change and delete apps, integrations with permissions of their own, "
    "and their tokens. APP is an id, or a name that is unique.",
    examples=[
        ("flask app create Warehouse --permission MANAGE_ORDERS", "prints its token, once"),
        ("TOKEN=$(flask app create Warehouse)", "keep the token in a variable"),
        ("flask app install https://app.example.com/api/manifest", "an app of somebody else's"),
        ("flask app list", "all of them"),
        ("flask app token create Warehouse", "another token for it"),
    ],
)
command.add_command(tokens)
command.add_command(install)
command.add_command(installations)


@command.command(
    "create",
    examples=[
        ("flask app create Warehouse --permission MANAGE_ORDERS", "prints its token, once"),
    ],
)
@click.argument("name")
@permission_option
def create(name: str, *, permissions: tuple[Permission, ...]) -> None:
    """Make an app. Its token goes to standard output, alone, and is shown this once."""
    new = NewApp(name, frozenset(permissions))
    created = create_app(installation().ports, OPERATOR, new)
    out = output()
    out.alone("token", created.token.secret)
    out.say(f"This is the token of {created.app.name} (app {created.app.id}). Keep it: it is not")
    out.say("shown again. Send it as `Authorization: Bearer TOKEN`.")


@command.command(
    "list",
    examples=[
        ("flask app list --json", "for a script"),
        ("flask app list --search ware", "those with that in their name"),
    ],
)
@click.option("--search", default="", help="A part of the name.")
@click.option(
    "--active/--inactive",
    "is_active",
    default=None,
    help="Only those that are on, or that are locked out.",
)
@page_options
def list_(*, search: str, is_active: bool | None, limit: int, after: str) -> None:
    """List the apps in the order they were made."""
    request = PageRequest(limit, cursor=read_cursor(after, "after") if after else ())
    filter_ = AppFilter(search=search, is_active=is_active)
    page = list_apps(installation().ports, OPERATOR, request, filter_)
    out = output()
    out.rows(page.items, COLUMNS, empty="No app. Make one: flask app create NAME")
    if page.has_next:
        out.say(f"There are more: --after {page.cursors[-1]}")


@command.command("show", examples=[("flask app show Warehouse", "one app")])
@click.argument("app")
def show(app: str) -> None:
    """Show one app, with what its manifest says of it."""
    output().one(_find_app(installation().ports, app), ALL_COLUMNS)


@command.command(
    "update",
    examples=[
        ('flask app update Warehouse --name "Old warehouse"', "call it something else"),
        ("flask app update 7 --permission MANAGE_ORDERS", "this, and nothing else, it may do"),
        ("flask app update 7 --no-permissions", "it may do nothing"),
    ],
)
@click.argument("app")
@click.option("--name", help="What it is called from now on.")
@click.option("--identifier", help="What it calls itself; no other app may have it.")
@permission_option
@click.option("--no-permissions", is_flag=True, help="Take all of its permissions away.")
@yes_option
def update(
    app: str,
    *,
    name: str | None,
    identifier: str | None,
    permissions: tuple[Permission, ...],
    no_permissions: bool,
    yes: bool,
) -> None:
    """Change an app; it holds from its next request on.

    The permissions that are given take the place of those it has. Asks first if a webhook would
    receive links that give access to accounts, and the person who saved it lacks the permission.
    """
    if permissions and no_permissions:
        raise click.UsageError("Choose one of --permission and --no-permissions.")
    changes_permissions = bool(permissions or no_permissions)
    if name is None and identifier is None and not changes_permissions:
        raise click.UsageError("Say what to change: --name, --identifier or --permission.")
    change = AppChange(
        name=ABSENT if name is None else name,
        identifier=ABSENT if identifier is None else identifier,
        permissions=frozenset(permissions) if changes_permissions else ABSENT,
    )
    ports = installation().ports
    key = app_key(ports, app)
    try:
        updated = update_app(ports, OPERATOR, key, change)
    except WebhooksNotConfirmed as unconfirmed:
        warnings = " ".join(webhook.problem for webhook in unconfirmed.webhooks)
        confirm_action(f"{warnings} Grant the permissions?", yes=yes)
        updated = update_app(ports, OPERATOR, key, change, confirmed=True)
    output().one(updated, ALL_COLUMNS)


@command.command("deactivate", examples=[("flask app deactivate Warehouse", "lock it out")])
@click.argument("app")
def deactivate(app: str) -> None:
    """Lock an app out, with its tokens and extensions, at once."""
    ports = installation().ports
    _print_change(deactivate_app(ports, OPERATOR, app_key(ports, app)), "is locked out")


@command.command("activate", examples=[("flask app activate Warehouse", "let it in again")])
@click.argument("app")
def activate(app: str) -> None:
    """Let an app in again."""
    ports = installation().ports
    _print_change(activate_app(ports, OPERATOR, app_key(ports, app)), "may come in")


@command.command(
    "delete",
    examples=[
        ("flask app delete Warehouse", "asks first"),
        ("flask app delete 7 --yes", "from a script"),
    ],
)
@click.argument("app")
@yes_option
def delete(app: str, *, yes: bool) -> None:
    """Delete an app with its tokens, webhooks and extensions, for good."""
    ports = installation().ports
    app_record = _find_app(ports, app)
    confirm_action(
        f"Delete {app_record.name} (app {app_record.id}) with its tokens and webhooks?", yes=yes
    )
    _print_change(delete_app(ports, OPERATOR, app_record.id), "is gone")


def _find_app(ports: Ports, app: str) -> App:
    record = show_app(ports, OPERATOR, app_key(ports, app))
    if record is None:
        raise Refused(Problem("NOT_FOUND", NO_APP, "app"))
    return record


def _print_change(app: App, what: str) -> None:
    out = output()
    out.one(app, COLUMNS)
    out.say(f"{app.name} {what}.")
