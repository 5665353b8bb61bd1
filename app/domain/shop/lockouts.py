"""Whether a change of access would leave no one who could undo it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from app.domain.authorization.actor import Actor, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode
from app.domain.single_sign_on.providers import Provider
from app.domain.values.errors import Problem, Refused
from app.domain.values.text import Phrases, Sentence, forms, translatable


@dataclass(frozen=True, slots=True)
class AccessChange:
    """A change of access; ``None`` keeps a switch.

    ``provider_off`` is the slug of a provider that will no longer sign in the people it knows.
    """

    password_login_mode: PasswordLoginMode | None = None
    allow_storefront_traffic: bool | None = None
    provider_off: str | None = None


@dataclass(frozen=True, slots=True)
class SettingsManagers:
    """Counts of people and apps with MANAGE_SETTINGS, by sign-in method.

    ``people`` have any sign-in method, ``by_sign_on`` an identity at an active provider;
    ``by_grant`` are signed in with the permission from a provider that rules permissions. ``apps``
    have a token with it. ``providers`` counts active providers, ``waiting`` those of them whose
    settings wait for confirmation.
    """

    people: int
    by_sign_on: int
    by_grant: int
    apps: int
    providers: int
    waiting: int = 0

    @property
    def only_waiting(self) -> bool:
        """Whether no provider can sign in its people until its settings are confirmed."""
        return 0 < self.providers <= self.waiting


class LockoutReason(StrEnum):
    """Why no one could undo a change, and what to do first."""

    NO_PROVIDER = translatable(
        "No identity provider is active, so this couldn't be undone. Set up SSO and sign in with "
        "it first."
    )
    NO_IDENTITY = translatable(
        "No one who can manage settings has an SSO identity, and no app can manage settings, so "
        "this couldn't be undone. Someone who can manage settings must sign in with SSO first."
    )
    NOBODY = translatable(
        "No one else can sign in and manage settings, and no app can, so this couldn't be undone. "
        "Grant someone else the permission first."
    )
    WAITS = translatable(
        "Changes of all active identity providers wait for confirmation, and until then people "
        "can't sign in with them, so this couldn't be undone. Confirm the changes first."
    )


_SIGNED_IN = {
    "active": forms(
        "{count:,} person signed in with {name}, {staff:,} of them staff, "
        "and can't while it's disabled. {why}",
        "{count:,} people signed in with {name}, {staff:,} of them staff, "
        "and can't while it's disabled. {why}",
    ),
    "issuer": forms(
        "{count:,} person signed in with {name}, {staff:,} of them staff, "
        "and changing the issuer unlinks them. {why}",
        "{count:,} people signed in with {name}, {staff:,} of them staff, "
        "and changing the issuer unlinks them. {why}",
    ),
    "client_id": forms(
        "{count:,} person signed in with {name}, {staff:,} of them staff, "
        "and changing the client ID can unlink them. {why}",
        "{count:,} people signed in with {name}, {staff:,} of them staff, "
        "and changing the client ID can unlink them. {why}",
    ),
}
_MANY_SIGNED_IN: Mapping[str, Sentence] = {
    "active": (
        "More than {most:,} people signed in with {name}, {staff:,} of them staff, "
        "and can't while it's disabled. {why}"
    ),
    "issuer": (
        "More than {most:,} people signed in with {name}, {staff:,} of them staff, "
        "and changing the issuer unlinks them. {why}"
    ),
    "client_id": (
        "More than {most:,} people signed in with {name}, {staff:,} of them staff, "
        "and changing the client ID can unlink them. {why}"
    ),
}
"""By the setting of a provider that changes."""

_NO_WAY_BACK: Sentence = (
    "No one else who can manage settings could sign in, and no app can manage settings, so this "
    "couldn't be undone."
)
_EASED: Sentence = "You can change it while everyone can sign in with a password."


@dataclass(frozen=True, slots=True)
class Lockout:
    """How many people and apps could undo a change; ``reason`` if none could."""

    people: int
    apps: int
    reason: LockoutReason | None = None

    @property
    def is_locked_out(self) -> bool:
        return self.reason is not None

    def unless_before(self, before: "Lockout") -> "Lockout":
        """Return this without a reason if no one could undo anything ``before`` either.

        Such a change takes nothing away, and may be the repair.
        """
        return replace(self, reason=None) if before.is_locked_out else self


class LockoutRefused(Refused):
    """A change was refused because no one could undo it."""


def locking_setting(before: Provider, after: Provider) -> str:
    """Return the setting by which ``after`` locks out a provider's people; empty if none does.

    People are known by issuer and subject. Another client may get other subjects (OpenID Connect
    Core 1.0, 8.1, pairwise identifiers; Microsoft Entra ID does so for each client), which can't
    be known beforehand.
    """
    if not before.active:
        return ""
    if not after.active:
        return "active"
    if before.issuer != after.issuer:
        return "issuer"
    is_other_client = bool(before.client_id) and before.client_id != after.client_id
    return "client_id" if is_other_client else ""


def locking_problem(
    setting: str, provider: Provider, people: int, staff: int, reason: LockoutReason, *, most: int
) -> Problem:
    """Return why ``setting`` of a provider can't change, with its number of ``people``.

    They were counted up to ``most``, and one more if there are more.
    """
    sentence, plural = _SIGNED_IN[setting] if people <= most else (_MANY_SIGNED_IN[setting], "")
    why = [reason.value if setting == "active" else _NO_WAY_BACK]
    if reason is not LockoutReason.NOBODY:
        why.append(_EASED)
    values = {"count": people, "most": most, "name": provider.name, "staff": staff}
    values |= {"why": Phrases(why, joint=" ")}
    return Problem("INVALID", sentence, setting, values=values, plural=plural)


def check_lockout(
    actor: Actor, managers: SettingsManagers, mode: PasswordLoginMode, change: AccessChange
) -> Lockout:
    """Return whether ``change`` locks out all who could undo it; ``mode`` is the one after it.

    The operator can always undo it, but doesn't count: console users may have no shell. The
    sign-in method of ``actor`` counts, unless the change closes it.
    """
    if mode is PasswordLoginMode.ENABLED:
        people = managers.people
    else:
        people = managers.by_sign_on + managers.by_grant
    only_waiting = mode is not PasswordLoginMode.ENABLED and managers.only_waiting
    if only_waiting:
        people = 0
    elif not people and _keeps_access(actor, mode, change):
        people = 1
    if actor.is_trusted or people or managers.apps:
        return Lockout(people, managers.apps)
    if mode is PasswordLoginMode.ENABLED:
        return Lockout(0, 0, LockoutReason.NOBODY)
    if only_waiting:
        return Lockout(0, 0, LockoutReason.WAITS)
    reason = LockoutReason.NO_IDENTITY if managers.providers else LockoutReason.NO_PROVIDER
    return Lockout(0, 0, reason)


def _keeps_access(actor: Actor, mode: PasswordLoginMode, change: AccessChange) -> bool:
    """Whether ``actor`` keeps the way in that they have, and the right to undo."""
    if not actor.is_user or not actor.holds(Permission.MANAGE_SETTINGS):
        return False
    if actor.origin is SessionOrigin.OIDC:
        return change.provider_off is None
    return mode is PasswordLoginMode.ENABLED
