"""How much memory `flask serve` takes with a server process and the worker.

The figures of docs/operations/sizing.md, of all processes together, since they share memory. Run
it on an idle machine (other Python processes share pages) and in an environment with the packages
of requirements.txt alone: with those of the tests, Redis' client imports OpenTelemetry.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Semaphore, Thread

from typing_extensions import override

from benchmarks import load_client, servers
from benchmarks.imports import empty_database
from tests.servers.run import server_url, shared_directory

GOAL = 220.0
"""MiB of all processes after some hundred requests."""

_REQUESTS = 150
_DELIVERIES = 20
_SETTLING_SECONDS = 5
_SETTINGS = {"OUTGOING_ALLOWED_NETWORKS": "127.0.0.0/8"}
_SHOP = b'{"query": "{ shop { name } }"}'
_QUERY = "subscription { event { ... on CustomerCreated { user { id email } } } }"


def main() -> None:
    """Print the memory on each database, before and after the worker has sent webhooks."""
    most = 0.0
    with shared_directory() as directory:
        server = server_url(directory, "postgresql")
        for kind in ("sqlite", "postgresql"):
            with empty_database(server, kind) as url:
                most = max(most, _measure(kind, url))
    sys.stdout.write(f"goal {GOAL:.0f} MiB: {'met' if most <= GOAL else 'MISSED'}\n")
    sys.exit(most > GOAL)


def _measure(kind: str, url: str) -> float:
    _flask(url, "demo", "--once")
    with servers.latchkey(url, _SETTINGS, with_worker=True) as server:
        for _ in range(_REQUESTS):
            for path, body in (("/graphql/", _SHOP), ("/console/", b"")):
                request = load_client.request_bytes(path, body, port=server.port)
                load_client.one(server.port, request)
        total = _report(kind, "after requests", server)
        with _receiver() as (target, arrived):
            options = ("--app", "Newsletter", "--name", "memory", "--query", _QUERY)
            _flask(url, "webhook", "create", "--target-url", target, *options)
            for number in range(_DELIVERIES):
                _flask(url, "user", "create", f"memory{number}@example.com")
            for _ in range(_DELIVERIES):
                arrived.acquire()
        _report(kind, "after webhooks", server)
    return total


def _report(kind: str, when: str, server: servers.Server) -> float:
    time.sleep(_SETTLING_SECONDS)
    shares = server.shares()
    total = sum(shares.values())
    each = ", ".join(f"{name} {share:.0f} MiB" for name, share in shares.items())
    sys.stdout.write(f"{kind:10} {when}: {each}, together {total:.0f} MiB\n")
    sys.stdout.flush()
    return total


def _flask(url: str, *arguments: str) -> None:
    environment = {**os.environ, "DATABASE_URL": url, **_SETTINGS}
    command = [sys.executable, "-m", "flask", *arguments]
    subprocess.run(command, cwd=servers.ROOT, env=environment, capture_output=True, check=True)


@contextmanager
def _receiver() -> Iterator[tuple[str, Semaphore]]:
    """Yield the URL of an endpoint, and what counts the deliveries that arrived."""
    arrived = Semaphore(0)

    class Endpoint(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.end_headers()
            arrived.release()

        @override
        def log_message(self, *_arguments: object) -> None:
            return

    with HTTPServer(("127.0.0.1", 0), Endpoint) as endpoint:
        Thread(target=endpoint.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{endpoint.server_port}/", arrived
        endpoint.shutdown()
