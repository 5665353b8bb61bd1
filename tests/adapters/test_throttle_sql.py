"""What the database alone is asked: to keep no rubbish, and to make no refusal wait."""

import pytest
from sqlalchemy import func, select, update

from app import models
from app.adapters.queue.throttle_sql import SqlThrottle
from app.domain.sign_in.login_throttle import EXPIRY_SECONDS
from app.ports import Ports
from tests.adapters.throttle_backends import ADDRESS, NOW, OTHER_ADDRESS, Visitor
from tests.builders.people import make_user

pytestmark = pytest.mark.both_databases


@pytest.fixture
def throttle(ports: Ports) -> SqlThrottle:
    return SqlThrottle(ports.database)


def test_expired_rows_are_deleted_and_counted(ports: Ports, throttle: SqlThrottle) -> None:
    user_id = make_user(ports)
    visitor = Visitor(throttle)
    visitor.fail(user_id, times=2)
    failed_last = visitor.now - 2
    throttle.release(OTHER_ADDRESS, throttle.begin(OTHER_ADDRESS, NOW).lease)
    assert throttle.delete_expired(NOW + EXPIRY_SECONDS - 1) == 0
    assert throttle.delete_expired(NOW + EXPIRY_SECONDS) == 1
    assert throttle.delete_expired(failed_last + EXPIRY_SECONDS) == 2
    assert _rows(ports) == (0, 0)


def test_removing_rows_keeps_running_attempts(throttle: SqlThrottle) -> None:
    visitor = Visitor(throttle)
    visitor.fail()
    visitor.now = NOW + EXPIRY_SECONDS
    assert visitor.begin().lease
    assert throttle.delete_expired(visitor.now) == 0
    assert not visitor.begin().lease


def test_success_leaves_no_row(ports: Ports, throttle: SqlThrottle) -> None:
    user_id = make_user(ports)
    visitor = Visitor(throttle)
    visitor.fail(user_id)
    visitor.succeed(user_id)
    assert _rows(ports) == (0, 0)


def test_refusal_does_not_wait_for_writers(ports: Ports, throttle: SqlThrottle) -> None:
    Visitor(throttle).fail()
    with ports.database.transaction() as session:
        session.execute(update(models.ThrottleAddress).values(lease="held by somebody"))
        assert not throttle.begin(ADDRESS, NOW).lease


def _rows(ports: Ports) -> tuple[int | None, int | None]:
    with ports.database.reading() as session:
        return (
            session.scalar(select(func.count()).select_from(models.ThrottleAddress)),
            session.scalar(select(func.count()).select_from(models.ThrottleUser)),
        )
