"""Fixtures that several conformance suites of adapters share."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from app import models
from app.adapters.database.sql_database import connect_database
from app.adapters.http.guarded_http import GuardedHttp
from app.ports import Database
from app.ports.throttle import Throttle
from tests.adapters.throttle_backends import ANNA, BELA, Place, Visitor
from tests.fakes.strict_http import LOOPBACK
from tests.servers.http import HttpServer, http_server


@pytest.fixture(params=["sqlite", "postgresql", "redis"])
def place(request: pytest.FixtureRequest) -> Place:
    """Return a throttle's store, for each kind of store in turn."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    if request.param == "redis":
        return Place("sqlite://", url)
    _add_users(url)
    return Place(url)


@pytest.fixture
def throttle(place: Place) -> Throttle:
    return place.open()


@pytest.fixture
def visitor(throttle: Throttle) -> Visitor:
    return Visitor(throttle)


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with http_server() as running:
        yield running


@pytest.fixture
def local() -> GuardedHttp:
    """Return an HTTP client that can reach this machine, as an operator can allow."""
    return GuardedHttp(LOOPBACK)


def _add_users(url: str) -> None:
    now = datetime(2026, 3, 1, tzinfo=UTC)
    database = connect_database(url)
    with database.transaction() as session:
        session.add_all(
            models.User(id=key, email=f"{key}@example.com", date_joined=now, updated_at=now)
            for key in (ANNA, BELA)
        )


@pytest.fixture
def database(database_url: str) -> Database:
    return connect_database(database_url)
