"""The delivery queue in huey's storages: a file next to the database, or Redis."""

import json
import sqlite3
import time
from pathlib import Path
from threading import Condition
from typing import Any

from huey.storage import RedisStorage, SqliteStorage
from typing_extensions import override

from app.adapters.private_files import make_private_database
from app.domain.deliveries.deliveries import Batch

_NAME = "latchkey-deliveries"
_GLANCE = 0.25
"""Seconds after which a file is looked into again for what another process has put there.

However many threads wait: each look locks the file, and an idle worker shall cost next to nothing.
"""


class _File(SqliteStorage):  # type: ignore[misc] # it has no types
    """A file without a sync at each commit: deliveries lost in a crash are leased again."""

    @override
    def _create_connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection = super()._create_connection()
        connection.execute("PRAGMA synchronous = NORMAL")
        return connection


class SqliteQueue:
    """``file`` is made when it is first needed."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._storage: Any = None
        self._changed = Condition()
        self._next_look = 0.0

    def put(self, batch: Batch) -> None:
        with self._changed:
            self._backend().enqueue(_written(batch))
            self._next_look = 0.0
            self._changed.notify()

    def take(self, patience: float) -> Batch | None:
        with self._changed:
            data = self._look()
            if data is None:
                self._changed.wait(min(patience, _GLANCE))
                data = self._look()
        return None if data is None else _read(bytes(data))

    def size(self) -> int:
        with self._changed:
            waiting: int = self._backend().queue_size()
        return waiting

    def close(self) -> None:
        with self._changed:
            if self._storage is not None:
                self._storage.close()
            self._changed.notify_all()

    def _look(self) -> bytes | None:
        now = time.monotonic()
        if now < self._next_look:
            return None
        data: bytes | None = self._backend().dequeue()
        if data is None:
            self._next_look = now + _GLANCE
        return data

    def _backend(self) -> Any:
        if self._storage is None:
            make_private_database(self._file)
            self._storage = _File(_NAME, filename=str(self._file))
        return self._storage


class RedisQueue:
    """Connects when it is first asked for something."""

    def __init__(self, url: str) -> None:
        self._storage: Any = RedisStorage(_NAME, url=url, read_timeout=1)

    def put(self, batch: Batch) -> None:
        self._storage.enqueue(_written(batch))

    def take(self, patience: float) -> Batch | None:
        data = self._storage.dequeue()
        return None if data is None else _read(data)

    def size(self) -> int:
        waiting: int = self._storage.queue_size()
        return waiting

    def close(self) -> None:
        self._storage.pool.disconnect()


def connect_queue(redis_url: str, file: Path) -> SqliteQueue | RedisQueue:
    """The queue in the Redis at ``redis_url``, or without one in ``file``, for one machine."""
    return RedisQueue(redis_url) if redis_url else SqliteQueue(file)


def _written(batch: Batch) -> bytes:
    return json.dumps([batch.lease, batch.webhook_id, batch.deliveries]).encode()


def _read(data: bytes) -> Batch:
    lease, webhook_id, deliveries = json.loads(data)
    return Batch(lease, webhook_id, tuple(deliveries))
