"""The server behind PgBouncer in transaction mode, which gives each transaction any connection."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
import requests
from sqlalchemy import make_url

from app.composition.settings import Settings
from app.composition.wiring import connect
from tests.builders.people import PASSWORD, make_user
from tests.servers.free_ports import free_port
from tests.servers.run import ROOT
from tests.servers.sandbox import PATIENCE, wait_until
from tests.spec.server import SECRET, Server, running

PGBOUNCER = shutil.which("pgbouncer") or ""
EMAIL = "ann@example.com"
ROLE = "latchkey"

pytestmark = pytest.mark.skipif(not PGBOUNCER, reason="pgbouncer isn't installed")

_SIGN_IN = """
mutation SignIn($email: String!, $password: String!) {
  tokenCreate(email: $email, password: $password) { token refreshToken errors { code } }
}"""


@pytest.fixture
def pooled_url(postgresql_url: str, tmp_path: Path) -> Iterator[str]:
    """A pooler that shares two connections among its clients."""
    behind = make_url(postgresql_url)
    port = free_port()
    users = tmp_path / "users.txt"
    users.write_text(f'"{behind.username}" ""\n"{ROLE}" ""\n')
    settings = tmp_path / "pgbouncer.ini"
    settings.write_text(
        f"""[databases]
shop = host={behind.query["host"]} dbname={behind.database}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {users}
pool_mode = transaction
default_pool_size = 2
"""
    )
    as_account = ("-u", "nobody") if os.geteuid() == 0 else ()
    process = subprocess.Popen([PGBOUNCER, "-q", *as_account, str(settings)])
    try:
        assert wait_until(lambda: _listens(port), process)
        yield f"postgresql://{behind.username}@127.0.0.1:{port}/shop"
    finally:
        process.kill()
        process.wait(180)


@pytest.fixture
def shop(pooled_url: str, tmp_path: Path) -> Iterator[Server]:
    ports = connect(
        Settings(database_url=pooled_url, database_transaction_pooling=True, secret_key=SECRET)
    )
    make_user(ports, EMAIL, password=PASSWORD)
    ports.database.close()
    with running(tmp_path, pooled_url, DATABASE_TRANSACTION_POOLING="true") as server:
        yield server


def test_people_sign_in_and_call_the_api_at_the_same_time(shop: Server) -> None:
    signed_in = _post(shop, _SIGN_IN, {"email": EMAIL, "password": PASSWORD})["tokenCreate"]
    assert signed_in["errors"] == []

    def call(number: int) -> str:
        if number % 4:
            email: str = _post(shop, "{ me { email } }", token=signed_in["token"])["me"]["email"]
            return email
        refresh = "mutation ($token: String!) { tokenRefresh(refreshToken: $token) { token } }"
        made = _post(shop, refresh, {"token": signed_in["refreshToken"]})
        return EMAIL if made["tokenRefresh"]["token"] else ""

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(call, range(200))) == {EMAIL}
    assert shop.new_errors() == ""


def test_documented_statement_limits_the_wait_for_locks(
    pooled_url: str, postgresql_url: str
) -> None:
    statement = (ROOT / "deploy" / "pgbouncer.sql").read_text()
    with psycopg.connect(postgresql_url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {ROLE} LOGIN".encode())
        try:
            connection.execute(statement.encode())
            as_role = make_url(pooled_url).set(username=ROLE).render_as_string()
            with psycopg.connect(as_role, prepare_threshold=None) as pooled:
                assert pooled.execute("SHOW lock_timeout").fetchone() == ("15s",)
        finally:
            connection.execute(f"DROP ROLE {ROLE}".encode())


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except ConnectionRefusedError:
        return False
    return True


def _post(
    shop: Server, query: str, variables: dict[str, str] | None = None, token: str = ""
) -> Any:
    response = requests.post(
        f"{shop.url}/graphql/",
        json={"query": query, "variables": variables or {}},
        headers={"Authorization": f"Bearer {token}"} if token else {},
        timeout=PATIENCE,
    ).json()
    assert "errors" not in response, response
    return response["data"]
