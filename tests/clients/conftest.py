"""A server with the default settings, and programs that are built with client libraries."""

import json
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import requests
from sqlalchemy import select

from app import models
from app.composition.settings import Settings
from app.composition.wiring import connect
from tests.builders.people import make_user
from tests.servers.forked_commands import running_command
from tests.servers.provider import node
from tests.servers.run import ROOT, once
from tests.servers.sandbox import PATIENCE
from tests.spec.server import SECRET, Server, environment, run_operator, running

FOLDER = ROOT / "tests" / "clients"
ADMIN, CUSTOMER = "admin@example.com", "customer@example.com"
PASSWORD = "a sentence that opens the shop"
LIFETIME = "5"
"""Seconds of an access token of the brief shop; @saleor/auth-sdk counts the last two as none.

Long enough for what a check does with a token before it waits for the end of it.
"""

NEXTJS = "--import ./nextjs/stand-in/register.mjs checks/nextjs.mjs"
GUESSER = "203.0.113.2"
"""Who enters an incorrect password in ``checks/nextjs.mjs``."""

DEFAULT_VENDOR = Settings().vendor
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Shop:
    """A running server and its people; ``mail`` is the file that gets its emails."""

    server: Server
    mail: Path

    @property
    def settings(self) -> dict[str, str]:
        """The environment of its processes; other tests run with another vendor."""
        mail_url = f"file:{self.mail}"
        return environment(self.server.database_url, VENDOR=DEFAULT_VENDOR, MAIL_URL=mail_url)

    def operate(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run ``flask WORDS`` to its end."""
        with running_command(words, ROOT, self.settings) as command:
            return command.finish(3 * PATIENCE)

    @contextmanager
    def worker(self) -> Iterator[None]:
        """Run the background worker during the block."""
        with running_command(("worker",), ROOT, self.settings):
            yield

    def run(self, query: str, **variables: object) -> Any:
        """Run an operation as the admin, in a session of its own; return its data.

        Programs of other tests of the shop end all sessions of the admin.
        """
        headers = {"Authorization": f"Bearer {self.sign_in()}"}
        return self._post({"query": query, "variables": variables}, headers)

    def sign_in(self) -> str:
        """Return an access token of the admin."""
        made = self._post({"query": _SIGN_IN, "variables": {"email": ADMIN}}, {})
        token: str = made["tokenCreate"]["token"]
        return token

    def _post(self, body: object, headers: dict[str, str]) -> Any:
        response = requests.post(
            self.server.issuer, json=body, headers=headers, timeout=PATIENCE
        ).json()
        assert "errors" not in response, response
        return response["data"]


_SIGN_IN = f"""
mutation SignIn($email: String!) {{
  tokenCreate(email: $email, password: {json.dumps(PASSWORD)}) {{ token errors {{ code }} }}
}}"""


@contextmanager
def running_shop(folder: Path, migrated_file: Path, **settings: str) -> Iterator[Shop]:
    """Run a shop with an administrator and a customer, in ``folder``."""
    copied = shutil.copy(_filled(migrated_file), folder / "shop.sqlite3")
    with running(folder, f"sqlite:///{copied}", VENDOR=DEFAULT_VENDOR, **settings) as server:
        yield Shop(server, folder / "mails.txt")


def _filled(migrated_file: Path) -> Path:
    """Return the database of such a shop, which has signing keys already: made once per run."""
    file = migrated_file.with_name("clients.sqlite3")
    url = f"sqlite:///{file}"

    def fill() -> str:
        shutil.copy(migrated_file, file)
        ports = connect(Settings(database_url=url, secret_key=SECRET))
        make_user(ports, ADMIN, password=PASSWORD, is_staff=True, is_superuser=True)
        make_user(ports, CUSTOMER, password=PASSWORD)
        ports.database.close()
        made = run_operator(url, "keys", "list", "--short")
        assert "active" in made.stdout, made.stderr
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return str(file)

    return Path(once(migrated_file.parent, "clients-shop", fill))


def guess_before(shop: Shop, address: str) -> None:
    """Count five incorrect passwords of ``address`` a minute ago: the next blocks it for 32 s.

    The first would block it for 1 s: on a busy machine another sign-in can take that long.
    """
    ports = connect(Settings(database_url=shop.server.database_url, secret_key=SECRET))
    with ports.database.reading() as session:
        customer = session.scalars(
            select(models.User.id).where(models.User.email == CUSTOMER)
        ).one()
    for _ in range(5):
        ports.throttle.fail(address, "", customer, ports.clock.timestamp() - 60)
    ports.database.close()


@contextmanager
def watched(shop: Shop) -> Iterator[Shop]:
    """Fail if the server logs a traceback or a secret during the block."""
    ports = connect(Settings(database_url=shop.server.database_url, secret_key=SECRET))
    ports.throttle.unblock(LOOPBACK)  # another program's incorrect password would delay this one
    ports.database.close()
    yield shop
    faults = shop.server.new_errors()
    if faults:
        pytest.fail(f"The server logged a fault:\n{faults}", pytrace=False)


@pytest.fixture(scope="session")
def _running_shop(
    tmp_path_factory: pytest.TempPathFactory, _migrated_file: Path
) -> Iterator[Shop]:
    with running_shop(tmp_path_factory.mktemp("clients"), _migrated_file) as shop:
        yield shop


@pytest.fixture
def shop(_running_shop: Shop) -> Iterator[Shop]:
    """A running shop with the default settings."""
    with watched(_running_shop):
        yield _running_shop


@pytest.fixture(scope="session")
def _running_brief_shop(
    tmp_path_factory: pytest.TempPathFactory, _migrated_file: Path
) -> Iterator[Shop]:
    folder = tmp_path_factory.mktemp("brief")
    with running_shop(folder, _migrated_file, JWT_TTL_ACCESS=LIFETIME) as shop:
        yield shop


@pytest.fixture
def brief_shop(_running_brief_shop: Shop) -> Iterator[Shop]:
    """A running shop whose access tokens expire after some seconds."""
    with watched(_running_brief_shop):
        yield _running_brief_shop


def run_client(program: str, shop: Shop, *arguments: str) -> str:
    """Run a program of this folder to its end; it fails if an assertion of it does.

    Returns what it printed.
    """
    done = subprocess.run(
        [node(), *program.split(), *arguments],
        cwd=FOLDER,
        env={"API_URL": shop.server.issuer},
        capture_output=True,
        text=True,
        timeout=3 * PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def talk_to_client(
    program: str, shop: Shop, *arguments: str, answer: Callable[[str], str], **settings: str
) -> None:
    """Run a program that prints lines, waits for the answer to each, and ends."""
    process = subprocess.Popen(
        [node(), program, *arguments],
        cwd=FOLDER,
        env={"API_URL": shop.server.issuer, **settings},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    while line := process.stdout.readline().strip():
        process.stdin.write(answer(line))
        process.stdin.flush()
    _, faults = process.communicate(timeout=3 * PATIENCE)
    assert process.returncode == 0, faults


@pytest.fixture
def app_url(tmp_path: Path) -> Iterator[str]:
    """An app built with @saleor/app-sdk."""
    process = subprocess.Popen(
        [node(), "app.mjs", str(tmp_path / "tokens.json")],
        cwd=FOLDER,
        env={"PORT": "0"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.stdin.close()
        process.wait(PATIENCE)
        process.stdout.close()


def set_login_mode(shop: Shop, mode: str) -> None:
    """Set the password login mode as an operator does."""
    done = shop.operate("shop", "set", "password-login-mode", mode, "--yes")
    assert done.returncode == 0, done.stderr
