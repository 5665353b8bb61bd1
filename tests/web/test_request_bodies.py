"""Bodies of requests end at their deadlines, by a clock that stands still while there is work."""

import asyncio
import selectors
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from io import BytesIO
from selectors import SelectorKey
from typing import Any, cast

import pytest
from typing_extensions import override

from app.web.bodies import Deadlines, Exchange, Incoming, Quota, Refused
from tests.fixtures.cases import cases
from tests.servers.event_loops import run_in_thread

SILENCE, WHOLE = 5.0, 30.0
SIZE = 100


class _Selector(selectors.DefaultSelector):
    """Waits for nothing; instead the time is later by as much."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    @override
    def select(self, timeout: float | None = None) -> list[tuple[SelectorKey, int]]:
        self.now += timeout or 0.0
        return super().select(0)


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.clock = _Selector()
        super().__init__(self.clock)

    @override
    def time(self) -> float:
        return self.clock.now


@dataclass(slots=True)
class _Client:
    """Sends one byte after each pause, and then nothing more."""

    pauses: Iterator[float]

    def __aiter__(self) -> "_Client":
        return self

    async def __anext__(self) -> bytes:
        pause = next(self.pauses, None)
        if pause is None:
            await asyncio.Event().wait()
        else:
            await asyncio.sleep(pause)
        return b"x"


def receive(*pauses: float) -> tuple[bytes | HTTPStatus, float]:
    """Return the body, or the status that refuses it, and after how many seconds."""
    loop = _Loop()

    async def read() -> bytes | HTTPStatus:
        exchange = cast(Exchange, _Client(iter(pauses)))
        incoming = Incoming(exchange, SIZE, Deadlines(whole=WHOLE, silence=SILENCE))
        try:
            body: Any = await incoming.read(SIZE, Quota(0))
        except Refused as refused:
            return refused.status
        assert isinstance(body, BytesIO)
        return body.getvalue()

    try:
        return run_in_thread(loop.run_until_complete, read()), loop.time()
    finally:
        loop.close()


@cases("sent", [0, 1, 5])
def test_silent_body_ends_at_its_idle_deadline(sent: int) -> None:
    received, seconds = receive(*[1.0] * sent)
    assert received is HTTPStatus.REQUEST_TIMEOUT
    assert seconds == pytest.approx(sent + SILENCE)


def test_dripping_body_ends_at_its_total_deadline() -> None:
    received, seconds = receive(*[0.9 * SILENCE] * SIZE)
    assert received is HTTPStatus.REQUEST_TIMEOUT
    assert seconds == pytest.approx(WHOLE)


def test_slow_body_within_both_deadlines_is_read() -> None:
    received, seconds = receive(*[0.9 * SILENCE] * 5, *[0.0] * (SIZE - 5))
    assert received == b"x" * SIZE
    assert seconds > SILENCE
