"""Prometheus metrics of one process, or of all processes that share a folder.

Values are kept in memory and written once a second, so that a request waits for no file and
measuring it costs microseconds.
"""

import os
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
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
from prometheus_client.metrics_core import (
    Metric as Family,
)
from prometheus_client.registry import Collector
from typing_extensions import override

from app.ports.monitoring import METRICS, Measurement, Metric, MetricKind

MAX_SERIES = 2000
"""Label values of one metric; what goes beyond, which no label should, is "other"."""

_WRITE_SECONDS = 1.0
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
        """Add the values of another process."""
        for mine, theirs in ((self.counters, other.counters), (self.gauges, other.gauges)):
            for key, value in theirs.items():
                mine[key] = mine.get(key, 0.0) + value
        for key, values in other.histograms.items():
            known = self.histograms.get(key) or [0.0] * len(values)
            self.histograms[key] = [sum(pair) for pair in zip(known, values, strict=True)]


class PrometheusMetrics:
    """Metrics in ``folder``, which the processes of one start share; "" for this one alone."""

    def __init__(self, folder: str = "") -> None:
        self._file = Path(folder, f"{os.getpid()}-{uuid4().hex}.json") if folder else None
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
            if self._file is not None:
                new = self._file.with_suffix(".new")
                new.write_bytes(self._encoded())
                new.rename(self._file)

    def render(self, measured: Iterable[Measurement]) -> bytes:
        if self._file is None:
            self.flush()
            values = Values()
            with self._lock:  # others count meanwhile
                values.add(self._values)
        else:
            values = _values_in(self._file.parent)
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
            except FileNotFoundError:
                return  # the folder is gone: `flask serve` has ended
            except Exception:  # noqa: BLE001 - the next round may succeed
                _log.exception("metrics.unwritable")

    def _encoded(self) -> bytes:
        with self._lock:
            kinds = (self._values.counters, self._values.histograms, self._values.gauges)
            return orjson.dumps([[(*key, value) for key, value in kind.items()] for kind in kinds])


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


def _values_in(folder: Path) -> Values:
    """Add up what all processes have counted, and the gauges of those that are alive."""
    total = Values()
    for file in folder.glob("*.json"):
        kinds = orjson.loads(file.read_bytes())
        counters, histograms, gauges = (
            {(name, tuple(labels)): value for name, labels, value in kind} for kind in kinds
        )
        alive = _is_alive(int(file.stem.partition("-")[0]))
        total.add(Values(counters, histograms, gauges if alive else {}))
    return total


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, PermissionError):
        return False  # the latter is a new process of another account
    return True
