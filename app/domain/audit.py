"""Entries of the audit log with their topics, and security events for a SIEM.

Security events are named as in OWASP's Logging Vocabulary Cheat Sheet. ``app.services.audit``
writes both.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TypeAlias

MAX_TEXT_LENGTH = 100
"""Characters of a text that entries are searched for."""

MAX_SEARCHED = 10_000
"""Entries that a text is looked for in, the newest of those that the other filters leave."""

PRUNED_AFTER = timedelta(days=1)
"""Younger entries stay in the log: a transaction that has begun can still add some."""

PROFILE_ACTIONS = frozenset(
    (
        "account.avatar",
        "account.update",
        "address.create",
        "address.delete",
        "address.set_default",
        "address.update",
        "address.update_metadata",
        "user.update_metadata",
    )
)
"""What people change of a profile; the email, the password, factors, sessions and identities have
other actions."""


Names: TypeAlias = Mapping[tuple[str, object], str]
"""The names of records by their type and key."""


REFERENCES: Mapping[str, str] = {
    "app_id": "App",
    "channels": "Channel",
    "groups": "Group",
    "orders_moved_to": "Channel",
    "users": "User",
    "webhook_id": "Webhook",
}
"""The recorded fields whose values are keys of records, or lists of them, by the record's type."""


class Topic(StrEnum):
    """The topics of entries; an action's first word decides (``app.create``)."""

    ACCESS = "access"
    APPS = "apps"
    PEOPLE = "people"
    KEYS = "keys"
    SALES = "sales"
    TRANSFERS = "transfers"

    @property
    def beginnings(self) -> tuple[str, ...]:
        """The first words of its actions."""
        return _BEGINNINGS[self]


_BEGINNINGS = {
    Topic.ACCESS: ("shop", "mail_template", "provider", "throttle"),
    Topic.APPS: (
        "app",
        "app_client",
        "app_token",
        "app_installation",
        "webhook",
        "delivery",
        "oauth_client",
    ),
    Topic.PEOPLE: (
        "account",
        "address",
        "customer",
        "group",
        "mail",
        "oauth_consent",
        "password",
        "recovery_codes",
        "second_factor",
        "session",
        "staff",
        "tokens",
        "user",
    ),
    Topic.KEYS: ("keys",),
    Topic.SALES: ("channel", "product", "order", "checkout"),
    Topic.TRANSFERS: ("import", "export", "audit"),
}


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One change: who made it (``actor_kind`` is a user, an app, the operator, …), and from where.

    ``before`` and ``after`` hold the fields that differ; no secret is ever among them. ``names``
    are those of the records whose keys they hold.
    """

    id: int
    at: datetime
    actor_kind: str
    actor_user_id: int | None
    actor_app_id: int | None
    actor_name: str
    address: str
    action: str
    subject_type: str
    subject_id: str
    subject_name: str
    before: Mapping[str, object]
    after: Mapping[str, object]
    names: Names = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Conditions on entries; an empty field matches all.

    ``since`` and ``until`` are inclusive. ``text`` is a part of a name (actor's or subject's), an
    IP address or an action, ignoring case. ``oldest_first`` reverses the list. What customers
    changed of their own profile is left out, unless ``own_profile`` or a person, as the actor or
    the subject, asks for it.
    """

    user_id: int | None = None
    app_id: int | None = None
    actor_kind: str = ""
    topic: Topic | None = None
    action: str = ""
    subject_type: str = ""
    subject_id: str = ""
    since: datetime | None = None
    until: datetime | None = None
    text: str = ""
    own_profile: bool = False
    oldest_first: bool = False


class SecurityEvent(StrEnum):
    """Stable names; ``docs/operations/logs.md`` says when each is written."""

    LOGIN_SUCCESS = "authn_login_success"
    LOGIN_FAIL = "authn_login_fail"
    LOGIN_LOCK = "authn_login_lock"
    PASSWORD_CHANGE = "authn_password_change"
    TOKEN_CREATED = "authn_token_created"
    TOKEN_REVOKED = "authn_token_revoked"
    USER_CREATED = "user_created"
    USER_UPDATED = "user_updated"
    USER_ARCHIVED = "user_archived"
    USER_DELETED = "user_deleted"
    PERMISSIONS_CHANGED = "privilege_permissions_changed"
    ADMIN = "authz_admin"

    @property
    def is_warning(self) -> bool:
        """Whether its level is WARNING rather than INFO, as the cheat sheet has it."""
        return self not in _QUIET


_QUIET = (
    SecurityEvent.LOGIN_SUCCESS,
    SecurityEvent.PASSWORD_CHANGE,
    SecurityEvent.TOKEN_CREATED,
    SecurityEvent.TOKEN_REVOKED,
)

_BY_ACTION = {
    "account.confirm": SecurityEvent.USER_UPDATED,
    "account.delete": SecurityEvent.USER_DELETED,
    "account.register": SecurityEvent.USER_CREATED,
    "app_client.link": SecurityEvent.TOKEN_CREATED,
    "app_client.unlink": SecurityEvent.TOKEN_REVOKED,
    "app_token.create": SecurityEvent.TOKEN_CREATED,
    "app_token.revoke": SecurityEvent.TOKEN_REVOKED,
    "customer.delete": SecurityEvent.USER_DELETED,
    "password.set": SecurityEvent.PASSWORD_CHANGE,
    "staff.delete": SecurityEvent.USER_DELETED,
    "staff.invite": SecurityEvent.USER_CREATED,
    "staff.promote": SecurityEvent.PERMISSIONS_CHANGED,
    "user.create": SecurityEvent.USER_CREATED,
    "user.deactivate": SecurityEvent.USER_ARCHIVED,
    "user.join": SecurityEvent.USER_CREATED,
    "user.promote": SecurityEvent.PERMISSIONS_CHANGED,
    "user.sign_out": SecurityEvent.TOKEN_REVOKED,
    "user.unblock": SecurityEvent.ADMIN,
}
_BY_SUBJECT = {
    "account": SecurityEvent.USER_UPDATED,
    "app": SecurityEvent.ADMIN,
    "audit": SecurityEvent.ADMIN,
    "app_installation": SecurityEvent.ADMIN,
    "customer": SecurityEvent.USER_UPDATED,
    "group": SecurityEvent.PERMISSIONS_CHANGED,
    "keys": SecurityEvent.ADMIN,
    "oauth_client": SecurityEvent.ADMIN,
    "oauth_consent": SecurityEvent.TOKEN_REVOKED,
    "provider": SecurityEvent.ADMIN,
    "recovery_codes": SecurityEvent.USER_UPDATED,
    "second_factor": SecurityEvent.USER_UPDATED,
    "session": SecurityEvent.TOKEN_REVOKED,
    "shop": SecurityEvent.ADMIN,
    "staff": SecurityEvent.USER_UPDATED,
    "throttle": SecurityEvent.ADMIN,
    "tokens": SecurityEvent.TOKEN_REVOKED,
    "user": SecurityEvent.USER_UPDATED,
    "webhook": SecurityEvent.ADMIN,
}
"""By the first word of the action; those of sales and deliveries are no security events."""

_OF_RIGHTS = frozenset(("groups", "is_staff", "is_superuser", "permissions"))

SHOWN_FIELDS = _OF_RIGHTS | {
    "active",
    "allow_storefront_traffic",
    "is_active",
    "next",
    "password_login_mode",
    "second_factor_grace_days",
    "staff_second_factor",
}
"""Changed fields whose values are written; of others, which can be personal, only the names."""


def security_event_of(action: str, changed: Collection[str]) -> SecurityEvent | None:
    """Return the event of an entry of the audit log; ``None`` for other entries.

    ``changed`` are the names of the fields that differ.
    """
    event = _BY_ACTION.get(action) or _BY_SUBJECT.get(action.partition(".")[0])
    if event in (SecurityEvent.USER_UPDATED, SecurityEvent.ADMIN) and _OF_RIGHTS & set(changed):
        return SecurityEvent.PERMISSIONS_CHANGED
    return event
