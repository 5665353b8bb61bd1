"""Records made of rows by name."""

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar

from app.ports import NamedRow
from app.services.authorization.register import part

Record = TypeVar("Record")


@part
def record_from(kind: type[Record], row: NamedRow, **others: Any) -> Record:
    """Return a record whose fields are the columns of the same labels, but for ``others``.

    Every other field must be a column, one with a default too: a forgotten column raises
    ``AttributeError`` and isn't the default for ever.
    """
    key: Any = kind  # for mypy, a class can't be hashed
    names, values_in = _columns_of(key, *others)
    return kind(**dict(zip(names, values_in(row), strict=True)), **others)


@cache
def _columns_of(
    kind: type[object], *others: str
) -> tuple[tuple[str, ...], Callable[[NamedRow], Sequence[Any]]]:
    """Return the names of the fields that are columns, and what gets their values from a row."""
    if not is_dataclass(kind):
        raise TypeError(f"{kind} has no fields")
    names = tuple(field.name for field in fields(kind) if field.name not in others)
    if len(names) > 1:
        return names, attrgetter(*names)
    return names, lambda row: [getattr(row, name) for name in names]
