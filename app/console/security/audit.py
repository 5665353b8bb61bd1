"""Audit: who changed what, from where; looked through, filtered, taken away as CSV or JSON."""

import csv
import io
from collections.abc import Iterator, Mapping

import orjson
from flask import Response, abort, request, stream_with_context
from werkzeug.wrappers import Response as BaseResponse

from app.console.formatting import setting_text
from app.console.lists import asked_days, asked_page, tags, time_turns, told
from app.console.navigation import Entry, Heading, PageGroup
from app.console.page_layout import page
from app.console.security.audit_sentences import done_to, what_was_done, who_did
from app.console.session import actor, ports
from app.domain.audit.entries import MAX_TEXT_LENGTH, AuditEntry, AuditFilter, Topic
from app.domain.single_sign_on.provider_settings import SETTINGS
from app.services.audit.entries import export_entries, list_entries, show_entry
from app.web.converters import one_of

_NAMES = {"q": "Text", "who": "Who", "kind": "What", "from": "From", "to": "To", "on": "About"}
_KINDS = {"user": "People", "app": "Apps", "operator": "Whoever runs the server"}
_TOPICS: Mapping[str, str] = {
    Topic.DOORS: "Doors",
    Topic.APPS: "Apps and webhooks",
    Topic.PEOPLE: "People",
    Topic.KEYS: "Keys",
    Topic.SALES: "Products and orders",
}
_LABELS = {setting.name: setting.label for setting in SETTINGS}
_COLUMNS = ("at", "who", "kind", "address", "action", "subject", "name", "before", "after")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")

blueprint = PageGroup(
    "audit",
    __name__,
    Entry("Audit", "journal-text", "changes history log export", Heading.SECURITY),
    url_prefix="/audit",
)


@blueprint.get("/")
def index() -> BaseResponse:
    """Entries by their time, as the address narrows and turns them."""
    wanted = _wanted()
    found = list_entries(ports(), actor(), asked_page(), wanted)
    return page(
        "audit/index.html",
        found=found,
        turns=time_turns(found, oldest_first=wanted.oldest_first),
        told=told(*_NAMES, "sort"),
        tags=tags(_NAMES, {"who": _KINDS, "kind": _TOPICS}),
        kinds=_KINDS,
        topics=_TOPICS,
        longest=MAX_TEXT_LENGTH,
        who_did=who_did,
        what_was_done=what_was_done,
        done_to=done_to,
        differences=_telling,
    )


@blueprint.get("/<key:key>")
def show(key: int) -> BaseResponse:
    """One entry, whole."""
    entry = show_entry(ports(), actor(), key)
    if entry is None:
        abort(404)
    return page(
        "audit/entry.html",
        entry=entry,
        who_did=who_did,
        what_was_done=what_was_done,
        done_to=done_to,
        differences=differences,
    )


@blueprint.get("/export.<any(csv, json):form>")
def export(form: str) -> BaseResponse:
    """Every entry that the filter leaves, sent while it is read."""
    entries = export_entries(ports(), actor(), _wanted())
    first = next(entries, None)
    rows = _with(first, entries)
    lines = _csv(rows) if form == "csv" else _json(rows)
    kind = "text/csv; charset=utf-8" if form == "csv" else "application/json"
    return Response(
        stream_with_context(lines),
        content_type=kind,
        headers={"Content-Disposition": f'attachment; filename="audit.{form}"'},
    )


def differences(entry: AuditEntry) -> list[tuple[str, str, str]]:
    """What differs, field by field: its name, what it was, what it became."""
    names = list(dict.fromkeys([*entry.before, *entry.after]))
    return [
        (
            _LABELS.get(name) or name.replace("_", " ").capitalize(),
            setting_text(entry.before.get(name)),
            setting_text(entry.after.get(name)),
        )
        for name in names
    ]


def _telling(entry: AuditEntry) -> list[tuple[str, str, str]]:
    """The differences that say something: what is off or empty from its beginning does not."""
    return [found for found in differences(entry) if found[1] or found[2] not in ("", "off")]


def _wanted() -> AuditFilter:
    args = request.args
    subject, _, key = args.get("on", "").partition(":")
    wanted_days = asked_days()
    return AuditFilter(
        actor_kind=args.get("who", "", type=one_of(_KINDS)),
        topic=args.get("kind", type=Topic),
        subject_type=subject if key else "",
        subject_id=key,
        since=wanted_days.gte,
        until=wanted_days.lte,
        text=args.get("q", "").strip()[:MAX_TEXT_LENGTH],
        oldest_first=args.get("sort") == "oldest",
    )


def _with(first: AuditEntry | None, others: Iterator[AuditEntry]) -> Iterator[AuditEntry]:
    if first is not None:
        yield first
        yield from others


def _csv(entries: Iterator[AuditEntry]) -> Iterator[str]:
    yield _csv_line(_COLUMNS)
    for entry in entries:
        yield _csv_line(
            (
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
        )


def _csv_line(values: tuple[str, ...]) -> str:
    line = io.StringIO()
    # A spreadsheet would run what begins like a formula (OWASP, CSV injection).
    safe = [f"'{value}" if value.startswith(_FORMULA) else value for value in values]
    csv.writer(line).writerow(safe)
    return line.getvalue()


def _json(entries: Iterator[AuditEntry]) -> Iterator[bytes]:
    before = b"[\n"
    for entry in entries:
        yield before + orjson.dumps(entry, default=str)
        before = b",\n"
    yield b"[]\n" if before == b"[\n" else b"\n]\n"
