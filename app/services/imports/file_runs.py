"""Begin and end imports of files."""

from dataclasses import asdict

from sqlalchemy import select

from app.domain.authorization.actor import Actor
from app.domain.imports.runs import ImportKind, RunReport
from app.domain.values.errors import Problem, Refused
from app.models import ImportRecord
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import part


@part
def begin_file_import(ports: Ports, source: str, *, dry_run: bool) -> int:
    """Return the ID of the import of ``source``, 0 in a dry run of a new one.

    Refuses UNIQUE for the name of a source of another kind.
    """
    now = ports.clock.now()
    query = select(ImportRecord).where(ImportRecord.source == source)
    database = ports.database
    with database.reading() if dry_run else database.transaction() as session:
        stored = session.scalar(query)
        if stored is not None and stored.kind != ImportKind.FILE.value:
            message = "{source} is the name of another import. Choose one with --source."
            raise Refused(Problem("UNIQUE", message, "--source", values={"source": source}))
        if dry_run:
            return 0 if stored is None else stored.id
        if stored is None:
            stored = ImportRecord(kind=ImportKind.FILE.value, source=source, started_at=now)
            session.add(stored)
        stored.last_run_at = now
        session.flush()
        return stored.id


@part
def end_file_import(ports: Ports, actor: Actor, import_id: int, result: RunReport) -> None:
    """Write the run's one entry into the audit log, unless it wrote nothing."""
    if result.dry_run:
        return
    after: dict[str, object] = {each.kind: asdict(each) for each in result.counts}
    after["findings"] = dict(result.findings)
    change = Change("import.run", "Import", import_id, result.source, after=after)
    with ports.database.transaction() as session:
        record(ports, actor, session, change)
