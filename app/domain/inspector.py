"""The report on a pasted token: its checks, and its bearer's permissions."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Self

from app.domain.authorization.actor import SessionOrigin
from app.domain.authorization.permissions import Permission, in_order
from app.domain.shop.settings import PasswordLoginMode, effective_permissions, removes_staff_rights
from app.domain.sign_in.jws import MAX_PROVIDER_TOKEN_LENGTH
from app.domain.values.text import Sentence


class TokenKind(StrEnum):
    """What a text looks like, before any check."""

    ACCESS = "access token"
    REFRESH = "refresh token"
    EXTENSION = "extension token"
    APP = "app token"
    PROVIDER = "provider's token"
    FOREIGN = "token from elsewhere"
    UNREADABLE = "unreadable token"


class CheckName(StrEnum):
    """The checks in order; a failed one ends them."""

    FORM = "form"
    KEY = "key"
    SIGNATURE = "signature"
    CLAIMS = "claims"
    ISSUER = "issuer"
    TIME = "time"
    SESSION = "session"
    PERSON = "person"
    APP = "app"
    LOGIN_MODE = "login mode"
    SECOND_FACTOR = "second factor"

    def passed(self, text: Sentence) -> "Check":
        return Check(self, CheckOutcome.PASSED, text)

    def warned(self, text: Sentence) -> "Check":
        return Check(self, CheckOutcome.WARNING, text)

    def failed(self, text: Sentence) -> "Check":
        return Check(self, CheckOutcome.FAILED, text)

    def unknown(self, text: Sentence) -> "Check":
        return Check(self, CheckOutcome.UNKNOWN, text)


class CheckOutcome(StrEnum):
    PASSED = "passed"
    WARNING = "warning"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at; ``text`` says in plain words what was found.

    ``moment`` is when the token expired.
    """

    name: CheckName
    outcome: CheckOutcome
    text: str
    moment: datetime | None = None


class KeyStatus(StrEnum):
    """The status of the key that a token names."""

    ACTIVE = "active"
    NEXT = "next"
    RETIRED = "retired"
    ENDED = "ended"
    WITHDRAWN = "withdrawn"
    PROVIDER = "provider's"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class NamedKey:
    """The key that a token names; ``verifies_until`` for one that is retired."""

    kid: str
    status: KeyStatus
    verifies_until: datetime | None = None


class LossReason(StrEnum):
    """Why a permission does not count."""

    PERSON = "the person does not hold it"
    PROVIDER = "the provider did not grant it"
    APP = "the app does not hold it"
    TOKEN = "the token was not made for it"
    LOGIN_MODE = "the login mode takes it away"
    SECOND_FACTOR = "a second factor is required, and the session used none"


@dataclass(frozen=True, slots=True)
class Right:
    """One permission: who of those concerned holds it (``None``: is not concerned).

    ``lost_by`` is why it does not count; without it, it does.
    """

    permission: Permission
    by_person: bool | None = None
    by_provider: bool | None = None
    by_app: bool | None = None
    lost_by: LossReason | None = None

    @property
    def is_effective(self) -> bool:
        return self.lost_by is None


@dataclass(frozen=True, slots=True)
class Bearer:
    """The person behind a token."""

    id: int
    email: str
    name: str
    is_staff: bool
    is_active: bool


@dataclass(frozen=True, slots=True)
class TokenApp:
    """The app of a token; ``last_four`` and ``token_name`` for an app's own token."""

    id: int
    name: str
    is_active: bool
    last_four: str = ""
    token_name: str = ""


@dataclass(frozen=True, slots=True)
class TokenSession:
    """The session that a token belongs to; ``by_passkey``: it began with one, not a password."""

    id: int
    origin: SessionOrigin
    created_at: datetime
    expires_at: datetime
    by_passkey: bool = False


@dataclass(frozen=True, slots=True)
class Inspection:
    """The report on a token, without the token itself.

    ``header`` and ``claims`` are unverified. ``rights`` are ``None`` if unknown, or
    (``rights_hidden``) if the caller can't see them; ``by_sign_on`` are those that the same person
    would have in an SSO session.
    """

    kind: TokenKind
    checks: tuple[Check, ...]
    header: Mapping[str, object] = field(default_factory=dict, repr=False)
    claims: Mapping[str, object] = field(default_factory=dict, repr=False)
    key: NamedKey | None = None
    bearer: Bearer | None = None
    app: TokenApp | None = None
    session: TokenSession | None = None
    provider: str = ""
    rights: tuple[Right, ...] | None = None
    rights_hidden: bool = False
    by_sign_on: tuple[Permission, ...] = ()

    def with_checks(self, *checks: Check) -> Self:
        return replace(self, checks=(*self.checks, *checks))

    @property
    def is_valid(self) -> bool:
        """Whether every check has passed: it could be used now, as what it is."""
        return bool(self.checks) and all(
            check.outcome in (CheckOutcome.PASSED, CheckOutcome.WARNING) for check in self.checks
        )

    @property
    def effective(self) -> tuple[Permission, ...]:
        """Return the bearer's effective permissions; none for an invalid token."""
        if not self.is_valid:
            return ()
        return tuple(right.permission for right in self.rights or () if right.is_effective)


MAX_PASTED = MAX_PROVIDER_TOKEN_LENGTH + 64
"""Characters that fields for a token take: the longest one after its scheme."""

_SHORTEST_TOKEN = 20


def may_be_token(text: str) -> bool:
    """Return whether a word of ``text`` is long enough for a credential: keep it out of URLs.

    Emails aren't. Many other texts are taken for possible tokens, too.
    """
    return any(len(word) >= _SHORTEST_TOKEN and "@" not in word for word in text.split())


def person_rights(
    held: frozenset[Permission],
    *,
    mode: PasswordLoginMode,
    origin: SessionOrigin,
    second_factor_missing: bool = False,
    scopes: frozenset[Permission] | None = None,
    app: frozenset[Permission] | None = None,
) -> tuple[Right, ...]:
    """Return each permission that a party holds, and why it counts or doesn't.

    The arithmetic of ``effective_permissions``, explained one by one.
    """
    effective = effective_permissions(
        held,
        mode=mode,
        origin=origin,
        second_factor_missing=second_factor_missing,
        scopes=scopes,
        app=app,
    )
    stripped = removes_staff_rights(mode, origin)
    everything = held | (scopes or frozenset()) | (app or frozenset())

    def lost(permission: Permission) -> LossReason | None:
        if permission in effective:
            return None
        if scopes is None and permission not in held:
            return LossReason.PERSON
        if scopes is not None and permission not in scopes:
            return LossReason.PROVIDER
        if app is not None and permission not in app:
            return LossReason.APP
        if stripped:
            return LossReason.LOGIN_MODE
        return LossReason.SECOND_FACTOR if second_factor_missing else LossReason.PERSON

    return tuple(
        Right(
            permission,
            by_person=permission in held,
            by_provider=None if scopes is None else permission in scopes,
            by_app=None if app is None else permission in app,
            lost_by=lost(permission),
        )
        for permission in in_order(everything)
    )


def app_rights(
    granted: frozenset[Permission], narrowed: frozenset[Permission] | None
) -> tuple[Right, ...]:
    """Return the permissions of an app's token among those of its app."""
    return tuple(
        Right(
            permission,
            by_app=True,
            lost_by=None if narrowed is None or permission in narrowed else LossReason.TOKEN,
        )
        for permission in in_order(granted)
    )
