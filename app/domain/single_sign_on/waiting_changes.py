"""Changes of a provider that wait for somebody who holds every permission to confirm them.

People who can only manage plugins must not gain more by a provider than they hold. So it is
recorded what they changed, and until that is confirmed the provider can assert less
(``app/services/identity/provider_assertions.py``).
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from app.domain.authorization.actor import Actor, holds_all_permissions
from app.domain.authorization.permissions import Permission, in_order, known_permissions
from app.domain.single_sign_on.provider_settings import MASK, SETTINGS
from app.domain.single_sign_on.providers import Provider
from app.domain.values.text import translatable

_SECRET = "client_secret"
_ASSERTS_NOTHING = frozenset((_SECRET, "enable_refresh_token", "oauth_logout_url"))
ASSERTING = (
    "active",
    *(setting.name for setting in SETTINGS if setting.name not in _ASSERTS_NOTHING),
)
"""The settings that decide what a provider can assert: every one, except those named above."""

_GETS_TOKENS = ("user_info_url", "oauth_token_url")
"""Settings that name who is sent people's codes and tokens."""


@dataclass(frozen=True, slots=True)
class Changer:
    """Who made a change, and the permissions they held then.

    A dashboard extension has both keys. Without a key, it isn't known who made it.
    """

    user_id: int | None = None
    app_id: int | None = None
    name: str = ""
    held: frozenset[Permission] = frozenset()


@dataclass(frozen=True, slots=True)
class WaitingChange:
    """A setting that isn't confirmed: ``was`` is its last confirmed value, ``at`` Unix seconds.

    ``can_revert`` while the value it had, with all others as they were confirmed, is a
    configuration that someone confirmed.
    """

    setting: str
    was: str
    at: float
    changer: Changer
    can_revert: bool = True


ANY_CLIENT = translatable(
    "Access tokens of any of the provider's clients have staff rights here. Set the audience or "
    "the accepted clients."
)
"""What is wrong with a provider that kept staff rights for tokens of any client."""

UNREADABLE = tuple(
    WaitingChange(name, "", 0.0, Changer(), can_revert=False) for name in ("active", *_GETS_TOKENS)
)
"""What a damaged record counts as: changes by an unknown person, so that nothing is asserted."""


def changer_of(actor: Actor) -> Changer | None:
    """Return ``actor`` as a changer; ``None`` for one whose changes need no confirmation.

    That is the operator, and staff who hold every permission.
    """
    if actor.is_trusted or (actor.is_user and actor.is_staff and holds_all_permissions(actor)):
        return None
    return Changer(actor.user_id, actor.app_id, actor.name, actor.held_everywhere)


def with_waiting_changes(
    before: Provider, after: Provider, changer: Changer | None, now: float
) -> Provider:
    """Return ``after``, a change of ``before`` by ``changer``, with what waits for confirmation.

    A setting that ``changer`` doesn't touch waits, or not, as before.
    """
    changed = [name for name in ASSERTING if getattr(before, name) != getattr(after, name)]
    waiting = {change.setting: change for change in read_waiting(before.waiting_changes)}
    if before.client_secret != after.client_secret:
        former = waiting.pop(_SECRET, None)
        kept = MASK if before.client_secret else ""
        was = kept if former is None else former.was
        if changer is not None and (was or after.client_secret):
            waiting[_SECRET] = WaitingChange(_SECRET, was, now, changer)
    for name in changed:
        former = waiting.pop(name, None)
        was = _text(getattr(before, name)) if former is None else former.was
        can_revert = former is None or former.can_revert
        is_back = former is not None and can_revert and _text(getattr(after, name)) == was
        if changer is not None and not is_back:
            waiting[name] = WaitingChange(name, was, now, changer, can_revert)
    if changed and changer is None:
        waiting = {name: replace(change, can_revert=False) for name, change in waiting.items()}
    if "oauth_token_url" not in waiting and _SECRET in waiting and waiting[_SECRET].was:
        del waiting[_SECRET]
    text = _write(tuple(waiting.values()))
    if not changed and text == before.waiting_changes:
        return after
    return replace(
        after,
        waiting_changes=text,
        trust_version=before.trust_version + 1,
        tokens_valid_after=_valid_after(before, after, now),
    )


def confirmed(provider: Provider) -> Provider:
    """Return ``provider`` with nothing that waits."""
    return replace(provider, waiting_changes="", trust_version=provider.trust_version + 1)


def before_waiting(provider: Provider) -> Provider:
    """Return ``provider`` with the issuer that was last confirmed."""
    return replace(provider, issuer=_confirmed(provider, "issuer"))


def sends_secret(provider: Provider) -> bool:
    """Whether the token URL gets the client secret: if it waits, only if its changer set both."""
    waiting = {change.setting: change.changer for change in read_waiting(provider.waiting_changes)}
    url, secret = waiting.get("oauth_token_url"), waiting.get(_SECRET)
    if url is None:
        return True
    return secret is not None and (url.user_id, url.app_id) == (secret.user_id, secret.app_id)


def gets_codes(provider: Provider, providers: Iterable[Provider]) -> bool:
    """Whether the token URL gets the codes that people come back with.

    One that waits could get those of another of the ``providers``, if its login page leads people
    on to that one (a mix-up, RFC 9700, 4.4), and tokens for those of a client without a secret.
    """
    if not waits_for(provider, "oauth_token_url"):
        return True
    others = (other for other in providers if other.id != provider.id)
    if any(_confirmed(other, "oauth_token_url") for other in others):
        return False
    return not _confirmed(provider, "oauth_token_url") or _confirmed(provider, _SECRET) != ""


def waits_for(provider: Provider, *settings: str) -> bool:
    """Whether a change of one of ``settings`` waits."""
    return any(change.setting in settings for change in read_waiting(provider.waiting_changes))


@lru_cache(maxsize=64)
def read_waiting(text: str) -> tuple[WaitingChange, ...]:
    """Return the waiting changes that are stored as ``text``; empty for none."""
    if not text:
        return ()
    try:
        return tuple(_change(entry) for entry in json.loads(text)) or UNREADABLE
    except (ValueError, TypeError, KeyError, RecursionError):
        return UNREADABLE


def _confirmed(provider: Provider, name: str) -> str:
    """Return the last confirmed value of a setting."""
    for change in read_waiting(provider.waiting_changes):
        if change.setting == name:
            return change.was
    return _text(getattr(provider, name))


def _valid_after(before: Provider, after: Provider, now: float) -> float:
    """Return when tokens of the provider must have been issued, at the earliest.

    A URL that was never confirmed, and is replaced, may have kept people's tokens.
    """
    replaced = any(
        waits_for(before, name) and getattr(before, name) != getattr(after, name)
        for name in _GETS_TOKENS
    )
    return now if replaced else before.tokens_valid_after


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else ""
    return str(value)


def _write(changes: tuple[WaitingChange, ...]) -> str:
    if not changes:
        return ""
    return json.dumps(
        [
            {
                "setting": change.setting,
                "was": change.was,
                "at": change.at,
                "user": change.changer.user_id,
                "app": change.changer.app_id,
                "by": change.changer.name,
                "held": in_order(change.changer.held),
                "can_revert": change.can_revert,
            }
            for change in changes
        ]
    )


def _change(entry: dict[str, Any]) -> WaitingChange:
    user_id, app_id = entry["user"], entry["app"]
    if not all(key is None or isinstance(key, int) for key in (user_id, app_id)):
        raise ValueError("a changer's key is a number")
    changer = Changer(user_id, app_id, str(entry["by"]), known_permissions(entry["held"]))
    return WaitingChange(
        str(entry["setting"]),
        str(entry["was"]),
        float(entry["at"]),
        changer,
        can_revert=entry["can_revert"] is True,
    )
