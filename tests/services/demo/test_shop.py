"""A shop is filled: once, whole, whatever interrupts it."""

import pytest
from sqlalchemy import select

from app import models
from app.domain.authorization.actor import OPERATOR, WORKER, anonymous
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.domain.values.errors import PermissionDenied
from app.ports import Ports
from app.services.deliveries.fanout import fan_out_events
from app.services.demo.shop import is_in_use
from app.services.people.directory import find_user
from app.services.people.groups import NewGroup, create_group
from app.services.people.users import NewUser, create_user
from tests.builders.apps import make_app
from tests.builders.demo import fill_demo
from tests.builders.people import change_user, make_user
from tests.builders.webhooks import make_webhook

pytestmark = pytest.mark.first


def test_existing_people_are_unchanged_and_webhooks_get_no_demo_events(file_ports: Ports) -> None:
    create_user(file_ports, OPERATOR, NewUser("real@example.com"))
    while fan_out_events(file_ports, WORKER):
        pass
    create_group(file_ports, OPERATOR, NewGroup("Shop managers"))
    create_user(file_ports, OPERATOR, NewUser("admin@example.com", "Someone", "Else"))
    create_user(file_ports, OPERATOR, NewUser("customer@example.com"))
    make_app(file_ports, "Demo warehouse")
    app, _ = make_app(file_ports, "Mailer", *Permission)
    hook = make_webhook(file_ports, app, EventType.ANY_EVENTS)
    made = fill_demo(file_ports)
    create_group(file_ports, OPERATOR, NewGroup("Editors"))
    while fan_out_events(file_ports, WORKER):
        pass
    assert [sign_in.role for sign_in in made] == ["manager", "support", "app"]
    admin = find_user(file_ports, OPERATOR, "admin@example.com")
    assert (admin.first_name, admin.is_superuser) == ("Someone", False)
    assert find_user(file_ports, OPERATOR, "manager@example.com").permissions == frozenset()
    of_others = select(models.Checkout.id).join(
        models.User, models.User.id == models.Checkout.user_id
    )
    with file_ports.database.reading() as session:
        found = of_others.where(models.User.email == "customer@example.com")
        assert session.scalars(found).all() == []
        payloads = session.scalars(select(models.Delivery.payload)).all()
        received = select(models.Delivery.event).where(models.Delivery.webhook_id == hook)
        assert sorted(session.scalars(received)) == [
            *("CUSTOMER_CREATED", "CUSTOMER_CREATED"),
            *("PERMISSION_GROUP_CREATED", "PERMISSION_GROUP_CREATED"),
        ]
    assert payloads
    assert not any("real@example.com" in payload for payload in payloads)


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
