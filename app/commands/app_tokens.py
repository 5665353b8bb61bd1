"""``flask app token``: the tokens of apps."""

from __future__ import annotations

from datetime import datetime, timedelta

import click

from app.commands.app_output import MAX_KEY, app_key
from app.commands.name_completion import complete_app
from app.commands.terminal.choices import Id
from app.commands.terminal.command import Group
from app.commands.terminal.exit_codes import Exit
from app.commands.terminal.field_selection import fields_option
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
    short_help="Create, list, rotate and revoke app tokens.",
    help="Create, list, rotate and revoke app tokens. APP is an ID or a unique name. ID is a "
    "token's ID, as shown by the list command.",
    examples=[
        ("flask app token list Warehouse", "last characters and last use of each token"),
        ("flask app token rotate 7", "replace a token; the old one works for another day"),
        ("flask app token revoke 7", "revoke a token by ID"),
    ],
)

_COLUMNS = (
    Column[AppToken]("id", "ID", lambda token: token.id, short=True),
    Column[AppToken]("name", "Name", lambda token: token.name),
    Column[AppToken]("lastFour", "Last 4", lambda token: token.last_four, short=True),
    Column[AppToken]("created", "Created", lambda token: token.created_at),
    Column[AppToken]("expires", "Expires", lambda token: token.expires_at),
    Column[AppToken]("replaced", "Replaced", lambda token: token.replaced_at),
    Column[AppToken]("lastUsed", "Last used", lambda token: token.last_used_at),
    Column[AppToken]("lastUsedFrom", "From", lambda token: token.last_used_address or None),
    Column[AppToken](
        "imported", "Imported", lambda token: "not used yet" if token.awaits_first_use else None
    ),
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
        ("flask app token create Warehouse --name nightly", "prints the token once"),
        ("flask app token create Warehouse --expires 2030-12-31", "expires on that date"),
        ("flask app token create 7 --permission MANAGE_ORDERS", "limited to this permission"),
    ],
)
@click.argument("app", shell_complete=complete_app)
@click.option("--name", default="", help="A name to recognize the token by.")
@click.option(
    "--expires",
    type=click.DateTime(_DATE_FORMATS),
    metavar="WHEN",
    help="Expiry: 2030-12-31 or 2030-12-31T18:00 (UTC). Default: never.",
)
@permission_option
def create_token(
    app: str, *, name: str, expires: datetime | None, permissions: tuple[Permission, ...]
) -> None:
    """Create a token. Only the token is printed to standard output, and only once.

    With --permission, the token is limited to those permissions of its app.
    """
    ports = installation().ports
    new = TokenOptions(name, expires, frozenset(permissions) or None)
    _print_new_token(create_app_token(ports, OPERATOR, app_key(ports, app), new))


@tokens.command("list", examples=[("flask app token list Warehouse", "all tokens of the app")])
@click.argument("app", shell_complete=complete_app)
@fields_option(_COLUMNS)
def list_tokens(app: str) -> None:
    """List an app's tokens. Expired tokens are listed for 30 days."""
    ports = installation().ports
    listed = list_app_tokens(ports, OPERATOR, app_key(ports, app))
    empty = f"No tokens. Create one with: flask app token create {app}"
    output().rows(listed, _COLUMNS, empty=empty)


@tokens.command(
    "rotate",
    examples=[
        ("flask app token rotate 7", "prints the new token; the old one works for another day"),
        ("flask app token rotate 7 --overlap 0", "the old token stops working immediately"),
    ],
)
@_key
@click.option(
    "--overlap",
    type=click.IntRange(0, int(MAX_OVERLAP.total_seconds())),
    default=int(DEFAULT_OVERLAP.total_seconds()),
    show_default=True,
    metavar="SECONDS",
    help="Seconds the old token keeps working.",
)
def rotate_token(token_id: int, *, overlap: int) -> None:
    """Replace a token with a new one that has the same limits. It is shown only once."""
    ports = installation().ports
    _print_new_token(rotate_app_token(ports, OPERATOR, token_id, timedelta(seconds=overlap)))
    left = f"works for at most {overlap} more seconds" if overlap else "has been revoked"
    output().say(f"Token {token_id} {left}.")


@tokens.command("revoke", examples=[("flask app token revoke 7", "revoke it immediately")])
@_key
def revoke_token(token_id: int) -> None:
    """Revoke a token permanently, effective immediately."""
    out = output()
    out.one(revoke_app_token(installation().ports, OPERATOR, token_id), _COLUMNS)
    out.say(f"Token {token_id} has been revoked.")


@tokens.command("verify", examples=[("flask app token verify < token.txt", "check a token")])
@no_input_option
def verify_token() -> None:
    """Check whether the token on standard input works. Exits with 1 if it doesn't."""
    token = ask_secret("Token")
    valid = verify_app_token(installation().ports, OPERATOR, token)
    output().alone("valid", valid)
    if not valid:
        click.get_current_context().exit(Exit.FAILED)


def _print_new_token(new: NewAppToken) -> None:
    out = output()
    out.alone("token", new.secret)
    out.say(f"Created token {new.token.id}. Store it now: it isn't shown again.")
