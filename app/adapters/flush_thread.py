"""A thread that writes what a process has collected in memory, once a minute and at its end."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.util import Finalize
from threading import Event, Lock, Thread
from typing import Generic, TypeVar

from sqlalchemy.exc import SQLAlchemyError

from app.domain.values.installation import DatabaseUnavailable, Fault

INTERVAL = 60.0
"""Seconds between two writes of one process."""

_BEFORE_OTHERS = 100
_log = logging.getLogger(__name__)

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
            except Exception:  # noqa: BLE001 - logged; what comes later shall still be written
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

    @contextmanager
    def adding(self) -> Iterator[Entries]:
        """Yield the entries, to add to; no other thread has them meanwhile."""
        with self._lock:
            yield self._entries
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
