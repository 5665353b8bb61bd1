"""Read the audit log: a page, one entry, or all for an export; and prune old entries."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path

from sqlalchemy import ColumnElement, Select, delete, false, func, literal, or_, select, union_all
from sqlalchemy.orm import Session

from app import models
from app.domain import audit
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.imports.exports import line_of
from app.domain.urls.web_urls import masked_url
from app.domain.values.errors import Problem, Refused
from app.domain.values.installation import OnProgress, ignore_progress
from app.domain.values.pages import Page, PageRequest, Range, empty_page, every_item, with_items
from app.ports import NamedRow, Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import (
    building_block,
    internal,
    lists_from_replica,
    requires_person,
    staff_only,
)
from app.services.lists.filters import can_match, contains_text, in_range
from app.services.lists.paging import Order, columns_for, read_by_keys, read_page, record_from

_log = models.AuditEntry
_COLUMNS = columns_for(audit.AuditEntry, models.AuditEntry)
_BY_TIME = (_log.at, _log.id)
_EXPORTED_AT_ONCE = 500
_DELETED_AT_ONCE = 1000
_NO_SYNC = {"synchronize_session": False}
_IS_LASTING = _log.own_profile == false()
_ALL = audit.AuditFilter()


_NAMED = {
    "App": (models.App.id, models.App.name),
    "Channel": (models.Channel.id, models.Channel.name),
    "Group": (models.Group.id, models.Group.name),
    "User": (models.User.id, models.User.email),
    "Webhook": (models.Webhook.id, models.Webhook.name),
}
"""Key and name of the records that entries refer to, by type."""


def _entries(ports: Ports, _actor: Actor, keys: Collection[int]) -> tuple[audit.AuditEntry, ...]:
    found = read_by_keys(ports, select(*_COLUMNS), _log.id, keys, _entry)
    with ports.database.reading() as session:
        return _with_names(session, found)


@lists_from_replica(_entries)
@requires_person(Permission.MANAGE_STAFF)
def list_entries(
    ports: Ports, actor: Actor, page: PageRequest, filter_: audit.AuditFilter = _ALL
) -> Page[audit.AuditEntry]:
    """Entries, by their time; a second statement reads the names of what they refer to.

    Refuses INVALID on ``text`` for a long one.

    A text is looked for in the newest 10,000 entries that the other filters leave.
    """
    words = (filter_.action, filter_.actor_kind, filter_.subject_type, filter_.subject_id)
    if not can_match(filter_.text, audit.MAX_TEXT_LENGTH, "text", *words):
        return empty_page()  # no entry can hold that
    order = Order(_BY_TIME, descending=not filter_.oldest_first)
    with ports.database.reading() as session:
        whole = select(_log.id).where(*_profile_conditions(filter_))
        found = read_page(ports, session, _query(filter_), order, page, _entry, whole)
        return with_items(found, _with_names(session, found.items))


@requires_person(Permission.MANAGE_STAFF)
def show_entry(ports: Ports, actor: Actor, entry_id: int) -> audit.AuditEntry | None:
    """Return the entry of that key; ``None`` for none."""
    with ports.database.reading() as session:
        row = session.execute(select(*_COLUMNS).where(_log.id == entry_id)).one_or_none()
        return None if row is None else _with_names(session, (_entry(row),))[0]


@requires_person(Permission.MANAGE_STAFF)
def export_entries(
    ports: Ports, actor: Actor, filter_: audit.AuditFilter = _ALL
) -> Iterator[audit.AuditEntry]:
    """Return every matching entry in the list's order, reading a few hundred at a time.

    Refuses as ``list_entries`` does, when the first is requested.
    """
    return every_item(lambda page: list_entries(ports, actor, page, filter_), _EXPORTED_AT_ONCE)


@dataclass(frozen=True, slots=True)
class LastChange:
    """Who changed something last, and when; ``entry`` is the key of its entry."""

    entry: int
    at: datetime
    actor_name: str
    is_own: bool


_MANAGERS: Mapping[str, tuple[Permission, ...]] = {
    "App": (Permission.MANAGE_APPS,),
    "Channel": (Permission.MANAGE_CHANNELS,),
    "Group": (Permission.MANAGE_STAFF,),
    "IdentityProvider": (Permission.MANAGE_PLUGINS,),
    "MailTemplate": (Permission.MANAGE_SETTINGS,),
    "Shop": (Permission.MANAGE_SETTINGS,),
    "User": (Permission.MANAGE_STAFF, Permission.MANAGE_USERS),
    "Webhook": (Permission.MANAGE_APPS,),
}
"""Who edits things of a type, and so can be told who edited them too."""


@staff_only
def last_change(
    ports: Ports, actor: Actor, subject_type: str, subject_id: str
) -> LastChange | None:
    """Return who changed a thing last, for someone who manages such things or has changed it.

    ``None`` without an entry, and for a change by someone else that isn't the caller's business.
    """
    newest = (column.desc() for column in _BY_TIME)
    of_subject = (_log.subject_type == subject_type, _log.subject_id == subject_id)
    columns = (_log.id, _log.at, _log.actor_name, _log.actor_user_id)
    with ports.database.reading() as session:
        found = select(*columns).where(*of_subject).order_by(*newest).limit(1)
        row = session.execute(found).one_or_none()
    if row is None:
        return None
    is_own = row.actor_user_id is not None and row.actor_user_id == actor.user_id
    if not is_own and not any(map(actor.holds, _MANAGERS.get(subject_type, ()))):
        return None
    return LastChange(row.id, row.at, row.actor_name, is_own)


@building_block
def last_entries(
    session: Session, number: int, condition: ColumnElement[bool] = _IS_LASTING
) -> tuple[audit.AuditEntry, ...]:
    """Return the newest entries, by default all but customers' changes of their own profile."""
    newest = (column.desc() for column in _BY_TIME)
    found = select(*_COLUMNS).where(condition).order_by(*newest).limit(number)
    return tuple(map(_entry, session.execute(found)))


@dataclass(frozen=True, slots=True)
class Pruned:
    """How many entries were deleted, and how many bytes of them were exported before."""

    entries: int
    exported: int | None = None


@internal
def count_before(ports: Ports, actor: Actor, before: datetime) -> int:
    """Return how many entries ``prune_entries`` would delete."""
    older = select(func.count()).where(_log.at < before)
    with ports.database.reading() as session:
        return session.scalar(older) or 0


@internal
def prune_entries(
    ports: Ports,
    actor: Actor,
    before: datetime,
    file: Path | None,
    on_progress: OnProgress = ignore_progress,
) -> Pruned:
    """Write the entries from before ``before`` to ``file`` as JSON Lines, then delete them.

    ``None`` exports nothing. The log gets an entry about it. Refuses INVALID on ``before`` for the
    last day, ALREADY_EXISTS on ``export`` for a file that exists; raises ``ExportFailed``.
    """
    if before > ports.clock.now() - audit.PRUNED_AFTER:
        raise Refused(
            Problem("INVALID", "Entries of the last 24 hours can't be pruned.", "before")
        )
    if file is not None and file.exists():
        raise Refused(Problem("ALREADY_EXISTS", "This file exists. Name a new one.", "export"))
    total = count_before(ports, actor, before)
    exported = None if file is None else ports.private_files.write(file, _lines(ports, before))
    after = {"before": before.isoformat(), "entries": total, "exported": file is not None}
    if total:
        with ports.database.transaction() as session:
            record(
                ports, actor, session, Change("audit.prune", "Shop", models.SHOP_ID, after=after)
            )
    return Pruned(delete_entries(ports, before, total, on_progress), exported)


@building_block
def delete_entries(
    ports: Ports, before: datetime, total: int = 0, on_progress: OnProgress = ignore_progress
) -> int:
    """Delete the entries from before ``before``, in small transactions; return their number."""
    old = select(_log.id).where(_log.at < before).order_by(*_BY_TIME)
    some = delete(_log).where(_log.id.in_(old.limit(_DELETED_AT_ONCE))).returning(_log.id)
    deleted = 0
    while True:
        with ports.database.transaction() as session:
            gone = len(session.scalars(some, execution_options=_NO_SYNC).all())
        deleted += gone
        on_progress(deleted, max(total, deleted))
        if gone < _DELETED_AT_ONCE:
            return deleted


def _lines(ports: Ports, before: datetime) -> Iterator[str]:
    with ports.snapshots.snapshot() as session:
        older = select(*_COLUMNS).where(_log.at < before).order_by(*_BY_TIME)
        rows = session.execute(older.execution_options(yield_per=_EXPORTED_AT_ONCE))
        for row in rows:
            fields = asdict(_entry(row))
            del fields["names"]
            yield line_of("audit_entry", fields)


@building_block
def names_of(session: Session, *values: Mapping[str, object]) -> audit.Names:
    """Return the names of the records that recorded ``values`` refer to, in one statement."""
    keys: dict[str, set[int]] = {kind: set() for kind in _NAMED}
    for name, kind in audit.REFERENCES.items():
        for side in values:
            held = side.get(name)
            found = held if isinstance(held, list) else [held]
            keys[kind] |= {key for key in found if isinstance(key, int)}
    queries = [
        select(literal(kind), key, name).where(key.in_(keys[kind]))
        for kind, (key, name) in _NAMED.items()
        if keys[kind]
    ]
    if not queries:
        return {}
    return {(kind, key): name for kind, key, name in session.execute(union_all(*queries))}


def _with_names(
    session: Session, entries: Sequence[audit.AuditEntry]
) -> tuple[audit.AuditEntry, ...]:
    names = names_of(session, *(side for one in entries for side in (one.before, one.after)))
    return tuple(replace(entry, names=names) for entry in entries) if names else tuple(entries)


def _query(filter_: audit.AuditFilter) -> Select[*tuple[object, ...]]:
    query: Select[*tuple[object, ...]] = select(*_COLUMNS).where(*_conditions(filter_))
    text = filter_.text.strip()
    if not text:
        return query
    newest = (column.desc() for column in _BY_TIME)
    # Bounded: whatever is looked for, the trail is never read from end to end.
    near = select(_log.id).where(*_conditions(filter_)).order_by(*newest).limit(audit.MAX_SEARCHED)
    searched = (_log.actor_name, _log.subject_name, _log.address, _log.action)
    holds_text = or_(*(contains_text(column, text) for column in searched))
    return query.where(_log.id.in_(near), holds_text)


def _conditions(filter_: audit.AuditFilter) -> list[ColumnElement[bool]]:
    equal = {
        _log.actor_user_id: filter_.user_id,
        _log.actor_app_id: filter_.app_id,
        _log.actor_kind: filter_.actor_kind or None,
        _log.action: filter_.action or None,
        _log.subject_type: filter_.subject_type or None,
        _log.subject_id: filter_.subject_id or None,
    }
    conditions = [column == value for column, value in equal.items() if value is not None]
    if filter_.topic is not None:
        words = (f"{word}." for word in filter_.topic.beginnings)
        conditions.append(or_(*(_log.action.startswith(one, autoescape=True) for one in words)))
    conditions += in_range(_log.at, Range(filter_.since, filter_.until))
    return [*conditions, *_profile_conditions(filter_)]


def _profile_conditions(filter_: audit.AuditFilter) -> list[ColumnElement[bool]]:
    is_wanted = filter_.own_profile or filter_.user_id is not None or filter_.subject_id
    return [] if is_wanted else [_IS_LASTING]


def _entry(row: NamedRow) -> audit.AuditEntry:
    is_url = row.subject_type == "Webhook" and "://" in row.subject_name
    return record_from(
        audit.AuditEntry,
        row,
        before=_without_keys(row.before),
        after=_without_keys(row.after),
        names={},
        subject_name=masked_url(row.subject_name) if is_url else row.subject_name,
    )


def _without_keys(values: Mapping[str, object]) -> Mapping[str, object]:
    """Return ``values`` without keys in an endpoint's URL, which were recorded once."""
    url = values.get("target_url")
    return {**values, "target_url": masked_url(url)} if isinstance(url, str) else values
