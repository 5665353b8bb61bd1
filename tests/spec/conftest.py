"""One server for all tests of a worker, with the shop reset before each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from app.adapters.system import SystemClock
from tests.servers.own_provider import own_provider
from tests.spec.client import Client
from tests.spec.recorded_shop import RecordedShop, make_recorded_shop
from tests.spec.server import Server, running


@pytest.fixture(scope="session")
def _shared_shop(
    tmp_path_factory: pytest.TempPathFactory, _migrated_file: Path
) -> Iterator[RecordedShop]:
    copied = tmp_path_factory.mktemp("spec") / "shop.sqlite3"
    copied.write_bytes(_migrated_file.read_bytes())
    with own_provider(SystemClock()) as provider:
        made = make_recorded_shop(f"sqlite:///{copied}", provider)
        yield made
        made.close()


@pytest.fixture(scope="session")
def _unbuffered_server(
    tmp_path_factory: pytest.TempPathFactory, _shared_shop: RecordedShop
) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("server"), _shared_shop.database_url) as server:
        yield server


@pytest.fixture(scope="session")
def _buffered_server(
    tmp_path_factory: pytest.TempPathFactory, _shared_shop: RecordedShop
) -> Iterator[Server]:
    folder, url = tmp_path_factory.mktemp("buffered"), _shared_shop.database_url
    with running(folder, url, REQUESTS_ARE_BUFFERED="true") as server:
        yield server


@pytest.fixture(params=["_unbuffered_server", "_buffered_server"], ids=["", "buffered"])
def interface(request: pytest.FixtureRequest) -> str:
    """The name of the fixture with the server, which has either of granian's interfaces."""
    name: str = request.param
    return name


@pytest.fixture
def server(request: pytest.FixtureRequest, interface: str) -> Iterator[Server]:
    """The running server; the test fails if the server logs a traceback."""
    shared: Server = request.getfixturevalue(interface)
    yield shared
    faults = shared.new_errors()
    if faults:
        pytest.fail(f"The server logged a fault:\n{faults}", pytrace=False)


@pytest.fixture
def shop(server: Server, _shared_shop: RecordedShop) -> RecordedShop:
    """The recorded shop, without sessions."""
    _shared_shop.put_back()
    _shared_shop.issuer = server.issuer
    return _shared_shop


@pytest.fixture(scope="session")
def _http() -> Iterator[requests.Session]:
    with requests.Session() as session:
        yield session


@pytest.fixture
def client(server: Server, shop: RecordedShop, _http: requests.Session) -> Client:
    """A client with an unused IP address."""
    return Client(server, _http)
