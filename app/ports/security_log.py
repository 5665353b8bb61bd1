"""Where security events are written for a SIEM, beside the audit log and the sign-in log."""

from typing import Protocol

from app.domain.audit import SecurityEvent


class SecurityLog(Protocol):
    def write(self, event: SecurityEvent, **fields: object) -> None:
        """Write a line; ``None`` and empty fields are left out. Raises nothing."""


class NoSecurityLog:
    """A security log that is switched off."""

    def write(self, event: SecurityEvent, **fields: object) -> None:
        return


NO_SECURITY_LOG = NoSecurityLog()
