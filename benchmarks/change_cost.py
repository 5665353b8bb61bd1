"""The cost of a mutation with ten subscribed webhooks and without any."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import median

from sqlalchemy import delete

from app import models
from benchmarks import load_client, paths, servers
from benchmarks.report import Report
from benchmarks.shop import BenchShop, subscribe
from tests.builders.products import product_id

WEBHOOKS = 10
MAX_DIFFERENCE = 1.0
"""Milliseconds that a request may take longer with that many subscribed webhooks."""

_OTHERS = 10
_BLOCKS = 100
_COUNTED, _UNCOUNTED = 10, 3
"""Requests of a block; the first ones only warm the caches and don't count."""
_TRIES = 3
"""Times that so many blocks are added when the limit is missed: chance goes, a cost stays."""
_TARGET = "https://app.example.com/hook"
_UPDATE = (
    "mutation ($id: ID!, $input: ProductInput!)"
    " { productUpdate(id: $id, input: $input) { product { id name } errors { code } } }"
)


@dataclass(frozen=True, slots=True)
class Changed:
    """What a change took: medians in milliseconds, and means of the server's processor time."""

    with_none: float
    with_webhooks: float
    processor: tuple[float, ...]

    @property
    def difference(self) -> float:
        return self.with_webhooks - self.with_none

    @property
    def is_too_much(self) -> bool:
        return self.difference > MAX_DIFFERENCE

    @property
    def note(self) -> str:
        none, some = self.processor
        return (
            f"`productUpdate` without a subscribed webhook and with {WEBHOOKS}:"
            f" {self.with_none:.1f} and {self.with_webhooks:.1f} ms"
            f" ({self.difference:+.2f} ms; the limit: {MAX_DIFFERENCE:.0f} ms),"
            f" {none:.2f} and {some:.2f} ms of processor time"
        )


@dataclass(slots=True)
class _Times:
    """Milliseconds of each request, and seconds of processor time for all of them."""

    milliseconds: list[float] = field(default_factory=list)
    processor: float = 0.0

    @property
    def processor_milliseconds(self) -> float:
        return self.processor * 1000 / len(self.milliseconds)


def measure(report: Report, folder: Path) -> None:
    """Add it to the whole table."""
    shop = BenchShop(folder, other_users=_OTHERS)
    changed = report.quietly(lambda: _measured(shop))
    report.limited(changed.note, exceeds=changed.is_too_much)


def _measured(shop: BenchShop) -> Changed:
    times = {0: _Times(), WEBHOOKS: _Times()}
    with servers.latchkey(shop.url) as server:
        requests = _requests(server.port, shop)
        _measure_round(server, shop, requests, times)
        for _ in range(_TRIES - 1):
            if not _changed(times).is_too_much:
                break
            _measure_round(server, shop, requests, times)
    return _changed(times)


def _changed(times: dict[int, _Times]) -> Changed:
    return Changed(
        with_none=median(times[0].milliseconds),
        with_webhooks=median(times[WEBHOOKS].milliseconds),
        processor=tuple(one.processor_milliseconds for one in times.values()),
    )


def _measure_round(
    server: servers.Server, shop: BenchShop, requests: Iterator[bytes], times: dict[int, _Times]
) -> None:
    for block in range(_BLOCKS):
        # None and ten take turns in being first, so that whatever drifts does so for both.
        for webhooks in (0, WEBHOOKS) if block % 2 else (WEBHOOKS, 0):
            _subscribe(shop, webhooks)
            for _ in range(_UNCOUNTED):
                _ask(server, next(requests))
            one, started_at = times[webhooks], server.processor()
            one.milliseconds += [_ask(server, next(requests)) for _ in range(_COUNTED)]
            one.processor += server.processor() - started_at


def _subscribe(shop: BenchShop, webhooks: int) -> None:
    """Subscribe that many webhooks to the change."""
    with shop.ports.database.transaction() as session:
        session.execute(delete(models.Webhook))
    subscribe(shop.ports, shop.app, webhooks, _TARGET)


def _requests(port: int, shop: BenchShop) -> Iterator[bytes]:
    """Yield an endless series of real changes."""
    for number in count():
        product = shop.products[number % len(shop.products)]
        variables = {"id": product_id(product), "input": {"name": f"Bowl {number}"}}
        yield paths.graphql(port, _UPDATE, shop.app_token, variables)


def _ask(server: servers.Server, request: bytes) -> float:
    started = time.perf_counter()
    answer = load_client.one(server.port, request)
    milliseconds = (time.perf_counter() - started) * 1000
    if b'"errors":[]' not in answer:
        raise RuntimeError(f"a product was not changed: {answer[:200]!r}")
    return milliseconds
