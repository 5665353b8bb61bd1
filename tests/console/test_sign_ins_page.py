"""The view model of the sign-in log, made of entries without HTTP."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from app.console.security.sign_ins import SignInRow, SignInsPage, make_sign_ins_page
from app.domain.authorization.permissions import Permission
from app.domain.sign_in.sign_in_log import (
    AccountType,
    Period,
    SignInEvent,
    SignInMethod,
    SignInReason,
    SignInSpan,
)
from app.domain.values.pages import Counts

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
CLARA = SignInEvent(
    id=1,
    at=NOW,
    first_at=NOW,
    attempts=1,
    method=SignInMethod.PASSWORD,
    reason=None,
    account_type=AccountType.CUSTOMER,
    user_id=7,
    app_id=None,
    name="clara@example.com",
    first_name="Clara",
    last_name="Lind",
    provider="",
    address="203.0.113.7",
    device="Firefox on Windows",
    in_console=False,
)
FAILED = replace(CLARA, reason=SignInReason.INCORRECT_PASSWORD)
UNKNOWN = replace(
    FAILED,
    reason=SignInReason.UNKNOWN_EMAIL,
    account_type=AccountType.UNKNOWN,
    user_id=None,
    name="a…@e…",
    first_name="",
    last_name="",
)
MANAGE_USERS = frozenset({Permission.MANAGE_USERS})
NO_FILTERS: Mapping[str, str] = {}


def page_of(
    *events: SignInEvent,
    params: Mapping[str, str] = NO_FILTERS,
    permissions: frozenset[Permission] = MANAGE_USERS,
) -> SignInsPage:
    span = SignInSpan(NOW - timedelta(days=1), 0, 0, 0, 0)
    counts = Counts(len(events), len(events))
    return make_sign_ins_page(events, counts, [span], Period.TWO_WEEKS, params, permissions)


def row_of(event: SignInEvent) -> SignInRow:
    (row,) = page_of(event).rows
    return row


@pytest.mark.parametrize(
    ("event", "person", "detail"),
    [
        (CLARA, "Clara Lind", "clara@example.com"),
        (replace(CLARA, last_name=""), "Clara", "clara@example.com"),
        (replace(CLARA, first_name="", last_name=""), "clara@example.com", ""),
        (
            replace(CLARA, account_type=AccountType.STAFF),
            "Clara Lind",
            "clara@example.com · staff",
        ),
        (
            replace(CLARA, account_type=AccountType.STAFF, first_name="", last_name=""),
            "clara@example.com",
            "staff",
        ),
        (UNKNOWN, "Unknown email", "a…@e…"),
        (replace(UNKNOWN, method=SignInMethod.APP_TOKEN), "Unknown token", "a…@e…"),
        (replace(UNKNOWN, name=""), "Unknown", ""),
    ],
)
def test_person_is_named_as_far_as_known(event: SignInEvent, person: str, detail: str) -> None:
    row = row_of(event)
    assert (row.person, row.detail) == (person, detail)


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        (CLARA, ""),
        (FAILED, "Incorrect password"),
        (replace(FAILED, attempts=2), "Incorrect password, 2 times"),
        (replace(FAILED, attempts=1284), "Incorrect password, 1,284 times"),
    ],
)
def test_reason_counts_equal_attempts(event: SignInEvent, reason: str) -> None:
    assert row_of(event).reason == reason


def test_first_attempt_is_shown_if_there_were_others() -> None:
    assert row_of(CLARA).first_at is None
    first = NOW - timedelta(minutes=3)
    assert row_of(replace(FAILED, attempts=2, first_at=first)).first_at == first


def test_missing_ip_address_is_a_dash() -> None:
    assert row_of(CLARA).ip_address == "203.0.113.7"
    assert row_of(replace(CLARA, address="")).ip_address == "\N{EN DASH}"


def test_account_is_linked_for_those_who_can_open_it() -> None:
    (row,) = page_of(CLARA).rows
    assert (row.endpoint, row.key) == ("console.customers.show", 7)
    (row,) = page_of(CLARA, permissions=frozenset()).rows
    assert row.endpoint == ""
    assert row_of(replace(CLARA, user_id=None)).endpoint == ""
    assert row_of(UNKNOWN).endpoint == ""


@pytest.mark.parametrize(
    ("events", "summary"), [(0, "No entries"), (1, "1 entry"), (2, "2 entries")]
)
def test_entries_are_counted(events: int, summary: str) -> None:
    assert page_of(*[CLARA] * events).summary == summary


@pytest.mark.parametrize(
    ("params", "command"),
    [
        ({}, "flask sign-ins list --since 14d"),
        ({"since": "24h"}, "flask sign-ins list --since 24h"),
        (
            {"reason": "INCORRECT_PASSWORD", "q": "it's"},
            "flask sign-ins list --since 14d --reason incorrect-password --search 'it'\"'\"'s'",
        ),
    ],
)
def test_command_lists_the_same(params: Mapping[str, str], command: str) -> None:
    assert page_of(params=params).command == command


def test_empty_chart_has_no_columns() -> None:
    assert page_of().chart.stacks == ()
