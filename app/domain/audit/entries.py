"""The audit log's entries and topics."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

MAX_TEXT_LENGTH = 100
"""Characters of a text that entries are searched for."""

MAX_SEARCHED = 10_000
"""Entries that a text is looked for in, the newest of those that the other filters leave."""


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
    Topic.APPS: ("app", "app_token", "app_installation", "webhook", "delivery"),
    Topic.PEOPLE: (
        "account",
        "address",
        "customer",
        "group",
        "mail",
        "password",
        "recovery_codes",
        "second_factor",
        "session",
        "staff",
        "tokens",
        "user",
    ),
    Topic.KEYS: ("keys",),
    Topic.SALES: ("product", "order", "checkout"),
    Topic.TRANSFERS: ("import", "export"),
}


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One change: who made it (``actor_kind`` is a user, an app, the operator, …), and from where.

    ``before`` and ``after`` hold the fields that differ; no secret is ever among them.
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


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Conditions on entries; an empty field matches all.

    ``since`` and ``until`` are inclusive. ``text`` is a part of a name (actor's or subject's), an
    IP address or an action, ignoring case. ``oldest_first`` reverses the list.
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
    oldest_first: bool = False
