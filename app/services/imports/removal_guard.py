"""Keep a later run from removing most of what was imported, as from a wrong or empty database."""

from collections.abc import Sequence

from sqlalchemy import func, select

from app.domain.values.errors import Problem, refuse_any
from app.models import ImportedRowRecord
from app.services.authorization.register import part
from app.services.imports.sections import Run, Section

_FEW = 20
"""So many rows can be removed without a question."""


@part
def require_few_removals(run: Run, sections: Sequence[Section]) -> None:
    """Refuse MANY_REMOVED if more than half of what was imported is gone from the source.

    ``RunOptions.allow_removals`` allows it.
    """
    if run.import_id and not run.options.allow_removals:
        refuse_any(*(_problem(run, section) for section in sections if section.record))


def _problem(run: Run, section: Section) -> Problem | None:
    query = select(func.count()).where(
        ImportedRowRecord.kind == section.kind, ImportedRowRecord.import_id == run.import_id
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
    values: dict[str, object] = {
        "imported": imported,
        "table": section.table,
        "left": left,
    }
    return Problem("MANY_REMOVED", message, values=values)
