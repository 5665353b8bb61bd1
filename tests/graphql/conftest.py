"""The endpoint on the small schema, with callers that a test names."""

from dataclasses import replace

import pytest

from app.settings import Settings
from app.web.installation import Installation
from app.wiring import connect, make_installation
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
    """Who stands behind which credential; the storefront is open until a test closes it."""
    return Callers()


@pytest.fixture
def installation(clock: FakeClock) -> Installation:
    """An installation whose endpoint never needs its database."""
    ports = connect(Settings(database_url="sqlite://", secret_key=SECRET))
    quiet = replace(ports, clock=clock, database=NoDatabase(), activity=FakeActivity())
    return make_installation(quiet, Settings())


@pytest.fixture
def production(installation: Installation) -> Installation:
    """The same, set up for production at https://shop.example.com."""
    ports = installation.ports
    configuration = replace(
        ports.configuration, development=False, public_url="https://shop.example.com"
    )
    return replace(installation, ports=replace(ports, configuration=configuration))


@pytest.fixture
def client(installation: Installation, callers: Callers) -> EndpointClient:
    """Sends requests to the endpoint, development's defaults."""
    return EndpointClient(installation, callers)
