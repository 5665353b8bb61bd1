"""Desks at the console of a shop on SQLite."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import event
from sqlalchemy.pool import Pool

from app.composition.settings import Settings
from app.domain.authorization.permissions import Permission
from app.ports import Ports
from tests.builders.people import make_staff, make_user
from tests.console.populated_shop import populate
from tests.console.staff_client import ConsoleClient
from tests.fakes.clock import FakeClock
from tests.fixtures.kept_application import AppOn
from tests.fixtures.ports import fake_ports

StaffConsole = Callable[..., ConsoleClient]
Statements = Callable[[], AbstractContextManager[list[str]]]

_NO_WORK = ("BEGIN", "COMMIT", "ROLLBACK", "PRAGMA")


@pytest.fixture
def shop(sqlite_url: str, clock: FakeClock) -> Ports:
    """The ports of a shop on SQLite."""
    return fake_ports(sqlite_url, clock)


@pytest.fixture
def populated_shop(shop: Ports) -> Ports:
    """A shop that has one of everything, each with the key 1."""
    populate(shop)
    return shop


@pytest.fixture
def console_app(populated_shop: Ports, app_on: AppOn) -> Flask:
    """The application of that shop."""
    return app_on(populated_shop)


@pytest.fixture
def app(shop: Ports, app_on: AppOn) -> Flask:
    """The application of that shop, for several clients at once."""
    return app_on(shop)


@pytest.fixture
def translated_page(app: Flask) -> Iterator[None]:
    """Say sentences as within a request, in the language that the test uses."""
    with app.test_request_context():
        yield


@pytest.fixture
def anonymous_console(app: Flask, shop: Ports) -> ConsoleClient:
    """Somebody who is not signed in."""
    return ConsoleClient(app.test_client(), shop)


@pytest.fixture
def staff_console(app: Flask, shop: Ports) -> StaffConsole:
    """Makes a desk at which somebody is signed in who holds the given permissions."""

    def make(*permissions: Permission, email: str = "staff@example.com") -> ConsoleClient:
        make_staff(shop, email, *permissions)
        console = ConsoleClient(app.test_client(), shop)
        console.enter(email)
        return console

    return make


@pytest.fixture
def admin(app: Flask, shop: Ports) -> ConsoleClient:
    """Somebody who may do everything, signed in by password."""
    make_user(shop, "admin@example.com", is_superuser=True, first_name="Ada", last_name="Okafor")
    console = ConsoleClient(app.test_client(), shop)
    console.enter("admin@example.com")
    return console


@pytest.fixture
def statements() -> Statements:
    """Notes what SQLite runs inside its ``with`` block, but for BEGIN and COMMIT.

    Its own trace is asked: the hot path's read passes SQLAlchemy's events by.
    """

    @contextmanager
    def watch() -> Iterator[list[str]]:
        seen: list[str] = []

        def note(statement: str) -> None:
            if not statement.startswith(_NO_WORK):
                seen.append(statement)

        def trace(connection: Any, *_rest: object) -> None:
            connection.set_trace_callback(note)

        def stop(connection: Any, *_rest: object) -> None:
            connection.set_trace_callback(None)

        event.listen(Pool, "checkout", trace)
        event.listen(Pool, "checkin", stop)
        try:
            yield seen
        finally:
            event.remove(Pool, "checkout", trace)
            event.remove(Pool, "checkin", stop)

    return watch


@pytest.fixture
def secure_console(shop: Ports, app_on: AppOn) -> ConsoleClient:
    """Somebody who reaches the installation by HTTPS."""
    public = "https://shop.example.com"
    ports = replace(shop, configuration=replace(shop.configuration, public_url=public))
    app = app_on(ports, Settings(public_url=public))
    return ConsoleClient(app.test_client(), ports)
