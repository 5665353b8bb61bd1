"""An installation: its version, how it identifies itself to receivers, its errors and checks.

Receivers get Saleor's header names as well as Latchkey's, so that existing apps find theirs
(contract, part 3). Errors that keep an installation from working have advice for the operator.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

VERSION = "1.1.0"
SCHEMA_VERSION = "3.23"
"""``Shop.schemaVersion`` (contract, "Credentials, precisely", 9)."""

INTERFACE_VERSION = f"{SCHEMA_VERSION}+{VERSION}"
"""``Shop.version``: the level of the interface, with our own version behind a plus."""

PLATFORM = "saleor"
_OLDER_NAMES = frozenset({"Event", "Domain", "Signature"})
"""What the platform also sends under its older names, which begin with ``X-``."""


@dataclass(frozen=True, slots=True)
class HeaderNames:
    """Whose names the headers have: ``vendor``'s, and the platform's if ``platform``."""

    vendor: str
    platform: bool

    @property
    def sample_header(self) -> str:
        """The header of deliveries triggered by hand, which the platform does not have."""
        return f"{self.vendor.capitalize()}-Sample"

    def name_headers(self, values: Mapping[str, str]) -> dict[str, str]:
        """Return ``values`` (``Event``, ``Domain`` and so on) under each vendor's names.

        At most 13 headers for the five values of a delivery.
        """
        named = _prefixed(self.vendor.capitalize(), values)
        if self.platform:
            older = {name: value for name, value in values.items() if name in _OLDER_NAMES}
            named |= _prefixed(PLATFORM.capitalize(), values)
            named |= _prefixed(f"X-{PLATFORM.capitalize()}", older)
        return named


def _prefixed(prefix: str, values: Mapping[str, str]) -> dict[str, str]:
    return {f"{prefix}-{name}": value for name, value in values.items()}


class Fault(Exception):
    """An error outside the rules."""


class Misconfigured(Fault):
    """The settings cannot be used; ``problems`` names everything that is wrong with them."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        lines = "\n".join(f"  - {problem}" for problem in problems)
        super().__init__(f"Latchkey cannot start with these settings:\n{lines}")
        self.problems = problems


class Unreachable(Fault):
    """``service`` does not answer; ``reason`` is what the attempt said, without any secret."""

    def __init__(self, service: str, reason: str) -> None:
        super().__init__(f"{service} cannot be reached: {reason}")
        self.service = service
        self.reason = reason


class DatabaseUnavailable(Unreachable):
    """The database does not answer; ``retry_after`` is when to ask again, in seconds."""

    retry_after = 5

    def __init__(self, reason: str) -> None:
        super().__init__("The database", reason)


class DatabaseBusy(DatabaseUnavailable):
    """The database responds, but a lock was held for too long; reads work."""


class PortUnavailable(Fault):
    """OPERATIONS_PORT can't be opened."""

    def __init__(self, host: str, port: int, reason: str) -> None:
        super().__init__(
            f"OPERATIONS_PORT: can't listen on {host}, port {port}: {reason}. Change "
            "OPERATIONS_HOST or OPERATIONS_PORT, or give all servers and workers of this "
            "installation and host the same METRICS_FOLDER: one of them then listens for all."
        )


class SchemaBehind(Fault):
    """The tables are not those that this version works with.

    ``current`` is the revision that they are at, ``newest`` the one that is needed, where known.
    """

    def __init__(self, current: str | None = None, newest: str | None = None) -> None:
        state = f"is at {current}" if current else "has no tables yet"
        details = f": it {state}, this version needs {newest}"
        super().__init__(
            f"The database is not up to date{details if newest else ''}. Run `flask db upgrade`."
        )


class SchemaAhead(Fault):
    """A newer version has upgraded the tables: ``current`` is no revision of this one."""

    def __init__(self, current: str, newest: str | None) -> None:
        super().__init__(
            f"The database belongs to a newer version: it is at {current}, this version needs "
            f"{newest}. {SCHEMA_AHEAD_REMEDY}"
        )


SCHEMA_AHEAD_REMEDY = (
    "Install the version that upgraded it, or restore a backup from before that upgrade."
)


class UpgradeBlocked(Fault):
    """Another process kept the database's upgrade lock for all of ``seconds``."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"Another process has been upgrading the database for {seconds:.0f} s. Wait until it "
            "is done, or stop it, then run `flask db upgrade` again."
        )


class BackupFailed(Fault):
    """A backup can't be written, read or restored; the message says why."""


class ExportFailed(Fault):
    """An export can't be written or read; the message says why."""


class KeyUnreadable(Fault):
    """The private part of the key ``kid`` was encrypted with another secret, or is damaged."""

    def __init__(self, kid: str) -> None:
        super().__init__(
            f"The signing key {kid} cannot be decrypted with this SECRET_KEY. Set SECRET_KEY "
            "back to the value that the key was made with, or add that value to "
            "SECRET_KEY_FALLBACKS. If it is lost, run `flask keys rotate --force`: it makes "
            "new keys, and existing tokens stay valid."
        )
        self.kid = kid


class MarkKind(StrEnum):
    """What an installation is recognized by; HELD and RESTORED are why something is held."""

    KEY = "SECRET_KEY"
    PUBLIC_URL = "PUBLIC_URL"
    DATABASE = "database"
    HELD = "held"
    RESTORED = "restored"


@dataclass(frozen=True, slots=True)
class Hold:
    """Why this process sends nothing that was there before ``since``, in sentences."""

    since: datetime
    reasons: tuple[str, ...]


class CheckState(StrEnum):
    FINE = "fine"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One thing that was looked at; ``remedy`` says what to do unless all is well.

    ``templates`` are message and remedy before their ``values``, for pages that translate them.
    """

    subject: str
    state: CheckState
    message: str
    remedy: str = ""
    templates: tuple[str, str] = ("", "")
    values: Mapping[str, object] = field(default_factory=dict)


OnProgress = Callable[[int, int], None]
"""Takes how many of how many are done."""


def ignore_progress(_done: int, _total: int) -> None:
    """Tell no one."""
