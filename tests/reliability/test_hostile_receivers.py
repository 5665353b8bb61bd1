"""Receivers that drop, hang, trickle, redirect, refuse, babble or pour stall no other endpoint."""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event, Thread

import pytest
from sqlalchemy import func, select

from app import models
from app.adapters.http.guarded_http import GuardedHttp
from app.adapters.queue.delivery_queue import connect_queue
from app.adapters.system import SystemClock
from app.domain.authorization.permissions import Permission
from app.domain.deliveries.deliveries import MAX_RESPONSE_SIZE
from app.ports import Ports
from app.services.deliveries.dispatch import BATCH_SIZE, MAX_LEASES
from app.worker.tasks import TASKS, run_tasks
from tests.builders.apps import make_app
from tests.builders.webhooks import make_webhook
from tests.fakes.strict_http import LOOPBACK
from tests.servers.http import HttpServer, Received, Reply, http_server

pytestmark = pytest.mark.first

HEALTHY = 2 * BATCH_SIZE
BACKLOG = BATCH_SIZE * MAX_LEASES
"""Deliveries that wait for each hostile endpoint: as many as it can get at once."""

_RETRY_AFTER = 3600
_PATIENCE = 180.0
"""An endpoint that is held up by silent ones gets nothing before their timeout of an hour."""


@dataclass(frozen=True, slots=True)
class Hostile:
    """How an endpoint misbehaves, and what is written down of its first attempt."""

    reply: Callable[[Event], Reply]
    status: int | None
    message: str


def _raw(speak: Callable[[socket.socket], None]) -> Callable[[Event], Reply]:
    return lambda _released: Reply(raw=speak)


def _hang(released: Event) -> Reply:
    def wait(_connection: socket.socket) -> None:
        released.wait(_PATIENCE)

    return Reply(raw=wait)


def _trickle(released: Event) -> Reply:
    def speak(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        while not released.wait(0.05):
            connection.sendall(b".")

    return Reply(raw=speak)


HOSTILE = {
    "drop": Hostile(_raw(lambda connection: connection.close()), None, ""),
    "garbage": Hostile(_raw(lambda one: one.sendall(b"\x00\xff nonsense\r\n\r\n")), None, ""),
    "megabytes": Hostile(lambda _released: Reply(500, b"x" * 8_000_000), 500, "xxx"),
    "moved": Hostile(lambda _released: Reply(302, headers={"Location": "/healthy"}), 302, ""),
    "gone": Hostile(lambda _released: Reply(410), 410, ""),
    "busy": Hostile(
        lambda _released: Reply(429, headers={"Retry-After": str(_RETRY_AFTER)}), 429, ""
    ),
    "broken": Hostile(lambda _released: Reply(500, b"no\x00"), 500, "no\ufffd"),
    "hang": Hostile(_hang, None, ""),
    "trickle": Hostile(_trickle, None, ""),
}
SILENT = ("hang", "trickle")
"""Those whose first attempts take all of their time."""


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """The sockets are what this is about: one kind of database is enough."""
    return sqlite_url


@pytest.fixture
def released() -> Iterator[Event]:
    event = Event()
    yield event
    event.set()


@pytest.fixture
def server(released: Event) -> Iterator[HttpServer]:
    with http_server() as server:
        for name, hostile in HOSTILE.items():
            server.routes[f"/{name}"] = _answering(hostile, released)
        server.answer("/healthy", Reply(204))
        yield server
        released.set()


def _answering(hostile: Hostile, released: Event) -> Callable[[Received], Reply]:
    return lambda _received: hostile.reply(released)


@pytest.fixture
def delivering(ports: Ports, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ports]:
    monkeypatch.setattr("app.services.deliveries.sending.TIMEOUT", 3600.0)
    queue = connect_queue("", tmp_path / "queue")
    yield replace(ports, clock=SystemClock(), http=GuardedHttp(LOOPBACK), queue=queue)
    queue.close()


@contextmanager
def _working(ports: Ports, released: Event) -> Iterator[None]:
    stop = Event()
    tasks = tuple(task for task in TASKS if task.name in ("dispatch", "deliveries"))
    worker = Thread(target=run_tasks, args=(ports, stop, tasks))
    worker.start()
    try:
        yield
    finally:
        stop.set()
        released.set()
        worker.join(_PATIENCE)
        assert not worker.is_alive(), "a receiver holds up the end of the worker"


def _wait(ports: Ports, webhook: int, count: int) -> None:
    """Until so many deliveries have arrived; fails after ``_PATIENCE``."""
    arrived = (
        select(func.count())
        .select_from(models.Delivery)
        .where(models.Delivery.webhook_id == webhook, models.Delivery.status == "SUCCESS")
    )
    end = time.monotonic() + _PATIENCE
    while True:
        with ports.database.reading() as session:
            found = session.scalar(arrived)
        if found == count:
            return
        assert time.monotonic() < end, f"only {found} of {count} have arrived"
        time.sleep(0.05)


def test_hostile_receivers_stall_no_other_endpoint(
    delivering: Ports, server: HttpServer, released: Event
) -> None:
    ports = delivering
    app, _ = make_app(ports, "warehouse", Permission.MANAGE_PRODUCTS)
    hostile = {
        name: make_webhook(ports, app, target_url=f"{server.url}/{name}") for name in HOSTILE
    }
    healthy = make_webhook(ports, app, target_url=f"{server.url}/healthy")
    for webhook in hostile.values():
        _store(ports, webhook, BACKLOG)
    _store(ports, healthy, HEALTHY)

    with _working(ports, released):
        _wait(ports, healthy, HEALTHY)
        _store(ports, healthy, HEALTHY)
        _wait(ports, healthy, 2 * HEALTHY)
        first = _first_attempts(ports, hostile)

    for name, attempt in first.items():
        if name in SILENT:
            assert attempt is None, f"{name} has been given up after less than its time"
            continue
        assert attempt is not None
        assert (attempt.status, attempt.response_status) == ("FAILED", HOSTILE[name].status)
        assert HOSTILE[name].message in attempt.response
        assert len(attempt.response) <= MAX_RESPONSE_SIZE
    assert len(server.calls("/healthy")) == 2 * HEALTHY
    with ports.database.reading() as session:
        assert not session.get_one(models.Webhook, hostile["gone"]).is_active
        tried = models.Delivery.attempts > 0
        busy = session.scalars(
            select(models.Delivery).where(models.Delivery.webhook_id == hostile["busy"], tried)
        ).first()
    assert busy is not None
    assert busy.next_attempt_at is not None
    assert (busy.next_attempt_at - busy.created_at).total_seconds() >= _RETRY_AFTER


def test_fifty_endpoints_that_begin_to_hang_at_once_hold_up_no_other(
    delivering: Ports, server: HttpServer, released: Event
) -> None:
    ports = delivering
    app, _ = make_app(ports, "warehouse", Permission.MANAGE_PRODUCTS)
    for number in range(50):
        hanging = make_webhook(ports, app, target_url=f"{server.url}/hang?{number}")
        _store(ports, hanging, BATCH_SIZE)
    healthy = make_webhook(ports, app, target_url=f"{server.url}/healthy")
    _store(ports, healthy, HEALTHY)

    with _working(ports, released):
        _wait(ports, healthy, HEALTHY)


def _store(ports: Ports, webhook: int, count: int) -> None:
    now = ports.clock.now()
    with ports.database.transaction() as session:
        session.add_all(
            models.Delivery(
                webhook_id=webhook,
                event="PRODUCT_UPDATED",
                subject_id=1,
                message_id=f"msg_{webhook}_{now.timestamp()}_{number}",
                payload='{"product":null}',
                issuer="http://localhost:8000/graphql/",
                status="PENDING",
                created_at=now,
                next_attempt_at=now,
            )
            for number in range(count)
        )


def _first_attempts(
    ports: Ports, hostile: dict[str, int]
) -> dict[str, models.DeliveryAttempt | None]:
    """Return what each hostile endpoint did first, as soon as all but the silent ones did it."""
    end = time.monotonic() + _PATIENCE
    while True:
        first = {name: _first_attempt(ports, webhook) for name, webhook in hostile.items()}
        missing = [name for name, attempt in first.items() if not attempt and name not in SILENT]
        if not missing:
            return first
        assert time.monotonic() < end, f"nothing is written down of {missing}"
        time.sleep(0.05)


def _first_attempt(ports: Ports, webhook: int) -> models.DeliveryAttempt | None:
    with ports.database.reading() as session:
        return session.scalars(
            select(models.DeliveryAttempt)
            .join(models.Delivery, models.Delivery.id == models.DeliveryAttempt.delivery_id)
            .where(models.Delivery.webhook_id == webhook)
            .order_by(models.DeliveryAttempt.id)
            .limit(1)
        ).first()
