"""Activity gathered in memory and written to the database by a thread of each process.

The thread writes once a minute and at the process's end.
"""

import logging
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from multiprocessing.util import Finalize
from threading import Event, Lock, Thread
from typing import Any, Generic, TypeVar

from sqlalchemy import bindparam, select, text, update
from sqlalchemy.exc import SQLAlchemyError

from app import models
from app.domain.apps.apps import ANY_REQUEST, MINUTE, SLOW_REQUEST, SPANS_KEPT, span_start
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import TrafficKind, bucket_of
from app.domain.values.installation import DatabaseUnavailable, Fault
from app.models.record import UtcDateTime
from app.ports.database import Database
from app.ports.system import Clock

INTERVAL = 60.0
"""Seconds between two writes of one process."""

_BEFORE_OTHERS = 100

Entries = TypeVar("Entries")


class FlushThread:
    """Calls ``flush`` regularly once started; every forked process starts its own."""

    def __init__(self, name: str, flush: Callable[[], None], interval: float) -> None:
        self._name = name
        self._flush = flush
        self._interval = interval
        self._lock = Lock()
        self._stop = Event()
        self._thread: Thread | None = None
        self._at_exit: Finalize[None] | None = None

    def start(self) -> None:
        """Start the thread unless it runs."""
        if self._thread is not None:
            return
        with self._lock:
            if self._thread is None:
                self._thread = Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
                # Not atexit: a server's worker is often a forked process, which does not run it.
                self._at_exit = Finalize(None, self.close, exitpriority=_BEFORE_OTHERS)

    def close(self) -> None:
        """End the thread and write what is left."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        if self._at_exit is not None:
            self._at_exit.cancel()
        self._flush()

    def _run(self) -> None:
        while not self._stop.wait(self._interval):
            try:
                self._flush()
            except Exception:  # noqa: BLE001 - logged; later entries are still written
                _log.exception("flush.failed", extra={"thread_name": self._name})


class WriteBuffer(Generic[Entries]):
    """Entries collected in memory and written by a thread; what a failed write took comes back.

    ``make`` returns an empty collection, which is falsy. ``write`` writes one to the database.
    ``merge`` returns one with the entries that weren't written, and the newer ones. The thread
    starts with the first entry, so that every forked process has its own.
    """

    def __init__(
        self,
        name: str,
        *,
        make: Callable[[], Entries],
        write: Callable[[Entries], None],
        merge: Callable[[Entries, Entries], Entries],
        interval: float = INTERVAL,
    ) -> None:
        self._name = name
        self._make = make
        self._write = write
        self._merge = merge
        self._entries = make()
        self._lock = Lock()
        self._writing = Lock()
        self._thread = FlushThread(name, self.flush, interval)

    def __enter__(self) -> Entries:
        """Return the entries to add to; no other thread has them until the block ends."""
        self._lock.acquire()
        return self._entries

    def __exit__(self, *_raised: object) -> None:
        self._lock.release()
        self._thread.start()

    def count(self, size: Callable[[Entries], int]) -> int:
        """Return the ``size`` of the entries that wait to be written."""
        with self._lock:
            return size(self._entries)

    def flush(self) -> None:
        """Write the entries; keep them if the database fails."""
        with self._writing:
            with self._lock:
                entries, self._entries = self._entries, self._make()
            if not entries:
                return
            try:
                self._write(entries)
            except DatabaseUnavailable:  # the database itself logs that, once
                self._restore(entries)
            except (Fault, SQLAlchemyError):
                _log.warning("flush.not_written", exc_info=True, extra={"thread_name": self._name})
                self._restore(entries)

    def close(self) -> None:
        """Write what is left, and end the thread."""
        self._thread.close()

    def _restore(self, entries: Entries) -> None:
        with self._lock:
            self._entries = self._merge(entries, self._entries)


MAX_SEEN = 100_000
"""Sessions, and app tokens, that are remembered while the database does not answer."""

MAX_PEERS = 20
"""Peers that are remembered between two writes for forwarding without being trusted to."""

_AT_ONCE = 500
_log = logging.getLogger(__name__)

_COUNT = text("""
    INSERT INTO traffic (began_at, kind, requests) VALUES (:began_at, :kind, :requests)
    ON CONFLICT (began_at, kind) DO UPDATE SET requests = traffic.requests + excluded.requests
""").bindparams(bindparam("began_at", type_=UtcDateTime()))

_REJECTIONS = text("""
    UPDATE shop SET storefront_rejections = storefront_rejections + :rejections
    WHERE NOT allow_storefront_traffic
""")
"""An open storefront has rejected nothing: its last closing has been counted."""

_FORWARDING = text("""
    INSERT INTO untrusted_forwarding (peer, requests, last_seen_at)
    VALUES (:peer, :requests, :last_seen_at)
    ON CONFLICT (peer) DO UPDATE
    SET requests = untrusted_forwarding.requests + excluded.requests,
        last_seen_at = excluded.last_seen_at
""").bindparams(bindparam("last_seen_at", type_=UtcDateTime()))

_APP_REQUESTS = text("""
    INSERT INTO app_requests (app_id, span, began_at, code, requests, slow, slowest)
    VALUES (:app_id, :span, :began_at, :code, :requests, :slow, :slowest)
    ON CONFLICT (app_id, span, began_at, code) DO UPDATE
    SET requests = app_requests.requests + excluded.requests,
        slow = app_requests.slow + excluded.slow,
        slowest = CASE WHEN excluded.slowest > app_requests.slowest
                  THEN excluded.slowest ELSE app_requests.slowest END
""").bindparams(bindparam("began_at", type_=UtcDateTime()))

_PERMISSION_USES = text("""
    INSERT INTO app_permission_uses (app_id, permission, first_used_at, last_used_at)
    VALUES (:app_id, :permission, :at, :at)
    ON CONFLICT (app_id, permission) DO UPDATE SET last_used_at = excluded.last_used_at
    WHERE app_permission_uses.last_used_at < excluded.last_used_at
""").bindparams(bindparam("at", type_=UtcDateTime()))

_MAX_CODE_LENGTH = 64

_TOKEN = (
    update(models.AppToken)
    .where(models.AppToken.id == bindparam("token_id"))
    .values(last_used_at=bindparam("at"), last_used_address=bindparam("address"))
)


@dataclass(slots=True)
class _AppRequests:
    """Requests of an app in one minute that ended alike; ``slowest`` in seconds."""

    number: int = 0
    slow: int = 0
    slowest: float = 0.0

    def add(self, other: "_AppRequests") -> None:
        self.number += other.number
        self.slow += other.slow
        self.slowest = max(self.slowest, other.slowest)


@dataclass(slots=True)
class _Counters:
    """What was seen since the last write; app tokens with their last IP address."""

    requests: Counter[TrafficKind] = field(default_factory=Counter)
    rejections: int = 0
    sessions: dict[int, None] = field(default_factory=dict)
    tokens: dict[int, str] = field(default_factory=dict)
    forwarding: Counter[str] = field(default_factory=Counter)
    app_requests: dict[tuple[int, int, str], _AppRequests] = field(default_factory=dict)
    permissions: dict[tuple[int, str], None] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return any(
            (
                self.requests,
                self.rejections,
                self.sessions,
                self.tokens,
                self.forwarding,
                self.app_requests,
                self.permissions,
            )
        )

    def add_app_requests(self, key: tuple[int, int, str], requests: _AppRequests) -> None:
        known = self.app_requests.get(key)
        if known is not None:
            known.add(requests)
        elif len(self.app_requests) < MAX_SEEN:
            self.app_requests[key] = requests

    @property
    def size(self) -> int:
        return len(self.sessions) + len(self.tokens)


class SqlActivity:
    """Writes what its buffer has counted."""

    def __init__(self, database: Database, clock: Clock, interval: float = INTERVAL) -> None:
        self._database = database
        self._clock = clock
        self._buffer = WriteBuffer(
            "activity", make=_Counters, write=self._write, merge=_merged, interval=interval
        )

    def count_request(self, kind: TrafficKind) -> None:
        with self._buffer as counters:
            counters.requests[kind] += 1

    def count_rejection(self) -> None:
        with self._buffer as counters:
            counters.rejections += 1

    def record_session_use(self, session_id: int) -> None:
        with self._buffer as counters:
            if len(counters.sessions) < MAX_SEEN:
                counters.sessions[session_id] = None

    def record_app_token_use(self, token_id: int, address: str | None) -> None:
        with self._buffer as counters:
            if len(counters.tokens) < MAX_SEEN:
                counters.tokens[token_id] = address or ""

    def count_app_request(
        self, app_id: int, code: str, seconds: float, permissions: Collection[Permission] = ()
    ) -> None:
        key = (app_id, int(self._clock.timestamp()) // MINUTE, code[:_MAX_CODE_LENGTH])
        counted = _AppRequests(1, int(seconds >= SLOW_REQUEST), seconds)
        with self._buffer as counters:
            counters.add_app_requests(key, counted)
            counters.permissions[app_id, ANY_REQUEST] = None
            for permission in permissions:
                counters.permissions[app_id, permission.value] = None

    def record_permission_use(self, app_id: int, permission: Permission) -> None:
        with self._buffer as counters:
            counters.permissions[app_id, permission.value] = None

    def record_forwarding(self, peer: str) -> None:
        with self._buffer as counters:
            # A network's owner can send from more IP addresses than a page can list.
            if peer in counters.forwarding or len(counters.forwarding) < MAX_PEERS:
                counters.forwarding[peer] += 1

    @property
    def waiting(self) -> int:
        """How many sessions and app tokens wait to be written."""
        return self._buffer.count(lambda counters: counters.size)

    def flush(self) -> None:
        self._buffer.flush()

    def close(self) -> None:
        """Write what is left, and end the thread."""
        self._buffer.close()

    def _write(self, taken: _Counters) -> None:
        """Write in small transactions, in a fixed order, skipping locked rows."""
        now = self._clock.now()
        ids = sorted(taken.sessions)
        for start in range(0, len(ids), _AT_ONCE):
            some = select(models.Session.id).where(
                models.Session.id.in_(ids[start : start + _AT_ONCE])
            )
            used = update(models.Session).where(
                models.Session.id.in_(some.with_for_update(skip_locked=True))
            )
            with self._database.transaction() as session:
                session.execute(
                    used.values(last_used_at=now).execution_options(synchronize_session=False)
                )
        with self._database.transaction() as session:
            if taken.tokens:
                rows = [
                    {"token_id": token_id, "at": now, "address": address}
                    for token_id, address in sorted(taken.tokens.items())
                ]
                session.connection().execute(_TOKEN, rows)
            if taken.requests:
                rows = [
                    {"began_at": bucket_of(now), "kind": kind.value, "requests": requests}
                    for kind, requests in sorted(taken.requests.items())
                ]
                session.connection().execute(_COUNT, rows)
            if taken.app_requests:
                session.connection().execute(_APP_REQUESTS, _app_rows(taken.app_requests))
            if taken.permissions:
                rows = [
                    {"app_id": app_id, "permission": permission, "at": now}
                    for app_id, permission in sorted(taken.permissions)
                ]
                session.connection().execute(_PERMISSION_USES, rows)
            if taken.rejections:
                session.connection().execute(_REJECTIONS, {"rejections": taken.rejections})
            if taken.forwarding:
                rows = [
                    {"peer": peer, "requests": requests, "last_seen_at": now}
                    for peer, requests in sorted(taken.forwarding.items())
                ]
                session.connection().execute(_FORWARDING, rows)


def _app_rows(counted: Mapping[tuple[int, int, str], _AppRequests]) -> list[dict[str, object]]:
    """Return the rows of each minute, and of the hours that they are in."""
    spans: dict[tuple[int, int, datetime, str], _AppRequests] = {}
    for (app_id, minute, code), requests in counted.items():
        moment = datetime.fromtimestamp(minute * MINUTE, UTC)
        for span in SPANS_KEPT:
            key = (app_id, span, span_start(moment, span), code)
            spans.setdefault(key, _AppRequests()).add(requests)
    return [
        {
            "app_id": app_id,
            "span": span,
            "began_at": began_at,
            "code": code,
            "requests": requests.number,
            "slow": requests.slow,
            "slowest": int(1000 * requests.slowest),
        }
        for (app_id, span, began_at, code), requests in sorted(spans.items(), key=_by_key)
    ]


def _by_key(item: tuple[tuple[int, int, datetime, str], _AppRequests]) -> tuple[Any, ...]:
    return item[0]


def _merged(older: _Counters, newer: _Counters) -> _Counters:
    for key, requests in newer.app_requests.items():
        older.add_app_requests(key, requests)
    return _Counters(
        app_requests=older.app_requests,
        permissions={**older.permissions, **newer.permissions},
        requests=older.requests + newer.requests,
        rejections=older.rejections + newer.rejections,
        sessions=dict.fromkeys([*newer.sessions, *older.sessions][:MAX_SEEN]),
        tokens=dict([*older.tokens.items(), *newer.tokens.items()][-MAX_SEEN:]),
        forwarding=older.forwarding + newer.forwarding,
    )
