"""``python -m benchmarks latency``: from a committed change to its webhook, and to its email.

One change at a time, after pauses of up to 0.2 s, so that it meets an idle worker. The time is
from the end of the change's transaction until the first byte of the request reaches the endpoint,
or the SMTP connection the mail server.
"""

import random
import socket
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from threading import Thread

import psycopg

from app import models
from app.domain.authorization.actor import OPERATOR
from app.domain.events import ProductUpdated
from app.domain.mails.mail import Mail, MailKind
from app.ports import Ports
from app.services.outbox.publisher import add_event, add_mail
from benchmarks import servers
from benchmarks.shop import BenchShop, subscribe
from tests.servers.run import server_url, shared_directory

RUNS = 200
_WARM_UP = 10
_PATIENCE = 60.0
_MAX_PAUSE = 0.2
_OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"


def main() -> None:
    """Print median and p99 for both databases, webhooks and emails."""
    with shared_directory() as directory:
        server = server_url(directory, "postgresql")
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute("CREATE DATABASE latency")
        urls = {"SQLite": "", "PostgreSQL": server.replace("/postgres?", "/latency?")}
        for name, url in urls.items():
            with tempfile.TemporaryDirectory() as folder:
                _measure(name, BenchShop(Path(folder), url=url))


def _measure(database: str, shop: BenchShop) -> None:
    with _arrivals(_OK) as (port, calls), _arrivals(b"421 closed\r\n") as (mail_port, mails):
        subscribe(shop.ports, shop.app, 1, f"http://127.0.0.1:{port}/hook")
        settings = {
            "OUTGOING_ALLOWED_NETWORKS": "127.0.0.0/8",
            "MAIL_URL": f"smtp://127.0.0.1:{mail_port}",
        }
        with servers.latchkey(shop.url, settings, with_worker=True, cores=servers.ALL_CORES):
            _report(f"{database}, webhook", _latencies(shop.ports, _change, calls))
            _report(f"{database}, email", _latencies(shop.ports, _write, mails))


def _latencies(
    ports: Ports, change: Callable[[Ports], None], arrivals: "Queue[float]"
) -> list[float]:
    """Return the milliseconds of each run."""
    taken = []
    for _ in range(_WARM_UP + RUNS):
        time.sleep(random.uniform(0, _MAX_PAUSE))  # noqa: S311 - nobody guesses it
        change(ports)
        ended = time.perf_counter()
        taken.append(1000 * (arrivals.get(timeout=_PATIENCE) - ended))
    return taken[_WARM_UP:]


def _change(ports: Ports) -> None:
    with ports.database.transaction() as session:
        product = session.get_one(models.Product, 1)
        add_event(ports, OPERATOR, session, ProductUpdated(product.id))


def _write(ports: Ports) -> None:
    with ports.database.transaction() as session:
        add_mail(ports, session, Mail(MailKind.ACCOUNT_EXISTS, "ann@example.com"))


def _report(name: str, taken: list[float]) -> None:
    p99 = statistics.quantiles(taken, n=100)[98]
    print(f"{name}: median {statistics.median(taken):.1f} ms, p99 {p99:.1f} ms", flush=True)


@contextmanager
def _arrivals(answer: bytes) -> Iterator[tuple[int, "Queue[float]"]]:
    """Answer every connection; yield the port, and when something arrived."""
    arrived: Queue[float] = Queue()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                arrived.put(time.perf_counter())
                with connection:
                    connection.sendall(answer)
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(65536):
                        pass

        Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1], arrived
        listener.shutdown(socket.SHUT_RDWR)
