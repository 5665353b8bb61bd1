"""Read the audit log: a page, one entry, or all for an export."""

from collections.abc import Iterator

from sqlalchemy import ColumnElement, Select, or_, select
from sqlalchemy.orm import Session

from app.domain.audit.entries import MAX_SEARCHED, MAX_TEXT_LENGTH, AuditEntry, AuditFilter
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import Problem, Refused
from app.domain.values.pages import Page, PageRequest, empty_page, read_cursor
from app.domain.values.text_rules import is_storable
from app.models import AuditRecord
from app.ports import NamedRow, Ports
from app.services.authorization.register import part, requires_person
from app.services.lists.paging import Order, read_page
from app.services.lists.records import record_from
from app.services.lists.substring_search import contains_text

_COLUMNS = (
    AuditRecord.id,
    AuditRecord.at,
    AuditRecord.actor_kind,
    AuditRecord.actor_user_id,
    AuditRecord.actor_app_id,
    AuditRecord.actor_name,
    AuditRecord.address,
    AuditRecord.action,
    AuditRecord.subject_type,
    AuditRecord.subject_id,
    AuditRecord.subject_name,
    AuditRecord.before,
    AuditRecord.after,
)
"""The fields of ``AuditEntry``."""

_BY_TIME = (AuditRecord.at, AuditRecord.id)
_EXPORTED_AT_ONCE = 500
_ALL = AuditFilter()


@requires_person(Permission.MANAGE_STAFF)
def list_entries(
    ports: Ports, actor: Actor, page: PageRequest, wanted: AuditFilter = _ALL
) -> Page[AuditEntry]:
    """Entries, by their time; one statement. Refuses INVALID on ``text`` for a long one.

    A text is looked for in the newest 10,000 entries that the other filters leave.
    """
    if len(wanted.text) > MAX_TEXT_LENGTH:
        message = "Use at most {max_text_length} characters."
        raise Refused(
            Problem("INVALID", message, "text", values={"max_text_length": MAX_TEXT_LENGTH})
        )
    words = (wanted.action, wanted.actor_kind, wanted.subject_type, wanted.subject_id, wanted.text)
    if not is_storable("".join(words)):
        return empty_page()  # no entry can hold that
    order = Order(_BY_TIME, descending=not wanted.oldest_first)
    with ports.database.reading() as session:
        return read_page(ports, session, _query(wanted), order, page, _entry)


@requires_person(Permission.MANAGE_STAFF)
def show_entry(ports: Ports, actor: Actor, entry_id: int) -> AuditEntry | None:
    """The entry of that key; ``None`` for none."""
    with ports.database.reading() as session:
        row = session.execute(select(*_COLUMNS).where(AuditRecord.id == entry_id)).one_or_none()
    return None if row is None else _entry(row)


@requires_person(Permission.MANAGE_STAFF)
def export_entries(ports: Ports, actor: Actor, wanted: AuditFilter = _ALL) -> Iterator[AuditEntry]:
    """Yield every matching entry in the list's order, reading a few hundred at a time.

    Refuses as ``list_entries`` does, when the first is requested.
    """
    cursor: tuple[str | int, ...] = ()
    while True:
        page = list_entries(ports, actor, PageRequest(_EXPORTED_AT_ONCE, cursor=cursor), wanted)
        yield from page.items
        if not page.has_next:
            return
        cursor = read_cursor(page.cursors[-1], "after")


@part
def last_entries(session: Session, number: int) -> tuple[AuditEntry, ...]:
    """The newest entries."""
    newest = (column.desc() for column in _BY_TIME)
    return tuple(map(_entry, session.execute(select(*_COLUMNS).order_by(*newest).limit(number))))


def _query(wanted: AuditFilter) -> Select[*tuple[object, ...]]:
    query: Select[*tuple[object, ...]] = select(*_COLUMNS).where(*_conditions(wanted))
    text = wanted.text.strip()
    if not text:
        return query
    newest = (column.desc() for column in _BY_TIME)
    # Bounded: whatever is looked for, the trail is never read from end to end.
    near = select(AuditRecord.id).where(*_conditions(wanted)).order_by(*newest).limit(MAX_SEARCHED)
    searched = (
        AuditRecord.actor_name,
        AuditRecord.subject_name,
        AuditRecord.address,
        AuditRecord.action,
    )
    return query.where(
        AuditRecord.id.in_(near),
        or_(*(contains_text(column, text) for column in searched)),
    )


def _conditions(wanted: AuditFilter) -> list[ColumnElement[bool]]:
    equal = {
        AuditRecord.actor_user_id: wanted.user_id,
        AuditRecord.actor_app_id: wanted.app_id,
        AuditRecord.actor_kind: wanted.actor_kind or None,
        AuditRecord.action: wanted.action or None,
        AuditRecord.subject_type: wanted.subject_type or None,
        AuditRecord.subject_id: wanted.subject_id or None,
    }
    conditions = [column == value for column, value in equal.items() if value is not None]
    if wanted.topic is not None:
        words = wanted.topic.beginnings
        conditions.append(
            or_(*(AuditRecord.action.startswith(f"{word}.", autoescape=True) for word in words))
        )
    if wanted.since is not None:
        conditions.append(AuditRecord.at >= wanted.since)
    if wanted.until is not None:
        conditions.append(AuditRecord.at <= wanted.until)
    return conditions


def _entry(row: NamedRow) -> AuditEntry:
    return record_from(AuditEntry, row)
