"""Products are made, changed and deleted by those who manage them."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import func, select

from app import models
from app.domain.authorization.actor import OPERATOR, Actor, ActorKind, anonymous
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.commerce.money import Money
from app.domain.values.errors import PermissionDenied, Refused
from app.domain.values.ids import to_global_id
from app.domain.values.inputs import ABSENT
from app.ports import Ports
from app.services.commerce.products import (
    ProductInput,
    create_product,
    delete_product,
    update_product,
)
from app.services.webhooks.event_subjects import read_product_snapshot
from tests.builders.audit import trail
from tests.builders.outbox import events
from tests.builders.products import make_product, product_id
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases
from tests.services.error_codes import codes

PRODUCTS = frozenset({Permission.MANAGE_PRODUCTS})
STAFF = Actor(ActorKind.USER, user_id=1, is_staff=True, permissions=PRODUCTS)
APP = Actor(ActorKind.APP, app_id=1, permissions=PRODUCTS)
WITHOUT = [
    anonymous(),
    Actor(ActorKind.USER, user_id=2),
    Actor(ActorKind.USER, user_id=3, is_staff=True, permissions=ALL_PERMISSIONS - PRODUCTS),
    Actor(ActorKind.APP, app_id=2, permissions=ALL_PERMISSIONS - PRODUCTS),
]
FULL = ProductInput(
    name="Ash bowl",
    slug="bowl_1",
    description="Deep.\nHolds two litres.",
    price=Decimal("12.5"),
    currency="EUR",
    is_published=True,
)


def count(ports: Ports) -> int:
    with ports.database.reading() as session:
        return session.scalar(select(func.count()).select_from(models.Product)) or 0


@pytest.mark.parametrize("actor", [STAFF, APP, OPERATOR], ids=lambda actor: actor.kind)
def test_only_the_name_is_required_and_new_products_are_unpublished(
    ports: Ports, actor: Actor
) -> None:
    product = create_product(ports, actor, ProductInput(name="  Crème Brûlée "))
    assert (product.name, product.slug) == ("Crème Brûlée", "creme-brulee")
    assert (product.description, product.price, product.is_published) == ("", None, False)
    assert product.created_at == product.updated_at == ports.clock.now()


@pytest.mark.both_databases
def test_all_fields_can_be_set_at_once(ports: Ports) -> None:
    product = create_product(ports, STAFF, FULL)
    assert product.price == Money(Decimal("12.50"), "EUR")
    assert (product.slug, product.is_published) == ("bowl_1", True)
    assert product.description == "Deep.\nHolds two litres."


def test_products_cannot_be_changed_without_permission(ports: Ports) -> None:
    key = make_product(ports)

    @cases("actor", WITHOUT)
    def check(actor: Actor) -> None:
        attempts: list[Callable[[], object]] = [
            lambda: create_product(ports, actor, FULL),
            lambda: update_product(ports, actor, product_id(key), FULL),
            lambda: delete_product(ports, actor, product_id(key)),
        ]
        for attempt in attempts:
            with pytest.raises(PermissionDenied) as denied:
                attempt()
            assert denied.value.required == (Permission.MANAGE_PRODUCTS,)
        assert count(ports) == 1
        assert events(ports) == []

    check()


INVALID: tuple[tuple[dict[str, Any], str, str], ...] = (
    ({"name": ABSENT}, "name", "REQUIRED"),
    ({"name": None}, "name", "REQUIRED"),
    ({"name": "  "}, "name", "REQUIRED"),
    ({"name": "a" * 251}, "name", "INVALID"),
    ({"name": "a\0"}, "name", "INVALID"),
    ({"slug": "a b"}, "slug", "INVALID"),
    ({"slug": "a" * 256}, "slug", "INVALID"),
    ({"description": "a\0"}, "description", "INVALID"),
    ({"description": "a" * 20_001}, "description", "INVALID"),
    ({"price": Decimal("-0.01")}, "price", "INVALID"),
    ({"price": Decimal("1E+40")}, "price", "INVALID"),
    ({"price": Decimal("0.001")}, "price", "INVALID"),
    ({"currency": "USD"}, "currency", "INVALID"),
    ({"price": ABSENT, "currency": "USD"}, "currency", "INVALID"),
    ({"price": None, "currency": "USD"}, "currency", "INVALID"),
)
"""Input, and the field and code of its problem."""


def test_invalid_fields_are_reported_and_nothing_is_stored(ports: Ports) -> None:
    key = make_product(ports)
    for input_, field, code in INVALID:
        with pytest.raises(Refused) as excinfo:
            create_product(ports, STAFF, replace(FULL, **input_))
        assert codes(excinfo) == [(field, code)], input_
        if ABSENT not in (input_.get("name"), input_.get("price")):
            with pytest.raises(Refused) as excinfo:
                update_product(ports, STAFF, product_id(key), replace(FULL, **input_))
            assert codes(excinfo) == [(field, code)], input_
    assert count(ports) == 1
    assert events(ports) == []


@pytest.mark.both_databases
def test_all_problems_are_reported_at_once(ports: Ports) -> None:
    input_ = ProductInput(name="", slug="!", description="\0", price=Decimal(-1))
    with pytest.raises(Refused) as excinfo:
        create_product(ports, STAFF, input_)
    assert [field for field, _ in codes(excinfo)] == ["name", "slug", "description", "price"]


def test_products_of_one_name_get_unique_slugs(ports: Ports) -> None:
    slugs = [create_product(ports, STAFF, ProductInput(name="Bowl")).slug for _ in range(12)]
    assert slugs[:9] == ["bowl", *(f"bowl-{number}" for number in range(2, 10))]
    assert all(slug.startswith("bowl-") and slug.islower() for slug in slugs[9:])
    assert len(set(slugs)) == 12


def test_requested_slug_must_be_unique(ports: Ports) -> None:
    key = make_product(ports, slug="bowl_1")
    other = make_product(ports, "Cup")
    with pytest.raises(Refused) as excinfo:
        create_product(ports, STAFF, FULL)
    assert codes(excinfo) == [("slug", "UNIQUE")]
    with pytest.raises(Refused) as excinfo:
        update_product(ports, STAFF, product_id(other), ProductInput(slug="bowl_1"))
    assert codes(excinfo) == [("slug", "UNIQUE")]
    update_product(ports, STAFF, product_id(key), ProductInput(slug="bowl_1"))
    assert events(ports) == []


@pytest.mark.both_databases
def test_concurrent_products_of_one_name_get_unique_slugs(ports: Ports) -> None:
    def make(_number: int) -> str:
        return create_product(ports, APP, ProductInput(name="Bowl")).slug

    with ThreadPoolExecutor(4) as pool:
        slugs = list(pool.map(make, range(4)))
    assert len(set(slugs)) == 4
    assert len(events(ports)) == 4


def test_absent_fields_keep_their_values(ports: Ports, clock: FakeClock) -> None:
    before = create_product(ports, STAFF, FULL)
    clock.pass_(seconds=60)
    after = update_product(ports, APP, product_id(before.id), ProductInput(price=Decimal(9)))
    assert after == replace(
        before, price=Money(Decimal("9.00")), updated_at=before.created_at.replace(minute=1)
    )


def test_null_clears_optional_fields(ports: Ports) -> None:
    key = create_product(ports, STAFF, FULL).id
    after = update_product(
        ports, STAFF, product_id(key), ProductInput(description=None, price=None)
    )
    assert (after.description, after.price, after.is_published) == ("", None, True)
    for field in ("name", "slug"):
        with pytest.raises(Refused) as excinfo:
            update_product(ports, STAFF, product_id(key), ProductInput(**{field: None}))
        assert codes(excinfo) == [(field, "REQUIRED")]


def test_deleted_product_event_has_its_snapshot(ports: Ports) -> None:
    made = create_product(ports, STAFF, FULL)
    assert delete_product(ports, APP, product_id(made.id)) == made
    assert count(ports) == 0
    *_, gone = events(ports)
    assert (gone.type, gone.subject_id, gone.principal) == ("PRODUCT_DELETED", made.id, ("App", 1))
    snapshot = gone.data["snapshot"]
    assert isinstance(snapshot, dict)
    assert read_product_snapshot(snapshot, ports.clock.now()) == made


def test_product_keys_are_never_reused(ports: Ports) -> None:
    first = create_product(ports, STAFF, FULL)
    delete_product(ports, STAFF, product_id(first.id))
    assert create_product(ports, STAFF, FULL).id > first.id


@cases(
    "id_",
    ["", "nonsense", "UHJvZHVjdA==", to_global_id("User", 1), product_id(4711), product_id(2**80)],
)
def test_unknown_product_is_not_found(ports: Ports, id_: str) -> None:
    attempts: list[Callable[[], object]] = [
        lambda: update_product(ports, STAFF, id_, FULL),
        lambda: delete_product(ports, STAFF, id_),
    ]
    for attempt in attempts:
        with pytest.raises(Refused) as excinfo:
            attempt()
        assert codes(excinfo) == [("id", "NOT_FOUND")]


def test_each_real_change_is_published_once(ports: Ports) -> None:
    key = create_product(ports, STAFF, FULL).id
    update_product(ports, STAFF, product_id(key), ProductInput(description="Flat."))
    update_product(ports, STAFF, product_id(key), ProductInput(description="Flat."))
    update_product(ports, STAFF, product_id(key), ProductInput())
    delete_product(ports, STAFF, product_id(key))
    assert [(event.type, event.subject_id) for event in events(ports)] == [
        ("PRODUCT_CREATED", key),
        ("PRODUCT_UPDATED", key),
        ("PRODUCT_DELETED", key),
    ]


def test_product_change_is_audited_with_price_and_publication(ports: Ports) -> None:
    key = create_product(ports, STAFF, FULL).id
    update_product(ports, STAFF, product_id(key), ProductInput(description="Flat."))
    update_product(ports, APP, product_id(key), ProductInput(price=Decimal(9), is_published=False))
    delete_product(ports, STAFF, product_id(key))
    (made,) = trail(ports, "product.create")
    (changed,) = trail(ports, "product.update")
    (gone,) = trail(ports, "product.delete")
    everything = {"name": "Ash bowl", "slug": "bowl_1", "price": "12.50 EUR", "is_published": True}
    assert (made.before, made.after) == ({}, everything)
    assert changed.before == {"price": "12.50 EUR", "is_published": True}
    assert changed.after == {"price": "9.00 EUR", "is_published": False}
    assert (changed.actor_kind, changed.subject_id) == ("app", str(key))
    assert gone.after == {}
    assert gone.before == everything | changed.after
