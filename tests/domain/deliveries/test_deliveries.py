"""When an attempt is made again, and what an answer means."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.deliveries.deliveries import (
    MAX_RETRY_AFTER,
    SCHEDULE,
    DeliveryStatus,
    NextStep,
    next_step_after,
    read_retry_after,
)
from tests.fixtures.cases import cases

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


@cases("status", [200, 201, 202, 204, 299])
def test_response_2xx_is_a_success(status: int) -> None:
    next_step = next_step_after(answered=status, attempts=1, retry_after=None, chance=0)

    assert next_step == NextStep(DeliveryStatus.SUCCESS)


@cases("status", [None, 100, 301, 302, 307, 308, 400, 401, 404, 429, 500, 503])
def test_other_statuses_are_failures_to_retry(status: int | None) -> None:
    next_step = next_step_after(answered=status, attempts=1, retry_after=None, chance=0)

    assert next_step == NextStep(DeliveryStatus.PENDING, wait=5)


def test_response_410_is_not_retried() -> None:
    next_step = next_step_after(answered=410, attempts=1, retry_after=60, chance=0)

    assert next_step == NextStep(DeliveryStatus.FAILED, gone=True)


def test_retry_schedule_is_the_documented_one() -> None:
    waits = [
        next_step_after(answered=500, attempts=number, retry_after=None, chance=0).wait
        for number in range(1, len(SCHEDULE) + 1)
    ]

    hour = 3600
    assert waits == [
        5, 300, 1800, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour, None
    ]  # fmt: skip
    assert sum(SCHEDULE) / hour == pytest.approx(75, abs=1)


def test_after_the_last_attempt_a_delivery_has_failed() -> None:
    next_step = next_step_after(answered=None, attempts=len(SCHEDULE), retry_after=10, chance=0)

    assert next_step == NextStep(DeliveryStatus.FAILED)


def test_retry_after_puts_the_next_attempt_off() -> None:
    assert next_step_after(answered=429, attempts=1, retry_after=120, chance=0).wait == 120


def test_retry_after_never_brings_an_attempt_forward() -> None:
    assert next_step_after(answered=429, attempts=3, retry_after=1, chance=0).wait == 1800


def test_retry_after_is_limited_to_a_day() -> None:
    assert (
        next_step_after(answered=503, attempts=1, retry_after=1e9, chance=0).wait
        == MAX_RETRY_AFTER
    )


@given(st.integers(1, len(SCHEDULE) - 1), st.floats(0, 1))
def test_retries_have_jitter_of_a_tenth(attempts: int, chance: float) -> None:
    wait = next_step_after(answered=500, attempts=attempts, retry_after=None, chance=chance).wait

    assert wait is not None
    assert SCHEDULE[attempts] <= wait <= SCHEDULE[attempts] * 1.1 + 1e-9


@cases(
    ("text", "seconds"),
    [
        (None, None),
        ("", None),
        ("120", 120),
        (" 7 ", 7),
        ("0", 0),
        ("99999999999999999999", MAX_RETRY_AFTER),
        ("Sun, 01 Mar 2026 12:02:00 GMT", 120),
        ("Sun, 01 Mar 2026 11:00:00 GMT", 0),
        ("-5", None),
        ("1.5", None),
        ("soon", None),
        ("Sun, 99 Mar 2026 12:02:00 GMT", None),
        ("٣", None),
        ("9" * 5000, MAX_RETRY_AFTER),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
        ("-99999999999999999999", None),
        (" ", None),
        ("1e9", None),
        ("0x10", None),
        ("1, 2", None),
        ("\u00b2", None),
        ("Mon, 01 Jan 0001 00:00:00 +2359", 0),
        ("Sun, 01 Mar 2026 12:00:00", None),
    ],
)
def test_retry_after_is_a_number_of_seconds_or_a_date(
    text: str | None, seconds: float | None
) -> None:
    assert read_retry_after(text, NOW) == seconds


@given(st.text())
def test_any_retry_after_is_read_without_an_error(text: str) -> None:
    seconds = read_retry_after(text, NOW)

    assert seconds is None or seconds >= 0
