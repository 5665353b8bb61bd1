"""Sessions of imports; inserts and updates of many rows, without loading records."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager

from sqlalchemy import BindParameter, bindparam, insert, update
from sqlalchemy.orm import Session

from app import models
from app.models.record import Record
from app.ports import Ports
from app.services.authorization.register import building_block


@building_block
def opened_session(ports: Ports, *, dry_run: bool) -> AbstractContextManager[Session]:
    """Return a transaction, or for a dry run a session that writes nothing."""
    return ports.database.reading() if dry_run else ports.database.transaction()


@building_block
def insert_rows(
    session: Session, record: type[Record], rows: Sequence[Mapping[str, object]]
) -> None:
    """Insert ``rows``, which all name the same columns."""
    if rows:
        session.connection().execute(insert(record), [dict(row) for row in rows])


Updated = models.Address | models.App | models.AppToken | models.AppExtension


@building_block
def update_rows(
    session: Session, record: type[Updated], rows: Mapping[int, Mapping[str, object]]
) -> None:
    """Write columns by key; all of ``rows`` name the same columns."""
    if not rows:
        return
    names = next(iter(rows.values())).keys()
    change = update(record).where(record.id == bindparam("row_key"))
    values = [
        {"row_key": key, **{f"new_{name}": value for name, value in state.items()}}
        for key, state in rows.items()
    ]
    new: dict[str, BindParameter[object]] = {name: bindparam(f"new_{name}") for name in names}
    session.connection().execute(change.values(new), values)
