"""Lifting an account's own block."""

import pytest
from sqlalchemy import select

from app import models
from app.domain.authorization.permissions import Permission
from app.domain.sign_in.login_throttle import MAX_GUESSES
from app.domain.values.errors import PermissionDenied, Refused
from app.ports import Ports
from app.services.people.user_status import unblock_account
from tests.builders.people import NOBODY, actor_of, make_staff, make_user


def block(ports: Ports, user_id: int) -> None:
    for _ in range(MAX_GUESSES):
        ports.throttle.guess(user_id, ports.clock.timestamp())


def is_blocked(ports: Ports, user_id: int) -> bool:
    return ports.throttle.blocks_of(user_id, (), ports.clock.timestamp()).account_until is not None


def test_support_unblocks_a_customer(ports: Ports) -> None:
    customer = make_user(ports)
    block(ports, customer)
    support = actor_of(ports, make_staff(ports, "s@example.com", Permission.MANAGE_USERS))
    assert unblock_account(ports, support, customer).id == customer
    assert not is_blocked(ports, customer)
    with ports.database.reading() as session:
        [entry] = session.scalars(
            select(models.AuditEntry).where(models.AuditEntry.action == "user.unblock")
        )
    assert (entry.subject_id, entry.actor_user_id) == (str(customer), support.user_id)
    assert entry.before == {"blocked_until": "2026-03-01T13:00:00+00:00"}


def test_account_that_is_not_blocked_is_refused(ports: Ports) -> None:
    customer = make_user(ports)
    support = actor_of(ports, make_staff(ports, "s@example.com", Permission.MANAGE_USERS))
    for user_id in (customer, 999):
        with pytest.raises(Refused) as refused:
            unblock_account(ports, support, user_id)
        assert [(one.field, one.code) for one in refused.value.problems] == [("id", "NOT_FOUND")]


def test_staff_are_unblocked_by_who_manages_staff(ports: Ports) -> None:
    staff = make_staff(ports, "staff@example.com", Permission.MANAGE_APPS)
    block(ports, staff)
    support = actor_of(ports, make_staff(ports, "s@example.com", Permission.MANAGE_USERS))
    for caller in (NOBODY, support):
        with pytest.raises(PermissionDenied):
            unblock_account(ports, caller, staff)
    clerk = actor_of(ports, make_staff(ports, "c@example.com", Permission.MANAGE_STAFF))
    with pytest.raises(Refused):
        unblock_account(ports, clerk, staff)
    assert is_blocked(ports, staff)
