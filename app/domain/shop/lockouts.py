"""Whether a change of the doors would leave nobody inside who could take it back."""

from dataclasses import dataclass, replace
from enum import StrEnum

from app.domain.authorization.actor import Actor, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode
from app.domain.single_sign_on.providers import Provider
from app.domain.values.errors import Refused


@dataclass(frozen=True, slots=True)
class AccessChange:
    """What is to be changed; ``None`` stays as it is.

    ``provider_off`` is the slug of a provider that is to let in nobody whom it knows: it is
    switched off, or knows them no more.
    """

    password_login_mode: PasswordLoginMode | None = None
    allow_storefront_traffic: bool | None = None
    provider_off: str | None = None


@dataclass(frozen=True, slots=True)
class SettingsManagers:
    """Who holds MANAGE_SETTINGS, by the way they come in.

    ``people`` have any way in, ``by_sign_on`` a single sign-on identity at a provider that is
    active; ``by_grant`` are signed in with that right from a provider that rules over rights.
    ``apps`` have a token for it. ``providers`` is how many providers are active.
    """

    people: int
    by_sign_on: int
    by_grant: int
    apps: int
    providers: int


class LockoutReason(StrEnum):
    """Why nobody could undo a change."""

    NO_PROVIDER = "no provider"
    NO_IDENTITY = "no identity"
    NOBODY = "nobody"

    @property
    def message(self) -> str:
        return _MESSAGES[self]


_ENDS = {
    "active": "cannot do so once it is off",
    "issuer": "under another issuer it knows none of them",
    "client_id": "with another client id it may know none of them",
}
_NO_WAY_BACK = (
    "Nobody else who may manage settings would have a way in, and no app may, so nobody could "
    "undo this."
)
_EASED = " While everybody may sign in by password, it can be changed."
_MESSAGES = {
    LockoutReason.NO_PROVIDER: (
        "No identity provider is active, so nobody could come in to undo this. Set up single "
        "sign-on first, and sign in through it."
    ),
    LockoutReason.NO_IDENTITY: (
        "Nobody who may manage settings has a single sign-on identity, and no app may, so nobody "
        "could undo this. Let somebody who may manage settings sign in through the provider first."
    ),
    LockoutReason.NOBODY: (
        "Nobody else has a way in and may manage settings, and no app may, so nobody could undo "
        "this. Give somebody the permission first."
    ),
}


@dataclass(frozen=True, slots=True)
class Lockout:
    """How many people and apps could undo a change; ``reason`` when that is nobody."""

    people: int
    apps: int
    reason: LockoutReason | None = None

    @property
    def is_locked_out(self) -> bool:
        return self.reason is not None

    def unless_before(self, before: "Lockout") -> "Lockout":
        """The same, without a reason if nobody could undo anything ``before`` either.

        Such a change takes nothing away, and may be the repair.
        """
        return replace(self, reason=None) if before.is_locked_out else self


class LockoutRefused(Refused):
    """A change was refused because nobody inside could undo it."""


def locking_setting(before: Provider, after: Provider) -> str:
    """What keeps out everybody whom a provider lets in, if ``after`` does; empty otherwise.

    People are known by issuer and subject. Under another client a subject may be another (OpenID
    Connect Core 1.0, 8.1, pairwise identifiers; Microsoft Entra ID gives one to each client), and
    no one can tell beforehand.
    """
    if not before.active:
        return ""
    if not after.active:
        return "active"
    if before.issuer != after.issuer:
        return "issuer"
    is_other_client = bool(before.client_id) and before.client_id != after.client_id
    return "client_id" if is_other_client else ""


def locking_message(
    setting: str, name: str, people: str, staff: int, reason: LockoutReason
) -> str:
    """Why ``setting`` of a provider stays, with its ``people`` counted just now."""
    who = f"{people} came in by {name}, {staff:,} of them staff"
    why = reason.message if setting == "active" else _NO_WAY_BACK
    eased = "" if reason is LockoutReason.NOBODY else _EASED
    return f"{who}, and {_ENDS[setting]}. {why}{eased}"


def check_lockout(
    actor: Actor, managers: SettingsManagers, mode: PasswordLoginMode, change: AccessChange
) -> Lockout:
    """Whether ``change`` locks out everybody who could undo it; ``mode`` is the one after it.

    The operator at the shell always can undo it, and counts for nobody: whoever sits at the
    console may not have a shell. The way that ``actor`` came in by counts, unless it is closed.
    """
    if mode is PasswordLoginMode.ENABLED:
        people = managers.people
    else:
        people = managers.by_sign_on + managers.by_grant
    if not people and _stays(actor, mode, change):
        people = 1
    if actor.is_trusted or people or managers.apps:
        return Lockout(people, managers.apps)
    if mode is PasswordLoginMode.ENABLED:
        return Lockout(0, 0, LockoutReason.NOBODY)
    reason = LockoutReason.NO_IDENTITY if managers.providers else LockoutReason.NO_PROVIDER
    return Lockout(0, 0, reason)


def _stays(actor: Actor, mode: PasswordLoginMode, change: AccessChange) -> bool:
    """Whether ``actor`` keeps the way in that they have, and the right to undo."""
    if not actor.is_user or not actor.holds(Permission.MANAGE_SETTINGS):
        return False
    if actor.origin is SessionOrigin.OIDC:
        return change.provider_off is None
    return mode is PasswordLoginMode.ENABLED
