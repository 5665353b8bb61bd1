"""Write rows of an export."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import delete, select, tuple_, update
from sqlalchemy.orm import Session

from app.domain.passwords.imported_hashes import (
    ImportedPassword,
    ImportedPasswordState,
    classify,
)
from app.models import (
    AddressRecord,
    AppRecord,
    IdentityProviderRecord,
    ImportedPasswordRecord,
    ShopRecord,
    UserRecord,
    WebhookRecord,
)
from app.models.shop import SHOP_ID
from app.models.user_words import write_user_words
from app.ports import Ports
from app.services.authorization.register import part
from app.services.imports.bulk import insert_rows
from app.services.imports.export_values import Values
from app.services.imports.exported_table import ExportedTable
from app.services.imports.people_writing import password_values

Holder = tuple[tuple[str, ...], int]
"""The columns that are equal, and the key of the row here."""

UNUSED_PROVIDERS = select(IdentityProviderRecord.id).where(
    IdentityProviderRecord.active.is_(False), IdentityProviderRecord.client_id == ""
)
"""Providers that were never set up: a new database has one, which an import replaces."""

_FOUND_BY_WORDS = (AppRecord, WebhookRecord)


@part
def insert_exported(
    ports: Ports,
    session: Session,
    table: ExportedTable,
    rows: Sequence[tuple[Values, Mapping[str, list[str]]]],
    import_id: int,
) -> None:
    """Insert rows and their lists; the settings replace those that are here."""
    values = [each for each, _lists in rows]
    if table.record is ShopRecord:
        session.execute(update(ShopRecord).where(ShopRecord.id == SHOP_ID).values(values[-1]))
    elif table.record is UserRecord:
        _insert_users(session, values, import_id)
    elif table.record in _FOUND_BY_WORDS:
        # Their words are written with the record.
        session.add_all(table.record(**each) for each in values)
        session.flush()
    else:
        if table.record is IdentityProviderRecord:
            _delete_unused_providers(session, values)
        insert_rows(session, table.record, _alike(values))
        if table.record is AddressRecord:
            write_user_words(session.connection(), {each["user_id"] for each in values})
    for list_ in table.lists:
        owner, value = list_.owner.key, list_.value.key
        entries = [
            {owner: each["id"], value: name} for each, lists in rows for name in lists[list_.name]
        ]
        insert_rows(session, list_.owner.class_, entries)


@part
def holders_of(
    session: Session, table: ExportedTable, rows: Sequence[Values]
) -> list[Holder | None]:
    """Return for each row which row here has its email, name or the like; ``None`` for none."""
    holders: list[Holder | None] = [None] * len(rows)
    record: Any = table.record
    for names in table.unique:
        columns = [getattr(record, name) for name in names]
        places = [tuple(row[name] for name in names) for row in rows]
        wanted = [place for place in places if any(place)]
        query = select(record.id, *columns).where(tuple_(*columns).in_(wanted))
        here = {tuple(found[1:]): found[0] for found in session.execute(query)} if wanted else {}
        for index, place in enumerate(places):
            holder = here.get(place)
            if holder is not None and holder != rows[index]["id"] and holders[index] is None:
                holders[index] = (names, holder)
    return holders


@part
def missing_owners(session: Session, table: ExportedTable, keys: Collection[int]) -> set[int]:
    """Return those of ``keys`` that no row of ``table`` has here."""
    record: Any = table.record
    return set(keys) - set(session.scalars(select(record.id).where(record.id.in_(keys))))


def _delete_unused_providers(session: Session, rows: Sequence[Values]) -> None:
    replaced = IdentityProviderRecord.id.in_([row["id"] for row in rows])
    unused = IdentityProviderRecord.id.in_(UNUSED_PROVIDERS)
    session.execute(delete(IdentityProviderRecord).where(replaced, unused))


def _insert_users(session: Session, rows: Sequence[Values], import_id: int) -> None:
    passwords = [_password(row) for row in rows]
    values = [
        {**row, "password_hash": password.password_hash}
        for row, password in zip(rows, passwords, strict=True)
    ]
    insert_rows(session, UserRecord, values)
    write_user_words(session.connection(), [row["id"] for row in rows])
    origins = [
        password_values(import_id, row["id"], password)
        for row, password in zip(rows, passwords, strict=True)
    ]
    insert_rows(session, ImportedPasswordRecord, origins)


def _password(row: Values) -> ImportedPassword:
    if "password_hash" not in row:
        return ImportedPassword(ImportedPasswordState.MUST_RESET)
    return classify(row["password_hash"])


def _alike(rows: Sequence[Values]) -> list[Values]:
    """Return the rows with the same columns: those that an export withholds are empty."""
    names = {name for row in rows for name in row}
    return [{name: row.get(name, "") for name in names} for row in rows]
