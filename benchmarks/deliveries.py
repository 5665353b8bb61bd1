"""Deliveries a second from one worker process on one core, to a receiver on this machine."""

import multiprocessing
import os
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_network
from pathlib import Path
from threading import Event, Thread

from sqlalchemy import func, insert, select

from app.adapters.migrations import upgrade
from app.domain.deliveries import DeliveryStatus
from app.models import AppRecord, DeliveryRecord, WebhookRecord
from app.ports import Ports
from app.settings import Settings
from app.wiring import connect
from app.worker import run

COUNT, WEBHOOKS = 4000, 20
_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
_LISTENERS = 128


def main() -> None:
    """Fill a shop on SQLite with deliveries that are due, and print how fast they go."""
    with tempfile.TemporaryDirectory() as folder, _receiver() as port:
        url = f"sqlite:///{Path(folder) / 'shop.sqlite3'}"
        upgrade(url)
        loopback = (ip_network("127.0.0.0/8"),)
        ports = connect(Settings(database_url=url, outgoing_allowed_networks=loopback))
        _fill(ports, f"http://127.0.0.1:{port}/hook")
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        stop, began = Event(), time.perf_counter()
        worker = Thread(target=run, args=(ports, stop))
        worker.start()
        while _waiting(ports):
            time.sleep(0.05)
        seconds = time.perf_counter() - began
        stop.set()
        worker.join()
        ports.database.close()
    sys.stdout.write(f"{COUNT / seconds:.0f} deliveries/s ({COUNT} in {seconds:.1f} s)\n")


def _fill(ports: Ports, target: str) -> None:
    now = ports.clock.now()
    with ports.database.transaction() as session:
        app = AppRecord(name="app", created_at=now)
        session.add(app)
        session.flush()
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


def _waiting(ports: Ports) -> int:
    waiting = select(func.count()).where(DeliveryRecord.status != DeliveryStatus.SUCCESS.value)
    with ports.database.reading() as session:
        return session.scalar(waiting) or 0


@contextmanager
def _receiver() -> Iterator[int]:
    """A process that answers every request with 200 at once; yields its port."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=_LISTENERS)
    port: int = listener.getsockname()[1]
    process = multiprocessing.get_context("fork").Process(target=_receive, args=(listener,))
    process.start()
    listener.close()
    try:
        yield port
    finally:
        process.terminate()
        process.join()


def _receive(listener: socket.socket) -> None:
    while True:
        connection, _ = listener.accept()
        Thread(target=_answer, args=(connection,), daemon=True).start()


def _answer(connection: socket.socket) -> None:
    """Answer requests until the other side has had enough."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    waiting = b""
    with connection:
        while True:
            head, found, rest = waiting.partition(b"\r\n\r\n")
            if found:
                length = next(
                    int(line.partition(b":")[2])
                    for line in head.split(b"\r\n")
                    if line.lower().startswith(b"content-length:")
                )
                if len(rest) >= length:
                    connection.sendall(_ANSWER)
                    waiting = rest[length:]
                    continue
            piece = connection.recv(65536)
            if not piece:
                return
            waiting += piece


if __name__ == "__main__":
    main()
