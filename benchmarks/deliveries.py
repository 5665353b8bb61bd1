"""Deliveries by one worker process, beside what one core could sign at most."""

import json
import multiprocessing
import os
import resource
import tempfile
import time
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from ipaddress import ip_network
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from threading import Event, Thread

from sqlalchemy import func, insert, select

from app import models
from app.adapters.database.migrations import upgrade
from app.composition.settings import Settings
from app.composition.wiring import connect
from app.domain.deliveries.deliveries import DeliveryStatus
from app.ports import Ports
from app.services.keys import ring
from app.services.webhooks.stored_webhooks import encrypted_secret
from app.web.logs import set_up_logs
from app.worker.tasks import run_tasks
from benchmarks import servers
from benchmarks.receiver import receiver
from benchmarks.report import Report, Row

COUNT, WEBHOOKS = 4000, 20
ANSWER_SECONDS = 0.02
"""How long the endpoints take."""

_RUNS = 3
_SIGNING_SECONDS = 1.0
_SIZE = 1000
_SHARED_BY = 5
_SECRET = "a secret of 32 characters or more"


class Signed(StrEnum):
    """How the deliveries are signed."""

    EACH = "each body signed with the RSA key"
    SHARED = f"each body for {_SHARED_BY} webhooks, signed once"
    SECRET = "signed with the webhook's secret"


@dataclass(frozen=True, slots=True)
class Delivered:
    """How many deliveries a second were made, with milliseconds of processor time for each.

    ``signatures`` is how many bodies a second the same core signed right before and after.
    """

    rate: float
    milliseconds: float
    signatures: float

    @property
    def share(self) -> float:
        return self.rate / self.signatures


def measure(report: Report, _folder: Path) -> None:
    """Add the row, and what a delivery takes."""
    for signed in Signed:
        runs = [report.quietly(partial(deliver, signed)) for _ in range(_RUNS)]
        shares = [run.share for run in runs]
        name = f"webhook deliveries, {signed.value} (the yardstick: RSA signatures on one core)"
        rate = median(run.rate for run in runs)
        report.add_row(Row(name, round(rate, 1), median(shares), min(shares), max(shares)))
        milliseconds = median(run.milliseconds for run in runs)
        report.note(f"a webhook delivery, {signed.value}: {milliseconds:.2f} ms of processor time")


def deliver(signed: Signed = Signed.EACH) -> Delivered:
    """Fill an SQLite shop with due deliveries and let a worker send them.

    The worker is a separate process on all cores, and the endpoints answer after 20 ms. Its start,
    key generation and end are not measured.
    """
    with tempfile.TemporaryDirectory() as folder, receiver(ANSWER_SECONDS) as port:
        url = f"sqlite:///{Path(folder) / 'shop.sqlite3'}"
        upgrade(url)
        parent_end, child_end = multiprocessing.get_context("fork").Pipe()
        worker = multiprocessing.get_context("fork").Process(
            target=_work, args=(url, f"http://127.0.0.1:{port}/hook", signed, child_end)
        )
        worker.start()
        done: Delivered = parent_end.recv()
        worker.join()
    return done


def _work(url: str, target: str, signed: Signed, results: "Connection[Delivered, None]") -> None:
    os.sched_setaffinity(0, {servers.SERVER_CORE, servers.LOAD_CORE})
    set_up_logs(level="ERROR", development=False)
    loopback = (ip_network("127.0.0.0/8"),)
    ports = connect(Settings(database_url=url, outgoing_allowed_networks=loopback))
    ring(ports)
    _fill(ports, target, signed)
    signatures = _signatures(ports)
    stop, started_at, used = Event(), time.perf_counter(), _processor()
    worker = Thread(target=run_tasks, args=(ports, stop))
    worker.start()
    while _count(ports, DeliveryStatus.PENDING):
        time.sleep(0.2)
    seconds, used = time.perf_counter() - started_at, _processor() - used
    stop.set()
    worker.join()
    if _count(ports, DeliveryStatus.SUCCESS) != COUNT:
        raise RuntimeError("not every delivery arrived")
    signatures = (signatures + _signatures(ports)) / 2
    ports.database.close()
    results.send(Delivered(COUNT / seconds, used / COUNT * 1000, signatures))


def _signatures(ports: Ports) -> float:
    """Return how many bodies a second this core signs with the shop's key."""
    signer, made, begun = ring(ports).signer, 0, time.perf_counter()
    while time.perf_counter() - begun < _SIGNING_SECONDS:
        ports.keys.sign_detached(signer, f'{{"product": {made}}}'.encode())
        made += 1
    return made / (time.perf_counter() - begun)


def _processor() -> float:
    """Seconds of processor time that this process has taken."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _fill(ports: Ports, target: str, signed: Signed) -> None:
    now = ports.clock.now()
    secret = encrypted_secret(ports, _SECRET if signed is Signed.SECRET else "")
    bodies = COUNT // (_SHARED_BY if signed is Signed.SHARED else 1)
    with ports.database.transaction() as session:
        app = models.App(name="app", created_at=now)
        session.add(app)
        session.flush()
        session.add(models.AppPermission(app_id=app.id, permission="MANAGE_PRODUCTS"))
        webhooks = [
            models.Webhook(
                app_id=app.id, target_url=target, secret=secret, custom_headers={}, created_at=now
            )
            for _ in range(WEBHOOKS)
        ]
        session.add_all(webhooks)
        session.flush()
        rows = [
            {
                "webhook_id": webhooks[number % WEBHOOKS].id,
                "event": "PRODUCT_UPDATED",
                "subject_id": number,
                "message_id": f"msg_{number}",
                "payload": _body(number * bodies // COUNT),
                "issuer": "http://localhost:8000/graphql/",
                "status": DeliveryStatus.PENDING.value,
                "created_at": now,
                "next_attempt_at": now,
            }
            for number in range(COUNT)
        ]
        session.execute(insert(models.Delivery), rows)


def _body(number: int) -> str:
    body = json.dumps({"product": {"id": str(number), "name": "Ash bowl"}})
    return body + " " * (_SIZE - len(body))


def _count(ports: Ports, status: DeliveryStatus) -> int:
    counted = select(func.count()).where(models.Delivery.status == status.value)
    with ports.database.reading() as session:
        return session.scalar(counted) or 0
