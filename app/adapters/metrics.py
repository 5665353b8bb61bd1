"""Prometheus metrics of one process, or of all processes that share a folder."""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from threading import Lock, Thread

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import Collector
from typing_extensions import override

from app.ports.metrics import METRICS, Measurement, Metric, MetricKind

MAX_SERIES = 2000
"""Label values of one metric; what goes beyond, which no label should, is "other"."""

_READ_SECONDS = 2.0
_log = structlog.get_logger(__name__)


class PrometheusMetrics:
    """Metrics in ``folder``, which all processes of one start share; "" for this process alone.

    The library chooses between the two when it is imported, by PROMETHEUS_MULTIPROC_DIR.
    """

    def __init__(self, folder: str = "") -> None:
        self._folder = folder
        self._registry = CollectorRegistry()
        self._families = {
            metric.name: _family(metric, self._registry)
            for metric in METRICS
            if metric.kind is not MetricKind.GAUGE
        }
        self._series: dict[tuple[str, tuple[str, ...]], MetricWrapperBase] = {}
        self._number: dict[str, int] = {}
        self._lock = Lock()

    def count(self, metric: Metric, *labels: str) -> None:
        series = self._series.get((metric.name, labels)) or self._add(metric, labels)
        series.inc()  # type: ignore[attr-defined]

    def observe(self, metric: Metric, seconds: float, *labels: str) -> None:
        series = self._series.get((metric.name, labels)) or self._add(metric, labels)
        series.observe(seconds)  # type: ignore[attr-defined]

    def watch(self, read: Callable[[], Iterable[Measurement]]) -> None:
        Thread(target=self._watch, args=(read,), name="metrics", daemon=True).start()

    def render(self, measured: Iterable[Measurement]) -> bytes:
        registry = self._registry
        if self._folder:
            _forget_ended_processes(Path(self._folder))
            registry = CollectorRegistry()
            MultiProcessCollector(registry, self._folder)  # type: ignore[no-untyped-call]
        now = CollectorRegistry()
        now.register(_Measured(measured))
        return generate_latest(registry) + generate_latest(now)

    def _add(self, metric: Metric, labels: tuple[str, ...]) -> MetricWrapperBase:
        with self._lock:
            known = self._number.setdefault(metric.name, 0)
            if labels and known >= MAX_SERIES:
                labels = ("other",) * len(labels)
            else:
                self._number[metric.name] = known + 1
            family = self._families[metric.name]
            series = family.labels(*labels) if labels else family
            self._series[metric.name, labels] = series
            return series

    def _watch(self, read: Callable[[], Iterable[Measurement]]) -> None:
        while True:
            try:
                for metric, value, labels in read():
                    series = self._series.get((metric.name, labels)) or self._add(metric, labels)
                    series.set(value)  # type: ignore[attr-defined]
            except Exception:  # noqa: BLE001 - the next reading may succeed
                _log.exception("metrics.unreadable")
            time.sleep(_READ_SECONDS)


class _Measured(Collector):
    """Gauges that were measured for this answer."""

    def __init__(self, measured: Iterable[Measurement]) -> None:
        self._measured = tuple(measured)

    @override
    def collect(self) -> Iterator[GaugeMetricFamily]:
        for metric, value, labels in self._measured:
            family = GaugeMetricFamily(metric.name, metric.help, labels=metric.labels)
            family.add_metric(labels, value)
            yield family


def _family(metric: Metric, registry: CollectorRegistry) -> MetricWrapperBase:
    if metric.kind is MetricKind.COUNTER:
        return Counter(metric.name, metric.help, metric.labels, registry=registry)
    if metric.kind is MetricKind.HISTOGRAM:
        return Histogram(
            metric.name, metric.help, metric.labels, registry=registry, buckets=metric.buckets
        )
    return Gauge(
        metric.name,
        metric.help,
        metric.labels,
        registry=registry,
        multiprocess_mode="livesum",
    )


def _forget_ended_processes(folder: Path) -> None:
    """Drop the gauges of processes that have ended; what they counted stays."""
    for file in folder.glob("gauge_live*_*.db"):
        process = int(file.stem.rpartition("_")[2])
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            mark_process_dead(process, str(folder))  # type: ignore[no-untyped-call]
