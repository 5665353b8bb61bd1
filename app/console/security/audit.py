"""The audit log: who changed what, from where; filtered, and exported as CSV or JSON."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import orjson
from flask import abort, request
from werkzeug.wrappers import Response as BaseResponse

from app.console.frame.formatting import capitalize_first, setting_text
from app.console.frame.navigation import Entry, Heading, PageGroup
from app.console.frame.page_layout import full_url, page
from app.console.frame.session import actor, ports
from app.console.lists.files import csv_file, json_file, started
from app.console.lists.list_page import (
    RowCount,
    active_filters,
    query_params,
    requested_days,
    requested_page,
    time_turns,
)
from app.console.security.audit_sentences import (
    done_to,
    sentence,
    subject_kind,
    what_was_done,
    who_did,
)
from app.domain.audit import MAX_TEXT_LENGTH, AuditEntry, AuditFilter, Topic
from app.domain.commerce.sales import OrderStatus
from app.domain.keys import KeyState
from app.domain.shop.setting_table import SETTINGS as SHOP_SETTINGS
from app.domain.shop.settings import PasswordLoginMode
from app.domain.single_sign_on.provider_settings import SETTINGS
from app.domain.values.pages import NONE_COUNTED, Counts
from app.domain.values.text import translatable
from app.services.audit.entries import export_entries, list_entries, show_entry
from app.web.converters import day, one_of
from app.web.translation import reason_text, text, texts

ACTORS: Mapping[str, str] = {
    "user": translatable("People"),
    "app": translatable("Apps"),
    "operator": translatable("Server administrator"),
}
"""The kinds of actors that the list can be filtered by."""

TOPICS: Mapping[str, str] = {
    Topic.ACCESS: translatable("Access"),
    Topic.APPS: translatable("Apps and webhooks"),
    Topic.PEOPLE: translatable("People"),
    Topic.KEYS: translatable("Signing keys"),
    Topic.SALES: translatable("Products and orders"),
    Topic.TRANSFERS: translatable("Imports and exports"),
}

SORTS: Mapping[str, str] = {"oldest": translatable("Oldest first")}

COUNT = RowCount(
    none="No entries",
    no_match="No matching entries",
    one="1 entry",
    many="{count} entries",
    some="{matching} of {total} entries",
)

_VIA = {
    "app": translatable("app"),
    "operator": translatable("command line"),
    "worker": translatable("automatic"),
    "anonymous": translatable("not signed in"),
}
_LISTED_DIFFERENCES = 2
_NO_VALUE = "\N{EN DASH}"
_LABELS = {setting.name: setting.label for setting in (*SHOP_SETTINGS, *SETTINGS)} | {
    "active": translatable("Active"),
    "address": translatable("Address"),
    "app": translatable("App"),
    "avatar": translatable("Avatar"),
    "blocked_until": translatable("Blocked until"),
    "custom_headers": translatable("Custom headers"),
    "deliveries": translatable("Deliveries"),
    "email": translatable("Email"),
    "events": translatable("Events"),
    "first_name": translatable("First name"),
    "group": translatable("Group"),
    "groups": translatable("Groups"),
    "has_password": translatable("Has password"),
    "is_active": translatable("Active"),
    "is_confirmed": translatable("Email confirmed"),
    "is_paid": translatable("Paid"),
    "is_staff": translatable("Staff member"),
    "language_code": translatable("Language"),
    "last_four": translatable("Last four characters"),
    "last_name": translatable("Last name"),
    "message": translatable("Message"),
    "name": translatable("Name"),
    "note": translatable("Note"),
    "passkey": translatable("Passkey"),
    "permissions": translatable("Permissions"),
    "price": translatable("Price"),
    "provider": translatable("Identity provider"),
    "query": translatable("Query"),
    "reason": translatable("Reason"),
    "session": translatable("Session"),
    "sessions": translatable("Sessions"),
    "sessions_ended": translatable("Sessions ended"),
    "state": translatable("Status"),
    "status": translatable("Status"),
    "subject": translatable("Subject"),
    "target_url": translatable("Endpoint URL"),
    "time_zone": translatable("Time zone"),
    "users": translatable("Members"),
    "version": translatable("Version"),
}
"""What recorded fields are called."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A changed field with its values as text; empty where there is none."""

    field: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class EntryRow:
    """An entry in the list; ``more`` counts the differences that aren't listed."""

    id: int
    at: datetime
    actor: str
    via: str
    action: str
    subject: str
    differences: tuple[Difference, ...]
    more: str
    ip_address: str


@dataclass(frozen=True, slots=True)
class AuditPage:
    """The list of entries."""

    rows: tuple[EntryRow, ...]
    summary: str
    caption: str


@dataclass(frozen=True, slots=True)
class EntryPage:
    """One entry with all its differences; ``subject_filter`` lists the subject's entries."""

    id: int
    url: str
    title: str
    heading: str
    at: datetime
    actor: str
    ip_address: str
    action: str
    subject_kind: str
    subject_name: str
    subject_id: str
    subject_filter: str
    differences: tuple[Difference, ...]


def make_audit_page(
    entries: Iterable[AuditEntry],
    *,
    counts: Counts = NONE_COUNTED,
    oldest_first: bool = False,
) -> AuditPage:
    """Return the page that lists ``entries``."""
    rows = tuple(_row(entry) for entry in entries)
    return AuditPage(
        rows=rows,
        summary=COUNT.of(counts),
        caption=text("Audit entries, oldest first")
        if oldest_first
        else text("Audit entries, newest first"),
    )


def make_entry_page(entry: AuditEntry, url: str) -> EntryPage:
    """Return the page of one entry, which is at ``url``."""
    return EntryPage(
        id=entry.id,
        url=url,
        title=text("Entry {id}", id=entry.id),
        heading=sentence(entry),
        at=entry.at,
        actor=who_did(entry),
        ip_address=entry.address,
        action=entry.action,
        subject_kind=subject_kind(entry.subject_type),
        subject_name=entry.subject_name,
        subject_id=entry.subject_id,
        subject_filter=f"{entry.subject_type}:{entry.subject_id}",
        differences=tuple(
            Difference(
                difference.field, difference.before or _NO_VALUE, difference.after or _NO_VALUE
            )
            for difference in _differences(entry)
        ),
    )


def subject_label(entries: Sequence[AuditEntry], subject: str) -> str:
    """Return the name of the subject that ``entries`` are filtered by, with its type."""
    if not entries:
        return subject
    entry = entries[0]
    values = {"kind": subject_kind(entry.subject_type), "id": entry.subject_id}
    if not entry.subject_name:
        return text("{kind} {id}", **values)
    return text("{kind} {name}", name=entry.subject_name, **values)


def _row(entry: AuditEntry) -> EntryRow:
    differences = [
        difference for difference in _differences(entry) if not _is_initially_off(difference)
    ]
    more = len(differences) - _LISTED_DIFFERENCES
    return EntryRow(
        id=entry.id,
        at=entry.at,
        actor=who_did(entry),
        via=text(_VIA.get(entry.actor_kind, "")),
        action=capitalize_first(what_was_done(entry)),
        subject=done_to(entry),
        differences=tuple(differences[:_LISTED_DIFFERENCES]),
        more=text("+{more:,} more", more=more) if more > 0 else "",
        ip_address=entry.address,
    )


def _differences(entry: AuditEntry) -> list[Difference]:
    return [
        Difference(
            _field(name),
            _value(name, entry.before.get(name)),
            _value(name, entry.after.get(name)),
        )
        for name in dict.fromkeys([*entry.before, *entry.after])
    ]


def _field(name: str) -> str:
    """Return the label of a recorded field; an unknown one is shown by its name."""
    label = _LABELS.get(name)
    return text(label) if label else capitalize_first(name.replace("_", " "))


def _value(name: str, value: object) -> str:
    """Return a field's value in words: ``Unconfirmed``, ``Customers only``, ``on``."""
    if name in _REASONS and isinstance(value, str):
        return reason_text(value)
    if isinstance(value, str) and value in _WORDS:
        return capitalize_first(text(_WORDS[value]))
    return setting_text(value)


_REASONS = ("message", "reason")
"""Fields whose values are sentences, stored in English."""

_WORDS: Mapping[str, str] = {
    OrderStatus.UNCONFIRMED: translatable("Unconfirmed"),
    OrderStatus.UNFULFILLED: translatable("Unfulfilled"),
    OrderStatus.FULFILLED: translatable("Fulfilled"),
    OrderStatus.CANCELED: translatable("Canceled"),
    PasswordLoginMode.ENABLED: translatable("Enabled"),
    PasswordLoginMode.CUSTOMERS_ONLY: translatable("Customers only"),
    PasswordLoginMode.DISABLED: translatable("Disabled"),
    KeyState.NEXT: translatable("next"),
    KeyState.ACTIVE: translatable("active"),
    KeyState.RETIRED: translatable("retired"),
}
"""Values that are shown as words."""


def _is_initially_off(difference: Difference) -> bool:
    """Return whether a field says nothing: a new thing's empty or disabled setting."""
    return not difference.before and difference.after in ("", text("off"))


_NAMES = {
    "q": translatable("Search"),
    "who": translatable("Actor"),
    "kind": translatable("Category"),
    "from": translatable("From"),
    "to": translatable("To"),
    "on": translatable("Subject"),
}


def _subject(text: str) -> tuple[str, str]:
    """Return the type and the ID in such as ``App:7``; a ``ValueError`` for what has none."""
    kind, _, key = text.partition(":")
    if not kind or not key:
        raise ValueError(text)
    return kind, key


_CONVERTERS: Mapping[str, Callable[[str], object]] = {
    "who": one_of(ACTORS),
    "kind": Topic,
    "from": day,
    "to": day,
    "on": _subject,
}
_COLUMNS = ("at", "who", "kind", "address", "action", "subject", "name", "before", "after")

blueprint = PageGroup(
    "audit",
    __name__,
    Entry(
        "Audit log",
        "journal-text",
        "changes history activity export",
        Heading.SECURITY,
        needs=list_entries,
    ),
    url_prefix="/audit",
)


@blueprint.get("/")
def index() -> BaseResponse:
    """List entries by time, with the filters and the order of the URL."""
    filter_ = _filter()
    found = list_entries(ports(), actor(), requested_page(), filter_)
    subject = request.args.get("on", "").strip()
    label = subject_label(found.items, subject)
    actors, topics = texts(ACTORS), texts(TOPICS)
    return page(
        "audit/index.html",
        audit=make_audit_page(found.items, counts=found.counts, oldest_first=filter_.oldest_first),
        turns=time_turns(found, oldest_first=filter_.oldest_first),
        params=query_params(*_NAMES, "sort"),
        filters=active_filters(
            texts(_NAMES), _CONVERTERS, {"who": actors, "kind": topics, "on": {subject: label}}
        ),
        actors=actors,
        topics=topics,
        sorts=texts(SORTS),
        longest=MAX_TEXT_LENGTH,
    )


@blueprint.get("/<key:key>")
def show(key: int) -> BaseResponse:
    """Show one entry with all its differences."""
    entry = show_entry(ports(), actor(), key)
    if entry is None:
        abort(404)
    url = full_url("console.audit.show", key=str(key))
    return page("audit/entry.html", entry=make_entry_page(entry, url))


@blueprint.get("/export.<any(csv, json):form>")
def export(form: str) -> BaseResponse:
    """Export every matching entry, streamed while it is read."""
    rows = started(export_entries(ports(), actor(), _filter()))
    if form == "json":
        return json_file("audit", rows)
    return csv_file("audit", _COLUMNS, map(_line, rows))


def _filter() -> AuditFilter:
    args = request.args
    subject, key = args.get("on", ("", ""), type=_subject)
    days = requested_days()
    return AuditFilter(
        actor_kind=args.get("who", "", type=one_of(ACTORS)),
        topic=args.get("kind", type=Topic),
        subject_type=subject,
        subject_id=key,
        since=days.gte,
        until=days.lte,
        text=args.get("q", "").strip()[:MAX_TEXT_LENGTH],
        oldest_first=args.get("sort") == "oldest",
    )


def _line(entry: AuditEntry) -> tuple[str, ...]:
    return (
        entry.at.isoformat(),
        entry.actor_name,
        entry.actor_kind,
        entry.address,
        entry.action,
        f"{entry.subject_type}:{entry.subject_id}",
        entry.subject_name,
        orjson.dumps(dict(entry.before), default=str).decode(),
        orjson.dumps(dict(entry.after), default=str).decode(),
    )
