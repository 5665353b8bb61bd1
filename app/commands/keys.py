"""``flask keys``: the ring of signing keys."""

from __future__ import annotations

import click

from app.commands.terminal.command import Group
from app.commands.terminal.exit_codes import Exit
from app.commands.terminal.field_selection import fields_option
from app.commands.terminal.output import Column, output
from app.domain.authorization.actor import OPERATOR
from app.domain.keys import SigningKey
from app.services.keys import list_keys, rotate_keys
from app.services.operations.stored_secrets import SecretCount, reseal_secrets
from app.web.installation import installation

command = Group(
    "keys",
    short_help="List and rotate the signing keys.",
    help="List and rotate the keys that sign tokens. A rotation applies immediately in every "
    "process, and existing tokens stay valid. Encrypt stored secrets with a new SECRET_KEY.",
    examples=[
        ("flask keys list", "active, next and retired keys"),
        ("flask keys rotate", "make the next key active"),
        ("flask keys rotate --force", "after a leak or with a lost SECRET_KEY"),
        ("flask keys reseal", "after a change of SECRET_KEY"),
    ],
)

_COLUMNS: tuple[Column[SigningKey], ...] = (
    Column("kid", "Key", lambda key: key.kid, short=True),
    Column("state", "State", lambda key: key.state.value, short=True),
    Column("publishedAt", "Published", lambda key: key.published_at),
    Column("activatedAt", "Active since", lambda key: key.activated_at),
    Column("retiredAt", "Retired", lambda key: key.retired_at),
    Column("verifiesUntil", "Verifies until", lambda key: key.verifies_until),
)
_EMPTY = "No signing keys."


@command.command("list", examples=[("flask keys list --json", "for a script")])
@fields_option(_COLUMNS)
def list_() -> None:
    """List the next, active and retired keys that can still verify tokens."""
    output().rows(list_keys(installation().ports, OPERATOR), _COLUMNS, empty=_EMPTY)


@command.command(
    "rotate",
    examples=[
        ("flask keys rotate", "routine rotation"),
        ("flask keys rotate --force", "after a leak or with a lost SECRET_KEY"),
    ],
)
@click.option(
    "--force",
    is_flag=True,
    help="Rotate even if verifiers haven't fetched the next key yet, and replace that key if it "
    "can't be decrypted.",
)
def rotate(*, force: bool) -> None:
    """Make the next key active, retire the active key and list the keys."""
    keys = rotate_keys(installation().ports, OPERATOR, force=force)
    output().rows(keys, _COLUMNS, empty=_EMPTY)


_COUNTS: tuple[Column[SecretCount], ...] = (
    Column("secrets", "Secrets", lambda count: count.name, short=True),
    Column("checked", "Checked", lambda count: count.checked, short=True),
    Column("resealed", "Re-encrypted", lambda count: count.resealed, short=True),
    Column("unreadable", "Unreadable", lambda count: count.unreadable, short=True),
)


@command.command(
    "reseal",
    examples=[("flask keys reseal", "after a change of SECRET_KEY, with SECRET_KEY_FALLBACKS")],
)
def reseal() -> None:
    """Encrypt every stored secret with the current SECRET_KEY.

    Reads what former keys encrypted, by SECRET_KEY_FALLBACKS. Safe to run repeatedly and while the
    shop is being served. Exits with 1 if no key reads a secret.
    """
    out = output()
    counts = reseal_secrets(installation().ports, OPERATOR)
    out.rows(counts, _COUNTS, empty="")
    if any(count.unreadable for count in counts):
        out.say(
            "Some secrets can't be read. Add the SECRET_KEY that encrypted them to "
            "SECRET_KEY_FALLBACKS, or replace them."
        )
        click.get_current_context().exit(Exit.FAILED)
    out.say("SECRET_KEY_FALLBACKS is no longer needed once every process uses this SECRET_KEY.")
