"""Sign-in attempts as the sign-in log keeps them, and their statistics."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from app.domain.second_factors import SecondFactorType
from app.domain.values.text_rules import is_storable
from app.domain.values.times import span_edges

MAX_TEXT_LENGTH = 100
"""Characters of a text that attempts are searched for."""

MAX_DETAIL_LENGTH = 200
"""Characters that are kept of why a provider refused."""

MAX_SEARCHED = 10_000
"""Attempts that a text is searched for in, the newest of those that the other filters leave."""

EMAIL_PURPOSE = "unknown email of a sign-in"
"""What an unknown email's fingerprint is made for."""

_HIDDEN = "\N{HORIZONTAL ELLIPSIS}"


class SignInMethod(StrEnum):
    """How someone tried to sign in; LINK is an emailed link that sets a password.

    PASSKEY is a passkey alone, EMAIL_CODE a code by email, PROVIDER_TOKEN a provider's access
    token that a client brings. A second factor belongs to the attempt with the password, link or
    code by email.
    """

    PASSWORD = "PASSWORD"
    PASSKEY = "PASSKEY"
    EMAIL_CODE = "EMAIL_CODE"
    SSO = "SSO"
    LINK = "LINK"
    REFRESH = "REFRESH"
    APP_TOKEN = "APP_TOKEN"
    PROVIDER_TOKEN = "PROVIDER_TOKEN"


class SignInPlace(StrEnum):
    """Where a session begins; each takes its own sessions and unfinished sign-ins alone."""

    API = "API"
    CONSOLE = "CONSOLE"
    HOSTED = "HOSTED"


class SignInResult(StrEnum):
    SUCCESSFUL = "SUCCESSFUL"
    FAILED = "FAILED"


class SignInReason(StrEnum):
    """Why an attempt failed."""

    INCORRECT_PASSWORD = "INCORRECT_PASSWORD"
    UNKNOWN_EMAIL = "UNKNOWN_EMAIL"
    NO_PASSWORD = "NO_PASSWORD"
    INCORRECT_CODE = "INCORRECT_CODE"
    PASSKEY_REFUSED = "PASSKEY_REFUSED"
    CHALLENGE_ENDED = "CHALLENGE_ENDED"
    BLOCKED_IP = "BLOCKED_IP"
    PASSWORD_LOGIN_OFF = "PASSWORD_LOGIN_OFF"
    INACTIVE = "INACTIVE"
    NOT_CONFIRMED = "NOT_CONFIRMED"
    NOT_STAFF = "NOT_STAFF"
    LINK_INVALID = "LINK_INVALID"
    SSO_EXPIRED = "SSO_EXPIRED"
    SSO_REFUSED = "SSO_REFUSED"
    SSO_NOT_LINKED = "SSO_NOT_LINKED"
    SSO_OTHER_PERSON = "SSO_OTHER_PERSON"
    TOKEN_EXPIRED = "TOKEN_EXPIRED"
    TOKEN_INVALID = "TOKEN_INVALID"
    SESSION_ENDED = "SESSION_ENDED"
    UNAVAILABLE = "UNAVAILABLE"
    OTHER = "OTHER"


class AccountType(StrEnum):
    """Whose attempt it was; UNKNOWN if no account or app could be found."""

    STAFF = "STAFF"
    CUSTOMER = "CUSTOMER"
    APP = "APP"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class SignInRefusal:
    """A refused attempt; equal ones are counted together.

    ``email`` is what was entered, normalized. ``user_id`` and ``token_digest`` (of an app's token)
    name the account and app where the attempt did; ``token_end`` is the end of that token.
    ``detail`` is why an identity provider, or the check of what it sent, refused.
    """

    method: SignInMethod
    reason: SignInReason
    address: str = ""
    email: str = field(default="", repr=False)
    user_id: int | None = None
    token_digest: str = ""
    token_end: str = ""
    provider: str = ""
    in_console: bool = False
    detail: str = ""


@dataclass(frozen=True, slots=True)
class SignInEvent:
    """An entry of the sign-in log: a successful attempt, or equal failed ones.

    ``at`` is the time of the last one, ``first_at`` that of the first, ``attempts`` how many they
    were. ``reason`` is ``None`` for a successful one. ``name`` is the account's email or the app's
    name at that time, or a masked form of what was entered; ``first_name`` and ``last_name`` are
    the account's today. ``device`` is in plain words. ``detail`` is why an identity provider, or
    the check of what it sent, refused. ``second_factor`` came after ``method``, if any did.
    """

    id: int
    at: datetime
    first_at: datetime
    attempts: int
    method: SignInMethod
    reason: SignInReason | None
    account_type: AccountType
    user_id: int | None
    app_id: int | None
    name: str
    first_name: str
    last_name: str
    provider: str
    address: str
    device: str
    in_console: bool
    detail: str = ""
    second_factor: SecondFactorType | None = None

    @property
    def result(self) -> SignInResult:
        return SignInResult.SUCCESSFUL if self.reason is None else SignInResult.FAILED


@dataclass(frozen=True, slots=True)
class SignInFilter:
    """Conditions on attempts; an empty field matches all.

    ``since`` and ``until`` are inclusive. ``text`` is a part of a name, an email, an app's name or
    an IP address, ignoring case; an unknown email is found only by all of it.
    """

    user_id: int | None = None
    app_id: int | None = None
    method: SignInMethod | None = None
    result: SignInResult | None = None
    reason: SignInReason | None = None
    account_type: AccountType | None = None
    address: str = ""
    since: datetime | None = None
    until: datetime | None = None
    text: str = ""


def mask_email(entered: str) -> str:
    """Return ``entered`` with all but the first letters hidden.

    People type passwords into the field for the email, so a text without ``@`` is hidden whole.
    """
    local, at, domain = entered.rpartition("@")
    if not at or not local or not domain or not is_storable(entered):
        return _HIDDEN
    return f"{local[0]}{_HIDDEN}@{domain[0]}{_HIDDEN}"


class Period(StrEnum):
    """How far back the log is looked at; the chart divides it evenly."""

    DAY = "24h"
    TWO_WEEKS = "14d"
    QUARTER = "90d"

    @property
    def spans(self) -> int:
        """The number of the chart's columns."""
        return {Period.DAY: 24, Period.TWO_WEEKS: 14, Period.QUARTER: 13}[self]

    @property
    def step(self) -> timedelta:
        """The length of one column."""
        return {
            Period.DAY: timedelta(hours=1),
            Period.TWO_WEEKS: timedelta(days=1),
            Period.QUARTER: timedelta(weeks=1),
        }[self]

    def edges(self, now: datetime) -> tuple[datetime, ...]:
        """Return when each column begins and the last one ends; see ``span_edges``."""
        return span_edges(now, self.step, self.spans)


@dataclass(frozen=True, slots=True)
class SignInSpan:
    """The attempts of a span of time: the successful ones, and the failed ones by reason."""

    began: datetime
    successful: int
    incorrect_password: int
    blocked: int
    other: int
