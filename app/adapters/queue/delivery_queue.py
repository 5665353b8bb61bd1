"""The delivery queue in huey's storages: a file next to the database, or Redis."""

import json
import logging
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Condition, Lock
from typing import Any

from huey.storage import RedisStorage, SqliteStorage
from redis.exceptions import RedisError
from typing_extensions import override

from app.adapters.system import make_private_database
from app.domain.deliveries.deliveries import Batch
from app.ports.queue import QueueUnavailable

_NAME = "latchkey-deliveries"
_GLANCE = 2.0
"""Seconds after which a file is looked into again for what another process has put there.

However many threads wait: each look locks the file. A worker that puts a batch takes it at once;
another process's is for when that one is busy.
"""

_log = logging.getLogger(__name__)


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
            self._backend().enqueue(_encode_batch(batch))
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
    """Connects when it is first asked for something; an outage is logged once."""

    def __init__(self, url: str) -> None:
        self._storage: Any = RedisStorage(_NAME, url=url, read_timeout=1)
        self._lock = Lock()
        self._is_away = False

    def put(self, batch: Batch) -> None:
        with self._reachable():
            self._storage.enqueue(_encode_batch(batch))
        self._end_outage()

    def take(self, patience: float) -> Batch | None:
        with self._reachable():
            data = self._storage.dequeue()
        # No end of an outage: the storage also returns None when Redis is silent for too long.
        return None if data is None else _read(data)

    def size(self) -> int:
        with self._reachable():
            waiting: int = self._storage.queue_size()
        self._end_outage()
        return waiting

    def close(self) -> None:
        self._storage.pool.disconnect(inuse_connections=False)

    @contextmanager
    def _reachable(self) -> Iterator[None]:
        try:
            yield
        except RedisError as error:
            with self._lock:
                is_new, self._is_away = not self._is_away, True
            if is_new:
                _log.error("queue.unavailable", extra={"reason": str(error)})
            raise QueueUnavailable("The delivery queue's Redis (REDIS_URL)", str(error)) from error

    def _end_outage(self) -> None:
        with self._lock:
            was_away, self._is_away = self._is_away, False
        if was_away:
            _log.warning("queue.unavailable_is_over")


def connect_queue(redis_url: str, file: Path) -> SqliteQueue | RedisQueue:
    """The queue in the Redis at ``redis_url``, or without one in ``file``, for one machine."""
    return RedisQueue(redis_url) if redis_url else SqliteQueue(file)


def _encode_batch(batch: Batch) -> bytes:
    return json.dumps([batch.lease, batch.webhook_id, batch.deliveries]).encode()


def _read(data: bytes) -> Batch:
    lease, webhook_id, deliveries = json.loads(data)
    return Batch(lease, webhook_id, tuple(deliveries))
