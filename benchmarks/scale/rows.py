"""Ten thousand and ten million users, sessions and deliveries: what becomes slower, how large.

Each kind of work is done on both databases in turn. Compared is processor time, that of this
process and of PostgreSQL's together: busy neighbours don't change it. A difference below
0.2 ms doesn't count. Searches also have a limit of 300 ms, which is time as it passes.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

from sqlalchemy import text

from benchmarks import servers
from benchmarks.cpu_time import processor_seconds
from benchmarks.receiver import receiver
from benchmarks.scale import row_housekeeping, row_sizes, row_work
from benchmarks.scale.filling import filled_database
from benchmarks.scale.kept_server import running_postgresql
from benchmarks.scale.row_work import FilledShop, Work

FEW, MANY = 10_000, 10_000_000
MAX_RATIO = 1.10
NOISE = 0.2
"""Milliseconds: what processor times of the same work differ by."""
MAX_SEARCH = 300.0

_ROUNDS, _UNCOUNTED = 7, 2
_TRIES = 3
"""Times that so many rounds are added when a ratio is above the limit: chance goes."""
_BACKENDS = (
    "SELECT pid FROM pg_stat_activity"
    " WHERE datname = current_database() AND backend_type = 'client backend'"
)


@dataclass(slots=True)
class Times:
    """Milliseconds of one kind of work, in each round: processor time and total time."""

    processor: list[float] = field(default_factory=list)
    passed: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Compared:
    """Medians in milliseconds, with few rows and with many."""

    name: str
    processor: tuple[float, float]
    passed: tuple[float, float]
    limit: float = 0.0

    @classmethod
    def of(cls, work: Work, few: Times, many: Times) -> "Compared":
        return cls(
            work.name,
            (median(few.processor), median(many.processor)),
            (median(few.passed), median(many.passed)),
            work.limit,
        )

    @property
    def ratio(self) -> float:
        return self.processor[1] / self.processor[0]

    @property
    def is_too_slow(self) -> bool:
        grows = self.ratio > MAX_RATIO and self.processor[1] - self.processor[0] > NOISE
        return self.passed[1] > self.limit if self.limit else grows

    @property
    def line(self) -> str:
        """A row of the table."""
        few, many = self.processor
        warning = " **too slow**" if self.is_too_slow else ""
        return (
            f"| {self.name} | {few:.2f} | {many:.2f} | {self.ratio:.2f} |"
            f" {self.passed[0]:.1f} | {self.passed[1]:.1f}{warning} |"
        )


def main(options: argparse.Namespace) -> int:
    """Print the figures; return 1 if something is slower than its goal."""
    affinity = os.sched_getaffinity(0)
    with running_postgresql(options.keep) as server, receiver() as port:
        filled = [(rows, *filled_database(server, rows)) for rows in (FEW, options.rows)]
        for rows, _, told in filled:
            _say(f"- {rows:,} users, sessions and deliveries: {told}")
        shops = [FilledShop(url, rows, port) for rows, url, _ in filled]
        os.sched_setaffinity(0, {servers.SERVER_CORE})
        slow = _compare(shops)
        os.sched_setaffinity(0, affinity)
        for line in row_sizes.report(shops[-1].url):
            _say(line)
        _say(_deletion(row_housekeeping.delete_many(shops[-1])))
        for shop in shops:
            shop.close()
    _say(f"goal: at most {MAX_RATIO:.2f} times, {'MISSED' if slow else 'met'}")
    return int(slow)


def _compare(shops: Sequence[FilledShop]) -> bool:
    few, many = (f"{shop.rows:,}" for shop in shops)
    _say(f"| | {few}: processor ms | {many} | ratio | {few}: ms | {many}: ms |")
    _say("|---|---|---|---|---|---|")
    slow = False
    for compared in _compared(shops):
        _say(compared.line)
        slow |= compared.is_too_slow
    return slow


def _compared(shops: Sequence[FilledShop]) -> Iterator[Compared]:
    for work in (*row_work.works(MAX_SEARCH), *row_housekeeping.works()):
        times = [Times() for _ in shops]
        for _ in range(_TRIES):
            _measure_rounds(work, shops, times)
            if not Compared.of(work, *times).is_too_slow:
                break
        yield Compared.of(work, *times)


def _measure_rounds(work: Work, shops: Sequence[FilledShop], times: Sequence[Times]) -> None:
    pairs = list(zip(shops, times, strict=True))
    for number in range(_UNCOUNTED + _ROUNDS):
        for shop, kept in pairs if number % 2 else pairs[::-1]:
            if work.before is not None:
                work.before(shop)
            taken, began = _processor(shop), time.perf_counter()
            for _ in range(work.times):
                work.do(shop)
            passed, taken = time.perf_counter() - began, _processor(shop) - taken
            if number >= _UNCOUNTED:
                kept.processor.append(taken * 1000 / work.times)
                kept.passed.append(passed * 1000 / work.times)


def _processor(shop: FilledShop) -> float:
    """Seconds of processor time that this process and the backends of the shop have taken."""
    with shop.ports.database.reading() as session:
        backends = session.scalars(text(_BACKENDS)).all()
    return time.process_time() + sum(map(processor_seconds, backends))


def _deletion(deleted: row_housekeeping.ManyDeleted) -> str:
    dead = ", ".join(f"{rows:,} of {table}" for table, rows in sorted(deleted.dead.items()))
    return (
        f"- housekeeping of {deleted.deliveries:,} deliveries: {deleted.seconds:.0f} s,"
        f" then dead rows: {dead}; VACUUM (ANALYZE) of both tables: {deleted.vacuum:.0f} s"
    )


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
