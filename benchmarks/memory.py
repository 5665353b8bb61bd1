"""How much memory `flask serve` takes with a server process and the worker, and what it does idle.

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

GOALS = {"MiB": 220.0, "ms/s idle": 1.5, "MiB more": 5.0}
"""Of all processes: memory after some hundred requests, processor time a second without any, and
how much 100,000 requests add once the server is warm."""

_REQUESTS = 150
_WARM_UP, _MANY = 10_000, 100_000
_IDLE_SECONDS = 30.0
_LONG = 600.0
_DELIVERIES = 20
_SETTLING_SECONDS = 5
_SETTINGS = {"OUTGOING_ALLOWED_NETWORKS": "127.0.0.0/8"}
_SHOP = b'{"query": "{ shop { name } }"}'
_QUERY = "subscription { event { ... on CustomerCreated { user { id email } } } }"


def main() -> None:
    """Print the figures on each database; memory also after the worker has sent webhooks."""
    found: list[dict[str, float]] = []
    with shared_directory() as directory:
        server = server_url(directory, "postgresql")
        for kind in ("sqlite", "postgresql"):
            with empty_database(server, kind) as url:
                found.append(_measure(kind, url))
    missed = [name for name, goal in GOALS.items() if max(one[name] for one in found) > goal]
    for name, goal in GOALS.items():
        sys.stdout.write(f"goal {goal:g} {name}: {'MISSED' if name in missed else 'met'}\n")
    sys.exit(bool(missed))


def _measure(kind: str, url: str) -> dict[str, float]:
    _flask(url, "demo", "--once")
    with servers.latchkey(url, _SETTINGS, with_worker=True) as server:
        for _ in range(_REQUESTS):
            for path, body in (("/graphql/", _SHOP), ("/console/", b"")):
                request = load_client.request_bytes(path, body, port=server.port)
                load_client.one(server.port, request)
        total = _report(kind, "after requests", server)
        idle = _idle(kind, server)
        with _receiver() as (target, arrived):
            options = ("--app", "Newsletter", "--name", "memory", "--query", _QUERY)
            _flask(url, "webhook", "create", "--target-url", target, *options)
            for number in range(_DELIVERIES):
                _flask(url, "user", "create", f"memory{number}@example.com")
            for _ in range(_DELIVERIES):
                arrived.acquire()
        _report(kind, "after webhooks", server)
        growth = _growth(kind, server)
    return dict(zip(GOALS, (total, idle, growth), strict=True))


def _idle(kind: str, server: servers.Server) -> float:
    before = server.processor()
    time.sleep(_IDLE_SECONDS)
    taken = (server.processor() - before) / _IDLE_SECONDS * 1000
    sys.stdout.write(f"{kind:10} idle: {taken:.1f} ms of processor time a second\n")
    return taken


def _growth(kind: str, server: servers.Server) -> float:
    request = load_client.request_bytes("/graphql/", _SHOP, port=server.port)
    totals = []
    for requests in (_WARM_UP, _MANY):
        load_client.run(server.port, request, seconds=_LONG, limit=requests)
        totals.append(_report(kind, f"after {requests:,} more requests", server))
    return totals[1] - totals[0]


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
