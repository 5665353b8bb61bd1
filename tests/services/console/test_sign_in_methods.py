"""How people come in, as those who manage staff see it and each person for themselves."""

import pytest

from app import models
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import PermissionDenied
from app.domain.values.pages import PageRequest
from app.ports import Ports
from app.services.commerce.orders import list_newest_orders_of
from app.services.console.sign_in_methods import show_own_sign_in_methods, sign_in_methods_of_staff
from app.services.people.user_status import show_person
from tests.builders.orders import make_order
from tests.builders.people import actor_of, make_staff, make_user, sign_in

STAFF = Permission.MANAGE_STAFF
ISSUER = "https://id.example.com"


def know(ports: Ports, user_id: int, issuer: str, subject: str = "1") -> None:
    """Let a provider of that issuer know somebody."""
    with ports.database.transaction() as session:
        session.add(
            models.ExternalIdentity(
                user_id=user_id,
                issuer=issuer,
                subject=subject,
                is_verified=True,
                created_at=ports.clock.now(),
                tokens_valid_after=None,
            )
        )


def make_providers(ports: Ports) -> None:
    with ports.database.transaction() as session:
        session.add(
            models.IdentityProvider(slug="northlight", name="Northlight ID", issuer=ISSUER)
        )
        session.add(models.IdentityProvider(slug="bare", name="Bare ID", issuer=""))


def test_staff_are_distinguished_by_sign_in_method(ports: Ports) -> None:
    make_providers(ports)
    chief = make_staff(ports, "chief@example.com", STAFF)
    invited = make_user(ports, "invited@example.com", password=None, is_staff=True)
    know(ports, chief, ISSUER)
    know(ports, chief, "bare|something", "2")
    actor = actor_of(ports, chief)
    customer = make_user(ports)
    found = sign_in_methods_of_staff(ports, actor, [chief, invited, customer])
    assert found[chief].providers == ("Bare ID", "Northlight ID")
    assert (found[chief].has_password, found[chief].sessions) == (True, 1)
    assert found[chief].last_used_at == ports.clock.now()
    assert (found[invited].has_password, found[invited].providers) == (False, ())
    assert (found[invited].sessions, found[invited].last_used_at) == (0, None)
    assert customer not in found


def test_own_sign_in_methods_are_visible_and_those_of_staff_need_manage_staff(
    ports: Ports,
) -> None:
    actor = actor_of(ports, make_staff(ports, "clerk@example.com"))
    assert show_own_sign_in_methods(ports, actor).has_password
    with pytest.raises(PermissionDenied):
        sign_in_methods_of_staff(ports, actor, [actor.user_id or 0])


def test_person_includes_their_sessions(ports: Ports) -> None:
    actor = actor_of(ports, make_staff(ports, "chief@example.com", Permission.MANAGE_USERS))
    customer = make_user(ports)
    sign_in(ports, customer)
    found = show_person(ports, actor, customer)
    assert found.user.email == "customer@example.com"
    assert len(found.sessions) == 1


def test_users_newest_orders_require_manage_orders(ports: Ports) -> None:
    customer = make_user(ports)
    clerk = actor_of(ports, make_staff(ports, "clerk@example.com"))
    with pytest.raises(PermissionDenied):
        list_newest_orders_of(ports, clerk, customer, PageRequest(5))
    other = make_staff(ports, "orders@example.com", Permission.MANAGE_ORDERS)
    order = make_order(ports, actor_of(ports, customer))
    make_order(ports)
    found = list_newest_orders_of(ports, actor_of(ports, other), customer, PageRequest(5))
    assert [item.number for item in found.items] == [order.number]
