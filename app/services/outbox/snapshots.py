"""Snapshots of deleted objects, read back whichever version wrote them.

A deletion can wait in the outbox while the server is upgraded. A field that its snapshot doesn't
have gets its default or, without one, the empty value of its type.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from datetime import datetime
from types import MappingProxyType
from typing import Any, TypeVar, get_type_hints

from app.domain.accounts.users import Group, User
from app.domain.apps.apps import App, AppType
from app.domain.authorization.permissions import Permission, known
from app.domain.commerce.money import Money, of_units
from app.domain.commerce.products import Product
from app.services.authorization.register import part

Deleted = TypeVar("Deleted", bound=User | Group | App | Product)


@part
def read_snapshot(
    kind: type[Deleted], snapshot: Mapping[str, Any], deleted_at: datetime
) -> Deleted:
    """Return the object in ``snapshot``; ``deleted_at`` replaces a missing required time."""
    types = get_type_hints(kind)
    values: dict[str, Any] = {}
    for field in fields(kind):
        stored, type_ = snapshot.get(field.name), types[field.name]
        if stored is None:
            if field.default is MISSING:
                values[field.name] = deleted_at if type_ is datetime else _EMPTY[type_]
        elif type_ == tuple[Group, ...]:
            values[field.name] = tuple(read_snapshot(Group, group, deleted_at) for group in stored)
        else:
            values[field.name] = _READ.get(type_, _unchanged)(stored)
    return kind(**values)


@part
def read_product_snapshot(snapshot: Mapping[str, Any], deleted_at: datetime) -> Product:
    """Return the product in ``snapshot``, which keeps the price's units and currency apart."""
    units, currency = snapshot.get("price"), snapshot.get("currency")
    price = None if units is None or currency is None else of_units(units, currency)
    return read_snapshot(Product, {**snapshot, "price": price}, deleted_at)


def _unchanged(stored: object) -> object:
    return stored


_EMPTY: Mapping[object, object] = MappingProxyType(
    {
        str: "",
        int: 0,
        bool: False,
        datetime | None: None,
        Money | None: None,
        AppType: AppType.LOCAL,
        frozenset[Permission]: frozenset(),
        tuple[Group, ...]: (),
    }
)
_READ: Mapping[object, Callable[[Any], object]] = MappingProxyType(
    {
        datetime: datetime.fromisoformat,
        datetime | None: datetime.fromisoformat,
        AppType: AppType,
        frozenset[Permission]: known,
    }
)
"""How a stored value becomes one of that type; texts, numbers and switches are stored as such."""
