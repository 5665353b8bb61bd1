"""Servers that are restarted behind ``deploy/nginx.conf`` lose no request and run none twice."""

import signal
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import requests
from sqlalchemy import select

from app import models
from app.composition.settings import Settings
from app.composition.wiring import connect
from app.domain.authorization.permissions import Permission
from benchmarks.deployment.stack import start_nginx
from tests.builders.people import make_staff, sign_in
from tests.commands.real_installation import Installation, answers, end, wait_until
from tests.servers.certificates import certificate_for
from tests.servers.forked_commands import ForkedCommand
from tests.servers.free_ports import free_port
from tests.spec.server import SECRET, VENDOR, environment

PATIENCE = 180.0
THREADS = 3
RESTARTS = 2
CREATE = """
mutation ($name: String!) { appCreate(input: {name: $name}) { app { id } errors { code } } }
"""


@contextmanager
def nginx(folder: Path, ports: list[int]) -> Iterator[str]:
    """Run nginx in front of ``ports``; return its URL."""
    _, chain = certificate_for(folder, "localhost")
    https = free_port()
    with ExitStack() as ends:
        start_nginx(folder, [f"127.0.0.1:{port}" for port in ports], chain, https, ends)
        yield f"https://localhost:{https}"


@dataclass(slots=True)
class Load:
    """Mutations that clients send without a pause; each creates an app with a name of its own."""

    url: str
    authority: Path
    token: str
    answered: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    @contextmanager
    def running(self) -> Iterator[None]:
        stop = threading.Event()
        threads = [
            threading.Thread(target=self._send, args=(stop, number)) for number in range(THREADS)
        ]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            stop.set()
            for thread in threads:
                thread.join(PATIENCE)

    def _send(self, stop: threading.Event, thread: int) -> None:
        with requests.Session() as session:
            session.trust_env = False
            session.verify = str(self.authority)
            number = 0
            while not stop.is_set():
                number += 1
                name = f"app {thread} {number}"
                try:
                    answer = session.post(
                        f"{self.url}/graphql/",
                        json={"query": CREATE, "variables": {"name": name}},
                        headers={"Authorization": f"Bearer {self.token}"},
                        timeout=PATIENCE,
                    )
                    assert answer.json()["data"]["appCreate"]["errors"] == [], answer.text
                except (requests.RequestException, KeyError, AssertionError) as error:
                    self.failed.append(f"{name}: {error}")
                else:
                    self.answered.append(name)


@pytest.mark.one_of("buffered")
@pytest.mark.parametrize("buffered", ["true", "false"])
def test_restarts_lose_no_mutation_and_run_none_twice(
    tmp_path: Path, sqlite_url: str, buffered: str
) -> None:
    settings = environment(sqlite_url, REQUESTS_ARE_BUFFERED=buffered)
    shop = Installation(tmp_path, settings)
    ports = connect(Settings(database_url=sqlite_url, secret_key=SECRET, vendor=VENDOR))
    running: dict[int, ForkedCommand] = {}

    def start(port: int) -> None:
        serve = ("serve", "--workers", "1", "--no-worker", "--port", str(port))
        running[port] = shop.start(*serve)
        wait_until(lambda: running[port].poll() is not None or answers(port), "it answers")

    try:
        token = sign_in(ports, make_staff(ports, "staff@example.com", Permission.MANAGE_APPS))
        for _ in range(2):
            start(free_port())
        authority, _ = certificate_for(tmp_path, "localhost")
        with nginx(tmp_path, list(running)) as url:
            load = Load(url, authority, token.access)
            with load.running():
                for port in list(running) * RESTARTS:
                    before = len(load.answered)
                    wait_until(lambda: len(load.answered) > before + 20, "requests pass")  # noqa: B023
                    running[port].send_signal(signal.SIGTERM)
                    assert running[port].wait(PATIENCE) == 0
                    start(port)
        with ports.database.reading() as session:
            made = Counter(session.scalars(select(models.App.name)))
    finally:
        for process in running.values():
            end(process)
        ports.database.close()
    assert load.failed == []
    assert {name: made[name] for name in load.answered} == dict.fromkeys(load.answered, 1)


@contextmanager
def greedy_server(answer: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """Take each request whole, and then answer so; an empty answer closes the connection."""
    taken: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(PATIENCE)
                got = b""
                while not got.endswith(b"last byte"):
                    read = connection.recv(65536)
                    if not read:
                        break
                    got += read
                else:
                    taken.append(got)
                    connection.sendall(answer)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield listener.getsockname()[1], taken
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(PATIENCE)


def test_mutation_is_sent_to_another_server_only_if_none_of_it_was_passed_on(
    tmp_path: Path,
) -> None:
    authority, _ = certificate_for(tmp_path, "localhost")
    secure = b"Strict-Transport-Security: max-age=63072000\r\n"
    # Said, since nginx would otherwise send the next request on the connection that ends.
    ending = b"Connection: close\r\n"
    good_answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n" + ending + secure + b"\r\n"
    number = 12

    def post(url: str) -> list[int]:
        with requests.Session() as session:
            session.trust_env = False
            session.verify = str(authority)
            return [
                session.post(f"{url}/graphql/", data=b"last byte", timeout=PATIENCE).status_code
                for _ in range(number)
            ]

    with greedy_server(good_answer) as (good_port, good):
        with greedy_server(b"") as (bad_port, bad), nginx(tmp_path, [bad_port, good_port]) as url:
            statuses = post(url)
            assert 0 < len(bad) == statuses.count(502)
            assert len(good) == statuses.count(200) == number - len(bad)
            closed = bad_port
        good.clear()
        with nginx(tmp_path, [closed, good_port]) as url:
            assert post(url) == [200] * number
            answer = requests.post(
                f"{url}/", data=b"last byte", timeout=PATIENCE, verify=str(authority)
            )
            # Twice, requests would have joined them by a comma.
            assert answer.headers["Strict-Transport-Security"] == "max-age=31536000"
            good.pop()
        assert len(good) == number
