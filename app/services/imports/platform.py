"""Import a database of the platform, section by section, once or again; then end the import.

``SECTIONS`` lists what is imported, in the order in which rows refer to each other. Of each
section, new rows are created, changed ones updated, and those that the source no longer has
removed.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from app import models
from app.domain.authorization.actor import Actor
from app.domain.imports import runs
from app.domain.passwords.imported_hashes import ImportedPasswordState
from app.domain.values.errors import Problem, Refused, refuse_any
from app.ports import Ports
from app.ports.import_source import ImportSource, TableRow
from app.services.audit.log import Change, record
from app.services.authorization.register import building_block, internal
from app.services.imports.addresses import Addresses
from app.services.imports.apps import AppExtensions, Apps, AppTokens
from app.services.imports.bulk import opened_session
from app.services.imports.groups import Groups
from app.services.imports.ledger import (
    Entry,
    add_entries,
    find_entries,
    forget_entries,
    pages_of_keys,
    update_entries,
)
from app.services.imports.providers import LinkedAccounts, Providers, find_subject_key
from app.services.imports.runs import (
    NamedFindings,
    begin_run,
    end_run,
    find_import,
    release_ids,
    require_free_ids,
    reserve_ids,
)
from app.services.imports.sections import OnFinding, OnRows, Row, Run, Section
from app.services.imports.shop_settings import ShopSettings
from app.services.imports.users import Avatars, Users
from app.services.imports.webhooks import Webhooks


@building_block
def run_section(run: Run, section: Section) -> runs.Counts:
    """Import the rows of ``section``, a transaction a batch; return what became of them."""
    counts = runs.Counts(section.kind, section.title)
    total = section.count(run)
    _remove_vanished(run, section, counts)
    waiting: list[Row] = []
    for source_rows in section.batches(run):
        rows, left_out = _convert(run, section, source_rows)
        counts.left_out += len(left_out)
        if left_out and section.removes_left_out and run.import_id:
            with opened_session(run.ports, dry_run=run.options.dry_run) as session:
                _Batch(run, section, counts, session).remove(left_out)
        waiting += _import_rows(run, section, counts, rows, is_last=False)
        counts.read += len(source_rows)
        run.show(section.title, counts.read, total)
    _import_rows(run, section, counts, waiting, is_last=True)
    return counts


def _remove_vanished(run: Run, section: Section, counts: runs.Counts) -> None:
    """Remove the imported rows that the source no longer has, unless they were edited here."""
    if not run.import_id:
        return
    for keys in pages_of_keys(run.ports, run.import_id, section.kind):
        gone = sorted(set(keys) - section.keys_at_source(run, keys))
        if gone:
            with opened_session(run.ports, dry_run=run.options.dry_run) as session:
                _Batch(run, section, counts, session).remove(gone)


def _convert(
    run: Run, section: Section, source_rows: Sequence[TableRow]
) -> tuple[list[Row], list[int]]:
    """Return the rows to be imported, and the IDs at the source of those that aren't."""
    rows: list[Row] = []
    left_out: list[int] = []
    for source, converted in zip(source_rows, section.convert(run, source_rows), strict=True):
        for finding in converted.findings:
            run.report(finding)
        key = source["id"]
        if converted.value is not None:
            rows.append(converted.value)
        elif isinstance(key, int):
            left_out.append(key)
    return rows, left_out


def _import_rows(
    run: Run, section: Section, counts: runs.Counts, rows: Sequence[Row], *, is_last: bool
) -> Sequence[Row]:
    """Import converted rows; return those that have to wait for others."""
    if not rows:
        return ()
    with opened_session(run.ports, dry_run=run.options.dry_run) as session:
        batch = _Batch(run, section, counts, session)
        batch.plan(rows)
        waiting = batch.conflicts(is_last=is_last)
        batch.write()
        section.follow_up(run, session, batch.here)
    return waiting


@dataclass(slots=True)
class _Batch:
    """What becomes of the rows of one transaction.

    ``here`` are those that stay; ``noted`` are ledger entries of rows that need no update.
    """

    run: Run
    section: Section
    counts: runs.Counts
    session: Session
    create: list[Row] = field(default_factory=list)
    update: list[Row] = field(default_factory=list)
    here: list[Row] = field(default_factory=list)
    noted: list[Entry] = field(default_factory=list)

    def plan(self, rows: Sequence[Row]) -> None:
        """Decide what becomes of each of ``rows``."""
        entries = self._entries([row.key for row in rows])
        self._lock(
            row.key
            for row in rows
            if row.key in entries and entries[row.key].source != row.source_digest
        )
        present = self.section.current(self.run, self.session, list(entries)) if entries else {}
        for row in rows:
            entry = entries.get(row.key)
            if entry is None:
                self.create.append(row)
            elif row.key not in present:
                # It was deleted here, and stays deleted.
                self.counts.unchanged += 1
                self.run.leave_out(self.section.kind, row.key)
            else:
                self.here.append(row)
                if entry.source == row.source_digest:
                    self.counts.unchanged += 1
                else:
                    self._plan_change(row, entry, runs.digest_of(present[row.key]))

    def conflicts(self, *, is_last: bool) -> Sequence[Row]:
        """Take out rows that can't be written, and return them to be tried again.

        The last time, they are reported, and left out unless the section can change them.
        """
        rows = [*self.create, *self.update]
        found = self.section.conflicts(self.run, self.session, rows) if rows else {}
        if not found:
            return ()
        self.create = [row for row in self.create if row.key not in found]
        self.update = [row for row in self.update if row.key not in found]
        self.here = [row for row in self.here if row.key not in found]
        waiting = [row for row in rows if row.key in found]
        if not is_last:
            return waiting
        changed = []
        for row in waiting:
            self.run.report(found[row.key])
            writable = self.section.without_conflict(row, found[row.key])
            if writable is None:
                self.run.leave_out(self.section.kind, row.key)
                self.counts.left_out += 1
            else:
                changed.append(writable)
        self.plan(changed)
        return ()

    def write(self) -> None:
        """Write the rows and the ledger."""
        self.counts.created += len(self.create)
        self.counts.updated += len(self.update)
        if self.run.options.dry_run:
            return
        kind = self.section.kind
        if self.create:
            self.section.insert(self.run, self.session, self.create)
            add_entries(self.session, self.run.import_id, kind, list(map(_entry, self.create)))
        if self.update:
            self.section.update(self.run, self.session, self.update)
        update_entries(self.session, kind, [*map(_entry, self.update), *self.noted])

    def remove(self, keys: Sequence[int]) -> None:
        """Remove rows that were imported, unless they were edited here."""
        entries = self._entries(keys)
        self._lock(entries)
        present = self.section.current(self.run, self.session, list(entries)) if entries else {}
        edited = {key for key in present if runs.digest_of(present[key]) != entries[key].written}
        removed = sorted(present.keys() - edited)
        for key in removed:
            template = "The source no longer has it, so it was removed here."
            self._report(
                key, "REMOVED", template, runs.Outcome.LEFT_OUT, runs.name_of(present[key])
            )
        for key in sorted(edited):
            template = "The source no longer has it, but it was edited here and is kept."
            name = runs.name_of(present[key])
            self._report(key, "REMOVED_AND_EDITED", template, runs.Outcome.KEPT, name)
        self.counts.kept += len(edited)
        self.counts.removed += len(removed)
        if removed and not self.run.options.dry_run:
            self.section.remove(self.run, self.session, removed)
            forget_entries(self.session, self.section.kind, removed)

    def _plan_change(self, row: Row, entry: Entry, here: str) -> None:
        """Decide about a row that isn't as the source last had it; ``here`` is its digest now."""
        wanted = runs.digest_of(row.state)
        if here == entry.written:
            self.update.append(row)
        elif wanted in (entry.written, here):
            # The same as before, or as here, except for what isn't compared.
            self.counts.unchanged += 1
            self.noted.append(_entry(row))
        else:
            self.counts.kept += 1
            template = "It changed at the source, but it was edited here too. Ours was kept."
            key = row.key if row.source_key is None else row.source_key
            self._report(key, "EDITED_HERE", template, runs.Outcome.KEPT)

    def _lock(self, keys: Iterable[int]) -> None:
        """Lock these rows until the transaction ends, so that no edit is lost."""
        wanted = sorted(keys)
        if self.section.record is None or not wanted or self.run.options.dry_run:
            return
        key = self.section.record.__table__.c.id
        # In the order of others who lock several; rows that refer to them can be written.
        query = select(key).where(key.in_(wanted)).order_by(key)
        self.session.execute(query.with_for_update(key_share=True)).all()

    def _entries(self, keys: Sequence[int]) -> Mapping[int, Entry]:
        if not self.run.import_id:
            return {}
        return find_entries(self.session, self.run.import_id, self.section.kind, keys)

    def _report(
        self, key: int, code: str, template: str, outcome: runs.Outcome, name: str = ""
    ) -> None:
        self.run.report(runs.Finding(self.section.table, key, code, template, outcome, name=name))


def _entry(row: Row) -> Entry:
    return Entry(row.key, row.source_digest, runs.digest_of(row.state))


_FEW = 20
"""So many rows can be removed without a question."""


def _require_few_removals(run: Run, sections: Sequence[Section]) -> None:
    """Refuse MANY_REMOVED if the source lacks more than half of what was imported.

    ``RunOptions.allow_removals`` allows it.
    """
    if run.import_id and not run.options.allow_removals:
        refuse_any(*(_problem(run, section) for section in sections if section.record))


def _problem(run: Run, section: Section) -> Problem | None:
    query = select(func.count()).where(
        models.ImportedRow.kind == section.kind, models.ImportedRow.import_id == run.import_id
    )
    with run.ports.database.reading() as session:
        imported = session.scalar(query) or 0
    left = section.count(run)
    if imported - left <= _FEW or left * 2 >= imported:
        return None
    message = (
        "{imported} rows were imported from {table}, but the source has only {left}. Check that "
        "it's the right database. To remove the others here, pass --allow-removals."
    )
    values: dict[str, object] = {"imported": imported, "table": section.table, "left": left}
    return Problem("MANY_REMOVED", message, values=values)


@building_block
def platform_sections() -> tuple[Section, ...]:
    """Return everything that is imported from the platform, in order."""
    return (
        Groups(),
        Users(),
        Addresses(),
        Avatars(),
        Apps(),
        AppTokens(),
        AppExtensions(),
        Webhooks(),
        Providers(),
        LinkedAccounts(),
        ShopSettings(),
    )


@internal
def import_platform(
    ports: Ports,
    actor: Actor,
    url: str,
    options: runs.RunOptions,
    on_finding: OnFinding,
    on_rows: OnRows,
) -> runs.RunReport:
    """Import the platform's database at ``url``; what was imported before is brought up to date.

    Refuses ID_TAKEN for rows here that have the source's IDs, REQUIRED for a part without the one
    that it needs, MISSING for tables or columns that the source lacks, MANY_REMOVED if most rows
    are gone from the source, UNIQUE for the name of a file's import, and FINISHED after
    ``finish_import``, before anything is written. Raises ``UnreadableSource``.
    """
    findings: Counter[str] = Counter()

    def report(finding: runs.Finding) -> None:
        findings[finding.code] += 1
        named.add(finding)

    with ports.import_sources.open_platform(url) as source:
        named = NamedFindings(source, on_finding)
        sections = [each for each in platform_sections() if each.is_wanted(options.parts)]
        name = options.source or source.name
        run = Run(ports, source, options, name, _import_id(ports, name), report, on_rows)
        _require_columns(source, sections)
        _require_parts(run)
        _require_few_removals(run, sections)
        require_free_ids(run, sections)
        run.import_id = begin_run(
            ports,
            runs.ImportKind.PLATFORM,
            name,
            dry_run=options.dry_run,
            reserved_ids=options.reserve,
        )
        run.hidden_metadata |= {find_subject_key(source)} - {""}
        for section in sections:
            section.prepare(run)
        reserve_ids(run, sections)
        counts = tuple(run_section(run, section) for section in sections)
        named.flush()
        reserve_ids(run, sections)
        result = runs.RunReport(name, source.release, options.dry_run, counts, dict(findings))
    end_run(ports, actor, run.import_id, result)
    return result


def _import_id(ports: Ports, name: str) -> int:
    """Return the ID of the source's import, 0 if it is new; refuses FINISHED."""
    with ports.database.reading() as session:
        found = find_import(session, runs.ImportKind.PLATFORM, name)
        if found is None:
            return 0
        if found.finished_at is not None:
            message = "The import from {source} was finished. It can't be continued."
            raise Refused(Problem("FINISHED", message, values={"source": name}))
        return found.id


def _require_columns(source: ImportSource, sections: Sequence[Section]) -> None:
    refuse_any(*(_missing(source, section) for section in sections))


def _missing(source: ImportSource, section: Section) -> Problem | None:
    present = source.columns(section.table)
    values: dict[str, object] = {"table": section.table}
    if not present:
        return Problem("MISSING", "The source has no table {table}.", values=values)
    lacking = [name for name in section.required if name not in present]
    if not lacking:
        return None
    values["columns"] = ", ".join(lacking)
    message = "The source's table {table} lacks columns: {columns}."
    return Problem("MISSING", message, values=values)


def _require_parts(run: Run) -> None:
    parts = run.options.parts
    refuse_any(
        *(_lacking(run, each) for each in sorted(parts) if runs.NEEDS.get(each, each) not in parts)
    )


def _lacking(run: Run, wanted: runs.Part) -> Problem | None:
    needed = runs.NEEDS[wanted]
    kinds = [section.kind for section in platform_sections() if section.part is needed]
    query = select(models.ImportedRow.row_id).where(
        models.ImportedRow.import_id == run.import_id, models.ImportedRow.kind.in_(kinds)
    )
    with run.ports.database.reading() as session:
        if session.scalar(query.limit(1)) is not None:
            return None
    message = "To import {wanted}, import {needed} first, or pass --only {needed},{wanted}."
    values = {"wanted": wanted.value, "needed": needed.value}
    return Problem("REQUIRED", message, "--only", values=values)


@dataclass(frozen=True, slots=True)
class FinishedImport:
    """An import that has ended.

    ``passwords_waiting`` are imported passwords that weren't used to sign in yet, which goes on
    working; ``passwords_to_reset`` couldn't be imported.
    """

    source: str
    people: int
    passwords_waiting: int
    passwords_to_reset: int


@internal
def finish_import(ports: Ports, actor: Actor, source: str | None = None) -> FinishedImport:
    """End the import of ``source``, or the only one that hasn't ended.

    New rows then get IDs that were kept free, and the ledger of the import is emptied.
    Refuses NOT_FOUND on ``--source``.
    """
    with ports.database.transaction() as session:
        stored = _find(session, source)
        people = _count(session, stored.id)
        finished = FinishedImport(
            stored.source,
            people=sum(people.values()),
            passwords_waiting=people.get(ImportedPasswordState.IMPORTED.value, 0),
            passwords_to_reset=people.get(ImportedPasswordState.MUST_RESET.value, 0),
        )
        for section in platform_sections():
            release_ids(session, stored.id, section)
        session.execute(
            delete(models.ImportedRow).where(models.ImportedRow.import_id == stored.id)
        )
        stored.finished_at = ports.clock.now()
        after = {"people": finished.people, "passwords_waiting": finished.passwords_waiting}
        change = Change("import.finish", "Import", stored.id, stored.source, after=after)
        record(ports, actor, session, change)
    return finished


def _find(session: Session, source: str | None) -> models.Import:
    query = select(models.Import).where(
        models.Import.finished_at.is_(None), models.Import.kind == runs.ImportKind.PLATFORM.value
    )
    if source is not None:
        query = query.where(models.Import.source == source)
    found: Sequence[models.Import] = session.scalars(query).all()
    if len(found) == 1:
        return found[0]
    if not found:
        raise Refused(Problem("NOT_FOUND", "There is no unfinished import.", "--source"))
    message = "There are several unfinished imports: {sources}. Choose one with --source."
    values = {"sources": ", ".join(each.source for each in found)}
    raise Refused(Problem("REQUIRED", message, "--source", values=values))


def _count(session: Session, import_id: int) -> dict[str, int]:
    query = (
        select(models.ImportedPassword.state, func.count())
        .where(models.ImportedPassword.import_id == import_id)
        .group_by(models.ImportedPassword.state)
    )
    return {row[0]: row[1] for row in session.execute(query)}
