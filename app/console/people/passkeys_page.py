"""The view models of the caller's passkeys: their card, and the page of one of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from app.console.formatting import device_words
from app.console.parts import Consequence, Question
from app.domain.authorization.actor import Actor
from app.domain.urls.web_urls import parse_web_url
from app.services.accounts.passkeys import MAX_PASSKEYS, OwnPasskey
from app.web.translation import text


@dataclass(frozen=True, slots=True)
class PasskeyRow:
    """A passkey in the list, with the labels of its buttons."""

    id: int
    name: str
    kind: str
    device: str
    created_at: datetime
    last_used_at: datetime | None
    rename_label: str
    delete_label: str


@dataclass(frozen=True, slots=True)
class PasskeysCard:
    """The passkeys; ``why_not`` is why none can be added, empty if one can.

    ``can_delete`` unless the only one is the second factor that the shop requires.
    """

    rows: tuple[PasskeyRow, ...]
    why_not: str
    can_delete: bool


def make_passkeys_card(
    passkeys: Sequence[OwnPasskey],
    actor: Actor,
    *,
    are_possible: bool,
    in_development: bool,
    can_delete: bool,
) -> PasskeysCard:
    """Return the card; ``are_possible`` unless the page was opened on an IP address."""
    return PasskeysCard(
        tuple(_row(passkey) for passkey in passkeys),
        _why_full(len(passkeys))
        if are_possible
        else why_impossible(actor, in_development=in_development),
        can_delete,
    )


def _why_full(count: int) -> str:
    if count < MAX_PASSKEYS:
        return ""
    return text(
        "You have {count} passkeys, which is the maximum. Delete one to add another.", count=count
    )


def why_impossible(actor: Actor, *, in_development: bool) -> str:
    """Return what to do on an IP address, for which browsers don't make passkeys."""
    if not in_development:
        return text("Passkeys don't work on an IP address. Open the console by its host name.")
    # In development, its host is what the browser sent, or anything else.
    here = parse_web_url(actor.issuer)
    port = "" if here is None else here.host_and_port.removeprefix(here.host)
    url = f"http://localhost{port}"
    return text("Open the console at {url} to use passkeys.", url=url)


def ask_delete(passkey: OwnPasskey, *, is_last_factor: bool) -> Question:
    """Return the question before a passkey is deleted."""
    consequences = [Consequence("warn", text("You can't sign in with this passkey anymore."))]
    if is_last_factor:
        consequences = [
            Consequence("bad", text("You sign in without a second factor from then on.")),
            *consequences,
            Consequence("warn", text("Your recovery codes stop working.")),
        ]
    return Question(
        title=text("Delete the passkey {name}?", name=passkey.name),
        endpoint="console.passkeys.delete",
        arguments={"key": passkey.id},
        consequences=consequences,
        detail=text(
            "Delete it in your browser or password manager as well, so that it isn't offered."
        ),
        action=text("Delete passkey"),
    )


def kind_of(passkey: OwnPasskey) -> str:
    """Return where a passkey is kept, or that it doesn't work."""
    if passkey.is_reported:
        return text("Reported: it doesn't work anymore")
    if passkey.is_synced:
        return text("Synced by a password manager")
    return text("Stored on one device or security key")


def _row(passkey: OwnPasskey) -> PasskeyRow:
    return PasskeyRow(
        passkey.id,
        passkey.name,
        kind_of(passkey),
        device_words(passkey.device),
        passkey.created_at,
        passkey.last_used_at,
        text("Rename {name}", name=passkey.name),
        text("Delete {name}", name=passkey.name),
    )
