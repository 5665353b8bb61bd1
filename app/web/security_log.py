"""The security log: one JSON object per line, in a file or on standard error."""

import logging
import sys
import time
from collections.abc import Callable
from logging.handlers import WatchedFileHandler
from threading import Lock

import orjson
from typing_extensions import override

from app.domain.audit import SecurityEvent
from app.ports.system import Clock
from app.web.logs import REQUEST_ID, blank_secret_texts

NAME = "latchkey.security"
STANDARD_ERROR = "stderr"
MAX_FAILURES_PER_SECOND = 50
"""Failed sign-ins that a process writes each second; the next line says how many were left out."""


class _StandardError(logging.Handler):
    """Writes to whatever standard error is at that time."""

    @override
    def emit(self, record: logging.LogRecord) -> None:
        try:
            sys.stderr.write(f"{self.format(record)}\n")
        except Exception:  # noqa: BLE001 - as the library's own handlers: a log ends no request
            self.handleError(record)


class JsonSecurityLog:
    """Writes to ``target``: a file, which may be moved away by logrotate, or ``stderr``."""

    def __init__(
        self, target: str, clock: Clock, seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._seconds = seconds
        self._lock = Lock()
        self._second, self._failures, self._suppressed = 0, 0, 0
        self._handler: logging.Handler = (
            _StandardError()
            if target == STANDARD_ERROR
            else WatchedFileHandler(target, delay=True)
        )

    def write(self, event: SecurityEvent, **fields: object) -> None:
        suppressed = None
        if event is SecurityEvent.LOGIN_FAIL:
            if not self._admits():
                return
            suppressed = self._take_suppressed() or None
        level = logging.WARNING if event.is_warning else logging.INFO
        line: dict[str, object] = {
            "timestamp": self._clock.now().isoformat(),
            "event": event.value,
            "level": logging.getLevelName(level).lower(),
            "logger": NAME,
            "request_id": REQUEST_ID.get(),
            "suppressed": suppressed,
            **fields,
        }
        kept = {name: value for name, value in line.items() if value not in (None, "", [], {})}
        message = blank_secret_texts(None, "", orjson.dumps(kept, default=str).decode())
        self._handler.handle(logging.LogRecord(NAME, level, "", 0, message, None, None))

    def close(self) -> None:
        """Close the file."""
        self._handler.close()

    def _admits(self) -> bool:
        """Return whether a failed sign-in is written: a flood must not fill the disk."""
        with self._lock:
            second = int(self._seconds())
            if second != self._second:
                self._second, self._failures = second, 0
            self._failures += 1
            if self._failures <= MAX_FAILURES_PER_SECOND:
                return True
            self._suppressed += 1
            return False

    def _take_suppressed(self) -> int:
        with self._lock:
            suppressed, self._suppressed = self._suppressed, 0
            return suppressed
