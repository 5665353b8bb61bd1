"""Prometheus metrics of one process, or of all processes that share a folder.

Values are kept in memory and written once a second, so that a request waits for no file and
measuring it costs microseconds.

A process locks a file of its own for as long as it lives. What those that ended have counted is
added up in one file, so that restarts neither lower the sums nor fill the folder.
"""

import fcntl
import os
import stat
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, Thread
from typing import Any
from uuid import uuid4

import orjson
import structlog
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector
from typing_extensions import override

from app.ports.monitoring import METRICS, Measurement, Metric, MetricKind

MAX_SERIES = 2000
"""Label values of one metric; what goes beyond, which no label should, is "other"."""

_WRITE_SECONDS = 1.0

_PRESENTER = "presenter"
"""Locked by the process that presents the values of all."""

_FOLDER = "folder"
"""Locked while files are added or added up."""

_ENDED = "ended"
"""The sums of the processes that ended."""

_log = structlog.get_logger(__name__)

Key = tuple[str, tuple[str, ...]]
"""A metric's name and the values of its labels."""


@dataclass(slots=True)
class Values:
    """The values of a process; a histogram has a count for each bucket, and the sum at the end."""

    counters: dict[Key, float] = field(default_factory=dict)
    histograms: dict[Key, list[float]] = field(default_factory=dict)
    gauges: dict[Key, float] = field(default_factory=dict)

    def add(self, other: "Values") -> None:
        """Add the values of another process.

        Durations that it has counted by other bounds, as another release can, are left out.
        """
        for mine, theirs in ((self.counters, other.counters), (self.gauges, other.gauges)):
            for key, value in theirs.items():
                mine[key] = mine.get(key, 0.0) + value
        for key, values in other.histograms.items():
            known = self.histograms.get(key) or [0.0] * len(values)
            if len(known) == len(values):
                self.histograms[key] = [sum(pair) for pair in zip(known, values, strict=True)]


class PrometheusMetrics:
    """Metrics in ``folder``, which processes of one host share; ``None`` for this one alone.

    So is each process alone with a folder that can't be used, which is logged.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = _open_folder(folder) if folder is not None else None
        self._is_presenter = False
        self._values = Values()
        self._series: dict[str, int] = {}
        self._lock = Lock()
        self._flushing = Lock()
        self._folds: list[Callable[[], None]] = []
        self._gauges: list[Callable[[], Iterable[Measurement]]] = []
        self._thread: Thread | None = None

    def count(self, metric: Metric, *labels: str, amount: float = 1.0) -> None:
        with self._lock:
            key = self._key(self._values.counters, metric, labels)
            self._values.counters[key] = self._values.counters.get(key, 0.0) + amount

    def observe(self, metric: Metric, seconds: float, *labels: str) -> None:
        self.observe_all(metric, (seconds,), *labels)

    def observe_all(self, metric: Metric, durations: Iterable[float], *labels: str) -> None:
        buckets = metric.buckets
        with self._lock:
            key = self._key(self._values.histograms, metric, labels)
            values = self._values.histograms.get(key)
            if values is None:
                values = self._values.histograms[key] = [0.0] * (len(buckets) + 2)
            for seconds in durations:
                values[bisect_left(buckets, seconds)] += 1
                values[-1] += seconds

    def watch(self, read: Callable[[], Iterable[Measurement]]) -> None:
        self._gauges.append(read)
        self._start()

    def fold_with(self, fold: Callable[[], None]) -> None:
        self._folds.append(fold)
        self._start()

    def flush(self) -> None:
        """Take in what is pending, read gauges, and write it all for the other processes."""
        with self._flushing:
            for fold in self._folds:
                fold()
            gauges = [measurement for read in self._gauges for measurement in read()]
            with self._lock:
                for metric, value, labels in gauges:
                    self._values.gauges[metric.name, labels] = value
            if self._folder is not None:
                self._folder.write(self._copy())

    def claim(self) -> bool:
        """Whether this process presents the values of all from now on, until it ends."""
        if self._folder is not None and not self._is_presenter:
            self._is_presenter = self._folder.claim()
        return self._folder is None or self._is_presenter

    def render(self, measured: Iterable[Measurement]) -> bytes:
        if self._folder is None:
            self.flush()
            values = self._copy()
        else:
            values = self._folder.sums()
        for metric, value, labels in measured:
            values.gauges[metric.name, labels] = value
        registry = CollectorRegistry()
        registry.register(_Families(values))
        return generate_latest(registry)

    def _key(self, known: dict[Key, Any], metric: Metric, labels: tuple[str, ...]) -> Key:
        key = metric.name, labels
        if key in known or not labels:
            return key
        number = self._series.get(metric.name, 0)
        if number >= MAX_SERIES:
            return metric.name, ("other",) * len(labels)
        self._series[metric.name] = number + 1
        return key

    def _start(self) -> None:
        if self._thread is None:
            self._thread = Thread(target=self._run, name="metrics", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            time.sleep(_WRITE_SECONDS)
            try:
                self.flush()
            except Exception:  # noqa: BLE001 - the next round may succeed
                _log.exception("metrics.unwritable")

    def _copy(self) -> Values:
        copy = Values()
        with self._lock:  # others count meanwhile
            copy.add(self._values)
        return copy


class _Folder:
    """The files of all processes that share ``path``; this process writes one of them."""

    def __init__(self, path: Path) -> None:
        """Raise ``OSError`` if the folder can't be used."""
        self._path = path
        self._file = path / f"{os.getpid()}-{uuid4().hex}.json"
        self._enter()

    def write(self, values: Values) -> None:
        new = self._file.with_suffix(".new")
        try:
            self._require_private()
            new.write_bytes(_encoded(values))
        except FileNotFoundError:  # as a cleaner of temporary files leaves it
            self._enter()
            new.write_bytes(_encoded(values))
        new.rename(self._file)

    def _enter(self) -> None:
        """Create the folder, and take the lock that shows that this process is alive."""
        self._path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._require_private()
        with self._locked():
            _lock(self._file.with_suffix(".alive"), wait=True)

    def _require_private(self) -> None:
        """Raise ``PermissionError`` if other accounts could write here, or lead elsewhere."""
        found = self._path.lstat()
        if found.st_uid not in (0, os.geteuid()):
            raise PermissionError(0, "it belongs to another account")
        if self._path.stat().st_mode & stat.S_IWOTH:
            raise PermissionError(0, "every account can write to it")

    def claim(self) -> bool:
        """Take the lock of the process that presents all values, unless another has it."""
        return _lock(self._path / _PRESENTER, wait=False) is not None

    def sums(self) -> Values:
        """Add up what all processes have counted, and the gauges of those that are alive."""
        with self._locked():
            total = self._add_up_ended()
            for file in self._path.glob("*.json"):
                total.add(_decoded(file.read_bytes())[0])
        return total

    def _add_up_ended(self) -> Values:
        """Move the counts of processes that ended into ``_ENDED``, and return its sums.

        That file names those it has, so that a process that is killed here counts none twice.
        """
        ended = self._path / _ENDED
        total, known = _decoded(ended.read_bytes()) if ended.exists() else (Values(), [])
        gone = [file for file in self._path.glob("*.alive") if _has_ended(file)]
        for name in gone:
            file = name.with_suffix(".json")
            if file.name not in known and file.exists():
                values, _ = _decoded(file.read_bytes())
                total.add(Values(values.counters, values.histograms))
        if gone:
            new = ended.with_suffix(".new")
            new.write_bytes(_encoded(total, [file.with_suffix(".json").name for file in gone]))
            new.rename(ended)
        for file in gone:
            for suffix in (".json", ".new", ".alive"):
                file.with_suffix(suffix).unlink(missing_ok=True)
        return total

    @contextmanager
    def _locked(self) -> Iterator[None]:
        descriptor = _lock(self._path / _FOLDER, wait=True)
        try:
            yield
        finally:
            if descriptor is not None:
                os.close(descriptor)


def _has_ended(alive: Path) -> bool:
    """Return whether the process has ended that locked ``alive`` when it began."""
    descriptor = _lock(alive, wait=False)
    if descriptor is not None:
        os.close(descriptor)
    return descriptor is not None


def _lock(file: Path, *, wait: bool) -> int | None:
    """Return the descriptor of ``file``, locked until it is closed or this process ends.

    Without ``wait`` it is ``None`` if another has the lock.
    """
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def _open_folder(path: Path) -> _Folder | None:
    try:
        return _Folder(path)
    except OSError as error:
        reason = error.strerror or str(error)
        _log.error(
            "metrics.folder_unusable", setting="METRICS_FOLDER", folder=str(path), reason=reason
        )
        return None


def _encoded(values: Values, names: Sequence[str] = ()) -> bytes:
    kinds = (values.counters, values.histograms, values.gauges)
    return orjson.dumps(
        [*([(*key, value) for key, value in kind.items()] for kind in kinds), names]
    )


def _decoded(written: bytes) -> tuple[Values, list[str]]:
    """Return the values and names of a file; none of one that a crash of the machine emptied."""
    if not written.strip(b"\0"):
        return Values(), []
    *kinds, names = orjson.loads(written)
    counters, histograms, gauges = (
        {(name, tuple(labels)): value for name, labels, value in kind} for kind in kinds
    )
    return Values(counters, histograms, gauges), names


class _Families(Collector):
    """All metrics that have a value, as the client library writes them."""

    def __init__(self, values: Values) -> None:
        self._values = values

    @override
    def collect(self) -> Iterator[Family]:
        for metric in METRICS:
            family = _family(metric, self._values)
            if family is not None:
                yield family


def _family(metric: Metric, values: Values) -> Family | None:
    if metric.kind is MetricKind.HISTOGRAM:
        found = _series(metric, values.histograms)
        histogram = HistogramMetricFamily(metric.name, metric.help, labels=metric.labels)
        for labels, counts in found:
            histogram.add_metric(labels, _buckets(metric, counts), counts[-1])
        return histogram if found else None
    if metric.kind is MetricKind.COUNTER:
        counter = CounterMetricFamily(metric.name, metric.help, labels=metric.labels)
        numbers = _series(metric, values.counters)
        for labels, value in numbers or [((), 0.0)] * (not metric.labels):
            counter.add_metric(labels, value)
        return counter if counter.samples else None
    gauge = GaugeMetricFamily(metric.name, metric.help, labels=metric.labels)
    for labels, value in _series(metric, values.gauges):
        gauge.add_metric(labels, value)
    return gauge if gauge.samples else None


def _series(metric: Metric, values: dict[Key, Any]) -> list[tuple[tuple[str, ...], Any]]:
    return [(labels, value) for (name, labels), value in values.items() if name == metric.name]


def _buckets(metric: Metric, counts: Sequence[float]) -> list[tuple[str, float]]:
    """Return how many were at most as long as each bucket's end."""
    sums, total = [], 0.0
    for end, number in zip((*metric.buckets, "+Inf"), counts[:-1], strict=True):
        total += number
        sums.append((str(end), total))
    return sums
