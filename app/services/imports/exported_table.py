"""How a table is exported: its lines, their fields, and which of them are secret."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.domain.imports.exports import Section
from app.models import Record, ShopRecord

Attribute = Any
"""A mapped attribute; as a field of a class, type checkers would read its value."""

_RENAMED = {"type": "app_type"}


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list in the line of its owner: one column of a table that has the owner's key."""

    name: str
    owner: Attribute
    value: Attribute


@dataclass(frozen=True, slots=True)
class ExportedTable:
    """The rows of ``record`` as lines of the type ``name``; ``fields`` are attributes, in order.

    ``encrypted`` secrets, by their purpose, ``hashed`` ones, and ``private`` columns, in which
    apps keep credentials, are only in exports with secrets; ``is_secret`` tables altogether.
    ``order`` is unique, and its first column is indexed; what ``unique`` names can't be the same
    in two rows unless it is empty. ``not_exported`` says why a column isn't in the file.
    """

    name: str
    title: str
    section: Section
    record: type[Record]
    fields: tuple[str, ...]
    encrypted: Mapping[str, str] = field(default_factory=dict)
    hashed: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    headers: str = ""
    lists: tuple[ListOf, ...] = ()
    unique: tuple[tuple[str, ...], ...] = ()
    is_secret: bool = False
    order: tuple[str, ...] = ("id",)
    batch: int = 500
    not_exported: Mapping[str, str] = field(default_factory=dict)

    @property
    def has_ids(self) -> bool:
        """Whether rows have IDs that the database gives, which an import keeps."""
        return "id" in self.fields and self.record is not ShopRecord

    @property
    def names(self) -> dict[str, str]:
        """The columns by the fields' names: every line has a field ``type`` already."""
        return {_RENAMED.get(name, name): name for name in self.fields}

    @property
    def secrets(self) -> tuple[str, ...]:
        """The fields that an export without secrets leaves out."""
        return (*self.encrypted, *self.hashed, *self.private)
