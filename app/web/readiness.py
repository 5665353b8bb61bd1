"""Readiness for probes: one check a second at most, however often they ask."""

import time
from threading import Lock

from app.domain.authorization.actor import OPERATOR
from app.domain.values.installation import CheckResult, CheckState
from app.ports import Ports
from app.services.operations.environment_checks import check_readiness

_FRESH_SECONDS = 1.0
_VALID_SECONDS = 10.0
_BUSY = (CheckResult("readiness", CheckState.FAILED, "The check isn't done yet."),)


class Readiness:
    """The latest check of ``ports``.

    A check that hangs, as one of an unreachable database does, holds up one thread; other probes
    get the result before it, or a failure if that is older than 10 seconds.
    """

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._lock = Lock()
        self._findings: tuple[CheckResult, ...] = _BUSY
        self._checked = 0.0

    def findings(self) -> tuple[CheckResult, ...]:
        """Return what the latest check found, checking again if it is older than a second."""
        if self._is_younger(_FRESH_SECONDS):
            return self._findings
        if not self._lock.acquire(blocking=False):
            return self._findings if self._is_younger(_VALID_SECONDS) else _BUSY
        try:
            if not self._is_younger(_FRESH_SECONDS):
                self._findings = check_readiness(self._ports, OPERATOR)
                self._checked = time.monotonic()
        finally:
            self._lock.release()
        return self._findings

    def _is_younger(self, seconds: float) -> bool:
        return bool(self._checked) and time.monotonic() - self._checked < seconds


def is_ready(findings: tuple[CheckResult, ...]) -> bool:
    """Return whether nothing that was checked failed."""
    return all(finding.state is not CheckState.FAILED for finding in findings)
