"""Prometheus metrics: names, kinds, and a bound on labels."""

import re
import threading
import time
from pathlib import Path

import pytest
from structlog.testing import capture_logs

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
from tests.adapters.processes import (
    PATIENCE,
    PROCESSES,
    count_sign_ins,
    present,
    run_to_its_end,
    started,
)

pytestmark = pytest.mark.xdist_group("processes")


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


@pytest.mark.both_databases
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
    processes = [PrometheusMetrics(tmp_path) for _ in range(2)]
    for metrics in processes:
        metrics.count(SIGN_INS, "PASSWORD", "SUCCESS", amount=2)
        metrics.observe(OPERATION_SECONDS, 0.2, "me")
        metrics.watch(lambda: [(CONNECTIONS, 3.0, ("reading",))])
        metrics.flush()
    text = PrometheusMetrics(tmp_path).render([]).decode()
    assert 'latchkey_sign_ins_total{method="PASSWORD",result="SUCCESS"} 4.0' in text
    assert 'latchkey_graphql_operation_duration_seconds_count{field="me"} 2.0' in text
    assert 'latchkey_graphql_operation_duration_seconds_sum{field="me"} 0.4' in text
    assert 'latchkey_database_connections{pool="reading"} 6.0' in text


@pytest.mark.first
def test_counts_of_ended_processes_are_added_up_and_their_gauges_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.adapters.metrics._WRITE_SECONDS", 3600.0)
    living = PrometheusMetrics(tmp_path)
    living.count(SIGN_INS, "PASSWORD", "SUCCESS")
    living.watch(lambda: [(CONNECTIONS, 3.0, ("reading",))])
    living.flush()
    run_short_processes(tmp_path, 3)
    for _ in range(2):  # again, when all is in one file
        text = living.render([]).decode()
        assert 'latchkey_sign_ins_total{method="PASSWORD",result="SUCCESS"} 7.0' in text
        assert 'latchkey_database_connections{pool="reading"} 3.0' in text
        assert len(list(tmp_path.glob("*.json"))) == len(list(tmp_path.glob("*.alive"))) == 1


def run_short_processes(folder: Path, count: int) -> None:
    """Run processes that count a sign-in twice, one after the other."""
    for _ in range(count):
        run_to_its_end(PROCESSES.Process(target=count_sign_ins, args=(folder,)))


@pytest.mark.first
def test_ended_process_is_counted_once_by_a_presenter_that_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.adapters.metrics._WRITE_SECONDS", 3600.0)
    run_short_processes(tmp_path, 1)
    [left] = tmp_path.glob("*.json")
    files = {file: file.read_bytes() for file in (left, left.with_suffix(".alive"))}
    metrics = PrometheusMetrics(tmp_path)
    first = metrics.render([])
    assert b'{method="PASSWORD",result="SUCCESS"} 2.0' in first
    for file, content in files.items():  # as if it had been killed before it deleted them
        file.write_bytes(content)
    assert metrics.render([]) == first


@pytest.mark.first
def test_one_process_presents_the_metrics_and_the_next_takes_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.adapters.metrics._WRITE_SECONDS", 3600.0)
    answers, theirs = PROCESSES.Pipe()
    with started(PROCESSES.Process(target=present, args=(tmp_path, theirs))):
        assert answers.poll(PATIENCE)
        assert answers.recv() == (True, True)
        second = PrometheusMetrics(tmp_path)
        assert not second.claim()
    assert second.claim()


def test_folder_that_cannot_be_used_leaves_each_process_with_its_own_metrics(
    tmp_path: Path,
) -> None:
    file = tmp_path / "file"
    file.touch()
    with capture_logs() as logs:
        metrics = PrometheusMetrics(file)
    assert [(entry["event"], entry["setting"]) for entry in logs] == [
        ("metrics.folder_unusable", "METRICS_FOLDER")
    ]
    metrics.count(SIGN_INS, "PASSWORD", "SUCCESS")
    assert metrics.claim()
    assert b'{method="PASSWORD",result="SUCCESS"} 1.0' in metrics.render([])


def test_folder_that_every_account_can_write_to_is_not_used(tmp_path: Path) -> None:
    shared, private = tmp_path / "shared", tmp_path / "private"
    for folder, mode in ((shared, 0o1777), (private, 0o755)):
        folder.mkdir()
        folder.chmod(mode)
        with capture_logs() as logs:
            PrometheusMetrics(folder).flush()
        is_refused = [entry["event"] for entry in logs] == ["metrics.folder_unusable"]
        assert (is_refused, not list(folder.iterdir())) == (folder is shared,) * 2
    metrics = PrometheusMetrics(private)
    private.chmod(0o777)
    with pytest.raises(PermissionError):
        metrics.flush()


def test_file_that_a_crash_of_the_machine_emptied_counts_nothing(tmp_path: Path) -> None:
    metrics = PrometheusMetrics(tmp_path)
    metrics.count(SIGN_INS, "PASSWORD", "SUCCESS")
    metrics.flush()
    (tmp_path / "1-lost.json").write_bytes(b"")
    (tmp_path / "ended").write_bytes(bytes(16))
    assert b'{method="PASSWORD",result="SUCCESS"} 1.0' in metrics.render([])


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
