"""Logs of processes: JSON lines in production, readable in development; and the security log.

The security log has one JSON object per line, in a file or on standard error. No secret is ever
written: fields that are named like a secret are blanked, and so is what looks like a token or a
password in a URL, tracebacks included.
"""

import logging
import re
import sys
import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from logging.handlers import WatchedFileHandler
from threading import Lock
from typing import Any

import orjson
import structlog
from typing_extensions import override

from app.domain.audit import SecurityEvent
from app.domain.values.installation import Misconfigured
from app.ports.system import Clock

Event = structlog.typing.EventDict
BLANK = "[not shown]"

REQUEST_ID: ContextVar[str | None] = ContextVar("request_id", default=None)
"""The ID of the request that is being handled; ``request_hooks`` sets it."""

_SECRET_NAMES = re.compile(
    r"authori[sz]ation|cookie|credential|csrf|digest|password|private|secret|token", re.IGNORECASE
)
_SECRET_TEXTS = re.compile(
    r"eyJ[\w-]{5,}\.[\w-]*\.[\w-]*"  # a JSON Web Token
    r"|lkapp_\w{20,}"  # an app's token
    r"|whsec_[\w+/=-]{8,}"  # a webhook's secret
    r"|(?<=://)[^\s/@:]*:[^\s/@]+(?=@)"  # user and password in a URL
)

# Without local variables: one of them can be a password.
_TRACEBACKS = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)


class _StandardError(logging.Handler):
    """Our handler; it writes to the standard error stream of the moment, which tests replace."""

    @override
    def emit(self, record: logging.LogRecord) -> None:
        try:
            sys.stderr.write(f"{self.format(record)}\n")
        except Exception:  # noqa: BLE001 - as the library's own handlers: a log ends no request
            self.handleError(record)


def log_wrong_settings(error: Misconfigured) -> None:
    """Write a line of JSON for each setting that a server can't start with.

    In which environment it would run can't be told; production's collector of logs reads JSON.
    """
    set_up_logs(level="INFO", development=False)
    for problem in error.problems:
        structlog.get_logger("latchkey.service").critical("service.failed", reason=problem)


def set_up_logs(*, level: str, development: bool) -> None:
    """Send everything that this process and its libraries log to standard error.

    Safe to repeat: the handler of an earlier call is replaced, those of others stay.
    """
    shared = (
        add_request_id,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        blank_secrets,
    )
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = _StandardError()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *(_readable() if development else _machine_readable()),
                blank_secret_texts,
            ],
        )
    )
    root = logging.getLogger()
    for earlier in [handler for handler in root.handlers if isinstance(handler, _StandardError)]:
        root.removeHandler(earlier)
    root.addHandler(handler)
    root.setLevel(level)


def add_request_id(_logger: object, _method: str, event: Event) -> Event:
    """Add the ID of the request that is being handled, if any."""
    request_id = REQUEST_ID.get()
    if request_id is not None:
        event.setdefault("request_id", request_id)
    return event


def blank_secrets(_logger: object, _method: str, event: Event) -> Event:
    """Blank every field, at any depth, whose name says that it holds a secret."""
    return {name: _safe_value(name, value) for name, value in event.items()}


def blank_secret_texts(_logger: object, _method: str, line: Any) -> str:
    """Return ``line`` without texts that look like secrets."""
    return _SECRET_TEXTS.sub(BLANK, str(line))


def _safe_value(name: str, value: object) -> object:
    if _SECRET_NAMES.search(name) and value is not None:
        return BLANK
    return _inside(value)


def _inside(value: object) -> object:
    if isinstance(value, Mapping):
        return {key: _safe_value(str(key), inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_inside(inner) for inner in value]
    return value


def _readable() -> tuple[Any, ...]:
    return (
        structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
        ),
    )


def _machine_readable() -> tuple[Any, ...]:
    return (
        structlog.processors.ExceptionRenderer(_TRACEBACKS),
        structlog.processors.JSONRenderer(serializer=_json),
    )


def _json(event: object, **_options: object) -> str:
    return orjson.dumps(event, default=repr).decode()


NAME = "latchkey.security"
STANDARD_ERROR = "stderr"
MAX_FAILURES_PER_SECOND = 50
"""Failed sign-ins that a process writes each second; the next line says how many were left out."""


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
