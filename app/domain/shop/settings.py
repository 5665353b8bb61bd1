"""The values of the shop's settings, and the meaning of its two switches (contract, part 1).

With them: what a closed storefront shows and whose requests it turns away, and when staff need a
second factor.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from enum import StrEnum

from app.domain.accounts.addresses import NO_DETAILS, AddressDetails, one_line
from app.domain.accounts.users import DEFAULT_LANGUAGE
from app.domain.authorization.actor import Actor, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.mails.design import DEFAULT_ACCENT
from app.domain.mails.mail import MailSender
from app.domain.second_factors import used_second_factor
from app.domain.values.errors import Problem
from app.domain.values.inputs import ABSENT, Absent, Seen
from app.domain.values.unchanging import unchanging


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
    stored image, "" without one; ``company_address`` is empty without one.
    """

    storefront_note: str = ""
    storefront_opens_at: datetime | None = None
    default_mail_sender_name: str = ""
    default_mail_sender_address: str = ""
    customer_set_password_url: str = ""
    enable_account_confirmation_by_email: bool = True
    allow_login_without_confirmation: bool = False
    hosted_pages: bool = False
    hosted_password_login: bool = True
    hosted_passkey_login: bool = True
    hosted_provider_login: bool = True
    email_code_login: bool = False
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
    webhook_alerts: bool = True
    webhook_alert_failures: int = 3
    webhook_alert_percent: int = 50
    webhook_alert_attempts: int = 10
    company_address: AddressDetails = NO_DETAILS

    @property
    def shown_legal_line(self) -> str:
        """The legal line of emails: the setting, or the company's address."""
        return self.mail_legal_line or one_line(self.company_address)


SHOP_ID = 1
"""The key of the one row of settings."""

DERIVED = {"second_factor_from", "logo", "company_address"}
"""What follows from settings, or is changed by itself."""


class ShopUpdate:
    """A change of settings: those that it doesn't name stay, ``None`` is an explicit null.

    Those with a rule of their own are ``ABSENT`` if they aren't named. What isn't as ``seen``
    anymore makes ``Stale``, by the names of ``shop_facts``.
    """

    password_login_mode: PasswordLoginMode | Absent | None = ABSENT
    allow_storefront_traffic: bool | Absent | None = ABSENT
    storefront_note: str | Absent | None = ABSENT
    storefront_opens_at: datetime | Absent | None = ABSENT
    staff_second_factor: StaffSecondFactor | Absent | None = ABSENT
    second_factor_grace_days: int | Absent | None = ABSENT

    seen: Seen = field(default_factory=dict, compare=False)

    def __init__(self, *, seen: Seen | None = None, **settings: object) -> None:
        unknown = settings.keys() - ({field.name for field in fields(ShopSettings)} - DERIVED)
        if unknown:
            raise TypeError(f"no settings of the shop: {', '.join(sorted(unknown))}")
        vars(self).update(settings, seen=seen or {})


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


def with_closing(before: ShopSettings, update: ShopUpdate, after: ShopSettings) -> ShopSettings:
    """Return ``after`` with the note and the opening time that belong to its storefront.

    Both belong to one closing: another switch of the storefront drops those it doesn't name.
    """
    if after.allow_storefront_traffic:
        return replace(after, storefront_note="", storefront_opens_at=None)
    if not before.allow_storefront_traffic:
        return after
    return replace(
        after,
        storefront_note="" if update.storefront_note is ABSENT else after.storefront_note,
        storefront_opens_at=(
            None if update.storefront_opens_at is ABSENT else after.storefront_opens_at
        ),
    )


def closing_problems(update: ShopUpdate, after: ShopSettings, now: datetime) -> Iterator[Problem]:
    """Yield what is wrong with the note and the opening time that ``update`` names."""
    has_note = update.storefront_note is not ABSENT and after.storefront_note
    if after.allow_storefront_traffic and has_note:
        yield Problem("INVALID", "The storefront is open.", "storefrontNote")
    if update.storefront_opens_at is ABSENT or after.storefront_opens_at is None:
        return
    if after.allow_storefront_traffic:
        yield Problem("INVALID", "The storefront is open.", "storefrontOpensAt")
    elif after.storefront_opens_at <= now:
        yield Problem("INVALID", "Enter a time in the future.", "storefrontOpensAt")


def with_second_factor(before: ShopSettings, after: ShopSettings, now: datetime) -> ShopSettings:
    """Return ``after`` with the moment from which staff need a second factor.

    The grace period begins when one becomes required; another length moves its end.
    """
    if after.staff_second_factor is StaffSecondFactor.OPTIONAL:
        return replace(after, second_factor_from=None)
    grace = timedelta(days=after.second_factor_grace_days)
    was_required = before.staff_second_factor is StaffSecondFactor.REQUIRED
    if not was_required or before.second_factor_from is None:
        return replace(after, second_factor_from=now + grace)
    moved = grace - timedelta(days=before.second_factor_grace_days)
    return replace(after, second_factor_from=before.second_factor_from + moved)


def changes_second_factor(update: ShopUpdate) -> bool:
    """Whether ``update`` names a setting of the rule about second factors."""
    named = update.staff_second_factor, update.second_factor_grace_days
    return any(value is not ABSENT for value in named)


TRAFFIC_BUCKET = timedelta(minutes=10)
"""Requests are counted by spans of this length, from the full hour on."""

TRAFFIC_RETENTION = timedelta(days=8)
"""How long counts are kept."""


class TrafficKind(StrEnum):
    """The kinds of callers; ``INVALID`` sent an invalid credential."""

    ANONYMOUS = "anonymous"
    INVALID = "invalid"
    CUSTOMER = "customer"
    STAFF = "staff"
    APP = "app"


@dataclass(frozen=True, slots=True)
class TrafficHour:
    """The requests of one hour by the kind of caller."""

    began: datetime
    by_kind: Mapping[TrafficKind, int]


def traffic_kind(actor: Actor) -> TrafficKind:
    if actor.is_app:
        return TrafficKind.APP
    if actor.is_user:
        return TrafficKind.STAFF if actor.is_staff else TrafficKind.CUSTOMER
    return TrafficKind.ANONYMOUS if actor.fault is None else TrafficKind.INVALID


def bucket_of(moment: datetime) -> datetime:
    """Return the beginning of the span that ``moment`` is counted in."""
    past = timedelta(minutes=moment.minute, seconds=moment.second, microseconds=moment.microsecond)
    return moment - past % TRAFFIC_BUCKET
