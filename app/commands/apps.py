"""``flask app``: apps and their tokens."""

import click

from app.commands.command import Group
from app.commands.output import Column, output
from app.commands.permissions import permission_option
from app.domain.actor import OPERATOR
from app.domain.apps import App, AppToken
from app.domain.errors import Problem, Refused
from app.domain.pages import LONGEST_PAGE, PageRequest, read_cursor
from app.domain.permissions import Permission
from app.ports import Ports
from app.services.app_lists import AppFilter, list_apps
from app.services.app_tokens import (
    WantedToken,
    create_app_token,
    list_app_tokens,
    revoke_app_token,
)
from app.services.apps import NewApp, create_app
from app.web.installation import installation

command = Group(
    "app",
    short_help="Create and list apps and their tokens.",
    help="Create and list apps, integrations with permissions of their own, and their tokens.",
    examples=[
        ("flask app create Warehouse --permission MANAGE_ORDERS", "prints its token, once"),
        ("TOKEN=$(flask app create Warehouse)", "keep the token in a variable"),
        ("flask app list", "all of them"),
        ("flask app token create Warehouse", "another token for it"),
    ],
)

_LARGEST_KEY = 10**18
"""Fits every database's integer; a larger one cannot exist."""

_COLUMNS = (
    Column[App]("id", "Id", lambda app: app.id, short=True),
    Column[App]("name", "Name", lambda app: app.name, short=True),
    Column[App]("type", "Type", lambda app: app.type.value),
    Column[App]("isActive", "Active", lambda app: app.is_active),
    Column[App]("permissions", "Permissions", lambda app: sorted(app.permissions)),
    Column[App]("created", "Created", lambda app: app.created_at),
)
_TOKEN_COLUMNS = (
    Column[AppToken]("id", "Id", lambda token: token.id, short=True),
    Column[AppToken]("name", "Name", lambda token: token.name),
    Column[AppToken]("lastFour", "Ends in", lambda token: token.last_four, short=True),
    Column[AppToken]("created", "Created", lambda token: token.created_at),
    Column[AppToken]("expires", "Expires", lambda token: token.expires_at),
    Column[AppToken]("lastUsed", "Last used", lambda token: token.last_used_at),
)


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


@command.command("list", examples=[("flask app list --json", "for a script")])
@click.option(
    "--limit", type=click.IntRange(1, LONGEST_PAGE), default=LONGEST_PAGE, help="How many at most."
)
@click.option("--after", default="", help="Where the last list ended, as it said.")
def list_(*, limit: int, after: str) -> None:
    """List the apps in the order they were made."""
    request = PageRequest(limit, cursor=read_cursor(after, "after") if after else ())
    page = list_apps(installation().ports, OPERATOR, request)
    out = output()
    out.rows(page.items, _COLUMNS, empty="No app yet. Make one: flask app create NAME")
    if page.has_next:
        out.say(f"There are more: --after {page.cursors[-1]}")


tokens = Group(
    "token",
    short_help="Create, list and revoke the tokens of apps.",
    help="Create, list and revoke the tokens of apps. APP is an id, or a name that is unique.",
    examples=[
        ("flask app token list Warehouse", "their last characters and last use"),
        ("flask app token revoke 7", "end one, by its id"),
    ],
)
command.add_command(tokens)


@tokens.command(
    "create", examples=[("flask app token create Warehouse --name nightly", "prints it, once")]
)
@click.argument("app")
@click.option("--name", default="", help="What it is for, to tell it from the others.")
def create_token(app: str, *, name: str) -> None:
    """Make another token. It goes to standard output, alone, and is shown this once."""
    ports = installation().ports
    new = create_app_token(ports, OPERATOR, _key(ports, app), WantedToken(name))
    out = output()
    out.alone("token", new.secret)
    out.say(f"This is token {new.token.id}. Keep it: it is not shown again.")


@tokens.command("list", examples=[("flask app token list Warehouse", "all of its tokens")])
@click.argument("app")
def list_tokens(app: str) -> None:
    """List the tokens of an app."""
    ports = installation().ports
    found = list_app_tokens(ports, OPERATOR, _key(ports, app))
    empty = f"No token. Make one: flask app token create {app}"
    output().rows(found, _TOKEN_COLUMNS, empty=empty)


@tokens.command("revoke", examples=[("flask app token revoke 7", "end it, at once")])
@click.argument("token_id", metavar="ID", type=click.IntRange(1, _LARGEST_KEY))
def revoke_token(token_id: int) -> None:
    """End a token, at once and for good."""
    out = output()
    out.one(revoke_app_token(installation().ports, OPERATOR, token_id), _TOKEN_COLUMNS)
    out.say(f"Token {token_id} opens nothing any more.")


def _key(ports: Ports, app: str) -> int:
    """The app of that id, or of that name if only one has it; refuses NOT_FOUND otherwise."""
    if app.isascii() and app.isdigit() and int(app) <= _LARGEST_KEY:
        return int(app)
    found = list_apps(ports, OPERATOR, PageRequest(2), AppFilter(name=app)).items
    if len(found) == 1:
        return found[0].id
    hint = "Several apps have this name; give its id." if found else "There is no such app."
    raise Refused(Problem("NOT_FOUND", hint, "app"))
