"""Registrations, and guesses at imported app tokens, from many addresses."""

import json
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from http.client import HTTPConnection
from itertools import cycle
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from typing_extensions import override

from app.adapters.keys.passwords import Argon2Hasher
from app.composition.settings import Settings
from app.composition.wiring import connect
from benchmarks.neighbours import family_seconds
from tests.builders.apps import import_token, make_app
from tests.builders.people import PASSWORD, make_user
from tests.servers.sandbox import PATIENCE
from tests.spec.server import SECRET, Server, running

pytestmark = pytest.mark.first

TOKEN = "Zx81SpectrumQl68008Commodore64"
SIGN_INS = 3
CONNECTIONS = 26
IN_TIME = 20.0
"""Seconds of processor time that the server can spend on anything before a sign-in is done.

On a machine with two cores that does nothing else they are 10 seconds.
"""

REGISTER = """
    mutation ($input: AccountRegisterInput!) {
      accountRegister(input: $input) { errors { code } }
    }
"""
SIGN_IN = """
    mutation ($email: String!, $password: String!) {
      tokenCreate(email: $email, password: $password) { token errors { code message } }
    }
"""


class OneHash(Argon2Hasher):
    """Everybody's password is the same, so it is hashed once."""

    def __init__(self) -> None:
        super().__init__()
        self._known = super().hash(PASSWORD)

    @override
    def hash(self, password: str) -> str:
        return self._known if password == PASSWORD else super().hash(password)


@pytest.fixture(scope="module")
def server(_migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One process for both floods, which believes whatever address a client says it has."""
    folder = tmp_path_factory.mktemp("flood")
    url = f"sqlite:///{shutil.copy(_migrated_file, folder / 'shop.sqlite3')}"
    connected = connect(Settings(database_url=url, secret_key=SECRET))
    ports = replace(connected, passwords=OneHash())
    for number in range(SIGN_INS):
        make_user(ports, email_of(number))
    import_token(ports, make_app(ports)[0], TOKEN)
    ports.database.close()
    with running(folder, url) as started:
        yield started


def email_of(number: int) -> str:
    return f"customer{number}@example.com"


class Client:
    """Sends operations over a connection of its own, from the address that it is told."""

    def __init__(self, server: Server) -> None:
        host, _, port = server.url.removeprefix("http://").partition(":")
        self._connection = HTTPConnection(host, int(port), timeout=PATIENCE)

    def run(self, query: str, address: str, bearer: str = "", **variables: object) -> Any:
        body = json.dumps({"query": query, "variables": variables})
        headers = {"Content-Type": "application/json", "X-Forwarded-For": address}
        if bearer:
            headers["Authorization"] = f"Bearer {bearer}"
        self._connection.request("POST", "/graphql/", body, headers)
        return json.loads(self._connection.getresponse().read())

    def close(self) -> None:
        self._connection.close()


Attack = Callable[[Client, str, int], object]


def register(client: Client, address: str, number: int) -> None:
    person = {"email": f"{number}@{address}.example.com", "password": "nine lazy storks"}
    client.run(REGISTER, address, input=person)


def guess(client: Client, address: str, number: int) -> None:
    client.run("{ app { id } }", address, f"{address}.{number}.{TOKEN[-4:]}")


def flood(server: Server, attack: Attack, addresses: list[str], stop: Event, began: Event) -> int:
    """Attack from each address in turn, as fast as the server answers; return how often."""
    client, tried = Client(server), 0
    for address in cycle(addresses):
        if stop.is_set():
            break
        attack(client, address, tried)
        began.set()
        tried += 1
    client.close()
    return tried


def sign_in(server: Server, number: int) -> str:
    """What kept the person ``number`` from having a token in time, if anything."""
    client, begun = Client(server), family_seconds(server.process.pid)
    response = client.run(
        SIGN_IN, f"198.51.100.{number + 1}", email=email_of(number), password=PASSWORD
    )
    client.close()
    seconds = family_seconds(server.process.pid) - begun
    errors = response["data"]["tokenCreate"]["errors"]
    return str(errors) if errors else f"{seconds:.1f} s" if seconds > IN_TIME else ""


@pytest.mark.parametrize(
    ("attack", "addresses", "sign_ins"), [(register, 27, SIGN_INS), (guess, 6, 2)]
)
def test_flood_does_not_block_sign_in(
    server: Server, attack: Attack, addresses: int, sign_ins: int
) -> None:
    stop, began = Event(), Event()
    clients = [f"10.{addresses}.0.{number}" for number in range(addresses)]
    with ThreadPoolExecutor(CONNECTIONS) as threads:
        flooding = [
            threads.submit(flood, server, attack, clients[first::CONNECTIONS], stop, began)
            for first in range(min(addresses, CONNECTIONS))
        ]
        try:
            assert began.wait(PATIENCE)
            with ThreadPoolExecutor(4) as customers:
                signed_in = list(customers.map(partial(sign_in, server), range(sign_ins)))
        finally:
            stop.set()
        assert sum(future.result(PATIENCE) for future in flooding) > addresses
    assert signed_in == [""] * sign_ins, signed_in
