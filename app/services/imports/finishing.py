"""End an import."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from app.domain.authorization.actor import Actor
from app.domain.imports.runs import ImportKind
from app.domain.passwords.imported_hashes import ImportedPasswordState
from app.domain.values.errors import Problem, Refused
from app.models import ImportedPasswordRecord, ImportedRowRecord, ImportRecord
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import internal
from app.services.imports.id_ranges import release_ids
from app.services.imports.platform import platform_sections


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
        session.execute(delete(ImportedRowRecord).where(ImportedRowRecord.import_id == stored.id))
        stored.finished_at = ports.clock.now()
        after = {"people": finished.people, "passwords_waiting": finished.passwords_waiting}
        change = Change("import.finish", "Import", stored.id, stored.source, after=after)
        record(ports, actor, session, change)
    return finished


def _find(session: Session, source: str | None) -> ImportRecord:
    query = select(ImportRecord).where(
        ImportRecord.finished_at.is_(None), ImportRecord.kind == ImportKind.PLATFORM.value
    )
    if source is not None:
        query = query.where(ImportRecord.source == source)
    found: Sequence[ImportRecord] = session.scalars(query).all()
    if len(found) == 1:
        return found[0]
    if not found:
        raise Refused(Problem("NOT_FOUND", "There is no unfinished import.", "--source"))
    message = "There are several unfinished imports: {sources}. Choose one with --source."
    values = {"sources": ", ".join(each.source for each in found)}
    raise Refused(Problem("REQUIRED", message, "--source", values=values))


def _count(session: Session, import_id: int) -> dict[str, int]:
    query = (
        select(ImportedPasswordRecord.state, func.count())
        .where(ImportedPasswordRecord.import_id == import_id)
        .group_by(ImportedPasswordRecord.state)
    )
    return {row[0]: row[1] for row in session.execute(query)}
