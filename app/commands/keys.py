"""``flask keys``: the ring of signing keys."""

from collections.abc import Iterator

import click
from typing_extensions import override

from app.commands.terminal.command import Command, Group
from app.commands.terminal.exit_codes import Exit
from app.commands.terminal.options import fields_option
from app.commands.terminal.output import Column, output
from app.commands.terminal.prompts import confirm_action, yes_option
from app.domain.keys import CACHE_TIME, KEY_ID, SigningKey, Withdrawal
from app.services.keys import list_keys, preview_withdrawal, rotate_keys, withdraw_keys
from app.services.operations.stored_secrets import SecretCount, reseal_secrets
from app.web.installation import operator

command = Group(
    "keys",
    short_help="List, rotate and withdraw the signing keys.",
    help="List, rotate and withdraw the keys that sign tokens. A rotation applies immediately in "
    "every process, and existing tokens stay valid. Withdraw a key that has leaked: its tokens "
    "become invalid. Encrypt stored secrets with a new SECRET_KEY.",
    examples=[
        ("flask keys list", "active, next and retired keys"),
        ("flask keys rotate", "make the next key active"),
        ("flask keys rotate --force", "with a lost SECRET_KEY"),
        ("flask keys withdraw KID", "after a leak"),
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
    """List the next, active and retired keys that can still verify tokens, and withdrawn keys."""
    output().rows(list_keys(*operator()), _COLUMNS, empty=_EMPTY)


@command.command(
    "rotate",
    examples=[
        ("flask keys rotate", "routine rotation"),
        ("flask keys rotate --force", "with a lost SECRET_KEY"),
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
    keys = rotate_keys(*operator(), force=force)
    output().rows(keys, _COLUMNS, empty=_EMPTY)


class _KeyCommand(Command):
    """Takes a key's ID that begins with a hyphen, as one in 64 does, for no option."""

    @override
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" not in args:
            others = [arg for arg in args if not KEY_ID.fullmatch(arg)]
            args = [*others, "--", *(arg for arg in args if KEY_ID.fullmatch(arg))]
        return super().parse_args(ctx, args)


@command.command(
    "withdraw",
    cls=_KeyCommand,
    examples=[
        ("flask keys withdraw KID", "says how many sessions end, then asks"),
        ("flask keys withdraw ACTIVE_KID NEXT_KID", "after a leak of the database and SECRET_KEY"),
    ],
)
@click.argument("kids", metavar="KID...", nargs=-1, required=True)
@yes_option
def withdraw(kids: tuple[str, ...], *, yes: bool) -> None:
    """Withdraw signing keys that have leaked, and list the keys.

    They leave the key set at once and never come back, and all tokens that they signed become
    invalid in every process. The next key becomes the active one. A key that isn't listed is
    remembered, so that a restored backup or RSA_PRIVATE_KEY can't bring it back. Services that
    verify tokens themselves accept tokens of the key until they fetch the key set again.
    """
    out = output()
    preview = preview_withdrawal(*operator(), kids)
    for line in _consequences(preview):
        out.say(line)
    subject = "this key" if len(preview.kids) == 1 else f"these {len(preview.kids)} keys"
    confirm_action(f"Withdraw {subject}?", yes=yes)
    withdraw_keys(*operator(), kids)
    out.rows(list_keys(*operator()), _COLUMNS, empty=_EMPTY)
    if preview.configured:
        out.say(
            "RSA_PRIVATE_KEY still holds a withdrawn key, which is ignored: the keys above sign. "
            "Set it to another key, or remove it, on every machine and restart."
        )


def _consequences(preview: Withdrawal) -> Iterator[str]:
    if preview.unknown != preview.kids:
        count = preview.sessions
        ending = "1 session ends" if count == 1 else f"{count or 'No'} sessions end"
        yield f"{ending}."
        minutes = int(CACHE_TIME.total_seconds() // 60)
        yield (
            f"Services that verify tokens themselves can keep the old key set for {minutes} "
            "minutes. Those with a manual copy need the new one."
        )
    for kid in preview.unknown:
        yield f"{kid} isn't one of this installation's keys. It will be refused from now on."


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
    counts = reseal_secrets(*operator())
    out.rows(counts, _COUNTS, empty="")
    if any(count.unreadable for count in counts):
        out.say(
            "Some secrets can't be read. Add the SECRET_KEY that encrypted them to "
            "SECRET_KEY_FALLBACKS, or replace them."
        )
        click.get_current_context().exit(Exit.FAILED)
    out.say("SECRET_KEY_FALLBACKS is no longer needed once every process uses this SECRET_KEY.")
