"""A shop on SQLite with hosted pages."""

from collections.abc import Iterator

import pytest
from flask import Flask

from app.composition.factory import create_app
from app.composition.settings import Settings
from app.ports import Ports
from tests.builders.shop import configure_shop
from tests.fakes.clock import FakeClock
from tests.fixtures.ports import fake_ports


@pytest.fixture
def shop(sqlite_url: str, clock: FakeClock) -> Iterator[Ports]:
    """The ports of a shop whose hosted pages are on, with codes by email."""
    made = fake_ports(sqlite_url, clock)
    configure_shop(made, hosted_pages=True, email_code_login=True)
    yield made
    made.database.close()


@pytest.fixture
def app(shop: Ports) -> Flask:
    """The application of that shop."""
    return create_app(shop, Settings())
