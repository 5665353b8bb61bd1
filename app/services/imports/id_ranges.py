"""IDs of imported rows: free ones at the start, and sequences that stay above the source's."""

from collections.abc import Iterable, Sequence

from sqlalchemy import column, func, insert, select, table, text, update
from sqlalchemy.orm import Session

from app.domain.values.errors import Problem, refuse_any
from app.models.record import Record
from app.services.authorization.register import part
from app.services.imports.ledger import foreign_rows
from app.services.imports.sections import Run, Section

_SEQUENCES = table("sqlite_sequence", column("name"), column("seq"))


@part
def require_free_ids(run: Run, sections: Iterable[Section]) -> None:
    """Refuse ID_TAKEN if a row that wasn't imported has an ID that the source can have."""
    with run.ports.database.reading() as session:
        problems = [_problem(run, section, session) for section in sections]
    refuse_any(*problems)


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


@part
def raise_sequence(session: Session, record: type[Record], least: int) -> None:
    """Give new rows IDs above ``least`` and above every ID that is there."""
    name = record.__tablename__
    highest = session.scalar(select(func.max(record.__table__.columns.id))) or 0
    wanted = max(least, highest)
    if session.get_bind().dialect.name == "sqlite":
        _raise_on_sqlite(session, name, wanted)
        return
    sequence = session.scalar(select(func.pg_get_serial_sequence(name, "id")))
    if sequence is not None and wanted:
        last = session.scalar(text(f"SELECT last_value FROM {sequence}")) or 0  # noqa: S608
        session.execute(select(func.setval(sequence, max(wanted, last))))


@part
def lower_sequence(session: Session, record: type[Record]) -> None:
    """Give new rows the IDs that follow the highest that is there."""
    name = record.__tablename__
    highest = session.scalar(select(func.max(record.__table__.columns.id))) or 0
    if session.get_bind().dialect.name == "sqlite":
        session.execute(update(_SEQUENCES).where(_SEQUENCES.c.name == name).values(seq=highest))
        return
    sequence = session.scalar(select(func.pg_get_serial_sequence(name, "id")))
    if sequence is not None:
        session.execute(select(func.setval(sequence, max(highest, 1), highest > 0)))


@part
def reserve_ids(run: Run, sections: Sequence[Section]) -> None:
    """Keep IDs above the source's highest free for rows that the source will have later."""
    if run.options.dry_run:
        return
    with run.ports.database.transaction() as session:
        for section in sections:
            if section.record is not None:
                raise_sequence(session, section.record, section.reserved_until(run))


def _raise_on_sqlite(session: Session, name: str, wanted: int) -> None:
    of_table = _SEQUENCES.c.name == name
    last = session.scalar(select(_SEQUENCES.c.seq).where(of_table))
    if last is None:
        session.execute(insert(_SEQUENCES).values(name=name, seq=wanted))
    elif last < wanted:
        session.execute(update(_SEQUENCES).where(of_table).values(seq=wanted))
