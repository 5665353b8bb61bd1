"""Prometheus metrics: names, kinds, and a bound on labels."""

import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from app.adapters.database.sql_database import connect_database
from app.adapters.keys.passwords import Argon2Hasher
from app.adapters.metrics import MAX_SERIES, PrometheusMetrics
from app.ports.monitoring import (
    BUILD,
    CONNECTIONS,
    HASHES_WAITING,
    METRICS,
    OPERATION_SECONDS,
    READY,
    REQUESTS,
    SIGN_INS,
    MetricKind,
)

pytestmark = pytest.mark.both_databases


def test_names_follow_prometheus_conventions() -> None:
    names = [metric.name for metric in METRICS]
    assert len(set(names)) == len(names)
    for metric in METRICS:
        assert re.fullmatch(r"latchkey_[a-z_]+", metric.name)
        assert metric.name.endswith("_total") is (metric.kind is MetricKind.COUNTER)
        assert bool(metric.buckets) is (metric.kind is MetricKind.HISTOGRAM)
        assert metric.help.endswith(".")


def test_counts_durations_and_measurements_are_rendered() -> None:
    metrics = PrometheusMetrics()
    metrics.count(SIGN_INS, "PASSWORD", "SUCCESS")
    metrics.count(SIGN_INS, "PASSWORD", "SUCCESS")
    metrics.observe(OPERATION_SECONDS, 0.2, "me")
    text = metrics.render([(READY, 1, ()), (BUILD, 1, ("1.0",))]).decode()
    assert 'latchkey_sign_ins_total{method="PASSWORD",result="SUCCESS"} 2.0' in text
    assert 'latchkey_graphql_operation_duration_seconds_bucket{field="me",le="0.1"} 0.0' in text
    assert 'latchkey_graphql_operation_duration_seconds_bucket{field="me",le="0.25"} 1.0' in text
    assert "latchkey_ready 1.0" in text
    assert 'latchkey_build_info{version="1.0"} 1.0' in text


def test_labels_are_bounded() -> None:
    metrics = PrometheusMetrics()
    for number in range(MAX_SERIES + 5):
        metrics.count(REQUESTS, "GET", f"/{number}", "200")
    text = metrics.render([]).decode()
    series = [line for line in text.splitlines() if line.startswith(f"{REQUESTS.name}{{")]
    assert len(series) == MAX_SERIES + 1
    assert f'{REQUESTS.name}{{method="other",route="other",status="other"}} 5.0' in series


def test_connections_in_use_are_measured(database_url: str) -> None:
    database = connect_database(database_url)
    with database.transaction() as session:
        session.connection()
        measured = {(metric, labels): value for metric, value, labels in database.measure()}
    assert measured[CONNECTIONS, ("writing",)] == 1
    assert measured[CONNECTIONS, ("reading",)] == 0
    assert {value for _, value, _ in database.measure()} >= {0}
    database.close()


def test_waiting_hashes_are_measured() -> None:
    began, go_on = threading.Event(), threading.Event()

    class SlowHasher:
        def hash(self, password: bytes) -> str:
            began.set()
            assert go_on.wait(180)
            return "hash"

    hasher = Argon2Hasher(SlowHasher())  # type: ignore[arg-type]
    thread = threading.Thread(target=hasher.hash, args=("password",))
    thread.start()
    assert began.wait(180)
    assert (HASHES_WAITING, 1, ("passwords",)) in list(hasher.measure())
    go_on.set()
    thread.join(180)
    assert (HASHES_WAITING, 0, ("passwords",)) in list(hasher.measure())


def test_gauges_are_read_when_rendered() -> None:
    metrics = PrometheusMetrics()
    metrics.watch(lambda: [(CONNECTIONS, 3.0, ("reading",))])
    assert 'latchkey_database_connections{pool="reading"} 3.0' in metrics.render([]).decode()


def test_processes_with_one_folder_are_added_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nothing but this test writes the files, however long a process takes to start.
    monkeypatch.setattr("app.adapters.metrics._WRITE_SECONDS", 3600.0)
    processes = [PrometheusMetrics(str(tmp_path)) for _ in range(2)]
    for metrics in processes:
        metrics.count(SIGN_INS, "PASSWORD", "SUCCESS", amount=2)
        metrics.observe(OPERATION_SECONDS, 0.2, "me")
        metrics.watch(lambda: [(CONNECTIONS, 3.0, ("reading",))])
        metrics.flush()
    text = PrometheusMetrics(str(tmp_path)).render([]).decode()
    assert 'latchkey_sign_ins_total{method="PASSWORD",result="SUCCESS"} 4.0' in text
    assert 'latchkey_graphql_operation_duration_seconds_count{field="me"} 2.0' in text
    assert 'latchkey_graphql_operation_duration_seconds_sum{field="me"} 0.4' in text
    assert 'latchkey_database_connections{pool="reading"} 6.0' in text
    files = list(tmp_path.iterdir())
    assert len(files) == 2
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait(180)
    files[0].rename(tmp_path / f"{ended.pid}-ended.json")
    text = PrometheusMetrics(str(tmp_path)).render([]).decode()
    assert 'latchkey_sign_ins_total{method="PASSWORD",result="SUCCESS"} 4.0' in text
    assert 'latchkey_database_connections{pool="reading"} 3.0' in text


def test_counts_of_many_threads_are_complete() -> None:
    metrics = PrometheusMetrics()

    def count() -> None:
        for _ in range(1000):
            metrics.count(SIGN_INS, "PASSWORD", "SUCCESS")

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(180)
    assert "} 4000.0" in metrics.render([]).decode()


def test_requests_are_taken_in_by_one_scrape_at_a_time() -> None:
    """A fold empties a queue until it is empty, which two at once can't."""
    metrics = PrometheusMetrics()
    inside: list[int] = []
    most: list[int] = []

    def fold() -> None:
        inside.append(1)
        most.append(len(inside))
        time.sleep(0.01)
        inside.pop()

    metrics.fold_with(fold)
    threads = [threading.Thread(target=metrics.render, args=([],)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(180)
    assert len(most) >= len(threads)
    assert max(most) == 1
