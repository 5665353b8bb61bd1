"""The clock of the database's server, which all hosts share."""

from datetime import UTC, datetime

from sqlalchemy import func, select

from app.ports import Database

_NOW = select(func.clock_timestamp().label("now"))


class DatabaseClock:
    """PostgreSQL's clock; each call is one short statement."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def now(self) -> datetime:
        (row,) = self._database.read(_NOW, {})
        now: datetime = row.now
        return now.astimezone(UTC)

    def timestamp(self) -> float:
        return self.now().timestamp()
