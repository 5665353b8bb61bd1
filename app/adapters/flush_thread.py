"""A thread that writes what a process has collected in memory, once a minute and at its end."""

import logging
from collections.abc import Callable
from multiprocessing.util import Finalize
from threading import Event, Lock, Thread

INTERVAL = 60.0
"""Seconds between two writes of one process."""

_BEFORE_OTHERS = 100
_log = logging.getLogger(__name__)


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
