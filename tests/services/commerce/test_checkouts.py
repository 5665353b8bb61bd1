"""Carts are filled, changed and emptied by those whose they are."""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from functools import partial

import pytest
from sqlalchemy import delete

from app import models
from app.domain.authorization.actor import Actor, ActorKind
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.commerce.money import of_units
from app.domain.values.errors import PermissionDenied, Refused
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.commerce.checkouts import (
    LineInput,
    add_checkout_lines,
    attach_checkout,
    create_checkout,
    delete_checkout_lines,
    update_checkout_email,
    update_checkout_lines,
)
from tests.builders.audit import trail
from tests.builders.orders import EMAIL, checkout_id, contents, line_id, make_cart
from tests.builders.outbox import events
from tests.builders.people import NOBODY, actor_of, make_user
from tests.builders.products import make_product, product_id
from tests.fixtures.cases import cases
from tests.services.error_codes import codes

OTHER = Actor(ActorKind.USER, user_id=4711)
CLERK = Actor(ActorKind.APP, app_id=1, permissions=frozenset({Permission.HANDLE_CHECKOUTS}))


def test_anonymous_cart_opens_by_its_token_only(ports: Ports) -> None:
    bowl = make_product(ports, "Bowl", "12.50")
    first = create_checkout(ports, NOBODY, [LineInput(product_id(bowl), 2)], " Ann@Example.com ")
    assert contents(first) == [("Bowl", 2, Decimal("12.50"))]
    assert (first.total, first.quantity) == (of_units(2500), 2)
    assert (first.user_id, first.email) == (None, "ann@example.com")
    second = create_checkout(ports, NOBODY)
    assert (second.lines, second.total.units, second.email) == ((), 0, "")
    assert len(first.token) == len(second.token) == 32
    assert first.token != second.token
    assert [(event.type, event.subject_id) for event in events(ports)] == [
        ("CHECKOUT_CREATED", first.id),
        ("CHECKOUT_CREATED", second.id),
    ]
    assert trail(ports, "checkout.create") == []


def test_users_cart_is_private_and_has_their_email(ports: Ports) -> None:
    ann = actor_of(ports, make_user(ports, "ann@example.com"))
    assert create_checkout(ports, ann).email == "ann@example.com"
    cart = create_checkout(ports, ann, email="work@example.com")
    assert (cart.user_id, cart.email) == (ann.user_id, "work@example.com")


def test_deleted_user_cannot_create_a_cart(ports: Ports) -> None:
    ann = actor_of(ports, make_user(ports, "ann@example.com"))
    with ports.database.transaction() as session:
        session.execute(delete(models.User))
    with pytest.raises(PermissionDenied):
        create_checkout(ports, ann)


@cases("email", ["nonsense", "a@b", "a\n@example.com", "a" * 300])
def test_invalid_email_is_refused(ports: Ports, email: str) -> None:
    with pytest.raises(Refused) as excinfo:
        create_checkout(ports, NOBODY, email=email)
    assert codes(excinfo) == [("email", "INVALID")]
    with pytest.raises(Refused) as excinfo:
        update_checkout_email(ports, NOBODY, checkout_id(make_cart(ports)), email)
    assert codes(excinfo) == [("email", "INVALID")]


def test_other_peoples_carts_cannot_be_changed(ports: Ports) -> None:
    ann = actor_of(ports, make_user(ports, "ann@example.com"))
    bowl = make_product(ports, "Bowl")
    cart = make_cart(ports, ann, bowl)
    before = len(events(ports))
    lines = [LineInput(product_id(bowl), 1)]
    for actor in (NOBODY, OTHER, Actor(ActorKind.APP, app_id=1)):
        attempts: list[Callable[[str], object]] = [
            partial(add_checkout_lines, ports, actor, lines=lines),
            partial(update_checkout_lines, ports, actor, lines=lines),
            partial(delete_checkout_lines, ports, actor, line_ids=[line_id(cart)]),
            partial(update_checkout_email, ports, actor, email=EMAIL),
        ]
        ids = (
            checkout_id(cart),
            to_global_id("Checkout", cart.id),
            to_global_id("Checkout", "\0"),
            to_global_id("Cart", cart.token),
            cart.token,
            "",
        )
        for attempt in attempts:
            for id_ in ids:
                with pytest.raises(Refused) as excinfo:
                    attempt(id_)
                assert codes(excinfo) == [("id", "NOT_FOUND")]
    assert len(events(ports)) == before
    assert add_checkout_lines(ports, CLERK, checkout_id(cart), lines).quantity == 2
    assert add_checkout_lines(ports, ann, checkout_id(cart), lines).quantity == 3


def test_anonymous_cart_can_be_attached_to_the_caller(ports: Ports) -> None:
    ann = actor_of(ports, make_user(ports, "ann@example.com"))
    bob = actor_of(ports, make_user(ports, "bob@example.com"))
    cart = create_checkout(ports, NOBODY)
    owned = attach_checkout(ports, ann, checkout_id(cart))
    assert (owned.user_id, owned.email) == (ann.user_id, "ann@example.com")
    assert attach_checkout(ports, ann, checkout_id(cart)) == owned
    for actor in (bob, NOBODY):
        with pytest.raises(Refused if actor is bob else PermissionDenied):
            attach_checkout(ports, actor, checkout_id(cart))
    clerk = actor_of(
        ports,
        make_user(
            ports, "c@example.com", is_staff=True, permissions=[Permission.MANAGE_CHECKOUTS]
        ),
    )
    with pytest.raises(Refused):
        attach_checkout(ports, clerk, checkout_id(cart))
    kept = make_cart(ports)
    assert attach_checkout(ports, ann, checkout_id(kept)).email == EMAIL


def test_cart_is_attached_for_a_customer(ports: Ports) -> None:
    ann = make_user(ports, "ann@example.com")
    staff = make_user(ports, "staff@example.com", is_staff=True)
    id_, of_ann = checkout_id(create_checkout(ports, NOBODY)), to_global_id("User", ann)
    app = Actor(
        ActorKind.APP, app_id=3, name="crm", permissions=frozenset({Permission.IMPERSONATE_USER})
    )
    powerless = replace(app, permissions=ALL_PERMISSIONS - app.permissions)
    for actor in (powerless, actor_of(ports, make_user(ports, "bob@example.com"))):
        with pytest.raises(PermissionDenied):
            attach_checkout(ports, actor, id_, of_ann)
    for named, code in ((None, "REQUIRED"), (to_global_id("User", staff), "NOT_FOUND")):
        with pytest.raises(Refused) as refused:
            attach_checkout(ports, app, id_, named)
        assert codes(refused) == [("customerId", code)]
    owned = attach_checkout(ports, app, id_, of_ann)
    assert (owned.user_id, owned.email) == (ann, "ann@example.com")
    [row] = trail(ports, "checkout.attach")
    assert (row.actor_name, row.subject_name) == ("crm", "ann@example.com")


def test_only_real_changes_are_published(ports: Ports) -> None:
    ann = actor_of(ports, make_user(ports, "ann@example.com"))
    bowl = make_product(ports)
    cart = create_checkout(ports, NOBODY)
    id_, one = checkout_id(cart), [LineInput(product_id(bowl), 1)]
    filled = add_checkout_lines(ports, NOBODY, id_, one)
    update_checkout_lines(ports, NOBODY, id_, [LineInput(product_id(bowl), 2)])
    delete_checkout_lines(ports, NOBODY, id_, [line_id(filled)])
    for _ in range(2):
        update_checkout_email(ports, NOBODY, id_, EMAIL)
    for _ in range(2):
        attach_checkout(ports, ann, id_)
    for attempt in (add_checkout_lines, update_checkout_lines):
        with pytest.raises(Refused) as excinfo:
            attempt(ports, ann, id_, [])
        assert codes(excinfo) == [("lines", "REQUIRED")]
    assert [(event.type, event.subject_id) for event in events(ports)] == [
        ("CHECKOUT_CREATED", cart.id),
        *[("CHECKOUT_UPDATED", cart.id)] * 5,
    ]
