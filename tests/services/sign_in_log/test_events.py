"""Reading the sign-in log."""

from datetime import timedelta

import pytest

from app.domain.authorization.actor import OPERATOR, Actor, ActorKind
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.sign_in.sign_in_log import (
    EMAIL_PURPOSE,
    MAX_TEXT_LENGTH,
    AccountType,
    SignInFilter,
    SignInMethod,
    SignInReason,
    SignInResult,
)
from app.domain.values.errors import PermissionDenied, Refused
from app.domain.values.pages import PageRequest, read_cursor
from app.ports import Ports
from app.services.sign_in_log import events
from app.services.sign_in_log.events import export_sign_ins, list_sign_ins
from tests.builders.people import NOBODY, actor_of, change_user, make_staff, make_user
from tests.builders.sign_in_events import make_sign_in
from tests.fakes.clock import FakeClock
from tests.fixtures.statements import recorded_statements, selects

PAGE = PageRequest(50)


@pytest.fixture
def log(ports: Ports, clock: FakeClock) -> Ports:
    """Six attempts, an hour apart: the first entry is called 1."""
    hanna = make_user(ports, "hanna@example.com", first_name="Hanna", last_name="Berg")
    tom = make_staff(ports, "tom@example.com")
    digest = ports.encryption.fingerprint(EMAIL_PURPOSE, "ghost@example.com")
    make_sign_in(ports, user_id=hanna, name="hanna@example.com", address="192.0.2.1")
    clock.pass_(hours=1)
    make_sign_in(ports, user_id=hanna, name="hanna@example.com", reason="INCORRECT_PASSWORD")
    clock.pass_(hours=1)
    make_sign_in(ports, user_id=tom, name="tom@example.com", account_type="STAFF", method="SSO")
    clock.pass_(hours=1)
    make_sign_in(
        ports,
        app_id=7,
        name="100 % Stock",
        account_type="APP",
        method="APP_TOKEN",
        reason="INACTIVE",
    )
    clock.pass_(hours=1)
    make_sign_in(
        ports, name="g…@e…", email_digest=digest, account_type="UNKNOWN", reason="UNKNOWN_EMAIL"
    )
    clock.pass_(hours=1)
    make_sign_in(ports, name="", account_type="UNKNOWN", reason="BLOCKED_IP")
    return ports


def found(ports: Ports, filter_: SignInFilter, actor: Actor = OPERATOR) -> list[int]:
    return [one.id for one in list_sign_ins(ports, actor, PAGE, filter_).items]


@pytest.mark.both_databases
def test_newest_attempt_is_listed_first_with_its_person(log: Ports, clock: FakeClock) -> None:
    with recorded_statements() as statements:
        *_, incorrect, success = list_sign_ins(log, OPERATOR, PAGE).items
    assert len(selects(statements)) == 1
    assert (incorrect.id, incorrect.reason, incorrect.result) == (
        2,
        SignInReason.INCORRECT_PASSWORD,
        SignInResult.FAILED,
    )
    assert (success.id, success.reason, success.result) == (1, None, SignInResult.SUCCESSFUL)
    assert (success.first_name, success.last_name, success.name) == (
        "Hanna",
        "Berg",
        "hanna@example.com",
    )
    assert success.at == clock.now() - timedelta(hours=5)


SEARCHES: tuple[tuple[SignInFilter, list[int]], ...] = (
    (SignInFilter(), [6, 5, 4, 3, 2, 1]),
    (SignInFilter(result=SignInResult.SUCCESSFUL), [3, 1]),
    (SignInFilter(result=SignInResult.FAILED), [6, 5, 4, 2]),
    (SignInFilter(reason=SignInReason.BLOCKED_IP), [6]),
    (SignInFilter(method=SignInMethod.SSO), [3]),
    (SignInFilter(account_type=AccountType.CUSTOMER), [2, 1]),
    (SignInFilter(user_id=1), [2, 1]),
    (SignInFilter(app_id=7), [4]),
    (SignInFilter(address="192.0.2.1"), [1]),
    (SignInFilter(address="nul\0"), []),
    (SignInFilter(text="HANNA"), [2, 1]),
    (SignInFilter(text="hanna berg"), [2, 1]),
    (SignInFilter(text=" 100 % "), [4]),
    (SignInFilter(text="192.0.2"), [1]),
    (SignInFilter(text="Ghost@Example.com"), [5]),
    (SignInFilter(text="ghost"), []),
    (SignInFilter(text="%"), [4]),
    (SignInFilter(text="nul\0"), []),
    (SignInFilter(text="hanna", result=SignInResult.FAILED), [2]),
)
"""Filters, and the entries that match them."""


def test_attempts_are_found(log: Ports) -> None:
    for filter_, entries in SEARCHES:
        assert found(log, filter_) == entries, filter_


def test_time_range_includes_both_ends(log: Ports, clock: FakeClock) -> None:
    since, until = clock.now() - timedelta(hours=4), clock.now() - timedelta(hours=2)
    assert found(log, SignInFilter(since=since, until=until)) == [4, 3, 2]


def test_overlong_search_text_is_refused(ports: Ports) -> None:
    with pytest.raises(Refused) as refused:
        found(ports, SignInFilter(text="x" * (MAX_TEXT_LENGTH + 1)))
    assert [(one.code, one.field) for one in refused.value.problems] == [("INVALID", "search")]


def test_search_is_bounded(log: Ports, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.domain.sign_in.sign_in_log.MAX_SEARCHED", 3)
    assert found(log, SignInFilter(text="hanna")) == []
    assert found(log, SignInFilter(text="hanna", account_type=AccountType.CUSTOMER)) == [2, 1]


def test_manage_users_sees_only_customers(log: Ports) -> None:
    support = actor_of(log, make_staff(log, "support@example.com", Permission.MANAGE_USERS))
    assert found(log, SignInFilter(), support) == [2, 1]
    assert found(log, SignInFilter(text="t"), support) == []
    assert found(log, SignInFilter(account_type=AccountType.STAFF), support) == []
    page = list_sign_ins(log, support, PageRequest(1))
    assert (page.count(), page.has_next) == (2, True)
    assert [one.id for one in export_sign_ins(log, support)] == [2, 1]
    change_user(log, 1, is_staff=True)
    assert found(log, SignInFilter(), support) == []


def test_export_holds_every_attempt_once(log: Ports, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "_EXPORTED_AT_ONCE", 2)
    assert list(export_sign_ins(log, OPERATOR)) == list(list_sign_ins(log, OPERATOR, PAGE).items)
    filter_ = SignInFilter(result=SignInResult.SUCCESSFUL)
    assert [one.id for one in export_sign_ins(log, OPERATOR, filter_)] == [3, 1]


def test_attempts_of_one_moment_keep_their_order(ports: Ports) -> None:
    for _ in range(5):
        make_sign_in(ports)
    first = list_sign_ins(ports, OPERATOR, PageRequest(3))
    rest = PageRequest(3, cursor=read_cursor(first.cursors[-1], "after"))
    second = list_sign_ins(ports, OPERATOR, rest)
    assert [one.id for one in (*first.items, *second.items)] == [5, 4, 3, 2, 1]


def test_sign_in_log_requires_manage_staff_or_manage_users(ports: Ports) -> None:
    other = actor_of(ports, make_staff(ports, "o@example.com", Permission.MANAGE_SETTINGS))
    app = Actor(ActorKind.APP, app_id=1, permissions=ALL_PERMISSIONS)
    for actor in (NOBODY, other, app):
        with pytest.raises(PermissionDenied):
            list_sign_ins(ports, actor, PAGE)
        with pytest.raises(PermissionDenied):
            export_sign_ins(ports, actor)
