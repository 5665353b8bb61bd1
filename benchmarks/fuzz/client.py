"""Sends requests one after another and checks each response."""

import secrets
import time
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException

from benchmarks.fuzz.findings import Attempt, Findings
from benchmarks.fuzz.shop import FuzzedShop

_TIMEOUT = 60
_MAX_SHOWN = 20_000
_MASKED = b"Internal Server Error"
_UNAVAILABLE = 503


class ServerEnded(Exception):
    """The server processes have ended."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it is sent; the path is quoted already."""

    method: str
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; a status of 0 is no answer at all."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(slots=True)
class Client:
    """One connection at a time; each request comes from another address."""

    shop: FuzzedShop
    findings: Findings
    _connection: HTTPConnection | None = None

    def send(self, part: str, seed: int, request: Request) -> Answer:
        """Send ``request``; whatever is a fault of the server's goes to the findings."""
        attempt = Attempt(part, seed, _readable(request))
        started_at = time.perf_counter()
        answer = self._exchange(request)
        name = f"{request.method} {request.path[:100]}"
        self.findings.count(attempt, time.perf_counter() - started_at, name)
        self._check(attempt, request, answer)
        return answer

    def _check(self, attempt: Attempt, request: Request, answer: Answer) -> None:
        summary = {
            "status": answer.status,
            "answer": answer.body[:_MAX_SHOWN].decode(errors="replace"),
        }
        traceback = self.shop.new_traceback()
        if traceback:
            self.findings.fault(
                attempt, _last_line(traceback), log=traceback[-_MAX_SHOWN:], **summary
            )
        elif answer.status == _UNAVAILABLE:
            self.findings.unavailable += 1
        elif answer.status == 0:
            self.findings.fault(attempt, "no answer", **summary)
        elif answer.status > _UNAVAILABLE - 4 or _MASKED in answer.body:
            self.findings.fault(attempt, f"answer {answer.status}", **summary)
        if not self.shop.is_running:
            self.findings.fault(attempt, "the server ended", **summary)
            raise ServerEnded

    def _exchange(self, request: Request) -> Answer:
        """Twice at most: a connection that was kept may have been closed meanwhile."""
        for _ in range(2):
            connection = self._connection or HTTPConnection(
                "127.0.0.1", self.shop.port, timeout=_TIMEOUT
            )
            self._connection = None
            try:
                answer = _ask(connection, request)
            except (OSError, HTTPException):
                connection.close()
                continue
            if answer.headers.get("connection", "").lower() == "close":
                connection.close()
            else:
                self._connection = connection
            return answer
        return Answer(0)


def _ask(connection: HTTPConnection, request: Request) -> Answer:
    headers = {"X-Forwarded-For": _address(), **request.headers}
    connection.putrequest(request.method, request.path, skip_accept_encoding=True)
    for name, value in headers.items():
        connection.putheader(name, value.encode("latin-1", "replace"))
    if request.body or request.method == "POST":
        connection.putheader("Content-Length", str(len(request.body)))
    # It may have answered before it has read everything.
    with suppress(BrokenPipeError, ConnectionResetError):
        connection.endheaders(request.body or None)
    received = connection.getresponse()
    body = received.read()
    return Answer(received.status, {k.lower(): v for k, v in received.getheaders()}, body)


def _address() -> str:
    """One of a thousand networks, so that limits by IP address stay out of the way."""
    return f"2001:db8:{secrets.randbelow(1000):x}::1"


def _readable(request: Request) -> dict[str, object]:
    return {
        "method": request.method,
        "path": request.path,
        "headers": request.headers,
        "body": request.body.decode("latin-1"),
    }


def _last_line(traceback: str) -> str:
    lines = [line for line in traceback.splitlines() if line.strip()]
    return next((line[:200] for line in reversed(lines) if "Error" in line), lines[-1][:200])
