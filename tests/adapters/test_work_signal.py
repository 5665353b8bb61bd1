"""Signals for workers: of a host's sockets, of PostgreSQL and of Redis."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from resource import RUSAGE_THREAD, getrusage

import pytest
from redis import Redis
from sqlalchemy import make_url

from app.adapters.database.sql_database import connect_database
from app.adapters.queue.work_signal import RedisSignal, SocketSignal, connect_work_signal
from app.ports.queue import WorkSignal

PATIENCE = 60.0


def listen(worker: WorkSignal) -> None:
    """Let ``worker`` begin; how long it takes is nothing, but for Redis to answer."""
    assert worker.wait(5.0)


@pytest.fixture(params=["host", "postgresql", "redis"])
def processes(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[WorkSignal]]:
    """Three processes of one installation."""
    redis_url = request.getfixturevalue("redis_url") if request.param == "redis" else ""
    with ExitStack() as stack:
        made = []
        for _ in range(3):
            engine = None
            if request.param == "postgresql":
                database = connect_database(request.getfixturevalue("postgresql_url"))
                stack.callback(database.close)
                engine = database.reading_engine
            signal = connect_work_signal(redis_url, engine, tmp_path / "signal")
            stack.callback(signal.close)
            made.append(signal)
        yield made


def test_signal_reaches_every_worker_that_listens(processes: list[WorkSignal]) -> None:
    sender, *workers = processes
    for worker in workers:
        listen(worker)
        assert not worker.wait(0.01), "nothing was sent"
    sender.send()
    for worker in workers:
        assert worker.wait(PATIENCE)
    for worker in workers:
        assert not worker.wait(0.01), "the signal was received before"


@pytest.mark.first
def test_worker_wakes_itself(processes: list[WorkSignal]) -> None:
    worker = processes[0]
    listen(worker)
    worker.send()
    assert worker.wait(PATIENCE)


def test_worker_sleeps_while_nothing_is_sent(processes: list[WorkSignal]) -> None:
    """It hands its processor back once, not several times a second."""
    worker = processes[0]
    listen(worker)
    before = getrusage(RUSAGE_THREAD).ru_nvcsw
    assert not worker.wait(0.5)
    assert getrusage(RUSAGE_THREAD).ru_nvcsw - before <= 3


def test_worker_that_begins_to_listen_looks_for_what_no_signal_told_it(
    processes: list[WorkSignal],
) -> None:
    sender, worker, _ = processes
    sender.send()
    listen(worker)
    assert not worker.wait(0.01)


@pytest.mark.first
def test_many_signals_are_received_however_long_the_worker_was_busy(
    processes: list[WorkSignal],
) -> None:
    sender, worker, _ = processes
    listen(worker)
    for _ in range(2000):
        sender.send()
    assert worker.wait(PATIENCE)


def test_worker_that_was_killed_leaves_nothing_behind(tmp_path: Path) -> None:
    killed, sender = SocketSignal(tmp_path / "signal"), SocketSignal(tmp_path / "signal")
    listen(killed)
    assert killed._receiver is not None  # noqa: SLF001 - closed as the system does it
    killed._receiver.close()  # noqa: SLF001
    assert list(tmp_path.iterdir())
    sender.send()
    assert not list(tmp_path.iterdir())


def test_folder_where_no_socket_can_be_made_lets_the_worker_look_often(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    signal = SocketSignal(tmp_path / "file" / "signal")
    signal.send()
    assert not signal.wait(PATIENCE)


def test_folder_and_database_can_have_any_name(tmp_path: Path) -> None:
    sender, worker = (SocketSignal(tmp_path / "shop[1]*.db-signal") for _ in range(2))
    listen(worker)
    sender.send()
    assert worker.wait(PATIENCE)
    worker.close()


def test_listener_keeps_to_the_deadline_in_the_databases_url(postgresql_url: str) -> None:
    url = make_url(postgresql_url).update_query_dict({"connect_timeout": "30"})
    database = connect_database(url.render_as_string(hide_password=False))
    worker = connect_work_signal("", database.reading_engine, Path("no"))
    listen(worker)
    worker.send()
    assert worker.wait(PATIENCE)
    worker.close()
    database.close()


def test_worker_looks_for_work_once_a_lost_connection_is_back(postgresql_url: str) -> None:
    database = connect_database(postgresql_url)
    worker = connect_work_signal("", database.reading_engine, Path("no"))
    listen(worker)
    listening = "datname = current_database() AND query LIKE 'LISTEN%%'"
    cut = "SELECT pg_terminate_backend(pid, 30000) FROM pg_stat_activity WHERE"
    with database.reading_engine.connect() as connection:
        assert connection.exec_driver_sql(f"{cut} {listening}").scalars().all() == [True]
    worker.send()
    assert not worker.wait(PATIENCE), "first the server's farewell, then the end"
    assert any(worker.wait(0.5) for _ in range(3))
    assert not worker.wait(0.01)
    worker.close()
    database.close()


def test_worker_looks_for_work_once_redis_has_cut_it_off(redis_url: str) -> None:
    """What was sent meanwhile is lost; the control is what is sent after it."""
    worker, sender = RedisSignal(redis_url), RedisSignal(redis_url)
    listen(worker)
    with Redis.from_url(redis_url) as redis:
        assert redis.client_kill_filter(_type="pubsub") == 1
    sender.send()
    assert any(worker.wait(5.0) for _ in range(3))
    sender.send()
    assert worker.wait(PATIENCE)
    assert not worker.wait(0.01)
    worker.close()
    sender.close()


def test_signal_is_sent_although_redis_has_cut_off_its_sender(redis_url: str) -> None:
    worker, sender = RedisSignal(redis_url), RedisSignal(redis_url)
    listen(worker)
    sender.send()
    assert worker.wait(PATIENCE)
    with Redis.from_url(redis_url) as redis:
        assert redis.client_kill_filter(_type="normal", skipme=True) >= 1
    sender.send()
    assert worker.wait(PATIENCE)
    worker.close()
    sender.close()


def test_store_that_is_away_neither_fails_a_change_nor_ends_a_worker() -> None:
    for signal in (
        RedisSignal("redis://127.0.0.1:1"),
        connect_work_signal(
            "", connect_database("postgresql://no@127.0.0.1:1/no").reading_engine, Path("no")
        ),
    ):
        signal.send()
        assert not signal.wait(PATIENCE)
        signal.close()
