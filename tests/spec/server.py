"""The production server in its own process on a free port."""

import contextlib
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import requests

from tests.servers.forked_commands import ForkedCommand, running_command, start_command
from tests.servers.free_ports import free_port
from tests.servers.run import ROOT
from tests.servers.sandbox import PATIENCE

SECRET = "a secret of the servers that the tests start"
VENDOR = "Saleor"
"""The vendor of the recorded clients, which is a setting."""

OWNER = VENDOR.lower()

_SERVE = ("serve", "--host", "127.0.0.1", "--workers", "1")
_ATTEMPTS = 5
_TRACEBACKS = ("Traceback (most recent call last)", '"exception":')
"""How a traceback begins in plain and in JSON logs."""

_SECRET = re.compile(r"\beyJ[\w-]+\.[\w-]+\.|\blkapp_\w{20}|\$argon2|\bwhsec_|PRIVATE KEY")
"""A JWT, an app token, a password hash, a webhook's secret, a key."""


@dataclass(slots=True)
class Server:
    """A server at ``url``; ``log`` is its log file."""

    url: str
    database_url: str
    log: Path
    process: ForkedCommand
    _read: int = 0

    @property
    def issuer(self) -> str:
        """Return the issuer of its tokens: the URL of its API."""
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
        """Stop the server and wait until it has ended."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(PATIENCE)
        except TimeoutError:
            self.process.kill()
            raise


@contextlib.contextmanager
def running(
    folder: Path,
    database_url: str,
    options: tuple[str, ...] = ("--no-worker",),
    /,
    *,
    module: str = "flask",
    **settings: str,
) -> Iterator[Server]:
    """Run a server on that database with these settings; ``module`` stands in for ``flask``."""
    server = _start(folder, database_url, settings, module, options)
    try:
        yield server
    finally:
        server.stop()


def environment(database_url: str, **settings: str) -> dict[str, str]:
    """Return the process's environment, without the machine's settings."""
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


def run_operator(database_url: str, *words: str) -> subprocess.CompletedProcess[str]:
    """``flask WORDS`` on that database, to its end."""
    with running_command(words, ROOT, environment(database_url)) as running:
        return running.finish(3 * PATIENCE)


def _start(
    folder: Path,
    database_url: str,
    settings: dict[str, str],
    module: str,
    options: tuple[str, ...],
) -> Server:
    log = folder / f"server-{len(list(folder.glob('*.log')))}.log"
    for _ in range(_ATTEMPTS):
        port = free_port()
        # Not in the project's folder: a developer's .env must not affect the tests.
        command = (*_SERVE, *options, "--port", str(port))
        process = start_command(
            command, folder, environment(database_url, **settings), log, module
        )
        server = Server(f"http://127.0.0.1:{port}", database_url, log, process)
        if _answers(server):
            return server
    raise RuntimeError(f"The server does not come up:\n{log.read_text()}")


def _answers(server: Server) -> bool:
    """Return whether the server started; false if it ended, an error if it does neither."""
    address = ("127.0.0.1", int(server.url.rpartition(":")[2]))
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if server.process.poll() is not None:
            return False
        try:
            # A request that is refused takes 40 times as long.
            socket.create_connection(address, PATIENCE).close()
            requests.get(f"{server.url}/.well-known/jwks.json", timeout=PATIENCE)
        except OSError:  # also of requests
            time.sleep(0.02)
        else:
            return True
    server.process.kill()
    raise TimeoutError(f"The server is not ready:\n{server.log.read_text()}")
