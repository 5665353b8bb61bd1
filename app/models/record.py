"""What every record shares: the metadata with its naming convention, and two column types."""

from datetime import UTC, datetime
from typing import ClassVar

from sqlalchemy import BigInteger, DateTime, Dialect, Integer, MetaData
from sqlalchemy.orm import DeclarativeBase
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
