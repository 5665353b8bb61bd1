"""Run one section: what is new is created, what changed is updated, what is gone is removed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.domain.imports.runs import Counts, Finding, Outcome, digest_of
from app.ports.import_source import TableRow
from app.services.authorization.register import part
from app.services.imports.ledger import (
    Entry,
    add_entries,
    find_entries,
    forget_entries,
    pages_of_keys,
    update_entries,
)
from app.services.imports.sections import Row, Run, Section


@part
def run_section(run: Run, section: Section) -> Counts:
    """Import the rows of ``section``, a transaction a batch; return what became of them."""
    counts = Counts(section.kind, section.title)
    total = section.count(run)
    _remove_vanished(run, section, counts)
    waiting: list[Row] = []
    for source_rows in section.batches(run):
        rows, left_out = _convert(run, section, source_rows)
        counts.left_out += len(left_out)
        if left_out and section.removes_left_out and run.import_id:
            with _transaction(run) as session:
                _Batch(run, section, counts, session).remove(left_out)
        waiting += _import_rows(run, section, counts, rows, is_last=False)
        counts.read += len(source_rows)
        run.show(section.title, counts.read, total)
    _import_rows(run, section, counts, waiting, is_last=True)
    return counts


def _remove_vanished(run: Run, section: Section, counts: Counts) -> None:
    """Remove the imported rows that the source no longer has, unless they were edited here."""
    if not run.import_id:
        return
    for keys in pages_of_keys(run.ports, run.import_id, section.kind):
        gone = sorted(set(keys) - section.keys_at_source(run, keys))
        if gone:
            with _transaction(run) as session:
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
    run: Run, section: Section, counts: Counts, rows: Sequence[Row], *, is_last: bool
) -> Sequence[Row]:
    """Import converted rows; return those that have to wait for others."""
    if not rows:
        return ()
    with _transaction(run) as session:
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
    counts: Counts
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
                    self._plan_change(row, entry, digest_of(present[row.key]))

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
        edited = {key for key in present if digest_of(present[key]) != entries[key].written}
        removed = sorted(present.keys() - edited)
        for key in removed:
            template = "The source no longer has it, so it was removed here."
            self._report(key, "REMOVED", template, Outcome.LEFT_OUT)
        for key in sorted(edited):
            template = "The source no longer has it, but it was edited here and is kept."
            self._report(key, "REMOVED_AND_EDITED", template, Outcome.KEPT)
        self.counts.kept += len(edited)
        self.counts.removed += len(removed)
        if removed and not self.run.options.dry_run:
            self.section.remove(self.run, self.session, removed)
            forget_entries(self.session, self.section.kind, removed)

    def _plan_change(self, row: Row, entry: Entry, here: str) -> None:
        """Decide about a row that isn't as the source last had it; ``here`` is its digest now."""
        wanted = digest_of(row.state)
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
            self._report(key, "EDITED_HERE", template, Outcome.KEPT)

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

    def _report(self, key: int, code: str, template: str, outcome: Outcome) -> None:
        self.run.report(Finding(self.section.table, key, code, template, outcome))


def _entry(row: Row) -> Entry:
    return Entry(row.key, row.source_digest, digest_of(row.state))


@contextmanager
def _transaction(run: Run) -> Iterator[Session]:
    database = run.ports.database
    with database.reading() if run.options.dry_run else database.transaction() as session:
        yield session
