"""A shop on SQLite with hosted pages."""

import pytest
from flask import Flask

from app.ports import Ports
from tests.builders.shop import configure_shop
from tests.fakes.clock import FakeClock
from tests.fixtures.kept_application import AppOn
from tests.fixtures.ports import fake_ports


@pytest.fixture
def shop(sqlite_url: str, clock: FakeClock) -> Ports:
    """The ports of a shop whose hosted pages are on, with codes by email."""
    made = fake_ports(sqlite_url, clock)
    configure_shop(made, hosted_pages=True, email_code_login=True)
    return made


@pytest.fixture
def app(shop: Ports, app_on: AppOn) -> Flask:
    """The application of that shop."""
    return app_on(shop)
