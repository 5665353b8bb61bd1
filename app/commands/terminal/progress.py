"""Progress of long work, on standard error: a bar on a terminal, else a line at times."""

import sys
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from app.commands.terminal.output import Form, form_of, write
from app.domain.values.installation import OnProgress, ignore_progress

Step = TypeVar("Step")

LINE_SECONDS = 5.0
"""Seconds between two lines where there is no terminal."""

_MIN_SECONDS = 1.0
"""Below that, a rate is no more than a guess."""


def steps(every: Sequence[Step], what: str) -> Generator[Step]:
    """Each of ``every`` in turn, while ``progress`` counts along."""
    with progress(what) as report:
        for number, item in enumerate(every, start=1):
            yield item
            report(number, len(every))


@contextmanager
def progress(what: str) -> Iterator[OnProgress]:
    """Report how far the work of the block is, with its rate and the time that is left.

    ``what`` is done, such as "Retrying". Nothing is printed with ``--json``.
    """
    if form_of(click.get_current_context()) is Form.JSON:
        yield ignore_progress
    elif sys.stderr.isatty():
        with _bar() as bar:
            yield _Bar(bar, what).show
    else:
        yield ProgressLines(what).show


def speed_and_time_left(done: int, total: int, seconds: float) -> str:
    """Return the rate and the time left, such as "25 per second, 8 s left"; empty at first."""
    if seconds < _MIN_SECONDS or not done:
        return ""
    rate = done / seconds
    speed = f"{rate:,.0f} per second" if rate >= 1 else f"{rate * 60:,.0f} per minute"
    left = round((total - done) / rate)
    time_left = f"{left} s" if left < 2 * 60 else f"{left // 60} min"
    return f"{speed}, {time_left} left" if left else speed


def _bar() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[pace]}"),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )


class _Bar:
    """A bar that appears with the first report and disappears with the last."""

    def __init__(self, bar: Progress, what: str) -> None:
        self._bar = bar
        self._task = bar.add_task(what, visible=False, pace="")
        self._start = time.monotonic()

    def show(self, done: int, total: int) -> None:
        seconds = time.monotonic() - self._start
        self._bar.update(
            self._task,
            completed=done,
            total=total,
            visible=True,
            pace=speed_and_time_left(done, total, seconds),
        )
        if done >= total:
            self._bar.stop()
        else:
            self._bar.start()


@dataclass(slots=True)
class ProgressLines:
    """A line every few seconds, so that short work has none."""

    what: str
    start: float = field(default_factory=time.monotonic)
    shown: float = field(default_factory=time.monotonic)

    def show(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self.shown < LINE_SECONDS or done >= total:
            return
        self.shown = now
        details = speed_and_time_left(done, total, now - self.start)
        write(
            f"{self.what}: {done:,} of {total:,}" + (f" ({details})" if details else ""), err=True
        )


def show_progress(message: str) -> None:
    """Show progress on a terminal while the total is unknown."""
    if sys.stderr.isatty() and form_of(click.get_current_context()) is not Form.JSON:
        write(message, err=True)
