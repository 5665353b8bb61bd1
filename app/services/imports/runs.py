"""Begin and end the runs of imports, from platforms and from files."""

from dataclasses import asdict

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.domain.authorization.actor import Actor
from app.domain.imports.runs import ImportKind, RunReport
from app.domain.values.errors import Problem, Refused
from app.models import ImportRecord
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import part


@part
def find_import(session: Session, kind: ImportKind, source: str) -> ImportRecord | None:
    """Return the import of ``source``; refuses UNIQUE for the name of a source of another kind."""
    stored = session.scalar(select(ImportRecord).where(ImportRecord.source == source))
    if stored is not None and stored.kind != kind.value:
        message = "{source} is the name of another import. Choose one with --source."
        raise Refused(Problem("UNIQUE", message, "--source", values={"source": source}))
    return stored


@part
def begin_run(
    ports: Ports, kind: ImportKind, source: str, *, dry_run: bool, reserved_ids: int = 0
) -> int:
    """Write that a run began; return the import's ID, 0 in a dry run of a new source.

    Refuses UNIQUE as ``find_import`` does.
    """
    now = ports.clock.now()
    database = ports.database
    with database.reading() if dry_run else database.transaction() as session:
        stored = find_import(session, kind, source)
        if dry_run:
            return 0 if stored is None else stored.id
        if stored is None:
            stored = ImportRecord(kind=kind.value, source=source, started_at=now)
            session.add(stored)
        stored.last_run_at = now
        stored.reserved_ids = reserved_ids
        session.flush()
        return stored.id


@part
def end_run(ports: Ports, actor: Actor, import_id: int, result: RunReport) -> None:
    """Write the run's one entry into the audit log, unless it wrote nothing."""
    if result.dry_run:
        return
    after: dict[str, object] = {each.kind: asdict(each) for each in result.counts}
    after["findings"] = dict(result.findings)
    change = Change("import.run", "Import", import_id, result.source, after=after)
    with ports.database.transaction() as session:
        record(ports, actor, session, change)
