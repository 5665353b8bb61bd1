"""``flask keys``: the ring of signing keys."""

import click

from app.commands.command import Group
from app.commands.output import Column, output
from app.domain.actor import OPERATOR
from app.domain.keys import SigningKey
from app.services.keys import list_keys
from app.services.rotation import rotate_keys
from app.web.installation import installation

_COLUMNS: tuple[Column[SigningKey], ...] = (
    Column("kid", "Key", lambda key: key.kid, short=True),
    Column("state", "State", lambda key: key.state.value, short=True),
    Column("publishedAt", "Published", lambda key: key.published_at),
    Column("activatedAt", "Signs since", lambda key: key.activated_at),
    Column("retiredAt", "Retired", lambda key: key.retired_at),
    Column("verifiesUntil", "Verifies until", lambda key: key.verifies_until),
)
_NONE = "There are no signing keys."


@click.group(
    "keys",
    cls=Group,
    examples=(
        ("flask keys list", "Show which key signs, which is next, which verify still."),
        ("flask keys rotate", "Let the next key sign; tokens that are out stay good."),
        ("flask keys rotate --force", "The same after a leak or a lost SECRET_KEY: at once."),
    ),
)
def command() -> None:
    """List and rotate the keys that sign tokens."""


@command.command("list")
def list_() -> None:
    """Show the ring: the next key, the active one, and those that verify still."""
    output().rows(list_keys(installation().ports, OPERATOR), _COLUMNS, empty=_NONE)


@command.command("rotate")
@click.option(
    "--force",
    is_flag=True,
    help="Rotate although verifiers may not have fetched the next key yet, and replace it where "
    "it cannot be decrypted.",
)
def rotate(*, force: bool) -> None:
    """Let the next key sign and retire the active one; every process follows at once."""
    keys = rotate_keys(installation().ports, OPERATOR, force=force)
    output().rows(keys, _COLUMNS, empty=_NONE)
