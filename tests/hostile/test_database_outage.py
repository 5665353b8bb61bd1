"""A database that is away, or locked from outside, and what goes on meanwhile."""

import json
import signal
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import psycopg
import pytest
import requests
from sqlalchemy import text

from app.adapters.database.migrations import upgrade
from app.adapters.database.sql_database import connect_database
from app.domain.values.installation import DatabaseBusy
from app.web.server import THREADS
from tests.servers import postgresql
from tests.servers.forked_commands import running_command
from tests.servers.sandbox import PATIENCE, Lodging
from tests.servers.sandbox import Server as Postgresql
from tests.spec.server import Server, environment, running

UNAVAILABLE = {
    "errors": [
        {
            "message": "Service temporarily unavailable",
            "extensions": {"code": "SERVICE_UNAVAILABLE"},
        }
    ]
}
LOGINS = 24
SHOP = {"query": "{ shop { name } }"}
LOGIN = {
    "query": 'mutation { tokenCreate(email: "a@example.com", password: "x") { errors { code } } }'
}

pytestmark = pytest.mark.xdist_group("database outage")


@pytest.fixture
def lodging() -> Iterator[Lodging]:
    with tempfile.TemporaryDirectory(prefix="latchkey-outage-") as folder:
        Path(folder).chmod(0o711)
        yield Lodging.under(Path(folder), "postgresql")


@pytest.mark.first
def test_server_outlasts_a_stopped_database(lodging: Lodging, tmp_path: Path) -> None:
    database = postgresql.launch(lodging)
    try:
        upgrade(database.url)
        with running(tmp_path, database.url) as server:
            keys = get(server, "/.well-known/jwks.json").content
            assert post(server, SHOP).status_code == 200

            stop(database)
            assert_unavailable(server, keys)
            assert_command_says_so(database.url, tmp_path)
            log = server.log.read_text()
            assert log.count("database.unavailable") == 1
            assert "Traceback" not in log

            database = postgresql.restart(lodging, database)
            wait_until_back(server)
            assert get(server, "/.well-known/jwks.json").content == keys
            assert server.log.read_text().count("database.unavailable_is_over") == 1
            assert not server.new_errors()
    finally:
        stop(database)


def assert_unavailable(server: Server, keys: bytes) -> None:
    for _ in range(10):
        response = post(server, SHOP)
        assert response.status_code == 503
        assert int(response.headers["Retry-After"]) > 0
        assert response.json() == UNAVAILABLE
    assert post(server, [SHOP, SHOP]).json() == [UNAVAILABLE, UNAVAILABLE]
    assert post(server, LOGIN).json() == UNAVAILABLE
    page = get(server, "/console/sign-in", Accept="text/html", Cookie="latchkey=none")
    staff = get(server, "/console/", Accept="text/html")
    assert {page.status_code, staff.status_code} <= {200, 303, 503}
    assert get(server, "/media/avatars/x-128.webp").status_code in {404, 503}
    assert get(server, "/.well-known/jwks.json").content == keys


def assert_command_says_so(database_url: str, folder: Path) -> None:
    with running_command(("user", "list"), folder, environment(database_url)) as command:
        ended = command.finish(PATIENCE)
    assert ended.returncode != 0
    assert ended.stderr.startswith("Error: The database cannot be reached: ")
    assert "Traceback" not in ended.stderr
    assert "database.unavailable" not in ended.stderr


def wait_until_back(server: Server) -> None:
    deadline = time.monotonic() + PATIENCE
    while (response := post(server, SHOP)).status_code == 503:
        assert response.json() == UNAVAILABLE
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert response.status_code == 200


@pytest.mark.first
def test_external_lock_does_not_block_reads(sqlite_url: str, tmp_path: Path) -> None:
    with running(tmp_path, sqlite_url) as server:
        keys = get(server, "/.well-known/jwks.json").content
        # The first request loads what the page needs.
        assert get(server, "/console/sign-in").status_code == 200
        with ThreadPoolExecutor(LOGINS) as pool:
            with write_lock(sqlite_url):
                logins = [
                    pool.submit(post, server, LOGIN, address=f"198.51.100.{number}")
                    for number in range(LOGINS)
                ]
                # All wait for the lock or for their turn; the first has waited too long.
                next(as_completed(logins, PATIENCE))
                for _ in range(3):
                    # What waited for the lock, which is still held, would fail.
                    assert get(server, "/.well-known/jwks.json").content == keys
                    assert post(server, SHOP).status_code == 200
                    assert get(server, "/console/sign-in").status_code == 200
                refused = islice(as_completed(logins, PATIENCE), LOGINS - THREADS // 2)
                assert {login.result(180).status_code for login in refused} == {503}
            answers = [login.result(180) for login in logins]
        waited = [response for response in answers if response.status_code == 200]
        assert waited, "what waited for the lock succeeds once it is released"
        assert {response.status_code for response in answers} == {200, 503}
        assert all("errors" not in response.json() for response in waited)
        assert post(server, LOGIN, address="198.51.100.99").status_code == 200
        busy = [line for line in server.log.read_text().splitlines() if "database.busy " in line]
        assert ["too many" in line for line in busy] == [True]
        assert not server.new_errors()


@pytest.mark.first
def test_lock_of_another_client_ends_a_wait_on_postgresql(postgresql_url: str) -> None:
    mark = "&" if "?" in postgresql_url else "?"
    database = connect_database(f"{postgresql_url}{mark}options=-c%20lock_timeout%3D100")
    with psycopg.connect(postgresql_url) as other:
        other.execute("LOCK TABLE shop IN ROW EXCLUSIVE MODE")
        with database.reading() as session:
            assert session.scalar(text("SELECT count(*) FROM shop")) == 1
        other.execute("LOCK TABLE shop IN EXCLUSIVE MODE")
        with pytest.raises(DatabaseBusy), database.transaction() as session:
            session.execute(text("UPDATE shop SET name = name"))
    with database.transaction() as session:
        session.execute(text("UPDATE shop SET name = name"))
    database.close()


@contextmanager
def write_lock(url: str) -> Iterator[None]:
    connection = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.rollback()
        connection.close()


def stop(database: Postgresql) -> None:
    if database.process.poll() is None:
        database.process.send_signal(signal.SIGINT)
        database.process.wait(PATIENCE)


def get(server: Server, path: str, **headers: str) -> requests.Response:
    return requests.get(
        f"{server.url}{path}", headers=headers, timeout=PATIENCE, allow_redirects=False
    )


def post(server: Server, body: object, address: str = "198.51.100.1") -> requests.Response:
    return requests.post(
        f"{server.url}/graphql/",
        data=json.dumps(body),
        headers={"Content-Type": "application/json", "X-Forwarded-For": address},
        timeout=PATIENCE,
    )
