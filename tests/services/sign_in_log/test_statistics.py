"""Sign-in attempts in figures."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from app.domain.authorization.actor import OPERATOR, Actor, ActorKind
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.sign_in.sign_in_log import (
    Period,
    SignInFilter,
    SignInReason,
    SignInResult,
    SignInSpan,
)
from app.domain.values.errors import PermissionDenied
from app.domain.values.pages import Counts
from app.ports import Ports
from app.services.sign_in_log import events
from app.services.sign_in_log.events import chart_sign_ins, count_sign_ins
from tests.builders.people import NOBODY, actor_of, make_staff
from tests.builders.sign_in_events import make_sign_in
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases
from tests.fixtures.statements import recorded_statements, selects

WRONG = SignInReason.INCORRECT_PASSWORD
NOW = datetime(2026, 3, 1, 12, 34, 56, tzinfo=UTC)


@cases(
    ("period", "number", "first", "last"),
    [
        (Period.DAY, 24, "2026-02-28T13:00+00:00", "2026-03-01T12:00+00:00"),
        (Period.TWO_WEEKS, 14, "2026-02-16T00:00+00:00", "2026-03-01T00:00+00:00"),
        (Period.QUARTER, 13, "2025-12-07T00:00+00:00", "2026-03-01T00:00+00:00"),
    ],
)
def test_a_period_is_divided_evenly(period: Period, number: int, first: str, last: str) -> None:
    begins = period.edges(NOW)[:-1]
    ends = [one.isoformat(timespec="minutes") for one in (begins[0], begins[-1])]
    assert (len(begins), ends) == (number, [first, last])
    assert {after - before for before, after in pairwise(begins)} == {period.step}


@pytest.mark.both_databases
def test_attempts_are_added_up_by_day_and_reason(ports: Ports, clock: FakeClock) -> None:
    make_sign_in(ports, attempts=100)
    clock.pass_(hours=13 * 24)
    make_sign_in(ports)
    make_sign_in(ports)
    make_sign_in(ports, reason=WRONG, attempts=6)
    clock.pass_(hours=24)
    make_sign_in(ports, reason=WRONG, attempts=2)
    make_sign_in(ports, reason="BLOCKED_IP", attempts=3)
    make_sign_in(ports, reason="INACTIVE")
    with recorded_statements() as statements:
        *empty, yesterday, today = chart_sign_ins(ports, OPERATOR, Period.TWO_WEEKS)
    assert len(selects(statements)) == 1
    midnight = clock.now().replace(hour=0)
    assert yesterday == SignInSpan(midnight - timedelta(days=1), 2, 6, 0, 0)
    assert today == SignInSpan(midnight, 0, 2, 3, 1)
    assert {(one.successful, one.incorrect_password) for one in empty} == {(0, 0)}


def test_every_moment_belongs_to_one_day(ports: Ports, clock: FakeClock) -> None:
    midnight = clock.now().replace(hour=0)
    make_sign_in(ports, at=midnight - timedelta(microseconds=1))
    make_sign_in(ports, at=midnight)
    figures = [one.successful for one in chart_sign_ins(ports, OPERATOR, Period.TWO_WEEKS)]
    assert figures[-2:] == [1, 1]
    assert sum(figures) == 2


def test_entries_are_counted_within_their_period(ports: Ports, clock: FakeClock) -> None:
    make_sign_in(ports)
    clock.pass_(hours=1)
    since = clock.now()
    make_sign_in(ports)
    make_sign_in(ports, reason=WRONG, attempts=6)
    filter_ = SignInFilter(result=SignInResult.FAILED, since=since)
    assert count_sign_ins(ports, OPERATOR, filter_) == Counts(1, 2)
    assert count_sign_ins(ports, OPERATOR, SignInFilter()) == Counts(3, 3)
    assert count_sign_ins(ports, OPERATOR, SignInFilter(text="nul\0")) == Counts(0, 3)


def test_counting_is_bounded(ports: Ports, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "MAX_COUNTED", 2)
    for _ in range(4):
        make_sign_in(ports)
    assert count_sign_ins(ports, OPERATOR, SignInFilter()) == Counts(3, 3)


def test_manage_users_counts_only_customers(ports: Ports) -> None:
    support = actor_of(ports, make_staff(ports, "support@example.com", Permission.MANAGE_USERS))
    make_sign_in(ports)
    make_sign_in(ports, account_type="STAFF")
    assert count_sign_ins(ports, support, SignInFilter()) == Counts(1, 1)
    assert chart_sign_ins(ports, support, Period.DAY)[-1].successful == 1


def test_figures_require_manage_staff_or_manage_users(ports: Ports) -> None:
    app = Actor(ActorKind.APP, app_id=1, permissions=ALL_PERMISSIONS)
    for actor in (NOBODY, app):
        with pytest.raises(PermissionDenied):
            count_sign_ins(ports, actor, SignInFilter())
        with pytest.raises(PermissionDenied):
            chart_sign_ins(ports, actor, Period.DAY)
