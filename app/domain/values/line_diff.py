"""Line by line comparison of two texts, in time that grows with their length alone.

The standard library's comparison takes minutes for texts that are made for it.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from typing_extensions import override

_CONTEXT = 3
"""Unchanged lines around a change in a unified diff."""


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of either text; ``mark`` is ``-`` (only before), ``+`` (only after) or a blank.

    ``before`` and ``after`` are the numbers of lines of each text that come before it.
    """

    mark: str
    text: str
    before: int
    after: int

    @override
    def __str__(self) -> str:
        return f"{self.mark}{self.text}"


def diff_lines(before: Sequence[str], after: Sequence[str]) -> tuple[DiffLine, ...]:
    """Return all lines of both texts, each line they share once.

    Lines that occur once in each text, in the same order, are anchors; between two anchors equal
    lines are matched from either end (a patience diff, without its recursion).
    """
    return tuple(_diff(before, after))


def unified_diff(lines: Sequence[DiffLine], before_name: str, after_name: str) -> Iterator[str]:
    """Yield the changed ones of ``lines`` in the format of ``diff -u``; nothing when none is."""
    hunks = list(_hunks(lines))
    if hunks:
        yield f"--- {before_name}"
        yield f"+++ {after_name}"
    for hunk in hunks:
        shown = lines[hunk.start : hunk.stop]
        first = shown[0]
        removed = _range(first.before, sum(line.mark != "+" for line in shown))
        added = _range(first.after, sum(line.mark != "-" for line in shown))
        yield f"@@ -{removed} +{added} @@"
        yield from map(str, shown)


def _diff(before: Sequence[str], after: Sequence[str]) -> Iterator[DiffLine]:
    places = [(-1, -1), *_anchors(before, after), (len(before), len(after))]
    for (last_old, last_new), (old, new) in pairwise(places):
        yield from _gap(before, after, range(last_old + 1, old), range(last_new + 1, new))
        if old < len(before):
            yield DiffLine(" ", before[old], old, new)


def _gap(
    before: Sequence[str], after: Sequence[str], old: range, new: range
) -> Iterator[DiffLine]:
    """The lines between two anchors: equal ones at either end, and the change between them."""
    shorter = min(len(old), len(new))
    head = 0
    while head < shorter and before[old[head]] == after[new[head]]:
        head += 1
    tail = 0
    while tail < shorter - head and before[old[-1 - tail]] == after[new[-1 - tail]]:
        tail += 1
    for place in range(head):
        yield DiffLine(" ", before[old[place]], old[place], new[place])
    for line in old[head : len(old) - tail]:
        yield DiffLine("-", before[line], line, new.start + head)
    for line in new[head : len(new) - tail]:
        yield DiffLine("+", after[line], old.stop - tail, line)
    for place in range(tail, 0, -1):
        yield DiffLine(" ", before[old[-place]], old[-place], new[-place])


def _anchors(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places of lines that occur once in each text, those that keep their order."""
    old_counts, new_counts = Counter(before), Counter(after)
    new_urls = {line: place for place, line in enumerate(after) if new_counts[line] == 1}
    shared = [
        (place, new_urls[line])
        for place, line in enumerate(before)
        if old_counts[line] == 1 and line in new_urls
    ]
    return _longest_rising(shared)


def _longest_rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest part of ``pairs`` whose second numbers rise as the first ones do."""
    ends: list[int] = []
    """The smallest second number at which a rising part of each length ends."""
    holders: list[int] = []
    previous: list[int] = []
    for number, (_, new) in enumerate(pairs):
        length = bisect_left(ends, new)
        previous.append(holders[length - 1] if length else -1)
        if length == len(ends):
            ends.append(new)
            holders.append(number)
        else:
            ends[length], holders[length] = new, number
    found = []
    number = holders[-1] if holders else -1
    while number >= 0:
        found.append(pairs[number])
        number = previous[number]
    return found[::-1]


def _hunks(lines: Sequence[DiffLine]) -> Iterator[range]:
    """Return the changed parts of ``lines`` with their context."""
    start, stop = 0, 0
    for place, line in enumerate(lines):
        if line.mark == " ":
            continue
        if place - _CONTEXT > stop:
            if stop:
                yield range(start, stop)
            start = max(place - _CONTEXT, 0)
        stop = min(place + _CONTEXT + 1, len(lines))
    if stop:
        yield range(start, stop)


def _range(start: int, count: int) -> str:
    # A range of no lines names the line before it.
    first = start + 1 if count else start
    return str(first) if count == 1 else f"{first},{count}"
