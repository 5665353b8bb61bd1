"""Database outages: logged once when they begin and once when they end."""

import logging
import time
from threading import Lock

from app.domain.values.installation import DatabaseUnavailable

_RETRY_SECONDS = 1.0
"""How long after a failed attempt no other one is made: connecting may take seconds to fail."""

# Not structlog: commands, which have no log, wait for no library that they don't use.
_log = logging.getLogger(__name__)


class Outage:
    """One kind of trouble with the database, as this process sees it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = Lock()
        self._tried = 0.0
        self._fault: DatabaseUnavailable | None = None

    @property
    def is_on(self) -> bool:
        return self._fault is not None

    def check(self) -> None:
        """Raise the fault again when the last attempt has only just failed."""
        with self._lock:
            now = time.monotonic()
            if self._fault is None or now - self._tried >= _RETRY_SECONDS:
                self._tried = now
                return
            reason = self._fault.reason
        raise DatabaseUnavailable(reason)

    def begin(self, fault: DatabaseUnavailable) -> None:
        """Note a failed attempt."""
        with self._lock:
            is_new = self._fault is None
            self._fault, self._tried = fault, time.monotonic()
        if is_new:
            _log.error("database.%s: %s", self._name, fault.reason)

    def end(self) -> None:
        """Note that an attempt has succeeded."""
        with self._lock:
            was_on, self._fault = self._fault is not None, None
        if was_on:
            _log.warning("database.%s: over", self._name)
