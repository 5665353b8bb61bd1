"""A shop is filled: once, whole, whatever interrupts it."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from sqlalchemy import select

from app.domain.authorization.actor import OPERATOR, WORKER, anonymous
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import PermissionDenied
from app.models import (
    CheckoutRecord,
    DeliveryRecord,
    OutboxEventRecord,
    UserRecord,
)
from app.ports import Ports, Randomness
from app.services.deliveries.fanout import fan_out_events
from app.services.demo.shop import SignIn, fill_shop, is_in_use
from app.services.identity.identify import identify
from app.services.people.directory import find_user
from app.services.people.groups import NewGroup, create_group
from app.services.people.users import NewUser, create_user
from app.services.sign_in.password_login import create_token
from tests.builders.apps import make_app
from tests.builders.demo import DEMO_ROWS, demo_rows, fill_demo
from tests.builders.people import NOBODY, change_user, make_user, visit
from tests.fakes.clock import FakeClock

pytestmark = pytest.mark.first

ROLES = ["superuser", "manager", "support", "customer", "app"]


class InterruptedRandomness:
    """Somebody pulls the plug when more than so many things have been made up."""

    def __init__(self, real: Randomness, most: int) -> None:
        self._real = real
        self._left = most

    def token(self, length: int) -> str:
        self._left -= 1
        if self._left < 0:
            raise KeyboardInterrupt
        return self._real.token(length)

    def secret(self, size: int) -> bytes:
        return self._real.secret(size)


def stop(_made: Sequence[SignIn]) -> None:
    raise KeyboardInterrupt


def test_existing_people_are_unchanged_and_in_no_delivery(file_ports: Ports) -> None:
    create_user(file_ports, OPERATOR, NewUser("real@example.com"))
    while fan_out_events(file_ports, WORKER):
        pass
    create_group(file_ports, OPERATOR, NewGroup("Shop managers"))
    create_user(file_ports, OPERATOR, NewUser("admin@example.com", "Someone", "Else"))
    create_user(file_ports, OPERATOR, NewUser("customer@example.com"))
    make_app(file_ports, "Demo warehouse")
    made = fill_demo(file_ports)
    assert [sign_in.role for sign_in in made] == ["manager", "support", "app"]
    admin = find_user(file_ports, OPERATOR, "admin@example.com")
    assert (admin.first_name, admin.is_superuser) == ("Someone", False)
    assert find_user(file_ports, OPERATOR, "manager@example.com").permissions == frozenset()
    of_others = select(CheckoutRecord.id).join(UserRecord, UserRecord.id == CheckoutRecord.user_id)
    with file_ports.database.reading() as session:
        found = of_others.where(UserRecord.email == "customer@example.com")
        assert session.scalars(found).all() == []
        payloads = session.scalars(select(DeliveryRecord.payload)).all()
    assert payloads
    assert not any("real@example.com" in payload for payload in payloads)


def test_interrupted_demo_setup_is_completed_by_the_next_run(
    ports: Ports, clock: FakeClock
) -> None:
    """Interrupted among people and goods, at the sales, and when sign-ins are to be shown.

    Every sign-in that is shown works; those that weren't shown are never stored.
    """
    for most in (2, 8, 33, 45):
        broken = replace(ports, randomness=InterruptedRandomness(ports.randomness, most))
        with pytest.raises(KeyboardInterrupt):
            fill_demo(broken)
        assert not is_in_use(ports, OPERATOR)
        clock.pass_(minutes=3)
    with pytest.raises(KeyboardInterrupt):
        fill_shop(ports, OPERATOR, stop)
    assert not is_in_use(ports, OPERATOR)
    made = fill_demo(ports)
    assert [sign_in.role for sign_in in made] == ROLES
    assert demo_rows(ports) == DEMO_ROWS
    with ports.database.reading() as session:
        open_notes = select(OutboxEventRecord.id).where(OutboxEventRecord.closed_at.is_(None))
        assert session.scalars(open_notes).all() == []
        assert session.scalars(select(DeliveryRecord.id)).all() != []
    assert is_in_use(ports, OPERATOR)
    assert_sign_ins_work(ports, made)


def assert_sign_ins_work(ports: Ports, made: list[SignIn]) -> None:
    for sign_in in made[:-1]:
        user = create_token(ports, NOBODY, email=sign_in.name, password=sign_in.secret).user
        assert user.is_staff is (sign_in.role != "customer")
        assert user.is_superuser is (sign_in.role == "superuser")
    app = identify(ports, visit(made[-1].secret)).actor
    assert app.permissions == {Permission.MANAGE_ORDERS, Permission.MANAGE_PRODUCTS}
    secrets = [sign_in.secret for sign_in in made]
    assert len(set(secrets)) == len(secrets)
    assert all(len(secret) >= 16 for secret in secrets)
    assert not any(secret in repr(made) for secret in secrets)


def test_shop_is_in_use_with_other_people_or_apps(ports: Ports) -> None:
    assert not is_in_use(ports, OPERATOR)
    make_app(ports, "An app of ours")
    assert is_in_use(ports, OPERATOR)


def test_shop_is_in_use_when_a_demo_person_has_signed_in(ports: Ports) -> None:
    user = make_user(ports, "admin@example.com", is_superuser=True)
    assert not is_in_use(ports, OPERATOR)
    change_user(ports, user, last_login=ports.clock.now())
    assert is_in_use(ports, OPERATOR)


def test_only_the_operator_fills_a_demo_shop(ports: Ports) -> None:
    with pytest.raises(PermissionDenied):
        fill_demo(ports, anonymous())
    with pytest.raises(PermissionDenied):
        is_in_use(ports, anonymous())
