"""Logins at once, interrupted, and killed in the middle."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier, Condition

import pytest
from sqlalchemy import delete, select, update
from typing_extensions import override

from app import models
from app.adapters.queue.throttle_sql import SqlThrottle
from app.domain.shop.settings import PasswordLoginMode
from app.ports import Database, Ports
from app.ports.throttle import Attempt, ThrottleUnavailable
from tests.builders.people import ADDRESS, NOBODY, PASSWORD, make_user
from tests.builders.shop import set_mode
from tests.fakes.clock import FakeClock
from tests.fakes.passwords import FakeHasher, InterruptedHasher
from tests.fixtures.cases import cases
from tests.services.logins import (
    EMAIL,
    GHOST,
    OTHER,
    code_of,
    counted,
    fail,
    refusal_of,
    stored_sessions,
    succeed,
)

ELSEWHERE = replace(NOBODY, address="198.51.100.1")
DELAYED = "LOGIN_ATTEMPT_DELAYED"
WAIT = 30
"""Seconds after which a test that should never wait so long gives up."""

pytestmark = pytest.mark.usefixtures("people")


@pytest.fixture
def people(ports: Ports) -> None:
    make_user(ports, EMAIL)
    make_user(ports, OTHER)


@pytest.mark.both_databases
def test_concurrent_attempts_from_one_address_run_one_at_a_time(ports: Ports) -> None:
    rivals = 4
    together, refusals = Barrier(rivals, timeout=60), Condition()
    delayed: list[str | None] = []

    def others_are_refused() -> None:
        with refusals:
            assert refusals.wait_for(lambda: len(delayed) == rivals - 1, WAIT)

    ports = replace(ports, passwords=InterruptedHasher(ports.database, others_are_refused))

    def try_to_log_in() -> str | None:
        together.wait(WAIT)
        code = code_of(ports, EMAIL, PASSWORD)
        if code is not None:
            with refusals:
                delayed.append(code)
                refusals.notify_all()
        return code

    with ThreadPoolExecutor(rivals) as threads:
        codes = [
            future.result(WAIT)
            for future in [threads.submit(try_to_log_in) for _ in range(rivals)]
        ]

    assert sorted(codes, key=str) == [DELAYED] * (rivals - 1) + [None]
    assert len(stored_sessions(ports)) == 1
    assert counted(ports) == (0, 0)


@pytest.mark.both_databases
def test_concurrent_attempts_from_several_addresses_run(ports: Ports) -> None:
    both_compare = Barrier(2, timeout=60)
    ports = replace(
        ports, passwords=InterruptedHasher(ports.database, lambda: both_compare.wait(WAIT))
    )

    with ThreadPoolExecutor(2) as threads:
        futures = [
            threads.submit(code_of, ports, EMAIL, PASSWORD, actor) for actor in (NOBODY, ELSEWHERE)
        ]
        assert [future.result(WAIT) for future in futures] == [None, None]


class Crash(BaseException):
    """Whatever may end a thread in the middle of its work."""


@cases("crash", [RuntimeError, KeyboardInterrupt, Crash])
def test_crashed_attempt_releases_the_next(ports: Ports, crash: type[BaseException]) -> None:
    def break_off() -> None:
        raise crash

    crashing = replace(ports, passwords=InterruptedHasher(ports.database, break_off))

    with pytest.raises(crash):
        code_of(crashing, EMAIL, PASSWORD)

    assert counted(ports) == (0, 0)
    succeed(ports)


def test_crash_while_storing_the_session_stores_none_and_resets_no_failures(
    ports: Ports, clock: FakeClock
) -> None:
    class NoRandomness:
        def token(self, length: int) -> str:
            raise OSError("out of entropy")

        def secret(self, size: int) -> bytes:
            raise OSError("out of entropy")

    fail(ports)
    clock.pass_(seconds=1)

    with pytest.raises(OSError, match="entropy"):
        code_of(replace(ports, randomness=NoRandomness()), EMAIL, PASSWORD)

    assert counted(ports) == (1, 1)
    assert stored_sessions(ports) == []
    succeed(ports)


def test_killed_process_blocks_its_ip_address_only_for_its_lease(
    ports: Ports, clock: FakeClock
) -> None:
    assert ports.throttle.begin(ADDRESS, clock.timestamp()).lease

    assert code_of(ports, EMAIL, PASSWORD) == DELAYED
    clock.pass_(seconds=30)
    succeed(ports)


def change_user(ports: Ports, **fields: object) -> None:
    with ports.database.transaction() as session:
        session.execute(update(models.User).where(models.User.email == EMAIL).values(**fields))


def delete_user(ports: Ports) -> None:
    with ports.database.transaction() as session:
        session.execute(delete(models.User).where(models.User.email == EMAIL))


MEANWHILE: dict[str, tuple[Callable[[Ports], None], str]] = {
    "password changed": (
        lambda ports: change_user(ports, password_hash="fake$1$another"),
        "INVALID_CREDENTIALS",
    ),
    "password taken away": (
        lambda ports: change_user(ports, password_hash=None),
        "INVALID_CREDENTIALS",
    ),
    "user deleted": (delete_user, "INVALID_CREDENTIALS"),
    "user deactivated": (lambda ports: change_user(ports, is_active=False), "INACTIVE"),
    "user unconfirmed": (
        lambda ports: change_user(ports, is_confirmed=False),
        "ACCOUNT_NOT_CONFIRMED",
    ),
    "mode disabled": (
        lambda ports: set_mode(ports, PasswordLoginMode.DISABLED),
        "DISABLED_AUTHENTICATION_METHOD",
    ),
}


@pytest.mark.parametrize("event", MEANWHILE)
def test_changes_during_password_comparison_count(
    ports: Ports, clock: FakeClock, event: str
) -> None:
    happens, code = MEANWHILE[event]
    fail(ports, GHOST)
    clock.pass_(seconds=1)
    interrupted = replace(
        ports, passwords=InterruptedHasher(ports.database, lambda: happens(ports))
    )

    assert code_of(interrupted, EMAIL, PASSWORD) == code
    assert stored_sessions(ports) == []
    assert counted(ports) == (0, 1), "no success, so nothing is reset"
    set_mode(ports, PasswordLoginMode.ENABLED)
    succeed(ports, OTHER)


def test_password_changed_while_its_hash_is_renewed_is_not_overwritten(ports: Ports) -> None:
    hasher = InterruptedHasher(
        ports.database, lambda: change_user(ports, password_hash="fake$2$another")
    )
    hasher.cost = 2

    assert code_of(replace(ports, passwords=hasher), EMAIL, PASSWORD) == "INVALID_CREDENTIALS"
    with ports.database.reading() as session:
        stored = session.scalar(
            select(models.User.password_hash).where(models.User.email == EMAIL)
        )
    assert stored == "fake$2$another"


class FailingThrottle(SqlThrottle):
    """A throttle whose store stops answering at one of its methods."""

    def __init__(self, database: Database, failing: str) -> None:
        super().__init__(database)
        self._failing = failing

    @override
    def begin(self, address: str, now: float) -> Attempt:
        self._answer("begin")
        return super().begin(address, now)

    @override
    def fail(self, address: str, lease: str, user_id: int | None, now: float) -> float:
        self._answer("fail")
        return super().fail(address, lease, user_id, now)

    @override
    def succeed(self, address: str, lease: str, user_id: int, now: float) -> None:
        self._answer("succeed")
        super().succeed(address, lease, user_id, now)

    @override
    def release(self, address: str, lease: str) -> None:
        self._answer("release")
        super().release(address, lease)

    def _answer(self, method: str) -> None:
        if method == self._failing:
            raise ThrottleUnavailable("Redis", "connection refused")


@pytest.mark.parametrize(
    ("failing", "email", "password"),
    [
        ("begin", EMAIL, PASSWORD),
        ("fail", EMAIL, "wrong"),
        ("fail", GHOST, "wrong"),
        ("succeed", EMAIL, PASSWORD),
        ("release", "inactive@example.com", PASSWORD),
    ],
)
def test_logins_fail_closed_without_the_throttle(
    ports: Ports, failing: str, email: str, password: str
) -> None:
    make_user(ports, "inactive@example.com", is_active=False)
    uncounted = replace(ports, throttle=FailingThrottle(ports.database, failing))

    assert refusal_of(uncounted, email, password) == (None, DELAYED)


def test_blocked_attempt_compares_no_password(ports: Ports, hasher: FakeHasher) -> None:
    code_of(replace(ports, throttle=FailingThrottle(ports.database, "begin")), EMAIL, PASSWORD)

    assert hasher.verifications == 0
