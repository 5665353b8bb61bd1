"""Write rows of an export to the database, with the values of its lines."""

import base64
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, delete, inspect, select, tuple_, update
from sqlalchemy.orm import Session

from app import models
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.domain.passwords.imported_hashes import ImportedPassword, ImportedPasswordState, classify
from app.domain.shop.setting_table import SETTINGS
from app.domain.shop.settings import PasswordLoginMode, StaffSecondFactor
from app.domain.values.ids import MAX_KEY_LENGTH
from app.domain.values.text_rules import is_storable
from app.domain.values.times import showable
from app.models.search_words import write_user_words
from app.ports import Ports
from app.services.authorization.register import building_block
from app.services.imports.bulk import insert_rows
from app.services.imports.export_tables import ExportedTable
from app.services.imports.people_writing import password_values
from app.services.shop.settings import settings_of
from app.services.webhooks.stored_webhooks import encrypted_headers

Values = dict[str, Any]

_NAMES: Mapping[str, Collection[str]] = {
    "permissions": frozenset(Permission),
    "permission": frozenset(Permission),
    "events": frozenset(EventType),
}

_CHOICES: Mapping[str, Collection[str]] = {
    "password_login_mode": frozenset(PasswordLoginMode),
    "staff_second_factor": frozenset(StaffSecondFactor),
}


_MAX_INTEGER = 2**31 - 1
_MAX_BIG = 2**63 - 1


class InvalidField(ValueError):
    """A field of a line that is missing, or whose value the column can't have."""


@building_block
def read_row(ports: Ports, table: ExportedTable, fields: Mapping[str, object]) -> Values:
    """Return the columns of a row, secrets encrypted; raises ``InvalidField``.

    Secrets that the export lacks are empty.
    """
    columns = inspect(table.record).columns
    values: Values = {}
    for name, column in table.names.items():
        if name not in fields:
            if name in table.secrets:
                continue
            raise InvalidField(name)
        values[column] = _value(name, columns[column], fields[name])
    if table.record is models.Shop:
        _check_settings(values)
    for name, purpose in table.encrypted.items():
        if values.get(name):
            values[name] = ports.encryption.encrypt(purpose, values[name])
    if table.headers:
        values[table.headers] = _headers(ports, table.headers, values[table.headers])
    return values


@building_block
def read_lists(
    table: ExportedTable, fields: Mapping[str, object]
) -> tuple[dict[str, list[str]], list[str]]:
    """Return the lists of a row without names that don't exist here, and these names."""
    lists: dict[str, list[str]] = {}
    unknown: list[str] = []
    for list_ in table.lists:
        given = fields.get(list_.name)
        if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
            raise InvalidField(list_.name)
        known = _NAMES[list_.name]
        lists[list_.name] = sorted({each for each in given if each in known})
        unknown += [each for each in given if each not in known]
    return lists, unknown


@building_block
def is_usable_key(key: object) -> bool:
    """Whether a row can have this ID here, with room for those after it."""
    return isinstance(key, int) and not isinstance(key, bool) and 1 <= key < 10**MAX_KEY_LENGTH


@building_block
def is_known_permission(name: object) -> bool:
    """Whether there is such a permission here."""
    return name in _NAMES["permission"]


def _headers(ports: Ports, name: str, headers: object) -> dict[str, object]:
    if not isinstance(headers, Mapping):
        raise InvalidField(name)
    texts = {header: value for header, value in headers.items() if isinstance(value, str)}
    if len(texts) < len(headers):
        raise InvalidField(name)
    return encrypted_headers(ports, texts)


def _check_settings(values: Values) -> None:
    """Raise ``InvalidField`` for settings that couldn't be saved here: no page could read them."""
    for name, choices in _CHOICES.items():
        if values[name] not in choices:
            raise InvalidField(name)
    try:
        shop = settings_of(models.Shop(**values))
    except ValueError:
        raise InvalidField("settings") from None
    for setting in SETTINGS:
        if setting.problem(setting.read(shop)) is not None:
            raise InvalidField(setting.name)
    # Otherwise a second factor would be required from no moment on, or from one while optional.
    is_required = shop.staff_second_factor is StaffSecondFactor.REQUIRED
    if is_required is (shop.second_factor_from is None):
        raise InvalidField("second_factor_from")


def _value(name: str, column: Any, value: object) -> object:
    if value is None:
        if not column.nullable:
            raise InvalidField(name)
        return None
    kind = column.type.python_type
    try:
        converted = _converted(kind, value)
    except ValueError:
        raise InvalidField(name) from None
    if not isinstance(converted, kind) or (kind is int and isinstance(converted, bool)):
        raise InvalidField(name)
    if isinstance(converted, int) and not isinstance(converted, bool):
        _check_number(name, converted, column.type)
    if isinstance(converted, str):
        _check_text(name, converted, getattr(column.type, "length", None))
    return converted


def _converted(kind: type, value: object) -> object:
    if kind is datetime:
        return showable(datetime.fromisoformat(str(value)))
    if kind is bytes:
        return base64.b64decode(str(value), validate=True)
    return value


def _check_number(name: str, number: int, kind: object) -> None:
    is_key = name == "id" or name.endswith("_id")
    if is_key and not is_usable_key(number):
        raise InvalidField(name)
    if not is_key and abs(number) > (_MAX_BIG if isinstance(kind, BigInteger) else _MAX_INTEGER):
        raise InvalidField(name)


def _check_text(name: str, text: str, max_length: int | None) -> None:
    if not is_storable(text) or (max_length is not None and len(text) > max_length):
        raise InvalidField(name)


Holder = tuple[tuple[str, ...], int]
"""The columns that are equal, and the key of the row here."""

UNUSED_PROVIDERS = select(models.IdentityProvider.id).where(
    models.IdentityProvider.active.is_(False), models.IdentityProvider.client_id == ""
)
"""Providers that were never set up: a new database has one, which an import replaces."""

_FOUND_BY_WORDS = (models.App, models.Webhook)


@building_block
def insert_exported(
    ports: Ports,
    session: Session,
    table: ExportedTable,
    rows: Sequence[tuple[Values, Mapping[str, list[str]]]],
    import_id: int,
) -> None:
    """Insert rows and their lists; the settings replace those that are here."""
    values = [each for each, _lists in rows]
    if table.record is models.Shop:
        session.execute(
            update(models.Shop).where(models.Shop.id == models.SHOP_ID).values(values[-1])
        )
    elif table.record is models.User:
        _insert_users(session, values, import_id)
    elif table.record in _FOUND_BY_WORDS:
        # Their words are written with the record.
        session.add_all(table.record(**each) for each in values)
        session.flush()
    else:
        if table.record is models.IdentityProvider:
            _delete_unused_providers(session, values)
        insert_rows(session, table.record, _with_same_columns(values))
        if table.record is models.Address:
            write_user_words(session.connection(), {each["user_id"] for each in values})
    for list_ in table.lists:
        owner, value = list_.owner.key, list_.value.key
        entries = [
            {owner: each["id"], value: name} for each, lists in rows for name in lists[list_.name]
        ]
        insert_rows(session, list_.owner.class_, entries)


@building_block
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


@building_block
def missing_owners(session: Session, table: ExportedTable, keys: Collection[int]) -> set[int]:
    """Return those of ``keys`` that no row of ``table`` has here."""
    record: Any = table.record
    return set(keys) - set(session.scalars(select(record.id).where(record.id.in_(keys))))


def _delete_unused_providers(session: Session, rows: Sequence[Values]) -> None:
    replaced = models.IdentityProvider.id.in_([row["id"] for row in rows])
    unused = models.IdentityProvider.id.in_(UNUSED_PROVIDERS)
    session.execute(delete(models.IdentityProvider).where(replaced, unused))


def _insert_users(session: Session, rows: Sequence[Values], import_id: int) -> None:
    passwords = [_password(row) for row in rows]
    values = [
        {**row, "password_hash": password.password_hash}
        for row, password in zip(rows, passwords, strict=True)
    ]
    insert_rows(session, models.User, values)
    write_user_words(session.connection(), [row["id"] for row in rows])
    origins = [
        password_values(import_id, row["id"], password)
        for row, password in zip(rows, passwords, strict=True)
    ]
    insert_rows(session, models.ImportedPassword, origins)


def _password(row: Values) -> ImportedPassword:
    if "password_hash" not in row:
        return ImportedPassword(ImportedPasswordState.MUST_RESET)
    return classify(row["password_hash"])


def _with_same_columns(rows: Sequence[Values]) -> list[Values]:
    """Return the rows with the same columns: those that an export withholds are empty."""
    names = {name for row in rows for name in row}
    return [{name: row.get(name, "") for name in names} for row in rows]
