"""Update many rows by one prepared statement, without loading records."""

from sqlalchemy import BindParameter, bindparam, update
from sqlalchemy.orm import Session

from app.models import AddressRecord, AppExtensionRecord, AppRecord, AppTokenRecord
from app.services.authorization.register import part
from app.services.imports.sections import State

Updated = AddressRecord | AppRecord | AppTokenRecord | AppExtensionRecord


@part
def update_rows(session: Session, record: type[Updated], rows: dict[int, State]) -> None:
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
