"""The view model of the sign-in log, made of entries without HTTP."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from app.console.security.sign_ins import (
    SIGN_INS,
    account_url,
    make_chart,
    person_words,
    sign_ins_command,
)
from app.domain.authorization.permissions import Permission
from app.domain.sign_in.sign_in_log import (
    AccountType,
    Period,
    SignInEvent,
    SignInMethod,
    SignInReason,
    SignInSpan,
)
from tests.console.list_cells import cell_text
from tests.fixtures.cases import cases

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


@cases(
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
    assert person_words(event) == (person, detail)


@cases(
    ("event", "reason"),
    [
        (CLARA, ""),
        (FAILED, "Incorrect password"),
        (replace(FAILED, attempts=2), "Incorrect password, 2\N{MULTIPLICATION SIGN}"),
        (replace(FAILED, attempts=1284), "Incorrect password, 1,284\N{MULTIPLICATION SIGN}"),
    ],
)
def test_reason_counts_equal_attempts(event: SignInEvent, reason: str) -> None:
    shown = "Failed" if event.reason else "Successful"
    result = cell_text(SIGN_INS.columns, "Result and reason", event)
    assert result == f"{shown} {reason}".strip()


@pytest.mark.usefixtures("translated_page")
def test_first_attempt_is_shown_if_there_were_others() -> None:
    assert "first:" not in cell_text(SIGN_INS.columns, "Result and reason", CLARA)
    several = replace(FAILED, attempts=2, first_at=NOW - timedelta(minutes=3))
    assert "first:" in cell_text(SIGN_INS.columns, "Result and reason", several)


def test_missing_ip_address_is_a_dash() -> None:
    assert cell_text(SIGN_INS.columns, "IP address", CLARA) == "203.0.113.7"
    unknown = replace(CLARA, address="")
    assert cell_text(SIGN_INS.columns, "IP address", unknown) == "\N{EN DASH}"


@pytest.mark.usefixtures("translated_page")
def test_account_is_linked_for_those_who_can_open_it() -> None:
    assert account_url(CLARA, MANAGE_USERS) == "/console/customers/7"
    assert account_url(CLARA, frozenset()) == ""
    assert account_url(replace(CLARA, user_id=None), MANAGE_USERS) == ""
    assert account_url(UNKNOWN, MANAGE_USERS) == ""


@cases(
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
    assert sign_ins_command(params) == command


def test_empty_chart_has_no_columns() -> None:
    span = SignInSpan(NOW - timedelta(days=1), 0, 0, 0, 0)
    assert make_chart([span], Period.TWO_WEEKS).stacks == ()
