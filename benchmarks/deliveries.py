"""Deliveries by one worker process on one core, beside what it could sign at most."""

import multiprocessing
import os
import resource
import tempfile
import time
from dataclasses import dataclass
from ipaddress import ip_network
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from threading import Event, Thread

from sqlalchemy import func, insert, select

from app.adapters.migrations import upgrade
from app.domain.deliveries.deliveries import DeliveryStatus
from app.models import AppPermissionRecord, AppRecord, DeliveryRecord, WebhookRecord
from app.ports import Ports
from app.services.keys.ring import ring
from app.settings import Settings
from app.web.logs import set_up_logs
from app.wiring import connect
from app.worker import run
from benchmarks import servers
from benchmarks.receiver import receiver
from benchmarks.report import Report, Row

COUNT, WEBHOOKS = 4000, 20


_RUNS = 3
_SIGNING_SECONDS = 1.0


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
    runs = [report.quietly(deliver) for _ in range(_RUNS)]
    shares = [run.share for run in runs]
    name = "webhook deliveries with JWS (the yardstick: RSA signatures on that core)"
    rate = median(run.rate for run in runs)
    report.add_row(Row(name, round(rate, 1), median(shares), min(shares), max(shares)))
    milliseconds = median(run.milliseconds for run in runs)
    report.note(f"a webhook delivery: {milliseconds:.2f} ms of processor time")


def deliver() -> Delivered:
    """Fill an SQLite shop with due deliveries and let a worker send them.

    The worker is a separate process on one core; its start, key generation and end are not
    measured.
    """
    with tempfile.TemporaryDirectory() as folder, receiver() as port:
        url = f"sqlite:///{Path(folder) / 'shop.sqlite3'}"
        upgrade(url)
        parent_end, child_end = multiprocessing.get_context("fork").Pipe()
        worker = multiprocessing.get_context("fork").Process(
            target=_work, args=(url, f"http://127.0.0.1:{port}/hook", child_end)
        )
        worker.start()
        done: Delivered = parent_end.recv()
        worker.join()
    return done


def _work(url: str, target: str, results: "Connection[Delivered, None]") -> None:
    os.sched_setaffinity(0, {servers.SERVER_CORE})
    set_up_logs(level="ERROR", development=False)
    loopback = (ip_network("127.0.0.0/8"),)
    ports = connect(Settings(database_url=url, outgoing_allowed_networks=loopback))
    ring(ports)
    _fill(ports, target)
    signatures = _signatures(ports)
    stop, started_at, used = Event(), time.perf_counter(), _processor()
    worker = Thread(target=run, args=(ports, stop))
    worker.start()
    while _count(ports, DeliveryStatus.PENDING):
        time.sleep(0.05)
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


def _fill(ports: Ports, target: str) -> None:
    now = ports.clock.now()
    with ports.database.transaction() as session:
        app = AppRecord(name="app", created_at=now)
        session.add(app)
        session.flush()
        session.add(AppPermissionRecord(app_id=app.id, permission="MANAGE_PRODUCTS"))
        webhooks = [
            WebhookRecord(app_id=app.id, target_url=target, custom_headers={}, created_at=now)
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
                # Each body its own, so that each is signed: none comes from memory.
                "payload": f'{{"product": {{"id": "{number}", "name": "Ash bowl"}}}}',
                "issuer": "http://localhost:8000/graphql/",
                "status": DeliveryStatus.PENDING.value,
                "created_at": now,
                "next_attempt_at": now,
            }
            for number in range(COUNT)
        ]
        session.execute(insert(DeliveryRecord), rows)


def _count(ports: Ports, status: DeliveryStatus) -> int:
    counted = select(func.count()).where(DeliveryRecord.status == status.value)
    with ports.database.reading() as session:
        return session.scalar(counted) or 0
