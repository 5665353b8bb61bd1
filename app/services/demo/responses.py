"""The responses of the demo webhooks' endpoints, attempt by attempt."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import accumulate

from app.domain.deliveries.deliveries import DISABLE_AFTER, SCHEDULE, TIMEOUT
from app.services.authorization.register import part

_OK = (200, '{"ok":true}')
_BUSY = (503, "Service Unavailable")
_BROKEN = (502, "<html><title>502 Bad Gateway</title></html>")
_ENDED = (402, '{"error":"Your plan has ended. Renew it to go on receiving contacts."}')
_EVERY_BUSY, _EVERY_LATE = 19, 41
_FIRST = timedelta(seconds=0.3)


@dataclass(frozen=True, slots=True)
class Answer:
    """An attempt ``at`` some time, its duration (seconds) and response.

    Without ``status`` there was none, and ``body`` says why.
    """

    at: datetime
    duration: float
    status: int | None
    body: str = field(repr=False)


@part
def answers(host: str, issued_at: datetime, place: int, now: datetime) -> tuple[Answer, ...]:
    """Those of an endpoint that works: once in a while it is busy, or does not answer in time.

    ``place`` counts the deliveries.
    """
    began = issued_at + _FIRST
    quick = 0.04 + place * 37 % 160 / 1000
    if place % _EVERY_LATE == _EVERY_LATE // 2:
        timed_out = Answer(
            began, TIMEOUT, None, f"{host} didn't respond within {TIMEOUT:g} seconds."
        )
        retried_at = began + timedelta(seconds=TIMEOUT + 5.2)
        well = retried_at + timedelta(seconds=SCHEDULE[2] * 1.06)
        if well < now:
            return (timed_out, Answer(retried_at, quick, *_BROKEN), Answer(well, quick, *_OK))
    if place % _EVERY_BUSY == _EVERY_BUSY // 2:
        return (
            Answer(began, quick, *_BUSY),
            Answer(began + timedelta(seconds=5.3), quick, *_OK),
        )
    return (Answer(began, quick, *_OK),)


@part
def refusals(issued_at: datetime, failing_since: datetime) -> Iterator[Answer]:
    """Those of an endpoint that only failed from a time on, until it was switched off for it."""
    disabled_at = failing_since + DISABLE_AFTER
    for waited in accumulate(SCHEDULE):
        at = issued_at + _FIRST + timedelta(seconds=waited * 1.03)
        if at < disabled_at:
            yield Answer(at, 0.09, *_ENDED)
