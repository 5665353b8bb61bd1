"""Values in lines of an export, as the database takes them."""

import base64
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, inspect

from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.domain.shop.setting_table import SETTINGS
from app.domain.shop.settings import PasswordLoginMode, StaffSecondFactor
from app.domain.values.ids import MAX_KEY_LENGTH
from app.domain.values.text_rules import is_storable
from app.domain.values.times import showable
from app.models import ShopRecord
from app.ports import Ports
from app.services.authorization.register import part
from app.services.imports.exported_table import ExportedTable
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


@part
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
    if table.record is ShopRecord:
        _check_settings(values)
    for name, purpose in table.encrypted.items():
        if values.get(name):
            values[name] = ports.encryption.encrypt(purpose, values[name])
    if table.headers:
        values[table.headers] = _headers(ports, table.headers, values[table.headers])
    return values


@part
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


@part
def is_usable_key(key: object) -> bool:
    """Whether a row can have this ID here, with room for those after it."""
    return isinstance(key, int) and not isinstance(key, bool) and 1 <= key < 10**MAX_KEY_LENGTH


@part
def is_known_permission(name: object) -> bool:
    """Whether there is such a permission here."""
    return name in _NAMES["permission"]


def _headers(ports: Ports, name: str, headers: Mapping[str, object]) -> dict[str, object]:
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
        shop = settings_of(ShopRecord(**values))
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
