"""Import what ``flask export`` wrote, with its IDs."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import Any

from sqlalchemy import select, tuple_, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app import models
from app.domain.authorization.actor import Actor
from app.domain.imports import runs
from app.domain.imports.exports import HEADER, ExportLine, Section, read_export
from app.domain.values.errors import Problem, Refused
from app.ports import Ports
from app.services.authorization.register import internal
from app.services.imports import export_writing
from app.services.imports.bulk import opened_session
from app.services.imports.export_tables import TABLES, ExportedTable, tables_of
from app.services.imports.ledger import Entry, add_entries, find_entries
from app.services.imports.runs import begin_run, end_run, raise_sequence
from app.services.imports.sections import OnFinding, OnRows

OpenLines = Callable[[], Iterable[bytes]]
"""Returns the lines of the file from the first one on."""

_TABLES = {table.name: table for table in TABLES}
_ALL = frozenset(Section)
_OWNERS = {"user_id": "user", "group_id": "group", "app_id": "app"}
_SHOWN = 10
_CHECKED_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class ExportFileOptions:
    """How an export is imported; ``source`` names the file, so that a later run continues."""

    source: str
    sections: frozenset[Section] = _ALL
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class _Row:
    """A line as it is to be written; ``key`` is the ID, 0 for rows without one."""

    line: ExportLine
    key: int
    values: export_writing.Values
    lists: dict[str, list[str]]
    digest: str


@dataclass(slots=True)
class _Run:
    """``left_out`` are IDs of rows that aren't imported, by table."""

    ports: Ports
    options: ExportFileOptions
    report: OnFinding
    import_id: int = 0
    left_out: dict[str, set[int]] = field(default_factory=dict)

    def add(
        self, line: ExportLine, code: str, template: str, outcome: runs.Outcome, **values: object
    ) -> None:
        key = f"{line.number} ({line.name})"
        name = runs.name_of(line.fields)
        self.report(runs.Finding(self.options.source, key, code, template, outcome, values, name))


@internal
def import_export(
    ports: Ports,
    actor: Actor,
    open_lines: OpenLines,
    options: ExportFileOptions,
    on_finding: OnFinding,
    on_rows: OnRows,
) -> runs.RunReport:
    """Import an export with its IDs; rows that were imported from it before stay unchanged.

    Checks the whole file first. Refuses INVALID for one that is no complete export, ID_TAKEN for
    IDs that other rows have here, and UNIQUE for a source of another kind.
    """
    findings: Counter[str] = Counter()

    def report(finding: runs.Finding) -> None:
        findings[finding.code] += 1
        on_finding(finding)

    run = _Run(ports, options, report)
    totals, highest = _check(ports, open_lines, options)
    run.import_id = begin_run(ports, runs.ImportKind.FILE, options.source, dry_run=options.dry_run)
    if not options.dry_run:
        _reserve_ids(run, highest)
    counts = {
        table.name: runs.Counts(table.name, table.title) for table in tables_of(options.sections)
    }
    for name, lines in groupby(_rows(open_lines, options), lambda line: line.name):
        table, count = _TABLES[name], counts[name]
        while batch := [*islice(lines, table.batch)]:
            _import_batch(run, table, count, batch)
            on_rows(table.title, count.read, totals[name])
    if Section.SSO in options.sections and not options.dry_run:
        _renew_providers(run)
    shown = tuple(count for count in counts.values() if count.read)
    result = runs.RunReport(options.source, "", options.dry_run, shown, dict(findings))
    end_run(ports, actor, run.import_id, result)
    return result


def _rows(open_lines: OpenLines, options: ExportFileOptions) -> Iterator[ExportLine]:
    for line in read_export(options.source, open_lines()):
        if line.name != HEADER and _TABLES[line.name].section in options.sections:
            yield line


def _check(
    ports: Ports, open_lines: OpenLines, options: ExportFileOptions
) -> tuple[Counter[str], dict[str, int]]:
    """Check that the file is whole and its IDs are free.

    Returns the number of rows, and the highest ID, by table.
    """
    import_id = begin_run(ports, runs.ImportKind.FILE, options.source, dry_run=True)
    totals: Counter[str] = Counter()
    highest: dict[str, int] = {}
    position = 0
    order = [table.name for table in TABLES]
    taken: list[str] = []
    for name, lines in groupby(read_export(options.source, open_lines()), lambda line: line.name):
        if name != HEADER:
            if name not in order[position:]:
                message = "Line {line} of {file} is of an unknown type, or out of order."
                values = {"line": next(lines).number, "file": options.source}
                raise Refused(Problem("INVALID", message, values=values))
            position = order.index(name)
        table = _TABLES.get(name)
        while batch := [*islice(lines, _CHECKED_AT_ONCE)]:
            totals[name] += len(batch)
            if table is not None and table.has_ids and table.section in options.sections:
                keys = _keys_in_order(options.source, batch, highest.get(name, 0))
                highest[name] = keys[-1] if keys else highest.get(name, 0)
                taken += _conflicting_rows(ports, table, import_id, keys)
    if taken:
        message = (
            "Rows here have IDs of the export: {rows}. Import into an empty database, or delete "
            "what was created here."
        )
        rows = ", ".join(taken[:_SHOWN]) + (", …" if len(taken) > _SHOWN else "")
        raise Refused(Problem("ID_TAKEN", message, values={"rows": rows}))
    return totals, highest


def _keys_in_order(file: str, lines: Sequence[ExportLine], last: int) -> list[int]:
    """Return the IDs of rows, which an export has in order, so that none is there twice."""
    keys = []
    for line in lines:
        key = line.fields.get("id")
        if not export_writing.is_usable_key(key) or not isinstance(key, int):
            continue
        if key <= last:
            message = "Line {line} of {file} has an ID that isn't after the one before it."
            raise Refused(Problem("INVALID", message, values={"line": line.number, "file": file}))
        keys.append(last := key)
    return keys


def _conflicting_rows(
    ports: Ports, table: ExportedTable, import_id: int, keys: Collection[int]
) -> list[str]:
    record: Any = table.record
    imported = select(models.ImportedRow.row_id).where(
        models.ImportedRow.kind == table.name,
        models.ImportedRow.import_id == import_id,
        models.ImportedRow.row_id.in_(keys),
    )
    with ports.database.reading() as session:
        here = set(session.scalars(select(record.id).where(record.id.in_(keys))))
        here -= set(session.scalars(imported))
        if record is models.IdentityProvider:
            here -= set(session.scalars(export_writing.UNUSED_PROVIDERS))
    return [f"{table.name} {key}" for key in sorted(here)]


def _import_batch(
    run: _Run, table: ExportedTable, counts: runs.Counts, lines: Sequence[ExportLine]
) -> None:
    counts.read += len(lines)
    rows = [row for line in lines if (row := _read(run, table, line)) is not None]
    opened = opened_session(run.ports, dry_run=run.options.dry_run)
    with _contradictions_refused(run, lines), opened as session:
        wanted = _new_rows(run, session, table, counts, rows)
        counts.created += len(wanted)
        for row in wanted:
            _report_withheld(run, row)
        if wanted and not run.options.dry_run:
            written = [(_without_withheld(row), row.lists) for row in wanted]
            export_writing.insert_exported(run.ports, session, table, written, run.import_id)
            if table.name == "settings" or table.has_ids:
                entries = [Entry(row.key, row.digest, row.digest) for row in wanted]
                add_entries(session, run.import_id, table.name, entries)
    counts.left_out = counts.read - counts.created - counts.unchanged - counts.kept


@contextmanager
def _contradictions_refused(run: _Run, lines: Sequence[ExportLine]) -> Iterator[None]:
    try:
        yield
    except IntegrityError:
        message = (
            "Lines {first} to {last} of {file} contradict each other or existing rows: two are "
            "the same, or one belongs to a row that doesn't exist."
        )
        values = {"first": lines[0].number, "last": lines[-1].number, "file": run.options.source}
        raise Refused(Problem("INVALID", message, values=values)) from None


def _read(run: _Run, table: ExportedTable, line: ExportLine) -> _Row | None:
    """Return the row of a line; reports what can't be read."""
    try:
        values = export_writing.read_row(run.ports, table, line.fields)
        lists, unknown = export_writing.read_lists(table, line.fields)
    except export_writing.InvalidField as error:
        template = "{field} is missing or can't be read."
        run.add(line, "VALUE_INVALID", template, runs.Outcome.LEFT_OUT, field=str(error))
        _leave_out(run, table, line.fields.get("id"))
        return None
    if "permission" in values and not export_writing.is_known_permission(values["permission"]):
        unknown.append(values["permission"])
    for name in unknown:
        template = "{name} doesn't exist here."
        run.add(line, "NAME_UNKNOWN", template, runs.Outcome.LEFT_OUT, name=name[:80])
    if unknown and "permission" in values:
        return None
    digest = runs.digest_of({"fields": dict(line.fields), "withheld": list(line.withheld)})
    return _Row(line, values.get("id", 0), values, lists, digest)


def _leave_out(run: _Run, table: ExportedTable, key: object) -> None:
    if isinstance(key, int):
        run.left_out.setdefault(table.name, set()).add(key)


def _new_rows(
    run: _Run, session: Session, table: ExportedTable, counts: runs.Counts, rows: Sequence[_Row]
) -> list[_Row]:
    """Return the rows to write; reports those that can't be."""
    entries = find_entries(session, run.import_id, table.name, [row.key for row in rows])
    fresh = []
    for row in rows:
        entry = entries.get(row.key)
        if entry is None:
            fresh.append(row)
        elif entry.source == row.digest:
            counts.unchanged += 1
        else:
            counts.kept += 1
            template = "It was imported from this file before, and isn't updated."
            run.add(row.line, "CHANGED_IN_FILE", template, runs.Outcome.KEPT)
    fresh = _with_owners(run, session, table, fresh)
    if not table.has_ids and table.name != "settings":
        present = _present(session, table, fresh)
        counts.unchanged += sum(_place(table, row) in present for row in fresh)
        return [row for row in fresh if _place(table, row) not in present]
    free = []
    holders = export_writing.holders_of(session, table, [row.values for row in fresh])
    for row, holder in zip(fresh, holders, strict=True):
        if holder is None:
            free.append(row)
            continue
        _leave_out(run, table, row.key)
        template = "Row {holder} here has the same {fields}."
        names, key = holder
        values = {"holder": key, "fields": ", ".join(names)}
        run.add(row.line, "TAKEN", template, runs.Outcome.LEFT_OUT, **values)
    return free


def _place(table: ExportedTable, row: _Row) -> tuple[object, ...]:
    return tuple(row.values[name] for name in table.order)


def _present(
    session: Session, table: ExportedTable, rows: Sequence[_Row]
) -> set[tuple[object, ...]]:
    columns = [getattr(table.record, name) for name in table.order]
    places = [_place(table, row) for row in rows]
    query = select(*columns).where(tuple_(*columns).in_(places))
    return {tuple(row) for row in session.execute(query)}


def _with_owners(
    run: _Run, session: Session, table: ExportedTable, rows: Sequence[_Row]
) -> list[_Row]:
    """Return the rows whose person, group and app are imported or here; reports the others."""
    kept = list(rows)
    for column, owner in _OWNERS.items():
        if column not in table.fields:
            continue
        keys = {row.values[column] for row in kept}
        lacking = run.left_out.get(owner, set()) & keys
        if not (run.options.dry_run and _TABLES[owner].section in run.options.sections):
            lacking |= export_writing.missing_owners(session, _TABLES[owner], keys)
        for row in kept:
            if row.values[column] in lacking:
                template = "{owner} {key}, which it belongs to, isn't here."
                values = {"owner": owner, "key": row.values[column]}
                run.add(row.line, "OWNER_MISSING", template, runs.Outcome.LEFT_OUT, **values)
                _leave_out(run, table, row.key)
        kept = [row for row in kept if row.values[column] not in lacking]
    return kept


def _report_withheld(run: _Run, row: _Row) -> None:
    if not row.line.withheld:
        return
    if row.line.name == "user":
        template = "The export has no password of this person, who must set a new one."
        run.add(row.line, "PASSWORD_WITHHELD", template, runs.Outcome.MUST_RESET)
        return
    if row.line.name == "app":
        template = "The export lacks the app's private metadata."
        run.add(row.line, "METADATA_WITHHELD", template, runs.Outcome.LEFT_OUT)
        return
    template = "The export lacks {fields}, so it's imported disabled."
    fields = ", ".join(row.line.withheld)
    run.add(row.line, "SECRET_WITHHELD", template, runs.Outcome.DISABLED, fields=fields)


def _without_withheld(row: _Row) -> export_writing.Values:
    """Return the values to write: what lacks its secrets is disabled."""
    switches = {"webhook": "is_active", "provider": "active"}
    if row.line.withheld and row.line.name in switches:
        return {**row.values, switches[row.line.name]: False}
    return row.values


def _reserve_ids(run: _Run, highest: Mapping[str, int]) -> None:
    """Let new rows have IDs above those of the file, from the start on."""
    with run.ports.database.transaction() as session:
        for name, key in highest.items():
            raise_sequence(session, _TABLES[name].record, key)


def _renew_providers(run: _Run) -> None:
    """Let every process read the identity providers again."""
    with run.ports.database.transaction() as session:
        version = models.Shop.providers_version + 1
        session.execute(update(models.Shop).values(providers_version=version))
