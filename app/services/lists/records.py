"""Records made of rows by name."""

from dataclasses import fields, is_dataclass
from functools import cache
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
    return kind(**{name: getattr(row, name) for name in _columns_of(key, *others)}, **others)


@cache
def _columns_of(kind: type[object], *others: str) -> tuple[str, ...]:
    """Return the names of the fields but for ``others``."""
    if not is_dataclass(kind):
        raise TypeError(f"{kind} has no fields")
    return tuple(field.name for field in fields(kind) if field.name not in others)
