"""Activity is gathered in memory, and written once in a while without losing or doubling any."""

import signal
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from multiprocessing.connection import Connection
from threading import Barrier, Event

import pytest
from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from app import models
from app.adapters.activity import INTERVAL, MAX_SEEN, SqlActivity
from app.domain.apps.apps import HOUR, MINUTE
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import TrafficKind
from app.domain.values.ids import to_global_id
from app.domain.values.installation import Unreachable
from app.ports import NamedRow, Ports, ReadSession, Subject
from app.services.sign_in.sessions import end_session
from tests.adapters.processes import (
    NEVER,
    PATIENCE,
    PROCESSES,
    count_a_request,
    count_app_requests,
    run_to_its_end,
    started,
)
from tests.builders.apps import make_app
from tests.builders.people import actor_of, make_user, sessions_of, sign_in
from tests.fakes.clock import FakeClock
from tests.fixtures.ports import fake_ports

pytestmark = pytest.mark.xdist_group("processes")


@pytest.fixture
def activity(ports: Ports, clock: FakeClock) -> Iterator[SqlActivity]:
    made = SqlActivity(ports.database, clock, NEVER)
    yield made
    made.close()


def counts(ports: Ports) -> dict[tuple[str, str], int]:
    with ports.database.reading() as session:
        rows = session.scalars(select(models.Traffic)).all()
        return {(f"{row.began_at:%H:%M}", row.kind): row.requests for row in rows}


def test_session_was_last_used_when_it_was_last_seen(
    ports: Ports, activity: SqlActivity, clock: FakeClock
) -> None:
    user_id = make_user(ports)
    sign_in(ports, user_id)
    sign_in(ports, user_id)
    used, idle = sessions_of(ports, user_id)
    began = clock.now()
    clock.pass_(minutes=7)
    activity.record_session_use(used.id)
    activity.flush()
    assert [row.last_used_at for row in sessions_of(ports, user_id)] == [clock.now(), began]
    assert idle.last_used_at == began


def test_activity_is_written_at_intervals(ports: Ports, activity: SqlActivity) -> None:
    activity.count_request(TrafficKind.STAFF)
    assert counts(ports) == {}
    activity.close()
    assert counts(ports) == {("12:00", "staff"): 1}


def test_app_token_has_its_last_ip_address(
    ports: Ports, activity: SqlActivity, clock: FakeClock
) -> None:
    make_app(ports)
    make_app(ports, "another")
    with ports.database.reading() as session:
        used, idle = session.scalars(select(models.AppToken).order_by(models.AppToken.id))
    activity.record_app_token_use(used.id, "192.0.2.1")
    activity.record_app_token_use(used.id, "2001:db8::1")
    activity.flush()
    with ports.database.reading() as session:
        after = session.get_one(models.AppToken, used.id)
        assert (after.last_used_at, after.last_used_address) == (clock.now(), "2001:db8::1")
        assert session.get_one(models.AppToken, idle.id).last_used_at is None


def test_unparsable_address_is_none(ports: Ports, activity: SqlActivity) -> None:
    make_app(ports)
    activity.record_app_token_use(1, None)
    activity.flush()
    with ports.database.reading() as session:
        assert session.scalars(select(models.AppToken.last_used_address)).one() == ""


def test_requests_are_counted_by_spans_of_ten_minutes_and_kinds(
    ports: Ports, activity: SqlActivity, clock: FakeClock
) -> None:
    clock.pass_(minutes=9, seconds=59)
    activity.count_request(TrafficKind.ANONYMOUS)
    activity.count_request(TrafficKind.ANONYMOUS)
    activity.count_request(TrafficKind.APP)
    activity.flush()
    clock.pass_(seconds=1)
    activity.count_request(TrafficKind.ANONYMOUS)
    activity.flush()
    activity.flush()
    assert counts(ports) == {
        ("12:00", "anonymous"): 2,
        ("12:00", "app"): 1,
        ("12:10", "anonymous"): 1,
    }


@pytest.mark.both_databases
def test_counts_of_several_processes_add_up(
    ports: Ports, second_process: Ports, activity: SqlActivity, clock: FakeClock
) -> None:
    other = SqlActivity(second_process.database, clock, NEVER)
    for _ in range(3):
        activity.count_request(TrafficKind.CUSTOMER)
        other.count_request(TrafficKind.CUSTOMER)
        activity.flush()
        other.flush()
    other.close()
    assert counts(ports) == {("12:00", "customer"): 6}


def test_requests_of_many_threads_are_all_counted(ports: Ports, activity: SqlActivity) -> None:
    start = Barrier(4, timeout=60)

    def work(number: int) -> None:
        start.wait()
        for place in range(500):
            activity.count_request(TrafficKind.STAFF)
            activity.record_session_use(number * 1000 + place)
            if place % 100 == 0:
                activity.flush()

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(work, number) for number in range(4)]:
            done.result(180)
    activity.flush()
    assert counts(ports) == {("12:00", "staff"): 2000}


def test_ended_session_is_not_restored_by_activity(ports: Ports, activity: SqlActivity) -> None:
    user_id = make_user(ports)
    actor = actor_of(ports, user_id)
    (here,) = sessions_of(ports, user_id)
    activity.record_session_use(here.id)
    end_session(ports, actor, to_global_id("Session", here.id))
    activity.flush()
    assert sessions_of(ports, user_id) == []


@pytest.mark.both_databases
def test_ending_a_session_never_waits_for_activity(
    ports: Ports, second_process: Ports, activity: SqlActivity, database_url: str, clock: FakeClock
) -> None:
    """On SQLite there is one writer at a time; there a write is over in milliseconds."""
    if database_url.startswith("sqlite"):
        return
    user_id = make_user(ports)
    sign_in(ports, user_id)
    sign_in(ports, user_id)
    locked, free = sessions_of(ports, user_id)
    clock.pass_(minutes=1)
    activity.record_session_use(locked.id)
    activity.record_session_use(free.id)
    with second_process.database.transaction() as session:
        session.get_one(type(locked), locked.id, with_for_update=True)
        activity.flush()
    used = {row.id: row.last_used_at for row in sessions_of(ports, user_id)}
    assert used == {locked.id: clock.now() - timedelta(minutes=1), free.id: clock.now()}


@pytest.mark.both_databases
def test_failed_write_is_retried_next_time(ports: Ports, clock: FakeClock) -> None:
    user_id = make_user(ports)
    sign_in(ports, user_id)
    (used,) = sessions_of(ports, user_id)
    clock.pass_(minutes=1)
    database = _Flaky(ports)
    activity = SqlActivity(database, clock, NEVER)
    activity.count_request(TrafficKind.INVALID)
    activity.record_forwarding("203.0.113.7")
    activity.record_session_use(used.id)
    activity.flush()
    assert counts(ports) == {}
    activity.count_request(TrafficKind.INVALID)
    database.is_down = False
    activity.flush()
    assert counts(ports) == {("12:00", "invalid"): 2}
    with ports.database.reading() as session:
        assert session.scalars(select(models.Forwarding.peer)).all() == ["203.0.113.7"]
    assert sessions_of(ports, user_id)[0].last_used_at == clock.now()
    activity.close()


def test_memory_is_bounded_while_nothing_can_be_written(ports: Ports, clock: FakeClock) -> None:
    activity = SqlActivity(_Flaky(ports), clock, NEVER)
    for number in range(MAX_SEEN + 10):
        activity.record_session_use(number)
    activity.flush()
    for number in range(10):
        activity.record_session_use(-number)
    activity.flush()
    assert activity.waiting == MAX_SEEN
    activity.close()


def test_activity_is_written_by_a_thread(ports: Ports, clock: FakeClock) -> None:
    database = _Signalling(ports)
    activity = SqlActivity(database, clock, interval=0.01)
    activity.count_request(TrafficKind.APP)
    assert database.written.wait(timeout=180)
    activity.close()
    assert counts(ports) == {("12:00", "app"): 1}


@pytest.mark.first
def test_server_process_flushes_before_it_ends(sqlite_url: str, clock: FakeClock) -> None:
    run_to_its_end(PROCESSES.Process(target=count_a_request, args=(sqlite_url,)))
    ports = fake_ports(sqlite_url, clock)
    assert list(counts(ports).values()) == [1]
    ports.database.close()


def tell(process: Connection, requests: int) -> None:
    process.send(requests)
    assert process.poll(PATIENCE)
    assert process.recv() == "done"


@pytest.mark.both_databases
@pytest.mark.first
def test_killed_process_loses_what_it_has_not_written_and_nothing_counts_twice(
    ports: Ports, database_url: str
) -> None:
    assert INTERVAL == MINUTE, "what docs promise: a minute is lost at most"
    app, _ = make_app(ports)
    pipes = [PROCESSES.Pipe() for _ in range(2)]
    first, second = (
        PROCESSES.Process(target=count_app_requests, args=(database_url, app, theirs))
        for _, theirs in pipes
    )
    (killed, _), (other, _) = pipes
    with started(first), started(second):
        tell(killed, 3)
        tell(killed, 0)
        tell(killed, 5)
        tell(other, 2)
        first.kill()
        first.join(PATIENCE)
        assert first.exitcode == -signal.SIGKILL
        other.send(None)
        second.join(PATIENCE)
        assert second.exitcode == 0
    with ports.database.reading() as session:
        for span in (MINUTE, HOUR):
            of_span = select(models.AppRequest.requests).where(models.AppRequest.span == span)
            assert sum(session.scalars(of_span)) == 3 + 2


class _Wrapped:
    """The database of ``ports``, with a transaction of its own."""

    in_transaction = False

    def __init__(self, ports: Ports) -> None:
        self._database = ports.database

    def reading(self) -> AbstractContextManager[ReadSession]:
        return self._database.reading()

    def read(
        self, statement: Select[*tuple[object, ...]], parameters: Mapping[str, object]
    ) -> Sequence[NamedRow]:
        return self._database.read(statement, parameters)

    def close(self) -> None:
        """The real one is closed by whoever opened it."""


class _Flaky(_Wrapped):
    """A database that does not answer until it is up again."""

    is_down = True

    def transaction(
        self, *subjects: Subject, signs_in: bool = False
    ) -> AbstractContextManager[Session]:
        if self.is_down:
            raise Unreachable("The database", "it is down")
        return self._database.transaction(*subjects, signs_in=signs_in)


class _Signalling(_Wrapped):
    """A database that says when something has been written."""

    def __init__(self, ports: Ports) -> None:
        super().__init__(ports)
        self.written = Event()

    @contextmanager
    def transaction(self, *subjects: Subject, signs_in: bool = False) -> Iterator[Session]:
        with self._database.transaction(*subjects, signs_in=signs_in) as session:
            yield session
        self.written.set()


def app_counts(ports: Ports, span: int) -> dict[tuple[str, str], tuple[int, int, int]]:
    query = select(models.AppRequest).where(models.AppRequest.span == span)
    with ports.database.reading() as session:
        return {
            (f"{row.began_at:%H:%M}", row.code): (row.requests, row.slow, row.slowest)
            for row in session.scalars(query)
        }


@pytest.mark.both_databases
def test_requests_of_an_app_are_counted_by_minute_hour_and_code(
    ports: Ports, activity: SqlActivity, clock: FakeClock
) -> None:
    clock.pass_(minutes=59)
    activity.count_app_request(7, "", 0.25)
    activity.count_app_request(7, "", 1.5)
    activity.count_app_request(7, "PermissionDenied", 0.5)
    clock.pass_(minutes=1)
    activity.count_app_request(7, "", 2.0)
    activity.flush()
    activity.flush()
    assert app_counts(ports, MINUTE) == {
        ("12:59", ""): (2, 1, 1500),
        ("12:59", "PermissionDenied"): (1, 0, 500),
        ("13:00", ""): (1, 1, 2000),
    }
    assert app_counts(ports, HOUR) == {
        ("12:00", ""): (2, 1, 1500),
        ("12:00", "PermissionDenied"): (1, 0, 500),
        ("13:00", ""): (1, 1, 2000),
    }


@pytest.mark.both_databases
def test_app_requests_of_two_processes_add_up_and_a_failed_write_loses_none(
    ports: Ports, second_process: Ports, activity: SqlActivity, clock: FakeClock
) -> None:
    other = SqlActivity(second_process.database, clock, NEVER)
    for each in (activity, other, activity):
        each.count_app_request(7, "", 0.1)
        each.flush()
    flaky = _Flaky(ports)
    away = SqlActivity(flaky, clock, NEVER)
    away.count_app_request(7, "", 0.1)
    flaky.is_down = True
    away.flush()
    flaky.is_down = False
    away.count_app_request(7, "", 0.1)
    away.close()
    other.close()
    assert app_counts(ports, HOUR) == {("12:00", ""): (5, 0, 100)}


@pytest.mark.both_databases
def test_uses_of_permissions_are_written_with_the_same_flush(
    ports: Ports, activity: SqlActivity, clock: FakeClock
) -> None:
    began = clock.now()
    activity.count_app_request(7, "", 0.1, [Permission.MANAGE_ORDERS])
    activity.flush()
    clock.pass_(hours=1)
    activity.count_app_request(7, "", 0.1)
    activity.record_permission_use(7, Permission.MANAGE_USERS)
    activity.flush()
    with ports.database.reading() as session:
        uses = {
            row.permission: (row.first_used_at, row.last_used_at)
            for row in session.scalars(select(models.AppPermissionUse))
        }
    assert uses == {
        "": (began, clock.now()),
        "MANAGE_ORDERS": (began, began),
        "MANAGE_USERS": (clock.now(), clock.now()),
    }
