"""The cost of fanning out and delivering an event must not grow with the history.

Two shops take turns: one with a single delivered event, and one with enough for a million
deliveries. What a round adds is removed after it, so both keep their size.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from ipaddress import ip_network
from statistics import mean, median

import psycopg
from sqlalchemy import delete, func, select, text

from app import models
from app.adapters.database.migrations import upgrade
from app.composition.settings import Settings
from app.composition.wiring import connect
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.authorization.permissions import Permission
from app.ports import Ports
from app.services.commerce.products import ProductInput, update_product
from app.services.deliveries.dispatch import lease_due_deliveries
from app.services.deliveries.fanout import fan_out_events
from app.services.deliveries.sending import send_deliveries
from benchmarks import servers
from benchmarks.cpu_time import processor_seconds
from benchmarks.delivery_history import multiply
from benchmarks.receiver import receiver
from benchmarks.shop import subscribe
from tests.builders.apps import make_app
from tests.builders.products import make_product, product_id
from tests.servers.run import server_url, shared_directory

WEBHOOKS = 10
SIZES = (WEBHOOKS, 1_000_000)
MAX_GROWTH = 0.10
"""By how much the processor time may differ, which is what chance makes of equal ones."""

_ROUNDS, _UNCOUNTED = 40, 3
_TRIES = 3
"""Times that so many rounds are added when the two differ: chance goes, a difference stays."""
_CHANGES = 16
"""Events per round: each endpoint gets one batch."""
_BACKENDS = "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"


@dataclass(frozen=True, slots=True)
class Work:
    """One kind of work: done on a shop, it returns how often."""

    name: str
    do: Callable[[Ports], int]


@dataclass(slots=True)
class _Times:
    """Milliseconds per event or delivery in each round: processor time and total time."""

    processor: list[float] = field(default_factory=list)
    passed: list[float] = field(default_factory=list)


class PastShop:
    """A shop with ten webhooks and so many deliveries behind it."""

    def __init__(self, url: str, port: int, history: int) -> None:
        upgrade(url)
        loopback = (ip_network("127.0.0.0/8"),)
        self.ports = connect(Settings(database_url=url, outgoing_allowed_networks=loopback))
        app, _ = make_app(self.ports, "bench", Permission.MANAGE_PRODUCTS)
        self._products = [
            product_id(make_product(self.ports, f"Product {n}")) for n in range(_CHANGES)
        ]
        subscribe(self.ports, app, WEBHOOKS, f"http://127.0.0.1:{port}/hook")
        self._changed = 0
        self._has_backends = url.startswith("postgresql")
        self.times = {work: _Times() for work in WORKS}
        self._change(1)
        for work in WORKS:
            work.do(self.ports)
        multiply(url, history // WEBHOOKS)
        with self.ports.database.reading() as session:
            self._last_note = session.scalar(select(func.max(models.OutboxEvent.id))) or 0
            self._last = session.scalar(select(func.max(models.Delivery.id))) or 0
            count_ = session.scalar(select(func.count()).select_from(models.Delivery))
        if count_ != history:
            raise RuntimeError(f"{count_} deliveries were made instead of {history}")

    def round(self, *, is_counted: bool) -> None:
        """Update some products, fan the events out and deliver them."""
        self._change(_CHANGES)
        for work, expected in zip(WORKS, (_CHANGES, _CHANGES * WEBHOOKS), strict=True):
            taken, started_at = self._processor(), time.perf_counter()
            done = work.do(self.ports)
            passed, taken = time.perf_counter() - started_at, self._processor() - taken
            if done != expected:
                raise RuntimeError(f"{work.name}: {done} instead of {expected}")
            if is_counted:
                self.times[work].processor.append(taken * 1000 / done)
                self.times[work].passed.append(passed * 1000 / done)
        with self.ports.database.transaction() as session:
            session.execute(delete(models.Delivery).where(models.Delivery.id > self._last))
            session.execute(
                delete(models.OutboxEvent).where(models.OutboxEvent.id > self._last_note)
            )

    def _change(self, count: int) -> None:
        for product in self._products[:count]:
            self._changed += 1
            update_product(
                self.ports, OPERATOR, product, ProductInput(name=f"Bowl {self._changed}")
            )

    def _processor(self) -> float:
        """Seconds of processor time that this process, and a store's own ones, have taken."""
        backends: Sequence[int] = ()
        if self._has_backends:
            with self.ports.database.reading() as session:
                backends = session.scalars(text(_BACKENDS)).all()
        return time.process_time() + sum(map(processor_seconds, backends))


@dataclass(frozen=True, slots=True)
class Compared:
    """The time of one kind of work at each of ``SIZES``, in milliseconds."""

    name: str
    processor: tuple[float, ...]
    passed: tuple[float, ...]

    @classmethod
    def of(cls, work: Work, shops: Sequence[PastShop]) -> "Compared":
        times = [shop.times[work] for shop in shops]
        return cls(
            work.name,
            tuple(mean(one.processor) for one in times),
            tuple(median(one.passed) for one in times),
        )

    @property
    def growth(self) -> float:
        return self.processor[1] / self.processor[0] - 1

    @property
    def grows(self) -> bool:
        return self.growth > MAX_GROWTH

    @property
    def note(self) -> str:
        return (
            f"{self.name}, with {SIZES[0]} and with {SIZES[1]:,} deliveries made before:"
            f" {self.processor[0]:.2f} and {self.processor[1]:.2f} ms of processor time"
            f" ({self.growth:+.0%}; the limit: {MAX_GROWTH:.0%}),"
            f" {self.passed[0]:.1f} and {self.passed[1]:.1f} ms in all"
        )


def _deliver(ports: Ports) -> int:
    """Deliver whatever is due."""
    delivered = 0
    while batches := lease_due_deliveries(ports, WORKER):
        delivered += sum(send_deliveries(ports, WORKER, batch) for batch in batches)
    return delivered


WORKS = (
    Work(f"an event told to {WEBHOOKS} webhooks", lambda ports: fan_out_events(ports, WORKER)),
    Work("a delivery", _deliver),
)


def main() -> None:
    """Print both on SQLite and on PostgreSQL; end with 1 when either has grown too much."""
    grown = False
    with tempfile.TemporaryDirectory() as folder, _postgresql() as urls:
        grown |= _compare([f"sqlite:///{folder}/{size}.sqlite3" for size in SIZES], "")
        grown |= _compare(urls, "PostgreSQL: ")
    sys.exit(grown)


@contextmanager
def _postgresql() -> Iterator[list[str]]:
    names = [f"fanout_{size}" for size in SIZES]
    with shared_directory() as directory:
        server = server_url(directory, "postgresql")
        with psycopg.connect(server, autocommit=True) as connection:
            for name in names:
                connection.execute(f"CREATE DATABASE {name}".encode())
        yield [server.replace("/postgres?", f"/{name}?") for name in names]


def _compare(urls: list[str], where: str) -> bool:
    """Print both works on a kind of database; return whether one has grown too much."""
    before = os.sched_getaffinity(0)
    with receiver() as port:
        os.sched_setaffinity(0, {servers.SERVER_CORE})
        shops = [PastShop(url, port, size) for url, size in zip(urls, SIZES, strict=True)]
        compared: list[Compared] = []
        for _ in range(_TRIES):
            _measure_rounds(shops)
            compared = [Compared.of(work, shops) for work in WORKS]
            if not any(one.grows for one in compared):
                break
    os.sched_setaffinity(0, before)
    for shop in shops:
        shop.ports.database.close()
    for one in compared:
        sys.stdout.write(f"- {where}{one.note}{' **too much**' if one.grows else ''}\n")
    return any(one.grows for one in compared)


def _measure_rounds(shops: list[PastShop]) -> None:
    for number in range(_UNCOUNTED + _ROUNDS):
        for shop in shops if number % 2 else shops[::-1]:
            shop.round(is_counted=number >= _UNCOUNTED)
