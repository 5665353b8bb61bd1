"""Where an imported account came from, and what became of its password."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select

from app.domain.passwords.imported_hashes import ImportedPasswordState
from app.models import ImportedPasswordRecord, ImportRecord, UserRecord
from app.ports import NamedRow
from app.services.authorization.register import part


@dataclass(frozen=True, slots=True)
class AccountOrigin:
    """The import that an account came with, and what has become of the imported password.

    ``imported_at`` is when the import began. ``replaced_at`` is when a sign-in replaced the
    password's hash.
    """

    source: str
    imported_at: datetime
    password: ImportedPasswordState
    replaced_at: datetime | None = None


ORIGIN_COLUMNS = (
    ImportRecord.source.label("origin_source"),
    ImportRecord.started_at.label("origin_imported_at"),
    ImportedPasswordRecord.state.label("origin_password"),
    ImportedPasswordRecord.replaced_at.label("origin_replaced_at"),
)
"""What ``read_origin`` reads."""


@part
def with_origin(query: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
    """Join what a query of users with ``ORIGIN_COLUMNS`` needs."""
    password = ImportedPasswordRecord
    return query.outerjoin(password, password.user_id == UserRecord.id).outerjoin(
        ImportRecord, ImportRecord.id == password.import_id
    )


@part
def read_origin(row: NamedRow) -> AccountOrigin | None:
    """Return the origin of the user in the row, ``None`` for one that was created here."""
    if row.origin_source is None:
        return None
    return AccountOrigin(
        row.origin_source,
        row.origin_imported_at,
        ImportedPasswordState(row.origin_password),
        row.origin_replaced_at,
    )
