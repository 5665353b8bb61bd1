"""The audit log: who changed what, from where; filtered, and exported as CSV or JSON."""

from collections.abc import Callable, Mapping

import orjson
from flask import abort, request
from werkzeug.wrappers import Response as BaseResponse

from app.console.exports import csv_file, json_file, started
from app.console.lists import (
    active_filters,
    query_params,
    requested_days,
    requested_page,
    time_turns,
)
from app.console.navigation import Entry, Heading, PageGroup
from app.console.page_layout import full_url, page
from app.console.security.audit_page import (
    ACTORS,
    SORTS,
    TOPICS,
    make_audit_page,
    make_entry_page,
    subject_label,
)
from app.console.session import actor, ports
from app.domain.audit.entries import MAX_TEXT_LENGTH, AuditEntry, AuditFilter, Topic
from app.domain.values.text import translatable
from app.services.audit.entries import export_entries, list_entries, show_entry
from app.web.converters import day, one_of
from app.web.translation import texts

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
