"""The production server as a process of its own, on a free port of this machine."""

import contextlib
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import requests

from tests.servers.forked_commands import running_command
from tests.servers.run import ROOT
from tests.servers.sandbox import PATIENCE

SECRET = "a secret of the servers that the tests start"
VENDOR = "Saleor"
"""The make that the recorded clients belong to: one setting makes the service speak to them."""

OWNER = VENDOR.lower()

_SERVE = ("serve", "--host", "127.0.0.1", "--workers", "1", "--no-worker")
_ATTEMPTS = 5
_STOP_SECONDS = 20
_TRACEBACKS = ("Traceback (most recent call last)", '"exception":')
"""How one begins in a log for people, and in one for machines."""

_SECRET = re.compile(r"\beyJ[\w-]+\.[\w-]+\.|\blkapp_\w{20}|\$argon2|\bwhsec_|PRIVATE KEY")
"""A JWT, an app token, a password hash, a webhook's secret, a key."""


@dataclass(slots=True)
class Server:
    """A server that answers at ``url``; ``log`` holds what it has written so far."""

    url: str
    database_url: str
    log: Path
    process: "subprocess.Popen[bytes]"
    _read: int = 0

    @property
    def issuer(self) -> str:
        """The ``iss`` of the tokens it gives out: its own address of the API."""
        return f"{self.url}/graphql/"

    def new_errors(self) -> str:
        """What the log has gained since the last call, if there is a traceback or a secret in it.

        So every test on a running server searches its log for tokens and password hashes.
        """
        written = self.log.read_bytes()
        fresh = written[self._read :].decode(errors="replace")
        self._read = len(written)
        is_fault = any(mark in fresh for mark in _TRACEBACKS) or _SECRET.search(fresh)
        return fresh if is_fault else ""

    def stop(self) -> None:
        """End it as an operator does, and wait until it is gone."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise


@contextlib.contextmanager
def running(folder: Path, database_url: str, **settings: str) -> Iterator[Server]:
    """A server on that database, with these settings beside those that all of them have."""
    server = _start(folder, database_url, settings)
    try:
        yield server
    finally:
        server.stop()


def environment(database_url: str, **settings: str) -> dict[str, str]:
    """All that the process sees of the outside: nothing of the machine's own settings."""
    return {
        "APP_ENV": "development",
        "DATABASE_URL": database_url,
        "SECRET_KEY": SECRET,
        "VENDOR": VENDOR,
        "TRUSTED_PROXIES": "127.0.0.0/8",
        "OUTGOING_ALLOWED_NETWORKS": "127.0.0.0/8,::1/128",
        "FLASK_APP": str(ROOT / "wsgi.py"),
        "FLASK_SKIP_DOTENV": "1",
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
        **settings,
    }


def flask(*words: str) -> list[str]:
    """The command ``flask …`` of the environment that the tests run in."""
    return [sys.executable, "-m", "flask", *words]


def run_operator(database_url: str, *words: str) -> subprocess.CompletedProcess[str]:
    """``flask WORDS`` on that database, to its end."""
    with running_command(words, ROOT, environment(database_url)) as running:
        return running.finish(3 * PATIENCE)


def _start(folder: Path, database_url: str, settings: dict[str, str]) -> Server:
    log = folder / f"server-{len(list(folder.glob('*.log')))}.log"
    for _ in range(_ATTEMPTS):
        port = _free_port()
        with log.open("ab") as output:
            process = subprocess.Popen(
                flask(*_SERVE, "--port", str(port)),
                # Not where the project is: a developer's own .env is none of the tests' business.
                cwd=folder,
                env=environment(database_url, **settings),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        server = Server(f"http://127.0.0.1:{port}", database_url, log, process)
        if _answers(server):
            return server
    raise RuntimeError(f"The server does not come up:\n{log.read_text()}")


def _free_port() -> int:
    """A port that is free now; another process may still be quicker, hence the attempts."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


def _answers(server: Server) -> bool:
    """Whether it came up; false when it ended instead, an error when it does neither."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if server.process.poll() is not None:
            return False
        try:
            requests.get(f"{server.url}/.well-known/jwks.json", timeout=PATIENCE)
        except requests.ConnectionError:
            time.sleep(0.02)
        else:
            return True
    server.process.kill()
    server.process.wait()
    raise TimeoutError(f"The server is not ready:\n{server.log.read_text()}")
