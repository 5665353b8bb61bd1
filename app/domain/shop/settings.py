"""The shop's settings and what its two switches mean (contract, part 1)."""

from dataclasses import dataclass
from enum import StrEnum

from app.domain.authorization.actor import Actor, ActorKind, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import Problem


class PasswordLoginMode(StrEnum):
    ENABLED = "ENABLED"
    CUSTOMERS_ONLY = "CUSTOMERS_ONLY"
    DISABLED = "DISABLED"


@dataclass(frozen=True, slots=True)
class Switches:
    """What decides who gets in at all."""

    password_login_mode: PasswordLoginMode = PasswordLoginMode.ENABLED
    allow_storefront_traffic: bool = True


@dataclass(frozen=True, slots=True)
class Shop:
    """The shop as its settings describe it.

    What stands behind the switches is for those who may manage settings; left empty for others.
    """

    name: str
    description: str
    password_login_mode: PasswordLoginMode
    allow_storefront_traffic: bool
    default_mail_sender_name: str = ""
    default_mail_sender_address: str = ""
    customer_set_password_url: str = ""
    enable_account_confirmation_by_email: bool = True
    allow_login_without_confirmation: bool = False

    @property
    def switches(self) -> Switches:
        return Switches(self.password_login_mode, self.allow_storefront_traffic)


def mode_change_problem(actor: Actor, target: PasswordLoginMode) -> Problem | None:
    """Why ``actor`` may not set ``target``, or ``None``.

    Contract, "Password login mode": any mode to any mode when the caller is authenticated by OIDC
    or the target is ``ENABLED``. An app has no password to come in by, nor has the operator.
    """
    if target is PasswordLoginMode.ENABLED or actor.kind is not ActorKind.USER:
        return None
    if actor.origin is SessionOrigin.OIDC:
        return None
    return Problem(
        "PASSWORD_AUTH_RESTRICTION",
        "Password login can be restricted only by someone who signed in through single sign-on. "
        "Sign in through the identity provider and try again.",
        "passwordLoginMode",
    )


def password_is_worthless(mode: PasswordLoginMode, origin: SessionOrigin) -> bool:
    """Whether a session that began with a password opens nothing while ``mode`` lasts."""
    return mode is PasswordLoginMode.DISABLED and origin is SessionOrigin.PASSWORD


def strips_staff_rights(mode: PasswordLoginMode, origin: SessionOrigin) -> bool:
    """Whether staff in a session of ``origin`` work as customers while ``mode`` lasts."""
    return mode is not PasswordLoginMode.ENABLED and origin is SessionOrigin.PASSWORD


def effective_permissions(
    granted: frozenset[Permission],
    *,
    mode: PasswordLoginMode,
    origin: SessionOrigin,
    scopes: frozenset[Permission] | None = None,
    app: frozenset[Permission] | None = None,
) -> frozenset[Permission]:
    """What a user may do right now (contract, "Modes, precisely" and "Apps and extensions").

    ``granted`` are those of groups and direct grants (every one for a superuser); ``scopes``, when
    given, are the provider's and rule alone; ``app``, when given, is the extension's app, with
    which the rest is intersected.
    """
    if strips_staff_rights(mode, origin):
        return frozenset()
    held = granted if scopes is None else scopes
    return held if app is None else held & app


def admits(actor: Actor, switches: Switches) -> bool:
    """Whether ``actor`` passes the storefront switch: apps, and staff whose rights count."""
    return switches.allow_storefront_traffic or actor.is_app or actor.is_trusted or actor.is_staff
