"""The values of the shop's settings, and the meaning of its two switches (contract, part 1)."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from app.domain.accounts.users import DEFAULT_LANGUAGE
from app.domain.authorization.actor import Actor, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.mails.accent_color import DEFAULT_ACCENT
from app.domain.mails.senders import MailSender
from app.domain.second_factors.methods import used_second_factor
from app.domain.values.errors import Problem
from app.domain.values.unchanging import unchanging
from app.domain.values.unset import ABSENT, Absent


class PasswordLoginMode(StrEnum):
    ENABLED = "ENABLED"
    CUSTOMERS_ONLY = "CUSTOMERS_ONLY"
    DISABLED = "DISABLED"


class StaffSecondFactor(StrEnum):
    """Whether staff need a second factor for their staff rights."""

    OPTIONAL = "OPTIONAL"
    REQUIRED = "REQUIRED"


DEFAULT_GRACE_DAYS = 14
"""Days in which staff can add a second factor, from the moment it is required."""

MAX_GRACE_DAYS = 365


@unchanging
class Switches:
    """The two switches that control access, and whether staff need a second factor right now."""

    password_login_mode: PasswordLoginMode = PasswordLoginMode.ENABLED
    allow_storefront_traffic: bool = True
    second_factor_required: bool = False


@dataclass(frozen=True, slots=True)
class PublicShop:
    """The part of the settings that anyone can read."""

    name: str
    description: str
    password_login_mode: PasswordLoginMode
    allow_storefront_traffic: bool

    @property
    def switches(self) -> Switches:
        return Switches(self.password_login_mode, self.allow_storefront_traffic)


@dataclass(frozen=True, slots=True)
class ShopSettings(PublicShop):
    """Every setting; to read them needs MANAGE_SETTINGS.

    ``storefront_opens_at`` is when a closed storefront opens by itself, ``None`` for never.
    ``second_factor_from`` is when staff without a second factor lose their rights, ``None`` while
    one is optional; it follows from the two settings before it. ``default_language`` is one of
    ``LANGUAGE_NAMES``, ``accent_color`` such as "#0b5563". ``logo`` is the random name of the
    stored image, "" without one.
    """

    storefront_note: str
    storefront_opens_at: datetime | None
    default_mail_sender_name: str
    default_mail_sender_address: str
    customer_set_password_url: str
    enable_account_confirmation_by_email: bool
    allow_login_without_confirmation: bool
    staff_second_factor: StaffSecondFactor = StaffSecondFactor.OPTIONAL
    second_factor_grace_days: int = DEFAULT_GRACE_DAYS
    second_factor_from: datetime | None = None
    mail_reply_to: str = ""
    mail_footer: str = ""
    mail_legal_line: str = ""
    accent_color: str = DEFAULT_ACCENT
    default_language: str = DEFAULT_LANGUAGE
    logo: str = ""
    password_reset_sender: MailSender = MailSender.OURS
    account_confirmation_sender: MailSender = MailSender.OURS
    email_change_request_sender: MailSender = MailSender.OURS
    customer_invitation_sender: MailSender = MailSender.OURS
    staff_invitation_sender: MailSender = MailSender.OURS


@dataclass(frozen=True, slots=True)
class ShopUpdate:
    """A change of settings: ``ABSENT`` keeps a setting, ``None`` is an explicit null."""

    name: str | Absent | None = ABSENT
    description: str | Absent | None = ABSENT
    default_mail_sender_name: str | Absent | None = ABSENT
    default_mail_sender_address: str | Absent | None = ABSENT
    customer_set_password_url: str | Absent | None = ABSENT
    enable_account_confirmation_by_email: bool | Absent | None = ABSENT
    allow_login_without_confirmation: bool | Absent | None = ABSENT
    allow_storefront_traffic: bool | Absent | None = ABSENT
    storefront_note: str | Absent | None = ABSENT
    storefront_opens_at: datetime | Absent | None = ABSENT
    password_login_mode: PasswordLoginMode | Absent | None = ABSENT
    staff_second_factor: StaffSecondFactor | Absent | None = ABSENT
    second_factor_grace_days: int | Absent | None = ABSENT
    mail_reply_to: str | Absent | None = ABSENT
    mail_footer: str | Absent | None = ABSENT
    mail_legal_line: str | Absent | None = ABSENT
    accent_color: str | Absent | None = ABSENT
    default_language: str | Absent | None = ABSENT
    password_reset_sender: MailSender | Absent | None = ABSENT
    account_confirmation_sender: MailSender | Absent | None = ABSENT
    email_change_request_sender: MailSender | Absent | None = ABSENT
    customer_invitation_sender: MailSender | Absent | None = ABSENT
    staff_invitation_sender: MailSender | Absent | None = ABSENT


def mode_change_problem(actor: Actor, target: PasswordLoginMode) -> Problem | None:
    """Return why ``actor`` can't set ``target``, or ``None``.

    Contract, "Password login mode": any mode to any mode when the caller is a person who signed in
    with OIDC or the target is ``ENABLED``. No app can restrict it: a person with a password could
    create that app. An extension that acts for a person counts as their session does. The operator
    is free.
    """
    signed_in_with_sso = actor.is_user and actor.origin is SessionOrigin.OIDC
    if target is PasswordLoginMode.ENABLED or actor.is_trusted or signed_in_with_sso:
        return None
    return Problem(
        "PASSWORD_AUTH_RESTRICTION",
        "Password login can be restricted only by someone who signed in through single sign-on. "
        "Sign in through the identity provider and try again.",
        "passwordLoginMode",
    )


def rejects_password_sessions(mode: PasswordLoginMode, origin: SessionOrigin) -> bool:
    """Whether a session that began with a password opens nothing while ``mode`` lasts."""
    return mode is PasswordLoginMode.DISABLED and origin is SessionOrigin.PASSWORD


def removes_staff_rights(mode: PasswordLoginMode, origin: SessionOrigin) -> bool:
    """Whether staff in a session of ``origin`` work as customers while ``mode`` lasts."""
    return mode is not PasswordLoginMode.ENABLED and origin is SessionOrigin.PASSWORD


def lacks_second_factor(amr: Collection[str], *, required: bool) -> bool:
    """Whether staff in a session with these authentication methods work as customers."""
    return required and not used_second_factor(amr)


def effective_permissions(
    granted: frozenset[Permission],
    *,
    mode: PasswordLoginMode,
    origin: SessionOrigin,
    second_factor_missing: bool = False,
    scopes: frozenset[Permission] | None = None,
    app: frozenset[Permission] | None = None,
) -> frozenset[Permission]:
    """Return a user's effective permissions (contract, "Modes, precisely", "Apps and extensions").

    ``granted`` are those of groups and direct grants (all for a superuser); ``scopes``, if given,
    are the provider's and count alone; ``app``, if given, is the extension's app, with which the
    rest is intersected. ``second_factor_missing``: one is required, and the session used none.
    """
    if second_factor_missing or removes_staff_rights(mode, origin):
        return frozenset()
    permissions = granted if scopes is None else scopes
    return permissions if app is None else permissions & app


def admits(actor: Actor, switches: Switches) -> bool:
    """Whether ``actor`` passes the storefront switch: apps, and staff whose rights count."""
    return switches.allow_storefront_traffic or actor.is_app or actor.is_trusted or actor.is_staff
