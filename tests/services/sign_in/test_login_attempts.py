"""Logins one after the other: contract, "Throttle arithmetic, per IP"."""

from dataclasses import replace

import pytest

from app.domain.sign_in.login_throttle import EXPIRY_SECONDS
from app.ports import Ports
from tests.builders.people import NOBODY, PASSWORD, make_user
from tests.fakes.clock import FakeClock
from tests.fakes.passwords import FakeHasher
from tests.services.logins import EMAIL, GHOST, OTHER, code_of, counted, fail, problems_of, succeed

ELSEWHERE = replace(NOBODY, address="198.51.100.1")
DELAYED = "LOGIN_ATTEMPT_DELAYED"

pytestmark = pytest.mark.usefixtures("people")


@pytest.fixture
def people(ports: Ports) -> None:
    make_user(ports, EMAIL)
    make_user(ports, OTHER)


def waits(ports: Ports, clock: FakeClock, seconds: float) -> None:
    """Assert that the address may try again after exactly ``seconds``, and let them go by."""
    clock.pass_(seconds=seconds - 0.001)
    assert code_of(ports) == DELAYED
    clock.pass_(seconds=0.001)


def test_every_wrong_password_doubles_the_wait(ports: Ports, clock: FakeClock) -> None:
    for seconds in (1, 2, 4, 8, 16):
        fail(ports)
        waits(ports, clock, seconds)


@pytest.mark.both_databases
def test_wrong_passwords_of_several_users_count_together(ports: Ports, clock: FakeClock) -> None:
    fail(ports, EMAIL)
    waits(ports, clock, 1)
    fail(ports, OTHER)
    waits(ports, clock, 2)


def test_user_without_a_password_counts_as_known(ports: Ports, clock: FakeClock) -> None:
    make_user(ports, "sso@example.com", password=None)
    fail(ports, "sso@example.com")
    waits(ports, clock, 1)
    fail(ports, "sso@example.com")
    waits(ports, clock, 2)


def test_unknown_emails_double_the_wait_every_tenth_failure(
    ports: Ports, clock: FakeClock
) -> None:
    for _ in range(10):
        fail(ports, GHOST)
        waits(ports, clock, 1)
    for _ in range(10):
        fail(ports, GHOST)
        waits(ports, clock, 2)
    fail(ports, GHOST)
    waits(ports, clock, 4)


def test_success_resets_failures_of_the_ip_address_and_user(
    ports: Ports, clock: FakeClock
) -> None:
    for seconds in (1, 2, 4):
        fail(ports)
        clock.pass_(seconds=seconds)

    succeed(ports)

    assert counted(ports) == (0, 0)
    fail(ports)
    waits(ports, clock, 1)


def test_other_users_success_does_not_reset_this_users_failures(
    ports: Ports, clock: FakeClock
) -> None:
    for seconds in (1, 2, 4):
        fail(ports, EMAIL)
        clock.pass_(seconds=seconds)

    succeed(ports, OTHER)

    fail(ports, EMAIL)
    waits(ports, clock, 8)


def test_blocked_ip_address_is_refused_even_the_correct_password(
    ports: Ports, hasher: FakeHasher
) -> None:
    fail(ports)
    comparisons = hasher.verifications

    assert code_of(ports, EMAIL, PASSWORD) == DELAYED
    assert hasher.verifications == comparisons
    assert code_of(ports, EMAIL, PASSWORD, ELSEWHERE) is None


def test_attempt_during_a_block_does_not_extend_it(ports: Ports, clock: FakeClock) -> None:
    fail(ports)
    for _ in range(20):
        assert code_of(ports) == DELAYED
    clock.pass_(seconds=1)

    succeed(ports)


def test_delayed_attempt_names_the_wait(ports: Ports, clock: FakeClock) -> None:
    for seconds in (1, 2):
        fail(ports)
        clock.pass_(seconds=seconds)
    fail(ports)
    clock.pass_(seconds=0.5)

    [problem] = problems_of(ports)

    assert (problem.field, problem.code) == (None, DELAYED)
    assert "2026-03-01 12:00:07 UTC" in problem.message
    assert "4 s" in problem.message


def test_attempt_after_the_wait_is_allowed(ports: Ports, clock: FakeClock) -> None:
    clock.pass_(seconds=0.7)
    fail(ports)
    [problem] = problems_of(ports)
    assert "2026-03-01 12:00:02 UTC" in problem.message
    clock.pass_(seconds=1.3)

    succeed(ports)


def test_wait_is_at_most_an_hour_and_counters_expire_after_two(
    ports: Ports, clock: FakeClock
) -> None:
    for _ in range(14):
        fail(ports)
        clock.pass_(seconds=3600)
    fail(ports)
    waits(ports, clock, 3600)
    clock.pass_(seconds=EXPIRY_SECONDS)

    fail(ports)
    waits(ports, clock, 1)


def test_correct_password_of_an_inactive_account_is_not_counted(
    ports: Ports, clock: FakeClock
) -> None:
    make_user(ports, "inactive@example.com", is_active=False)
    fail(ports)
    clock.pass_(seconds=1)

    assert code_of(ports, "inactive@example.com", PASSWORD) == "INACTIVE"
    assert counted(ports) == (1, 1)
    assert code_of(ports, "inactive@example.com", PASSWORD) == "INACTIVE"
