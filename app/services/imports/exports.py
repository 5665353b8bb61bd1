"""Write people, groups, apps, webhooks and settings as JSON Lines."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Row, Select, String, collate, func, select, tuple_
from sqlalchemy.orm import Session

from app.domain.authorization.actor import Actor
from app.domain.imports.exports import (
    END,
    WITHHELD,
    ExportHeader,
    Section,
    line_of,
    without_secret_headers,
)
from app.domain.values.installation import VERSION, ExportFailed, OnProgress, ignore_progress
from app.ports import Ports
from app.ports.keys import DecryptionError
from app.services.audit.log import Change, record
from app.services.authorization.register import internal
from app.services.imports.export_tables import ExportedTable, ListOf, tables_of
from app.services.webhooks.stored_webhooks import decrypted_headers

_ALL = frozenset(Section)
_COLLATIONS = {"sqlite": "BINARY", "postgresql": "C"}
"""By code points on both, so that exports of both databases have the same order."""

_UNREADABLE = (
    "The {field} of {type} {key} can't be read: it was encrypted with another SECRET_KEY. "
    "Add that key to SECRET_KEY_FALLBACKS, or set a new {field}."
)


@internal
def export_installation(
    ports: Ports,
    actor: Actor,
    sections: Collection[Section] = _ALL,
    *,
    with_secrets: bool = False,
    on_progress: OnProgress = ignore_progress,
) -> Iterator[str]:
    """Yield the lines of an export of this moment, while others work; memory stays flat.

    Secrets are password hashes, tokens of apps, secrets of webhooks and providers, and headers
    of webhooks that look like credentials. Raises ``ExportFailed`` for one that can't be read.
    """
    chosen = frozenset(sections)
    tables = [table for table in tables_of(chosen) if with_secrets or not table.is_secret]
    _record(ports, actor, chosen, with_secrets=with_secrets)
    header = ExportHeader(
        VERSION,
        ports.clock.now(),
        tuple(section for section in Section if section in chosen),
        with_secrets,
    )
    yield header.as_line()
    done = 0
    with ports.snapshots.snapshot() as session:
        total = sum(_count(session, table) for table in tables)
        for table in tables:
            for rows in _batches(session, table):
                yield from _lines(ports, session, table, rows, with_secrets=with_secrets)
                done += len(rows)
                on_progress(done, total)
    yield line_of(END, {"lines": done})


def _record(
    ports: Ports, actor: Actor, sections: frozenset[Section], *, with_secrets: bool
) -> None:
    after = {"sections": sorted(sections), "with_secrets": with_secrets}
    with ports.database.transaction() as session:
        record(ports, actor, session, Change("export.create", "Export", "", after=after))


def _count(session: Session, table: ExportedTable) -> int:
    return session.scalar(select(func.count()).select_from(table.record)) or 0


def _batches(session: Session, table: ExportedTable) -> Iterator[Sequence[Row[Any]]]:
    columns = [getattr(table.record, name) for name in table.fields]
    places = [table.fields.index(name) for name in table.order]
    collation = _COLLATIONS[session.get_bind().dialect.name]
    keys = [_ordered(columns[place], collation) for place in places]
    query: Select[Any] = select(*columns).order_by(*keys).limit(table.batch)
    last: tuple[object, ...] | None = None
    while True:
        after = query if last is None else query.where(tuple_(*keys) > tuple_(*last))
        rows = session.execute(after).all()
        if rows:
            yield rows
        if len(rows) < table.batch:
            return
        last = tuple(rows[-1][place] for place in places)


def _ordered(column: Any, collation: str) -> Any:
    return collate(column, collation) if isinstance(column.type, String) else column


def _lines(
    ports: Ports,
    session: Session,
    table: ExportedTable,
    rows: Sequence[Row[Any]],
    *,
    with_secrets: bool,
) -> Iterator[str]:
    lists = {list_.name: _lists(session, list_, rows) for list_ in table.lists}
    for row in rows:
        fields = dict(zip(table.names, row, strict=True))
        lists_of_row = {name: values.get(row.id, []) for name, values in lists.items()}
        if with_secrets:
            fields |= _decrypted(ports, table, fields)
        else:
            fields = _without_secrets(ports, table, fields)
        yield line_of(table.name, fields | lists_of_row)


def _lists(session: Session, list_: ListOf, rows: Sequence[Row[Any]]) -> dict[int, list[str]]:
    query = (
        select(list_.owner, list_.value)
        .where(list_.owner.between(rows[0].id, rows[-1].id))
        .order_by(list_.owner)
    )
    found: dict[int, list[str]] = {}
    for owner, value in session.execute(query):
        found.setdefault(owner, []).append(value)
    # Not by the database: its order of texts depends on its locale.
    return {owner: sorted(values) for owner, values in found.items()}


def _decrypted(ports: Ports, table: ExportedTable, fields: Mapping[str, Any]) -> dict[str, object]:
    opened: dict[str, object] = {}
    for name, purpose in table.encrypted.items():
        if fields[name]:
            try:
                opened[name] = ports.encryption.decrypt(purpose, fields[name])
            except DecryptionError as error:
                message = _UNREADABLE.format(field=name, type=table.name, key=fields["id"])
                raise ExportFailed(message) from error
    if table.headers:
        opened[table.headers] = _headers(ports, table, fields["id"], fields[table.headers])
    return opened


def _headers(
    ports: Ports, table: ExportedTable, key: int, headers: Mapping[str, object]
) -> Mapping[str, str]:
    try:
        return decrypted_headers(ports, headers)
    except DecryptionError as error:
        message = _UNREADABLE.format(field=table.headers, type=table.name, key=key)
        raise ExportFailed(message) from error


def _without_secrets(
    ports: Ports, table: ExportedTable, fields: Mapping[str, Any]
) -> dict[str, object]:
    kept = {name: fields[name] for name in fields if name not in table.secrets}
    withheld = [name for name in table.secrets if fields[name]]
    if table.headers:
        headers, names = without_secret_headers(fields[table.headers])
        try:
            kept[table.headers] = decrypted_headers(ports, headers)
        except DecryptionError:
            kept[table.headers], names = {}, tuple(sorted(fields[table.headers]))
        withheld += [f"{table.headers}.{name}" for name in names]
    return kept | {WITHHELD: withheld} if withheld else kept
