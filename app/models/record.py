"""What records share: the base class, column types, indexes, metadata, and retired columns.

An upgrade first adds what the new release needs, while servers of the previous one keep working.
Columns that only those need are listed in ``RETIRED_COLUMNS`` until a later release drops them.
The migration that drops a column is marked ``contract = True``.
"""

from datetime import UTC, datetime
from functools import cache
from typing import Any, ClassVar

from sqlalchemy import (
    BigInteger,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import DeclarativeBase, Mapped, MappedColumn, Session, mapped_column
from sqlalchemy.types import JSON, TypeDecorator
from typing_extensions import override


class UtcDateTime(TypeDecorator[datetime]):
    """A moment in UTC; SQLite keeps no zone, so it is put back on the way out."""

    impl = DateTime(timezone=True)
    cache_ok = True

    @property
    @override
    def python_type(self) -> type[datetime]:
        return datetime

    @override
    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC)

    @override
    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None or value.tzinfo is not None:
            return None if value is None else value.astimezone(UTC)
        return value.replace(tzinfo=UTC)


BigKey = BigInteger().with_variant(Integer(), "sqlite")
"""A 64-bit key; SQLite numbers rows by itself only in a column called INTEGER."""


def deleted_with(column: str, **options: Any) -> MappedColumn[Any]:
    """Return a column that refers to ``column``; its row is deleted with the one it names."""
    return mapped_column(ForeignKey(column, ondelete="CASCADE"), **options)


def text_column(length: int | None = None, **options: Any) -> MappedColumn[str]:
    """Return a column of texts that are "" by default, of any length without ``length``."""
    kind = Text() if length is None else String(length)
    return mapped_column(kind, default="", server_default="", **options)


_WHERE = "where"


def partial_index(name: str, *columns: str, where: str, unique: bool = False) -> Index:
    """An index of the rows of which ``where``, in SQL, is true, on both databases.

    SQLAlchemy needs it for each dialect and loads both for it, so only code that creates tables
    passes it on (``add_condition``).
    """
    return Index(name, *columns, unique=unique, info={_WHERE: where})


def add_condition(index: Index) -> None:
    """Let both databases know what rows ``index`` is for."""
    if _WHERE in index.info:
        for dialect in ("sqlite", "postgresql"):
            index.dialect_kwargs[f"{dialect}_where"] = text(index.info[_WHERE])


def never_reuse_keys(table: Table) -> None:
    """Let SQLite number the rows of ``table`` as PostgreSQL does: never with a key it gave before.

    Keys leave the process in global IDs, tokens, the audit log and caches. Without AUTOINCREMENT
    SQLite gives the key of a deleted last row to the next one.
    """
    if table.autoincrement_column is not None:
        table.dialect_kwargs["sqlite_autoincrement"] = True


NOT_EXPORTED = "not_exported"
"""The key of a column's ``info`` under which stands why ``flask export`` leaves it out."""

STATE_HERE = {NOT_EXPORTED: "state of the installation"}


class Record(DeclarativeBase):
    """The base of all records."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar = {datetime: UtcDateTime, dict[str, object]: JSON}


def insert_into(session: Session, record: type[Record]) -> sqlite.Insert | postgresql.Insert:
    """Return an insert of this session's database, which can say what to do on a conflict."""
    is_postgresql = session.get_bind().dialect.name == "postgresql"
    return postgresql.insert(record) if is_postgresql else sqlite.insert(record)


@cache
def complete_metadata() -> MetaData:
    """Return every table as the migrations make it."""
    for table in Record.metadata.tables.values():
        never_reuse_keys(table)
        for index in table.indexes:
            add_condition(index)
    return Record.metadata


class HasMetadata:
    """Public and private metadata: texts by key.

    Neither is loaded with the record, because few who read the record need them: select the
    columns.
    """

    public_metadata: Mapped[dict[str, object]] = mapped_column(
        JSON, default=dict, server_default="{}", deferred=True, deferred_raiseload=True
    )
    private_metadata: Mapped[dict[str, object]] = mapped_column(
        JSON, default=dict, server_default="{}", deferred=True, deferred_raiseload=True
    )


RETIRED_COLUMNS = {("sessions", "wrong_passwords")}
"""Tables and columns: in the database, but in no model."""
