"""The endpoint on a small schema, with callers by name."""

from dataclasses import replace

import pytest

from app.composition.settings import Settings
from app.composition.wiring import connect, make_installation
from app.web.installation import Installation
from tests.fakes.activity import FakeActivity
from tests.fakes.clock import FakeClock
from tests.fakes.keys import SECRET
from tests.fakes.no_database import NoDatabase
from tests.graphql.endpoint_client import EndpointClient
from tests.graphql.fake_identity import Callers


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """SQLite alone: the API maps use cases, and those are tested on both kinds of database."""
    return sqlite_url


@pytest.fixture
def callers() -> Callers:
    """Callers by credential; the storefront is open until a test closes it."""
    return Callers()


@pytest.fixture
def installation(clock: FakeClock) -> Installation:
    """An installation whose database is never used."""
    ports = connect(Settings(database_url="sqlite://", secret_key=SECRET))
    quiet = replace(ports, clock=clock, database=NoDatabase(), activity=FakeActivity())
    return make_installation(quiet, Settings())


@pytest.fixture
def production(installation: Installation) -> Installation:
    """The same, configured for production at https://shop.example.com."""
    ports = installation.ports
    configuration = replace(
        ports.configuration, development=False, public_url="https://shop.example.com"
    )
    return replace(installation, ports=replace(ports, configuration=configuration))


@pytest.fixture
def client(installation: Installation, callers: Callers) -> EndpointClient:
    """A client of the endpoint with development's defaults."""
    return EndpointClient(installation, callers)
