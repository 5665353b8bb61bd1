"""A day's volume scaled to two cores, in 72 minutes, without a growing queue.

Two web processes and a worker. What is due is sent on time, whether or not earlier requests are
answered, and an answer's time counts from when its request was due. Each minute prints a line: the
rates due/answered a second of each kind of request, with p50 and p99 in ms; how late the client
sent them (p99, ms); what failed; what waits in the outbox and to be delivered; memory (PSS) of
web and worker; cores taken by each service, and by processes that don't belong to it. When it is
interrupted (SIGINT), it prints the summary of the minutes until then.
"""

import asyncio
import multiprocessing
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.sharedctypes import Synchronized

from benchmarks.neighbours import Neighbours
from benchmarks.receiver import receiver
from benchmarks.scale import queue
from benchmarks.scale.client import Client
from benchmarks.scale.curve import Day
from benchmarks.scale.load import Load
from benchmarks.scale.minutes import Ending, Minute, line, misses, summary
from benchmarks.scale.people import WEBHOOKS, DayShop
from benchmarks.scale.services import LOOPBACK, Services, running_services
from tests.servers.run import shared_directory

WEB_PROCESSES = 2

_ANSWER_SECONDS = 0.02
_MINUTE = 60.0
_PATIENCE = 60.0
_INTERRUPTED = 130
"""How shells report a program that SIGINT ended."""
_MEASURED = ("web", "worker")
"""Whose memory is looked at: the database's and Valkey's grow with what is stored."""


def main(options: Namespace) -> int:
    """Print the day and its summary; return 1 if it misses a goal."""
    day = Day(options.minutes)
    answered = multiprocessing.Value("q")
    with (
        shared_directory() as run,
        receiver(_ANSWER_SECONDS, answered) as port,
        running_services(run, WEB_PROCESSES) as services,
    ):
        services.processes["endpoints"] = multiprocessing.active_children()[0].pid or 0
        shop = DayShop(run, services.settings, f"http://{LOOPBACK}:{port}/hook")
        watch = _Watch(services, shop)

        def live() -> Ending:
            changes = asyncio.run(_live(services, shop, day, watch))
            return _end(shop, changes, answered)

        missed = report(watch.minutes, live)
        shop.ports.database.close()
    return missed


def report(minutes: Sequence[Minute], live: Callable[[], Ending]) -> int:
    """Print the summary of the ``minutes`` that ``live`` adds; return 1 if it misses a goal.

    Exits when interrupted, so that no other part is measured.
    """
    try:
        ending = live()
    except KeyboardInterrupt:
        _print(summary(minutes, None) if minutes else "interrupted in the first minute\n")
        sys.exit(_INTERRUPTED)
    _print(summary(minutes, ending))
    return int(bool(misses(minutes, ending)))


async def _live(services: Services, shop: DayShop, day: Day, watch: "_Watch") -> int:
    """Live through the day; return how many changes were made."""
    client = Client(services.port, services.authority)
    load = Load(client, services.port, shop, day)
    started = time.perf_counter()
    sending = asyncio.create_task(load.run(started))
    watch.begin()
    for number in range(1, day.minutes + 1):
        await asyncio.sleep(max(0.0, started + number * _MINUTE - time.perf_counter()))
        if number == day.minutes:
            await sending
        hour = day.hour((number - 0.5) * _MINUTE)
        await asyncio.to_thread(watch.look, hour, load)
        _print(line(number, watch.minutes[-1]))
    client.close()
    return load.changes


@dataclass(slots=True)
class _Watch:
    """Looks at services and the queue at the end of each minute."""

    services: Services
    shop: DayShop
    minutes: list[Minute] = field(default_factory=list)
    _began: float = 0.0
    _processor: dict[str, float] = field(default_factory=dict)
    _neighbours: Neighbours = field(default_factory=Neighbours)

    def begin(self) -> None:
        self._began = time.perf_counter()
        self._processor = self._seconds()
        self._neighbours = Neighbours()

    def look(self, hour: int, load: Load) -> None:
        seconds, taken = time.perf_counter() - self._began, self._seconds()
        cores = {name: (taken[name] - self._processor[name]) / seconds for name in taken}
        minute = Minute(
            hour=hour,
            seconds=seconds,
            tally=load.take(),
            queue=queue.look(self.shop.ports),
            memory={name: self.services.memory(name) for name in _MEASURED},
            processor=cores,
            others=self._neighbours.cores(),
        )
        self.minutes.append(minute)
        self.begin()

    def _seconds(self) -> dict[str, float]:
        return {**self.services.processor(), "client": time.process_time()}


def _end(shop: DayShop, changes: int, answered: "Synchronized[int]") -> Ending:
    """Wait until nothing is left to deliver, or for a minute."""
    ended = time.perf_counter()
    while time.perf_counter() - ended < _PATIENCE:
        left = queue.look(shop.ports)
        if not left.events and not left.deliveries:
            break
        time.sleep(0.2)
    return Ending(
        expected=changes * WEBHOOKS,
        delivered=queue.delivered(shop.ports),
        arrived=answered.value,
        seconds=time.perf_counter() - ended,
    )


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
