"""A client that keeps a few connections busy and takes the time of every answer."""

import selectors
import socket
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from statistics import median

_READ = 65536
_ROUNDS = 5
_ROUND_SECONDS = 0.7
_WARM_UP = 0.7


@dataclass(frozen=True, slots=True)
class Outcome:
    """What runs gave: answers a second, latencies in milliseconds, and what was not a 200.

    ``rate`` is the median of ``rates``, those of each run.
    """

    rates: tuple[float, ...]
    latencies: list[float] = field(repr=False)
    unexpected: int

    @property
    def rate(self) -> float:
        return median(self.rates)

    def shares(self, yardstick: "Outcome") -> list[float]:
        """Return the rate of each run as a share of the yardstick's run beside it."""
        return [own / other for own, other in zip(self.rates, yardstick.rates, strict=True)]

    def percentile(self, share: float) -> float:
        """The latency that ``share`` of all answers stayed under."""
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


@dataclass(frozen=True, slots=True)
class Target:
    """A request, where it goes, and the status that its answer must have.

    ``meanwhile`` is entered for the time of each run.
    """

    port: int
    request: bytes = field(repr=False)
    status: int = 200
    meanwhile: Callable[[], AbstractContextManager[None]] = nullcontext


@dataclass(slots=True)
class _Connection:
    socket: socket.socket
    sent_at: float = 0.0
    buffer: bytes = b""


def request_bytes(
    path: str, body: bytes = b"", headers: dict[str, str] | None = None, *, port: int
) -> bytes:
    """A whole HTTP/1.1 request: POST with a body, of JSON if no header says else; GET without."""
    kind = {"Content-Type": "application/json"} if body else {}
    lines = [
        f"{'POST' if body else 'GET'} {path} HTTP/1.1",
        f"Host: localhost:{port}",
        *(f"{name}: {value}" for name, value in {**kind, **(headers or {})}.items()),
    ]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def side_by_side(
    *targets: Target, rounds: int = _ROUNDS, seconds: float = _ROUND_SECONDS
) -> list[Outcome]:
    """What each of ``targets`` gives, taken in turn for ``seconds``, ``rounds`` times.

    So a machine that becomes slower or quicker meanwhile does so for all of them.
    """
    for one in targets:
        run(one.port, one.request, seconds=_WARM_UP)
    runs = [[_run(one, seconds) for one in targets] for _ in range(rounds)]
    return [_together(of_one) for of_one in zip(*runs, strict=True)]


def _run(target: Target, seconds: float) -> Outcome:
    with target.meanwhile():
        return run(target.port, target.request, seconds=seconds, status=target.status)


def _together(outcomes: Sequence[Outcome]) -> Outcome:
    return Outcome(
        tuple(one.rate for one in outcomes),
        [latency for one in outcomes for latency in one.latencies],
        sum(one.unexpected for one in outcomes),
    )


def run(  # noqa: PLR0913 - what is sent, how often, and from where
    port: int,
    request: bytes,
    *,
    seconds: float = 4.0,
    connections: int = 8,
    status: int = 200,
    limit: int | None = None,
    pause: float = 0.0,
    connect: Callable[[], socket.socket] | None = None,
) -> Outcome:
    """Send ``request`` again and again on that many connections, that long or ``limit`` times.

    Each connection waits ``pause`` seconds between an answer and its next request. ``connect``
    opens a connection; by default, they go to ``port`` without TLS.
    """
    expected = f"HTTP/1.1 {status} ".encode()
    selector = selectors.DefaultSelector()
    open_connections = [
        _connect(port) if connect is None else _Connection(connect()) for _ in range(connections)
    ]
    latencies: list[float] = []
    unexpected = 0
    started = time.perf_counter()
    deadline = started + seconds
    waiting: deque[tuple[float, _Connection]] = deque()
    for number, connection in enumerate(open_connections):
        selector.register(connection.socket, selectors.EVENT_READ, connection)
        waiting.append((started + pause * number / connections, connection))
    while time.perf_counter() < deadline and (limit is None or len(latencies) < limit):
        while waiting and waiting[0][0] <= time.perf_counter():
            _send(waiting.popleft()[1], request)
        until = waiting[0][0] - time.perf_counter() if waiting else 1.0
        for key, _ in selector.select(timeout=max(0.0, until)):
            connection = key.data
            head = _receive(connection)
            if head is None:
                continue
            latencies.append((time.perf_counter() - connection.sent_at) * 1000)
            unexpected += not head.startswith(expected)
            if pause:
                waiting.append((time.perf_counter() + pause, connection))
            else:
                _send(connection, request)
    elapsed = time.perf_counter() - started
    for connection in open_connections:
        connection.socket.close()
    selector.close()
    return Outcome((len(latencies) / elapsed,), latencies, unexpected)


def one(port: int, request: bytes) -> bytes:
    """Return the body of one response."""
    connection = _connect(port)
    _send(connection, request)
    while _receive(connection, keep=True) is None:
        pass
    connection.socket.close()
    return connection.buffer.partition(b"\r\n\r\n")[2]


def _connect(port: int) -> _Connection:
    opened = socket.create_connection(("127.0.0.1", port), timeout=30)
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return _Connection(opened)


def _send(connection: _Connection, request: bytes) -> None:
    connection.sent_at = time.perf_counter()
    connection.socket.sendall(request)


def _receive(connection: _Connection, *, keep: bool = False) -> bytes | None:
    """The head of the answer once the whole of it is here."""
    received = connection.socket.recv(_READ)
    if not received:
        raise ConnectionError("the server closed a connection in the middle of a run")
    connection.buffer += received
    head, separator, body = connection.buffer.partition(b"\r\n\r\n")
    if not separator or len(body) < _length(head):
        return None
    if not keep:
        connection.buffer = b""
    return head


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0
