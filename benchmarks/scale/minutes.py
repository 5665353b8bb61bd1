"""What each minute gave, the line that it prints, and the summary of the day."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.scale.curve import HOURS, PEAK

MAX_AGE = 10.0
"""Seconds that the oldest due event or delivery may wait at the end of a minute.

In ten seconds of the busiest hour 1,000 deliveries become due, which one worker sends in two to
three: an older one means that it doesn't keep up.
"""

MAX_GROWTH = 5.0
"""MiB that a service may grow by for every 100,000 requests, and at least that."""

_REQUESTS = 100_000
_LEAST_MINUTES = 20
"""A shorter run says nothing about memory: the first requests load what any need."""

_SHOWN = 5


@dataclass(slots=True)
class Tally:
    """Requests of some time: how many were due, milliseconds until each answer, what failed.

    ``late`` are the milliseconds by which the client sent them after they were due, which count
    in the answer's.
    """

    due: Counter[str] = field(default_factory=Counter)
    latencies: dict[str, list[float]] = field(default_factory=dict)
    late: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def answered(self, kind: str) -> int:
        return len(self.latencies.get(kind, ()))

    def add(self, other: "Tally") -> None:
        self.due.update(other.due)
        self.late += other.late
        self.failures += other.failures
        for kind, latencies in other.latencies.items():
            self.latencies.setdefault(kind, []).extend(latencies)


@dataclass(frozen=True, slots=True)
class Queue:
    """What waits: open events, deliveries to be made, and the seconds that the oldest is due."""

    events: int
    deliveries: int
    oldest: float


@dataclass(frozen=True, slots=True)
class Minute:
    """A minute of a day: ``memory`` in MiB and ``processor`` in cores, by service.

    ``others`` are the cores that processes which have nothing to do with it took.
    """

    hour: int
    seconds: float
    tally: Tally
    queue: Queue
    memory: Mapping[str, float]
    processor: Mapping[str, float]
    others: float


@dataclass(frozen=True, slots=True)
class Ending:
    """What was left: deliveries that should have been made, and those that were.

    ``arrived`` counts what the endpoints answered: a delivery can arrive twice.
    """

    expected: int
    delivered: int
    arrived: int
    seconds: float


def percentile(values: Sequence[float], share: float) -> float:
    """Return what ``share`` of the values stay under; 0 without any."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


def line(number: int, minute: Minute) -> str:
    """Return the line of a minute, which ``day`` explains."""
    tally, queue = minute.tally, minute.queue
    kinds = " | ".join(
        f"{kind} {tally.due[kind] / minute.seconds:.1f}/"
        f"{tally.answered(kind) / minute.seconds:.1f} {_latencies(tally, kind)}"
        for kind in PEAK
    )
    memory = " ".join(f"{name} {mebi:.0f}" for name, mebi in minute.memory.items())
    cores = " ".join(f"{name} {cores:.2f}" for name, cores in minute.processor.items())
    return (
        f"{number:3} {minute.hour:02}h {kinds} | late {percentile(tally.late, 0.99):.0f}"
        f" | failed {len(tally.failures)} | events {queue.events} deliveries {queue.deliveries}"
        f" oldest {queue.oldest:.1f} s | MiB {memory} | cores {cores}"
        f" sum {sum(minute.processor.values()):.2f} others {minute.others:.2f}\n"
    )


def summary(minutes: Sequence[Minute], ending: Ending | None) -> str:
    """Return the day's figures as lines, those of the busiest hour, and what was missed.

    A day that was interrupted has no ``ending``.
    """
    day = total(minutes)
    peak = [minute for minute in minutes if HOURS[minute.hour][0] == 1.0]
    written = [_requests("the day", minutes)]
    if peak:
        written.append(_requests("its busiest hour", peak))
    oldest = max(minute.queue.oldest for minute in minutes)
    late = f"{percentile(day.late, 0.99):.0f} and {max(day.late, default=0.0):.0f} ms"
    written.append(
        f"- {len(day.failures)} requests failed; p99 and maximum of the client's delay: {late}"
    )
    if ending is None:
        written.append("- interrupted: deliveries weren't counted")
    else:
        made = f"{ending.delivered:,} of {ending.expected:,} deliveries made"
        written.append(
            f"- {made}, {ending.arrived:,} arrived; the last {ending.seconds:.1f} s after the day"
        )
    written.append(
        f"- oldest due at the end of a minute: {oldest:.1f} s at most (limit: {MAX_AGE:.0f} s)"
    )
    written += (f"- {text}" for text in _memory(minutes))
    written += (f"- failed: {text}" for text in sorted(set(day.failures))[:_SHOWN])
    written += (f"MISSED: {goal}" for goal in misses(minutes, ending))
    return "\n".join(written) + "\n"


def misses(minutes: Sequence[Minute], ending: Ending | None) -> list[str]:
    """Return the goals that the day misses, as far as it went."""
    grown = growth(minutes)
    allowed = _allowed(minutes)
    goals = {
        "every request is answered": not total(minutes).failures,
        "the queue doesn't grow": all(one.queue.oldest <= MAX_AGE for one in minutes),
        "every delivery is made": ending is None
        or ending.delivered == ending.expected <= ending.arrived,
        **{f"the memory of {name}": mebi <= allowed for name, mebi in grown.items()},
    }
    return [goal for goal, is_met in goals.items() if not is_met]


def growth(minutes: Sequence[Minute]) -> dict[str, float]:
    """Return the MiB that each service grew by from the middle to the end of a long day.

    Of the fifth of the day after its middle, and of its last fifth, the least counts: a password
    hash takes 46 MiB for as long as it is computed.
    """
    if len(minutes) < _LEAST_MINUTES:
        return {}
    fifth, middle = len(minutes) // 5, len(minutes) // 2
    return {
        name: min(one.memory[name] for one in minutes[-fifth:])
        - min(one.memory[name] for one in minutes[middle : middle + fifth])
        for name in minutes[0].memory
    }


def total(minutes: Sequence[Minute]) -> Tally:
    """Return what all of them gave together."""
    whole = Tally()
    for minute in minutes:
        whole.add(minute.tally)
    return whole


def _allowed(minutes: Sequence[Minute]) -> float:
    requests = sum(total(minutes[len(minutes) // 2 :]).due.values())
    return MAX_GROWTH * max(1.0, requests / _REQUESTS)


def _requests(name: str, minutes: Sequence[Minute]) -> str:
    tally = total(minutes)
    seconds = sum(minute.seconds for minute in minutes)
    kinds = "; ".join(
        f"{kind} {tally.answered(kind):,} ({tally.answered(kind) / seconds:.1f} a second,"
        f" p50 and p99 {_latencies(tally, kind)} ms)"
        for kind in PEAK
    )
    cores = ", ".join(
        f"{name} {sum(one.processor[name] * one.seconds for one in minutes) / seconds:.2f}"
        for name in minutes[0].processor
    )
    return f"- {name}, {seconds / 60:.0f} minutes: {kinds}; cores: {cores}"


def _memory(minutes: Sequence[Minute]) -> Iterator[str]:
    for name in minutes[0].memory:
        first, last = minutes[0].memory[name], minutes[-1].memory[name]
        most = max(minute.memory[name] for minute in minutes)
        text = (
            f"memory of {name}: {first:.0f} MiB at first, {most:.0f} at most, {last:.0f} at last"
        )
        grown = growth(minutes)
        if grown:
            text += (
                f"; from the middle to the end {grown[name]:+.1f} MiB"
                f" (limit: {_allowed(minutes):.0f})"
            )
        yield text


def _latencies(tally: Tally, kind: str) -> str:
    latencies = tally.latencies.get(kind, ())
    return f"{percentile(latencies, 0.5):.0f} {percentile(latencies, 0.99):.0f}"
