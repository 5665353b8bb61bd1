"""A burst of changes with five webhooks each: the API meanwhile, and when all are delivered.

10,000 changes in ten seconds are more than the API makes on two cores, so an import makes them:
transactions of 50 changes each. A client asks the API and an empty Flask view in turn, 25 requests
of each a second on eight connections, before the burst and until its last delivery.
"""

import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event, Thread

from sqlalchemy import func, select, update

from app import models
from app.composition.settings import Settings
from app.composition.wiring import connect
from app.domain.authorization.actor import OPERATOR
from app.domain.deliveries.deliveries import DeliveryStatus
from app.domain.events import ProductUpdated
from app.ports import Ports
from app.services.outbox.publisher import add_event
from benchmarks import load_client, paths, servers
from benchmarks.neighbours import BusyMachine, undisturbed
from benchmarks.receiver import receiver
from benchmarks.shop import PRODUCTS, BenchShop, subscribe

CHANGES, WEBHOOKS = 10_000, 5
MAX_SECONDS = 90.0
"""After the last change, until everything is delivered."""
MAX_RATIO = 2.0
"""How many times the p99 of `me` may be what it is without the burst."""
MAX_GROWTH = 32.0
"""MiB that the worker may grow by: what does not depend on the number of changes."""

_CHANGES_A_SECOND = 1000
_AT_ONCE = 50
_WARM_UP = 100
_ALONE_SECONDS = 20.0
_TURN_SECONDS, _TURN_REQUESTS = 0.5, 25
_PATIENCE_SECONDS = 600.0
_ANSWER_SECONDS = 0.02
_SETTINGS = {"OUTGOING_ALLOWED_NETWORKS": "127.0.0.0/8"}


@dataclass(slots=True)
class Latencies:
    """Of `me` and of the yardstick, an empty Flask view, in milliseconds."""

    own: list[float] = field(default_factory=list)
    yardstick: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Burst:
    """What a burst gave: seconds, milliseconds (p99) and MiB.

    ``alone`` and ``meanwhile`` are the p99 of `me`, each with the yardstick's p99 beside it.
    """

    delivered: int
    making: float
    draining: float
    alone: tuple[float, float]
    meanwhile: tuple[float, float]
    memory_before: float
    memory_most: float

    @property
    def ratio(self) -> float:
        return self.meanwhile[0] / self.alone[0]

    @property
    def yardstick_ratio(self) -> float:
        return self.meanwhile[1] / self.alone[1]

    @property
    def growth(self) -> float:
        return self.memory_most - self.memory_before


def main(changes: int = CHANGES, *, busy: bool = False) -> None:
    """Print what the burst gave; end with 1 when it misses a goal, with 2 on a busy machine."""
    try:
        burst = undisturbed(lambda: measure(changes), allowed=busy)
    except BusyMachine as neighbours:
        sys.stderr.write(f"{neighbours}\n")
        sys.exit(2)
    sys.stdout.write(report(burst))
    sys.exit(bool(misses(burst)))


def report(burst: Burst) -> str:
    """Return the figures as lines, and the goals that were missed."""
    making = (
        f"- {burst.delivered:,} deliveries of changes made in {burst.making:.1f} s: the last "
        f"{burst.draining:.1f} s after the last change (the limit: {MAX_SECONDS:.0f} s)"
    )
    answers = (
        f"- p99 of `me` before the burst {burst.alone[0]:.1f} ms, until its last delivery "
        f"{burst.meanwhile[0]:.1f} ms: {burst.ratio:.1f} times (the limit: {MAX_RATIO:.0f}); "
        f"of the empty view {burst.alone[1]:.1f} and {burst.meanwhile[1]:.1f} ms: "
        f"{burst.yardstick_ratio:.1f} times"
    )
    memory = (
        f"- memory of the worker before {burst.memory_before:.0f} MiB, at most "
        f"{burst.memory_most:.0f} MiB (the limit: {MAX_GROWTH:.0f} MiB more)"
    )
    missed = [f"MISSED: {goal}" for goal in misses(burst)]
    return "\n".join((making, answers, memory, *missed)) + "\n"


def misses(burst: Burst) -> Sequence[str]:
    """Return the goals that ``burst`` misses."""
    goals = {
        "the time until everything is delivered": burst.draining <= MAX_SECONDS,
        "the API's p99": burst.ratio <= MAX_RATIO,
        "the worker's memory": burst.growth <= MAX_GROWTH,
    }
    return [goal for goal, is_met in goals.items() if not is_met]


def measure(changes: int, *, alone_seconds: float = _ALONE_SECONDS) -> Burst:
    """Serve a shop with its worker on both cores and let an import change its products."""
    with (
        tempfile.TemporaryDirectory() as folder,
        receiver(_ANSWER_SECONDS) as port,
        servers.empty_flask() as empty,
    ):
        shop = BenchShop(Path(folder), other_users=10)
        subscribe(shop.ports, shop.app, WEBHOOKS, f"http://127.0.0.1:{port}/hook")
        with servers.latchkey(
            shop.url, _SETTINGS, with_worker=True, cores=servers.ALL_CORES
        ) as server:
            return _measure(shop, server, empty, changes, alone_seconds)


def _measure(
    shop: BenchShop,
    server: servers.Server,
    empty: servers.Server,
    changes: int,
    alone_seconds: float,
) -> Burst:
    targets = (
        paths.me(server.port, shop).at(server.port),
        load_client.Target(empty.port, load_client.request_bytes("/", port=empty.port)),
    )
    alone = Latencies()
    end = time.perf_counter() + alone_seconds
    _ask(targets, alone, lambda: time.perf_counter() >= end)
    # The first deliveries load what the worker needs for any: that is no growth.
    _make(shop, _WARM_UP, Latencies(), targets)
    before = server.shares()["worker"]
    meanwhile = Latencies()
    with _watched(server) as memory:
        making, draining = _make(shop, changes, meanwhile, targets)
    delivered = _delivered(shop.ports) - _WARM_UP * WEBHOOKS
    if delivered != changes * WEBHOOKS:
        raise RuntimeError(f"{delivered} deliveries arrived, not {changes * WEBHOOKS}")
    return Burst(
        delivered=delivered,
        making=making,
        draining=draining,
        alone=_p99(alone),
        meanwhile=_p99(meanwhile),
        memory_before=before,
        memory_most=max(memory),
    )


def _make(
    shop: BenchShop, changes: int, latencies: Latencies, targets: Sequence[load_client.Target]
) -> tuple[float, float]:
    """Make that many changes; return the seconds that took, and those until all were delivered."""
    importing = multiprocessing.get_context("spawn").Process(
        target=_import, args=(shop.url, changes)
    )
    began = time.perf_counter()
    importing.start()
    _ask(targets, latencies, lambda: not importing.is_alive())
    if importing.exitcode:
        raise RuntimeError("the import failed")
    ended = time.perf_counter()
    _ask(targets, latencies, lambda: _is_empty(shop.ports, ended))
    return ended - began, time.perf_counter() - ended


def _ask(
    targets: Sequence[load_client.Target], latencies: Latencies, is_over: Callable[[], bool]
) -> None:
    """Ask the API and the yardstick in turn, until ``is_over``, at least once each."""
    while True:
        for target, kept in zip(targets, (latencies.own, latencies.yardstick), strict=True):
            began = time.perf_counter()
            outcome = load_client.run(
                target.port, target.request, seconds=_PATIENCE_SECONDS, limit=_TURN_REQUESTS
            )
            if outcome.unexpected:
                raise RuntimeError(f"{outcome.unexpected} answers had another status")
            kept.extend(outcome.latencies)
            # A client that asks as fast as it can would take a core from what is measured.
            time.sleep(max(0.0, began + _TURN_SECONDS - time.perf_counter()))
        if is_over():
            return


def _p99(latencies: Latencies) -> tuple[float, float]:
    own, yardstick = (
        load_client.Outcome((), one, 0).percentile(0.99)
        for one in (latencies.own, latencies.yardstick)
    )
    return own, yardstick


@contextmanager
def _watched(server: servers.Server) -> Iterator[list[float]]:
    """Yield the memory of the worker in MiB, as it is once a second."""
    memory = [server.shares()["worker"]]
    stop = Event()

    def watch() -> None:
        while not stop.wait(1.0):
            memory.append(server.shares()["worker"])

    thread = Thread(target=watch)
    thread.start()
    try:
        yield memory
    finally:
        stop.set()
        thread.join()


def _is_empty(ports: Ports, since: float) -> bool:
    if time.perf_counter() - since > _PATIENCE_SECONDS:
        raise RuntimeError(f"not everything is delivered after {_PATIENCE_SECONDS:.0f} s")
    still_open = select(models.OutboxEvent.id).where(models.OutboxEvent.closed_at.is_(None))
    with ports.database.reading() as session:
        if session.scalar(still_open.limit(1)) is not None:
            return False
        waiting = select(models.Delivery.id).where(models.Delivery.next_attempt_at.is_not(None))
        return session.scalar(waiting.limit(1)) is None


def _delivered(ports: Ports) -> int:
    """Return how many deliveries of events have arrived; the shop has others from before."""
    counted = select(func.count()).where(
        models.Delivery.status == DeliveryStatus.SUCCESS.value,
        models.Delivery.note_id.is_not(None),
    )
    with ports.database.reading() as session:
        return session.scalar(counted) or 0


def _import(url: str, changes: int) -> None:
    """Change products, 1,000 a second, and note an event of each change."""
    os.sched_setaffinity(0, {servers.LOAD_CORE})
    ports = connect(Settings(database_url=url))
    actor = replace(OPERATOR, issuer="http://localhost:8000/graphql/")
    began = time.perf_counter()
    with ports.database.reading() as session:
        products = session.scalars(select(models.Product.id)).all()
    for first in range(0, changes, _AT_ONCE):
        with ports.database.transaction() as session:
            for number in range(first, min(first + _AT_ONCE, changes)):
                product = products[number % PRODUCTS]
                session.execute(
                    update(models.Product)
                    .where(models.Product.id == product)
                    .values(name=f"Bowl {number}")
                )
                add_event(ports, actor, session, ProductUpdated(product))
        due = began + (first + _AT_ONCE) / _CHANGES_A_SECOND
        time.sleep(max(0.0, due - time.perf_counter()))
    ports.database.close()
