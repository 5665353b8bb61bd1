"""Deliveries per second of one worker process on one core, to a local receiver."""

import multiprocessing
import os
import resource
import sys
import tempfile
import time
from dataclasses import dataclass
from ipaddress import ip_network
from multiprocessing.connection import Connection
from pathlib import Path
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
from benchmarks.report import Report

COUNT, WEBHOOKS = 4000, 20


@dataclass(frozen=True, slots=True)
class Delivered:
    """How many deliveries a second were made, and milliseconds of processor time for each."""

    rate: float
    milliseconds: float


def main() -> None:
    """Print how fast deliveries go that are due in a shop on SQLite."""
    done = deliver()
    sys.stdout.write(
        f"{done.rate:.0f} deliveries/s, {done.milliseconds:.2f} ms of processor time each\n"
    )


def measure(report: Report) -> None:
    """The row of the whole table."""
    done = deliver()
    report.deliveries(done.rate, done.milliseconds)


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
    ports.database.close()
    results.send(Delivered(COUNT / seconds, used / COUNT * 1000))


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


if __name__ == "__main__":
    main()
