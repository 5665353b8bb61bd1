"""Insert many rows by one prepared statement, without loading records."""

from collections.abc import Mapping, Sequence

from sqlalchemy import insert
from sqlalchemy.orm import Session

from app.models.record import Record
from app.services.authorization.register import part


@part
def insert_rows(
    session: Session, record: type[Record], rows: Sequence[Mapping[str, object]]
) -> None:
    """Insert ``rows``, which all name the same columns."""
    if rows:
        session.connection().execute(insert(record), [dict(row) for row in rows])
