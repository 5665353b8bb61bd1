"""Insert or update many rows by one prepared statement, without loading records."""

from collections.abc import Mapping, Sequence

from sqlalchemy import BindParameter, bindparam, insert, update
from sqlalchemy.orm import Session

from app.models import AddressRecord, AppExtensionRecord, AppRecord, AppTokenRecord
from app.models.record import Record
from app.services.authorization.register import building_block


@building_block
def insert_rows(
    session: Session, record: type[Record], rows: Sequence[Mapping[str, object]]
) -> None:
    """Insert ``rows``, which all name the same columns."""
    if rows:
        session.connection().execute(insert(record), [dict(row) for row in rows])


Updated = AddressRecord | AppRecord | AppTokenRecord | AppExtensionRecord


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
