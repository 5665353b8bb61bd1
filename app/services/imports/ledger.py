"""The ledger: which rows were imported, and as what."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, delete, exists, func, select, update
from sqlalchemy.orm import Session

from app import models
from app.models.record import Record
from app.ports import Ports
from app.services.authorization.register import building_block
from app.services.imports.bulk import insert_rows

_PAGE = 5_000
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Entry:
    """What the ledger holds of a row."""

    key: int
    source: str
    written: str


@building_block
def find_entries(
    session: Session, import_id: int, kind: str, keys: Collection[int]
) -> Mapping[int, Entry]:
    """Return the entries of these keys."""
    query = select(
        models.ImportedRow.row_id,
        models.ImportedRow.source_digest,
        models.ImportedRow.written_digest,
    ).where(
        models.ImportedRow.kind == kind,
        models.ImportedRow.import_id == import_id,
        models.ImportedRow.row_id.in_(keys),
    )
    return {row[0]: Entry(*row) for row in session.execute(query)}


@building_block
def add_entries(session: Session, import_id: int, kind: str, entries: Sequence[Entry]) -> None:
    """Write entries of rows that were imported for the first time."""
    values = [_values(import_id, kind, entry) for entry in entries]
    insert_rows(session, models.ImportedRow, values)


def _values(import_id: int, kind: str, entry: Entry) -> dict[str, object]:
    return {
        "kind": kind,
        "row_id": entry.key,
        "import_id": import_id,
        "source_digest": entry.source,
        "written_digest": entry.written,
    }


@building_block
def update_entries(session: Session, kind: str, entries: Sequence[Entry]) -> None:
    """Write entries of rows that were imported again."""
    change = (
        update(models.ImportedRow)
        .where(models.ImportedRow.kind == kind, models.ImportedRow.row_id == bindparam("key"))
        .values(source_digest=bindparam("source"), written_digest=bindparam("written"))
    )
    values = [
        {"key": entry.key, "source": entry.source, "written": entry.written} for entry in entries
    ]
    if values:
        session.connection().execute(change, values)


@building_block
def forget_entries(session: Session, kind: str, keys: Collection[int]) -> None:
    """Delete entries of rows that the source no longer has."""
    session.execute(
        delete(models.ImportedRow).where(
            models.ImportedRow.kind == kind, models.ImportedRow.row_id.in_(keys)
        )
    )


@building_block
def find_markers(session: Session, import_id: int, *names: str) -> list[int | None]:
    """Return the IDs that the import remembers under ``names``."""
    kinds = [f"{name}:{import_id}" for name in names]
    query = select(models.ImportedRow.kind, models.ImportedRow.row_id).where(
        models.ImportedRow.kind.in_(kinds)
    )
    found = {row[0]: row[1] for row in session.execute(query)}
    return [found.get(kind) for kind in kinds]


@building_block
def set_markers(session: Session, import_id: int, markers: Mapping[str, int]) -> None:
    """Remember IDs under the names of ``markers``."""
    keys = {f"{name}:{import_id}": key for name, key in markers.items()}
    session.execute(delete(models.ImportedRow).where(models.ImportedRow.kind.in_(keys)))
    insert_rows(
        session,
        models.ImportedRow,
        [_values(import_id, kind, Entry(key, "", "")) for kind, key in keys.items()],
    )


@building_block
def pages_of_keys(ports: Ports, import_id: int, kind: str) -> Iterator[Sequence[int]]:
    """Yield the keys of all rows of ``kind`` that were imported, in order."""
    last = -1
    while True:
        query = (
            select(models.ImportedRow.row_id)
            .where(
                models.ImportedRow.kind == kind,
                models.ImportedRow.import_id == import_id,
                models.ImportedRow.row_id > last,
            )
            .order_by(models.ImportedRow.row_id)
            .limit(_PAGE)
        )
        with ports.database.reading() as session:
            keys = session.scalars(query).all()
        if not keys:
            return
        yield keys
        last = keys[-1]


@building_block
def foreign_rows(
    session: Session, import_id: int, kind: str, record: type[Record], highest: int
) -> tuple[int, Sequence[int]]:
    """Return how many rows here have an ID up to ``highest`` but no entry, and the first ten."""
    key = record.__table__.c.id
    imported = exists().where(
        models.ImportedRow.kind == kind,
        models.ImportedRow.import_id == import_id,
        models.ImportedRow.row_id == key,
    )
    foreign = select(key).where(key <= highest, ~imported)
    first = session.scalars(foreign.order_by(key).limit(_SHOWN)).all()
    if len(first) < _SHOWN:
        return len(first), first
    count = session.scalar(select(func.count()).select_from(foreign.subquery())) or 0
    return count, first
