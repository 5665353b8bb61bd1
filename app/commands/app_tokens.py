"""``flask app token``: the tokens of apps."""

from __future__ import annotations

from datetime import datetime, timedelta

import click

from app.commands.app_output import MAX_KEY, app_key
from app.commands.terminal.choices import Id
from app.commands.terminal.command import Group
from app.commands.terminal.exit_codes import Exit
from app.commands.terminal.output import Column, output
from app.commands.terminal.permissions import permission_option
from app.commands.terminal.prompts import ask_secret, no_input_option
from app.domain.apps.apps import DEFAULT_OVERLAP, MAX_OVERLAP, AppToken, NewAppToken
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.services.apps.app_tokens import (
    TokenOptions,
    create_app_token,
    list_app_tokens,
    revoke_app_token,
    rotate_app_token,
    verify_app_token,
)
from app.web.installation import installation

tokens = Group(
    "token",
    short_help="Create, list, rotate and revoke the tokens of apps.",
    help="Create, list, rotate and revoke the tokens of apps. APP is an id, or a name that is "
    "unique; ID is a token's, as the list shows it.",
    examples=[
        ("flask app token list Warehouse", "their last characters and last use"),
        ("flask app token rotate 7", "replace one; the old one works for another day"),
        ("flask app token revoke 7", "end one, by its id"),
    ],
)

_COLUMNS = (
    Column[AppToken]("id", "Id", lambda token: token.id, short=True),
    Column[AppToken]("name", "Name", lambda token: token.name),
    Column[AppToken]("lastFour", "Ends in", lambda token: token.last_four, short=True),
    Column[AppToken]("created", "Created", lambda token: token.created_at),
    Column[AppToken]("expires", "Expires", lambda token: token.expires_at),
    Column[AppToken]("replaced", "Replaced", lambda token: token.replaced_at),
    Column[AppToken]("lastUsed", "Last used", lambda token: token.last_used_at),
    Column[AppToken]("lastUsedFrom", "From", lambda token: token.last_used_address or None),
    Column[AppToken](
        "permissions",
        "For",
        lambda token: None if token.permissions is None else sorted(token.permissions),
    ),
)
_DATE_FORMATS = ("%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M")
_key = click.argument("token_id", metavar="ID", type=Id(1, MAX_KEY))


@tokens.command(
    "create",
    examples=[
        ("flask app token create Warehouse --name nightly", "prints it, once"),
        ("flask app token create Warehouse --expires 2030-12-31", "good until then"),
        ("flask app token create 7 --permission MANAGE_ORDERS", "for no more than this"),
    ],
)
@click.argument("app")
@click.option("--name", default="", help="What it is for, to tell it from the others.")
@click.option(
    "--expires",
    type=click.DateTime(_DATE_FORMATS),
    metavar="WHEN",
    help="When it ends, 2030-12-31 or 2030-12-31T18:00 (UTC); never, if unsaid.",
)
@permission_option
def create_token(
    app: str, *, name: str, expires: datetime | None, permissions: tuple[Permission, ...]
) -> None:
    """Make another token. It goes to standard output, alone, and is shown this once.

    With permissions it is good for these alone, of those that its app holds.
    """
    ports = installation().ports
    new = TokenOptions(name, expires, frozenset(permissions) or None)
    _print_new_token(create_app_token(ports, OPERATOR, app_key(ports, app), new))


@tokens.command("list", examples=[("flask app token list Warehouse", "all of its tokens")])
@click.argument("app")
def list_tokens(app: str) -> None:
    """List the tokens of an app; those that have expired, for another month."""
    ports = installation().ports
    listed = list_app_tokens(ports, OPERATOR, app_key(ports, app))
    empty = f"No token. Make one: flask app token create {app}"
    output().rows(listed, _COLUMNS, empty=empty)


@tokens.command(
    "rotate",
    examples=[
        ("flask app token rotate 7", "prints the new one; the old one works for another day"),
        ("flask app token rotate 7 --overlap 0", "the old one ends at once"),
    ],
)
@_key
@click.option(
    "--overlap",
    type=click.IntRange(0, int(MAX_OVERLAP.total_seconds())),
    default=int(DEFAULT_OVERLAP.total_seconds()),
    show_default=True,
    metavar="SECONDS",
    help="How long the old one goes on working.",
)
def rotate_token(token_id: int, *, overlap: int) -> None:
    """Replace a token by a new one of the same kind, which is shown this once."""
    ports = installation().ports
    _print_new_token(rotate_app_token(ports, OPERATOR, token_id, timedelta(seconds=overlap)))
    left = f"works for {overlap} more seconds at most" if overlap else "opens nothing any more"
    output().say(f"Token {token_id} {left}.")


@tokens.command("revoke", examples=[("flask app token revoke 7", "end it, at once")])
@_key
def revoke_token(token_id: int) -> None:
    """End a token, at once and for good."""
    out = output()
    out.one(revoke_app_token(installation().ports, OPERATOR, token_id), _COLUMNS)
    out.say(f"Token {token_id} opens nothing any more.")


@tokens.command(
    "verify", examples=[("flask app token verify < token.txt", "is it good right now?")]
)
@no_input_option
def verify_token() -> None:
    """Tell whether the token on standard input opens anything; ends with 1 when it does not."""
    token = ask_secret("Token")
    valid = verify_app_token(installation().ports, OPERATOR, token)
    output().alone("valid", valid)
    if not valid:
        click.get_current_context().exit(Exit.FAILED)


def _print_new_token(new: NewAppToken) -> None:
    out = output()
    out.alone("token", new.secret)
    out.say(f"This is token {new.token.id}. Keep it: it is not shown again.")
