"""Begin and end runs of imports, with room for the source's IDs."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace

from sqlalchemy import column, func, insert, select, table, text, update
from sqlalchemy.orm import Session

from app import models
from app.domain.authorization.actor import Actor
from app.domain.imports.apps import APPS
from app.domain.imports.people import ADDRESSES, LINKS, USERS
from app.domain.imports.runs import Finding, ImportKind, RunReport, name_of, naming_columns
from app.domain.values.errors import Problem, Refused, refuse_any
from app.models.record import Record
from app.ports import Ports
from app.ports.import_source import ImportSource
from app.services.audit.log import Change, record
from app.services.authorization.register import building_block
from app.services.imports.bulk import opened_session
from app.services.imports.ledger import find_markers, foreign_rows, set_markers
from app.services.imports.sections import OnFinding, Run, Section

_NAMED_AT_ONCE = 500
_OWNERS = {"user_id": USERS, "app_id": APPS}


class NamedFindings:
    """Passes findings on with the names of their rows, which it reads some hundred at a time.

    What has no name of its own gets that of its person or app.
    """

    def __init__(self, source: ImportSource, pass_on: OnFinding) -> None:
        self._source = source
        self._pass_on = pass_on
        self._waiting: list[Finding] = []

    def add(self, finding: Finding) -> None:
        """Take a finding, to be passed on later; ``flush`` passes on the last ones."""
        self._waiting.append(finding)
        if len(self._waiting) >= _NAMED_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Pass on what waits, in the order in which it came."""
        keys: dict[str, set[int]] = {}
        for finding in self._waiting:
            if not finding.name and isinstance(finding.key, int):
                keys.setdefault(finding.table, set()).add(finding.key)
        names = {table: self._names(table, wanted) for table, wanted in keys.items()}
        for finding in self._waiting:
            name = finding.name or names.get(finding.table, {}).get(finding.key, "")
            self._pass_on(replace(finding, name=name))
        self._waiting.clear()

    def _names(self, table: str, keys: Collection[int]) -> Mapping[object, str]:
        key, table = ("address_id", LINKS) if table == ADDRESSES else ("id", table)
        present = self._source.columns(table)
        owners = [column for column in _OWNERS if column in present]
        columns = list(dict.fromkeys((key, *naming_columns(present), *owners)))
        rows = self._source.matching(table, columns, key, keys)
        names = {row[key]: name_of(row) for row in rows}
        for owned_by in owners:
            of_owner = {row[key]: row[owned_by] for row in rows if not names[row[key]]}
            found = {owner for owner in of_owner.values() if isinstance(owner, int)}
            if found:
                owner_names = self._names(_OWNERS[owned_by], found)
                names |= {row: owner_names.get(of_owner[row], "") for row in of_owner}
        return names


@building_block
def find_import(session: Session, kind: ImportKind, source: str) -> models.Import | None:
    """Return the import of ``source``; refuses UNIQUE for the name of a source of another kind."""
    stored = session.scalar(select(models.Import).where(models.Import.source == source))
    if stored is not None and stored.kind != kind.value:
        message = "{source} is the name of another import. Choose one with --source."
        raise Refused(Problem("UNIQUE", message, "--source", values={"source": source}))
    return stored


@building_block
def begin_run(
    ports: Ports, kind: ImportKind, source: str, *, dry_run: bool, reserved_ids: int = 0
) -> int:
    """Write that a run began; return the import's ID, 0 in a dry run of a new source.

    Refuses UNIQUE as ``find_import`` does.
    """
    now = ports.clock.now()
    with opened_session(ports, dry_run=dry_run) as session:
        stored = find_import(session, kind, source)
        if dry_run:
            return 0 if stored is None else stored.id
        if stored is None:
            stored = models.Import(kind=kind.value, source=source, started_at=now)
            session.add(stored)
        stored.last_run_at = now
        stored.reserved_ids = reserved_ids
        session.flush()
        return stored.id


@building_block
def end_run(ports: Ports, actor: Actor, import_id: int, result: RunReport) -> None:
    """Write the run's one entry into the audit log, unless it wrote nothing."""
    if result.dry_run:
        return
    after: dict[str, object] = {each.kind: asdict(each) for each in result.counts}
    after["findings"] = dict(result.findings)
    change = Change("import.run", "Import", import_id, result.source, after=after)
    with ports.database.transaction() as session:
        record(ports, actor, session, change)


_SEQUENCES = table("sqlite_sequence", column("name"), column("seq"))


@building_block
def require_free_ids(run: Run, sections: Iterable[Section]) -> None:
    """Refuse ID_TAKEN if a row that wasn't imported has an ID that the source can have."""
    with run.ports.database.reading() as session:
        problems = [_problem(run, section, session) for section in sections]
        if any(problems) and not run.import_id:
            problems.append(_other_name(session))
    refuse_any(*problems)


def _other_name(session: Session) -> Problem | None:
    """Return a hint if another import goes on: it may be of the same platform."""
    going_on = select(models.Import.source).where(models.Import.finished_at.is_(None))
    sources = session.scalars(going_on).all()
    if not sources:
        return None
    template = "If this platform was imported as {sources}, pass that as --source."
    return Problem("ID_TAKEN", template, values={"sources": ", ".join(sources)})


def _problem(run: Run, section: Section, session: Session) -> Problem | None:
    if section.record is None:
        return None
    highest = section.highest_id(run)
    count, first = foreign_rows(session, run.import_id, section.kind, section.record, highest)
    if not count:
        return None
    template = (
        "{title}: {count} row here has an ID up to {highest}, which the source can use: {ids}. "
        "Import into an empty database, or delete what was created here."
    )
    plural = (
        "{title}: {count} rows here have IDs up to {highest}, which the source can use: {ids}. "
        "Import into an empty database, or delete what was created here."
    )
    ids = ", ".join(map(str, first)) + (", …" if count > len(first) else "")
    values = {"title": section.title, "count": count, "highest": highest, "ids": ids}
    return Problem("ID_TAKEN", template, values=values, plural=plural)


@building_block
def reserve_ids(run: Run, sections: Sequence[Section]) -> None:
    """Keep IDs above the source's highest free for rows that the source will have later."""
    if run.options.dry_run:
        return
    with run.ports.database.transaction() as session:
        for section in sections:
            if section.record is not None:
                _reserve(session, run, section, section.record)


@building_block
def raise_sequence(session: Session, record: type[Record], least: int) -> int:
    """Give new rows IDs above ``least``, every ID that is there, and every one given before.

    Returns the ID after which they begin.
    """
    highest = session.scalar(select(func.max(record.__table__.columns.id))) or 0
    last = _last(session, record)
    wanted = max(least, highest, last)
    if wanted != last:
        _set_last(session, record, wanted)
    return wanted


@building_block
def release_ids(session: Session, import_id: int, section: Section) -> None:
    """Give new rows the IDs after the highest one, unless some were created above the reserve.

    An ID that a deleted row had is never given again.
    """
    if section.record is None:
        return
    bound, floor = find_markers(session, import_id, *_names(section))
    if bound is not None and bound == _last(session, section.record):
        highest = session.scalar(select(func.max(section.record.__table__.columns.id))) or 0
        _set_last(session, section.record, max(highest, floor or 0))


def _names(section: Section) -> tuple[str, str]:
    """Return the names of what is remembered of a sequence.

    They are its value when IDs were last reserved, and the highest ID that was given here before.
    """
    return f"bound.{section.kind}", f"floor.{section.kind}"


def _reserve(session: Session, run: Run, section: Section, record: type[Record]) -> None:
    names = _names(section)
    bound, floor = find_markers(session, run.import_id, *names)
    last = _last(session, record)
    if bound is None or last != bound:
        floor = last
    wanted = raise_sequence(session, record, section.reserved_until(run))
    if not last == wanted == bound:
        keys = (wanted, floor or 0)
        set_markers(session, run.import_id, dict(zip(names, keys, strict=True)))


def _last(session: Session, record: type[Record]) -> int:
    """Return the ID that was given last, 0 for none."""
    if session.get_bind().dialect.name == "sqlite":
        of_table = _SEQUENCES.c.name == record.__tablename__
        return session.scalar(select(_SEQUENCES.c.seq).where(of_table)) or 0
    name = session.scalar(select(func.pg_get_serial_sequence(record.__tablename__, "id")))
    query = text(f"SELECT last_value, is_called FROM {name}")  # noqa: S608 - the database's own name
    row = session.execute(query).one()
    return int(row.last_value) if row.is_called else 0


def _set_last(session: Session, record: type[Record], last: int) -> None:
    if session.get_bind().dialect.name != "sqlite":
        name = func.pg_get_serial_sequence(record.__tablename__, "id")
        session.execute(select(func.setval(name, max(last, 1), last > 0)))
        return
    of_table = _SEQUENCES.c.name == record.__tablename__
    changed = update(_SEQUENCES).where(of_table).values(seq=last)
    if not session.execute(changed.returning(_SEQUENCES.c.seq)).all():
        session.execute(insert(_SEQUENCES).values(name=record.__tablename__, seq=last))
