"""What an app did: requests and errors over time, and permissions that it doesn't use."""

from datetime import timedelta

import pytest

from app import models
from app.adapters.activity import SqlActivity
from app.domain.apps.apps import UNUSED_AFTER
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import Refused
from app.ports import Ports
from app.services.apps.activity import ActivityPeriod, delete_old_activity, read_app_activity
from app.services.apps.app_changes import delete_app
from app.services.operations.cleanup import clean_up
from tests.builders.apps import make_app
from tests.fakes.clock import FakeClock

NEVER = 3600.0
ORDERS, USERS = Permission.MANAGE_ORDERS, Permission.MANAGE_USERS


@pytest.fixture
def activity(ports: Ports, clock: FakeClock) -> SqlActivity:
    return SqlActivity(ports.database, clock, NEVER)


def _rows(ports: Ports) -> tuple[int, int]:
    with ports.database.reading() as session:
        return session.query(models.AppRequest).count(), session.query(
            models.AppPermissionUse
        ).count()


@pytest.mark.both_databases
def test_requests_are_shown_over_time_with_their_errors(
    ports: Ports, activity: SqlActivity, clock: FakeClock
) -> None:
    app, _ = make_app(ports, "Feed", ORDERS)
    other, _ = make_app(ports, "Other", ORDERS)
    for seconds in (0.1, 1.25):
        activity.count_app_request(app, "", seconds)
    activity.count_app_request(other, "GraphQLError", 3.0)
    clock.pass_(hours=2)
    for code in ("PermissionDenied", "GraphQLError", "PermissionDenied"):
        activity.count_app_request(app, code, 0.2)
    activity.flush()
    day = read_app_activity(ports, OPERATOR, app, ActivityPeriod.DAY)
    assert len(day.spans) == 24
    assert [(one.requests, one.errors, one.slow) for one in day.spans[-3:]] == [
        (2, 0, 1),
        (0, 0, 0),
        (3, 3, 0),
    ]
    assert (day.requests, day.errors, day.slow, day.slowest) == (5, 3, 1, 1250)
    assert list(day.codes.items()) == [("PermissionDenied", 2), ("GraphQLError", 1)]
    hour = read_app_activity(ports, OPERATOR, app, ActivityPeriod.HOUR)
    assert (len(hour.spans), hour.requests) == (60, 3)
    month = read_app_activity(ports, OPERATOR, app, ActivityPeriod.MONTH)
    assert (len(month.spans), month.requests) == (30, 5)
    with pytest.raises(Refused, match="not found"):
        read_app_activity(ports, OPERATOR, 999, ActivityPeriod.DAY)


def test_permission_is_unused_if_it_was_not_needed_in_90_days(
    ports: Ports, activity: SqlActivity, clock: FakeClock
) -> None:
    app, _ = make_app(ports, "Feed", ORDERS, USERS)

    def unused() -> tuple[Permission, ...]:
        activity.flush()
        return read_app_activity(ports, OPERATOR, app, ActivityPeriod.DAY).unused

    assert unused() == (), "nothing was counted yet"
    activity.count_app_request(app, "", 0.1, [ORDERS])
    activity.flush()
    clock.pass_(seconds=UNUSED_AFTER.total_seconds() - 1)
    assert unused() == (), "counted for less than 90 days"
    clock.pass_(seconds=1)
    assert set(unused()) == {ORDERS, USERS}
    activity.record_permission_use(app, ORDERS)
    assert unused() == (USERS,)


def test_counts_are_kept_for_their_time(
    ports: Ports, activity: SqlActivity, clock: FakeClock
) -> None:
    app, _ = make_app(ports, "Feed", ORDERS)
    activity.count_app_request(app, "", 0.1, [ORDERS])
    activity.flush()
    assert _rows(ports) == (2, 2), "a minute and an hour; any request and a permission"
    clock.pass_(seconds=timedelta(days=2, minutes=1).total_seconds())
    clean_up(ports, WORKER)
    assert _rows(ports) == (1, 2)
    clock.pass_(seconds=timedelta(days=29).total_seconds())
    delete_old_activity(ports)
    assert _rows(ports) == (0, 2)
    delete_app(ports, OPERATOR, app)
    delete_old_activity(ports)
    assert _rows(ports) == (0, 0)
