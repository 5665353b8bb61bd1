"""The schema port by Alembic. Slow to load, and few need it: ``wiring`` loads it on first use."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import OperationalError

from app.adapters import migrations
from app.domain.faults import Unreachable


class AlembicSchema:
    """The tables of the database at ``url``."""

    def __init__(self, url: str) -> None:
        self._url = url

    def upgrade(self) -> None:
        with _told():
            migrations.upgrade(self._url)

    def current(self) -> str | None:
        with _told():
            return migrations.current(self._url)

    def newest(self) -> str | None:
        return migrations.newest()

    def revise(self, message: str, name: str) -> None:
        with _told():
            migrations.make_revision(self._url, message, name)


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except OperationalError as error:
        # The driver's own words name host and port, never the password.
        raise Unreachable("The database", " ".join(str(error.orig).split())) from error
