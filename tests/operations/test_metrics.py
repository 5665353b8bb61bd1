"""Metrics of a server with two processes add up to the requests that were made."""

import os
import re
import signal
import socket
import stat
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import requests
from prometheus_client.parser import text_string_to_metric_families

from app.ports.monitoring import METRICS
from tests.servers.forked_commands import ForkedCommand, start_command
from tests.servers.free_ports import free_port
from tests.servers.otlp_collector import Received, otlp_collector
from tests.servers.sandbox import PATIENCE
from tests.spec.server import environment

ANSWERS = 40
OPERATION = {"query": "{ shop { name } }"}
Series = dict[tuple[str, frozenset[tuple[str, str]]], float]


@dataclass(slots=True)
class Observed:
    """A running installation, its operations listener, and the spans that it sends."""

    process: ForkedCommand
    url: str
    operations: str
    metrics_folder: Path
    received: Received

    def scrape(self) -> Series:
        response = requests.get(f"{self.operations}/metrics", timeout=PATIENCE)
        assert response.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        return {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(response.text)
            for sample in family.samples
        }

    def ask_counted(self, **headers: str) -> None:
        """Send ``OPERATION``, and wait until it is counted: then no other test counts it."""
        name = "latchkey_http_request_duration_seconds_count"
        before = of(self.scrape(), name, route="/graphql/")
        requests.post(f"{self.url}/graphql/", json=OPERATION, headers=headers, timeout=PATIENCE)
        deadline = time.monotonic() + PATIENCE
        while of(self.scrape(), name, route="/graphql/") == before:
            assert time.monotonic() < deadline
            time.sleep(0.05)


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory, _migrated_file: Path) -> Iterator[Observed]:
    folder = tmp_path_factory.mktemp("observed")
    copied = folder / "shop.sqlite3"
    copied.write_bytes(_migrated_file.read_bytes())
    temporary = folder / "tmp"
    temporary.mkdir()
    port, operations = free_port(), free_port()
    command = ("serve", "--workers", "2", "--port", str(port))
    url = f"http://127.0.0.1:{port}"
    with otlp_collector() as (collector, received):
        settings = environment(
            f"sqlite:///{copied}",
            OPERATIONS_PORT=str(operations),
            TMPDIR=str(temporary),
            OTEL_EXPORTER_OTLP_ENDPOINT=collector,
            OTEL_BSP_SCHEDULE_DELAY="100",
        )
        process = start_command(command, folder, settings, folder / "serve.log")
        made = Observed(process, url, f"http://127.0.0.1:{operations}", temporary, received)
        try:
            wait_for(f"{url}/readyz")
            wait_for(f"{made.operations}/readyz")
            yield made
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE)


def wait_for(url: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        with suppress(requests.ConnectionError):
            if requests.get(url, timeout=PATIENCE).ok:
                return
        assert time.monotonic() < deadline, url
        time.sleep(0.05)


def of(series: Series, name: str, **labels: str) -> float:
    return series.get((name, frozenset(labels.items())), 0.0)


def test_sums_of_two_processes_are_the_requests_made(observed: Observed) -> None:
    requests_total = "latchkey_http_requests_total"
    before = after = observed.scrape()

    def more(name: str, **labels: str) -> float:
        return of(after, name, **labels) - of(before, name, **labels)

    def ask(number: int) -> int:
        # A new connection each, so that the system gives both processes some.
        if number % 4 == 3:
            return requests.post(
                f"{observed.url}/graphql/", json={"query": "{ nothing }"}, timeout=PATIENCE
            ).status_code
        return requests.post(
            f"{observed.url}/graphql/", json=OPERATION, timeout=PATIENCE
        ).status_code

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(ANSWERS)))
    assert (answers.count(200), answers.count(400)) == (30, 10)
    for _ in range(3):
        requests.put(f"{observed.url}/not/{os.urandom(4).hex()}", timeout=PATIENCE)
        requests.get(f"{observed.url}/healthz", timeout=PATIENCE)
    requests.post(
        f"{observed.url}/graphql/",
        json=OPERATION,
        headers={"Authorization": "Bearer nonsense"},
        timeout=PATIENCE,
    )
    deadline = time.monotonic() + PATIENCE
    while True:  # processes hand their values on once a second
        after = observed.scrape()
        counted = more("latchkey_http_request_duration_seconds_count", route="/graphql/")
        missed = more(requests_total, method="PUT", route="unmatched", status="404")
        if counted >= 41 and missed >= 3:
            break
        assert time.monotonic() < deadline
        time.sleep(0.1)

    route = "/graphql/"
    assert more(requests_total, method="POST", route=route, status="200") == 31
    assert more(requests_total, method="POST", route=route, status="400") == 10
    assert more(requests_total, method="PUT", route="unmatched", status="404") == 3
    assert more("latchkey_http_request_duration_seconds_count", route=route) == 41
    assert more("latchkey_graphql_operations_total", field="shop", outcome="ok") == 31
    assert more("latchkey_graphql_operations_total", field="other", outcome="refused") == 10
    assert more("latchkey_graphql_operation_duration_seconds_count", field="shop") == 31
    assert more("latchkey_tokens_refused_total", reason="DecodeError") == 1
    assert not [labels for _, labels in after if ("route", "/healthz") in labels]


def test_both_processes_and_the_worker_are_measured(observed: Observed) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        files = list(observed.metrics_folder.glob("latchkey-metrics-*/*.json"))
        found = observed.scrape()
        if len(files) >= 3 and ("latchkey_worker_heartbeat_age_seconds", frozenset()) in found:
            break
        assert time.monotonic() < deadline, files
        time.sleep(0.1)
    assert of(found, "latchkey_ready") == 1
    assert of(found, "latchkey_worker_heartbeat_age_seconds") < 60
    assert of(found, "latchkey_outbox_events") == 0
    assert any(name == "latchkey_build_info" for name, _ in found)
    [folder] = observed.metrics_folder.glob("latchkey-metrics-*")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_killed_process_leaves_its_counts_but_not_its_gauges(observed: Observed) -> None:
    limit = ("latchkey_database_connections_max", frozenset({("pool", "reading")}))
    of_three = await_gauges(observed, 3)[limit]
    observed.ask_counted()  # what a process has not handed on yet ends with it
    counted = {key: value for key, value in observed.scrape().items() if "_total" in key[0]}
    victim = next(pid for pid in alive(observed) if is_server(pid))
    os.kill(victim, signal.SIGKILL)
    after = await_gauges(observed, 3, without=victim)
    assert after[limit] == of_three
    assert all(after[key] >= value for key, value in counted.items())


def await_gauges(observed: Observed, number: int, without: int = 0) -> Series:
    """Scrape once ``number`` living processes have handed on their values."""
    deadline = time.monotonic() + PATIENCE
    while True:
        living = alive(observed)
        if len(living) == number and without not in living:
            return observed.scrape()
        assert time.monotonic() < deadline
        time.sleep(0.05)


def alive(observed: Observed) -> list[int]:
    files = observed.metrics_folder.glob("latchkey-metrics-*/*.json")
    return [pid for pid in map(pid_of, files) if is_running(pid)]


def is_running(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):  # the latter if it ends meanwhile
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def pid_of(file: Path) -> int:
    return int(file.stem.partition("-")[0])


def is_server(pid: int) -> bool:
    return Path(f"/proc/{pid}/comm").read_text() == "latchkey-server\n"


def test_operations_port_says_reasons(observed: Observed) -> None:
    response = requests.get(f"{observed.operations}/readyz", timeout=PATIENCE)
    assert response.status_code == 200
    body = response.json()
    assert body["status"] == "ready"
    assert [check["subject"] for check in body["checks"]] == [
        "database",
        "signing keys",
        "login throttle",
    ]
    assert requests.get(f"{observed.operations}/healthz", timeout=PATIENCE).json() == {
        "status": "ok"
    }
    assert requests.get(f"{observed.operations}/graphql/", timeout=PATIENCE).status_code == 404
    assert requests.post(f"{observed.operations}/metrics", timeout=PATIENCE).status_code == 405


def test_operations_port_closes_too_many_connections(observed: Observed) -> None:
    address = ("127.0.0.1", int(observed.operations.rpartition(":")[2]))
    with ExitStack() as silent:
        for _ in range(40):
            silent.enter_context(socket.create_connection(address, PATIENCE))
        with pytest.raises(requests.ConnectionError):
            requests.get(f"{observed.operations}/healthz", timeout=PATIENCE)
    wait_for(f"{observed.operations}/healthz")


def test_served_request_is_one_trace_at_the_collector(observed: Observed) -> None:
    trace = os.urandom(16).hex()
    observed.ask_counted(traceparent=f"00-{trace}-00f067aa0ba902b7-01")
    names: set[str] = set()
    while "POST /graphql/" not in names:
        names |= {
            span.name
            for resource in observed.received.get(timeout=PATIENCE).resource_spans
            for span in resource.scope_spans[0].spans
            if span.trace_id.hex() == trace
        }
    assert names >= {"POST /graphql/", "graphql shop", "SQL"}


def test_main_port_has_no_metrics(observed: Observed) -> None:
    assert requests.get(f"{observed.url}/metrics", timeout=PATIENCE).status_code == 404


def test_every_metric_that_was_scraped_is_in_the_catalogue(observed: Observed) -> None:
    response = requests.get(f"{observed.operations}/metrics", timeout=PATIENCE)
    named = set(re.findall(r"^# TYPE (\w+)", response.text, re.MULTILINE))
    assert named <= {metric.name for metric in METRICS}


def test_operations_command_names_the_setting_of_a_used_port(
    observed: Observed, tmp_path: Path
) -> None:
    taken = observed.operations.rpartition(":")[2]
    settings = environment(f"sqlite:///{tmp_path}/none", OPERATIONS_PORT=taken)
    process = start_command(("operations",), tmp_path, settings, tmp_path / "log")
    assert process.wait(PATIENCE) == 1
    said = " ".join((tmp_path / "log").read_text().split())
    assert f"OPERATIONS_PORT: can't listen on 127.0.0.1, port {taken}" in said


@dataclass(slots=True)
class Host:
    """Commands that run on one host with one settings file."""

    folder: Path
    settings: dict[str, str]
    processes: dict[str, ForkedCommand] = field(default_factory=dict)

    def start(self, name: str, *command: str) -> None:
        log = self.folder / f"{name}.log"
        self.processes[name] = start_command(command, self.folder, self.settings, log)

    def stop(self, name: str) -> int:
        process = self.processes.pop(name)
        process.send_signal(signal.SIGTERM)
        return process.wait(PATIENCE)

    def log(self, name: str) -> str:
        return " ".join((self.folder / f"{name}.log").read_text().split())


@contextmanager
def host(folder: Path, database_url: str, **settings: str) -> Iterator[Host]:
    temporary = folder / "tmp"
    temporary.mkdir()
    made = Host(folder, environment(database_url, TMPDIR=str(temporary), **settings))
    try:
        yield made
    finally:
        for name in list(made.processes):
            assert made.stop(name) == 0


def served_by(name: str) -> tuple[str, ...]:
    return ("serve", "--workers", "1", "--no-worker", "--port", name)


def scrape(port: int) -> Series:
    text = requests.get(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE).text
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def until(happened: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        with suppress(requests.ConnectionError):
            if happened():
                return
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def test_servers_and_worker_of_a_host_share_the_port(tmp_path: Path, sqlite_url: str) -> None:
    operations = free_port()
    first, second = str(free_port()), str(free_port())
    asked = "latchkey_http_request_duration_seconds_count"

    def ask(port: str) -> None:
        requests.post(f"http://127.0.0.1:{port}/graphql/", json=OPERATION, timeout=PATIENCE)

    def counted() -> float:
        return of(scrape(operations), asked, route="/graphql/")

    with host(tmp_path, sqlite_url, OPERATIONS_PORT=str(operations)) as shop:
        for name in (first, second):
            shop.start(name, *served_by(name))
        shop.start("worker", "worker")
        for name in (first, second):
            wait_for(f"http://127.0.0.1:{name}/readyz")
            ask(name)
        until(lambda: counted() == 2, "one listener presents what both have counted")
        heartbeat = ("latchkey_worker_heartbeat_age_seconds", frozenset[tuple[str, str]]())
        until(lambda: heartbeat in scrape(operations), "the worker is measured")
        assert shop.stop(first) == 0
        until(lambda: counted() == 2, "another listens, and nothing counted is lost")
        ask(second)
        until(lambda: counted() == 3, "what is counted from then on is added")
        shop.start(first, *served_by(first))
        wait_for(f"http://127.0.0.1:{first}/readyz")
        assert shop.stop(second) == 0
        until(lambda: counted() == 3, "a restart and a stop lose nothing")
    for name in (first, second, "worker"):
        assert "OPERATIONS_PORT" not in shop.log(name)


def test_port_of_another_program_stops_neither_server_nor_worker(
    tmp_path: Path, sqlite_url: str
) -> None:
    name = str(free_port())
    with socket.create_server(("127.0.0.1", 0)) as taken:
        operations = taken.getsockname()[1]
        with host(tmp_path, sqlite_url, OPERATIONS_PORT=str(operations)) as shop:
            shop.start(name, *served_by(name))
            wait_for(f"http://127.0.0.1:{name}/readyz")
            until(lambda: "OPERATIONS_PORT: can't listen" in shop.log(name), "it is named")
            shop.stop(name)
            shop.start("worker", "worker")
            until(lambda: "worker.started" in shop.log("worker"), "the worker works")
            until(lambda: "OPERATIONS_PORT: can't listen" in shop.log("worker"), "named again")
            taken.close()
            wait_for(f"http://127.0.0.1:{operations}/readyz")
            assert "latchkey_ready" in {series for series, _ in scrape(operations)}
    assert shop.log("worker").count("OPERATIONS_PORT") == 2  # one error, which names it twice
