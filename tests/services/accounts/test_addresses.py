"""Addresses: one's own, and customers' for those who manage them."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest
from sqlalchemy import select

from app import models
from app.domain.accounts.addresses import MAX_ADDRESSES, AddressChange, AddressKind
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor, ActorKind
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.values.errors import PermissionDenied, Refused
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.accounts.addresses import (
    addresses_of_users,
    create_address,
    create_user_address,
    delete_address,
    delete_user_address,
    set_default_address,
    set_user_default_address,
    show_address,
    update_address,
    update_user_address,
)
from app.services.accounts.stored_addresses import addresses_text, read_addresses
from app.services.identity.users import load_user
from app.services.people.customers import delete_customer
from tests.builders.addresses import addresses_of, make_address, make_addresses
from tests.builders.audit import trail
from tests.builders.outbox import events
from tests.builders.people import NOBODY, actor_of, make_staff, make_user
from tests.fakes.clock import FakeClock
from tests.fixtures.statements import recorded_statements, selects

APP = Actor(ActorKind.APP, app_id=3, permissions=frozenset({Permission.MANAGE_USERS}))
NEW = AddressChange(
    street_address_1="Tęczowa 7", city="Wrocław", postal_code="53-601", country="PL"
)


def global_id(key: int) -> str:
    return to_global_id("Address", key)


def user_of(ports: Ports, key: int) -> User:
    with ports.database.reading() as session:
        return load_user(session, key)


def refusal(call: Callable[[], object]) -> list[tuple[str | None, str]]:
    with pytest.raises(Refused) as refused:
        call()
    return [(problem.field, problem.code) for problem in refused.value.problems]


def test_customer_adds_changes_and_deletes_an_address(ports: Ports, clock: FakeClock) -> None:
    key = make_user(ports)
    own = actor_of(ports, key)
    clock.pass_(minutes=1)
    added = create_address(ports, own, NEW, kind=AddressKind.SHIPPING)
    assert (added.address.is_default_shipping_address, added.user.updated_at) == (
        True,
        clock.now(),
    )
    id_ = global_id(added.address.id)
    changed = update_address(ports, own, id_, AddressChange(first_name="Ann", country="PL"))
    assert changed.address == replace(added.address, first_name="Ann")
    assert addresses_of(ports, key) == [changed.address]
    assert delete_address(ports, own, id_).address == changed.address
    assert addresses_of(ports, key) == []
    assert [event.type for event in events(ports)] == [
        "ADDRESS_CREATED",
        "CUSTOMER_UPDATED",
        "ADDRESS_UPDATED",
        "CUSTOMER_UPDATED",
        "ADDRESS_DELETED",
        "CUSTOMER_UPDATED",
    ]


def test_audit_says_which_details_changed_but_not_how(ports: Ports) -> None:
    key = make_user(ports)
    address = make_address(ports, key)
    own = actor_of(ports, key)
    change = AddressChange(first_name="Bea", phone="", country="PL")
    update_address(ports, own, global_id(address), change)
    update_address(ports, own, global_id(address), change)
    (row,) = trail(ports, "address.update")
    assert (row.before, row.after) == (
        {},
        {"address": address, "changed": ["first_name", "phone"]},
    )


def test_default_moves_to_another_address(ports: Ports) -> None:
    key = make_user(ports)
    first, second = make_address(ports, key), make_address(ports, key, is_default=False)
    set_default_address(ports, actor_of(ports, key), global_id(second), AddressKind.BILLING)
    assert events(ports)[-1].type == "CUSTOMER_UPDATED"
    assert [
        (one.id, one.is_default_shipping_address, one.is_default_billing_address)
        for one in addresses_of(ports, key)
    ] == [(first, True, False), (second, False, True)]


@pytest.mark.first
def test_oldest_address_that_is_no_default_makes_room(ports: Ports) -> None:
    key = make_user(ports)
    first = make_address(ports, key)
    others = make_addresses(ports, key, MAX_ADDRESSES - 1)
    added = create_address(ports, actor_of(ports, key), NEW)
    kept = [one.id for one in addresses_of(ports, key)]
    assert kept == [first, *others[1:], added.address.id]


def test_only_managers_skip_validation(ports: Ports) -> None:
    key = make_user(ports)
    change = AddressChange(country="US", skips_validation=True)
    with pytest.raises(PermissionDenied) as denied:
        create_address(ports, actor_of(ports, key), change)
    assert denied.value.required == (Permission.MANAGE_USERS,)
    create_user_address(ports, APP, to_global_id("User", key), change)
    with ports.database.reading() as session:
        assert session.scalars(select(models.Address.validation_skipped)).one()


def test_invalid_address_is_refused_and_changes_nothing(ports: Ports) -> None:
    key = make_user(ports)
    own, address = actor_of(ports, key), make_address(ports, key)
    change = AddressChange(postal_code="nowhere", country="PL")
    assert refusal(lambda: update_address(ports, own, global_id(address), change)) == [
        ("postalCode", "INVALID")
    ]
    assert refusal(lambda: create_address(ports, own, AddressChange())) == [
        ("country", "REQUIRED")
    ]
    assert [one.postal_code for one in addresses_of(ports, key)] == ["53-601"]
    assert (trail(ports, "address.update"), trail(ports, "address.create")) == ([], [])


def test_addresses_of_others_are_not_found(ports: Ports) -> None:
    address = make_address(ports, make_user(ports))
    other = actor_of(ports, make_user(ports, "other@example.com"))
    for id_ in (global_id(address), global_id(4711), to_global_id("User", 1), "garbage"):
        for call in (
            lambda id_=id_: update_address(
                ports, other, id_, AddressChange(city="x", country="PL")
            ),
            lambda id_=id_: delete_address(ports, other, id_),
            lambda id_=id_: set_default_address(ports, other, id_, AddressKind.BILLING),
        ):
            assert refusal(call) == [("id", "NOT_FOUND")]
    assert show_address(ports, other, global_id(address)) is None


def test_customer_managers_change_addresses_of_customers(ports: Ports) -> None:
    key = make_user(ports)
    manager = actor_of(ports, make_staff(ports, "boss@example.com", Permission.MANAGE_USERS))
    id_ = to_global_id("User", key)
    for actor in (APP, manager):
        added = create_user_address(ports, actor, id_, NEW)
        address = global_id(added.address.id)
        update_user_address(ports, actor, address, AddressChange(city="Opole", country="PL"))
        set_user_default_address(ports, actor, address, id_, AddressKind.SHIPPING)
        shown = show_address(ports, actor, address)
        assert shown is not None
        assert (shown.city, shown.is_default_shipping_address) == ("OPOLE", True)
        delete_user_address(ports, actor, address)
        delete_address(ports, actor, global_id(make_address(ports, key)))
    assert addresses_of(ports, key) == []


def test_app_adds_an_address_for_the_customer_it_acts_for(ports: Ports) -> None:
    customer = make_user(ports, "ann@example.com")
    id_ = to_global_id("User", customer)
    app = replace(APP, name="crm", permissions=frozenset({Permission.IMPERSONATE_USER}))
    unchecked = AddressChange(city="Atlantis", country="PL", skips_validation=True)
    added = create_address(ports, app, unchecked, customer_id=id_, kind=AddressKind.BILLING)
    assert (added.user.id, added.address.city) == (customer, "Atlantis")
    assert added.address.is_default_billing_address
    [row] = trail(ports, "address.create")
    assert (row.actor_name, row.subject_name) == ("crm", "ann@example.com")
    assert refusal(lambda: create_address(ports, app, NEW)) == [("customerId", "REQUIRED")]
    manager = actor_of(ports, make_staff(ports, "boss@example.com", *ALL_PERMISSIONS))
    for actor in (manager, actor_of(ports, customer)):
        named = refusal(partial(create_address, ports, actor, NEW, customer_id=id_))
        assert named == [("customerId", "INVALID")]
    with pytest.raises(PermissionDenied):
        create_address(ports, APP, NEW, customer_id=id_)


def test_every_change_names_the_country(ports: Ports) -> None:
    address = global_id(make_address(ports, make_user(ports, "ann@example.com")))
    for call in (update_address, update_user_address):
        refused = refusal(partial(call, ports, APP, address, AddressChange(city="Opole")))
        assert refused == [("country", "REQUIRED")]


def test_customer_managers_do_not_reach_addresses_of_staff(ports: Ports) -> None:
    staff = make_staff(ports)
    address = make_address(ports, staff)
    manager = actor_of(ports, make_staff(ports, "boss@example.com", Permission.MANAGE_USERS))
    full_app = replace(
        APP, permissions=frozenset({Permission.MANAGE_USERS, Permission.MANAGE_STAFF})
    )
    id_ = to_global_id("User", staff)
    for actor in (APP, manager, full_app):
        assert show_address(ports, actor, global_id(address)) is None
        with pytest.raises(Refused) as creation:
            create_user_address(ports, actor, id_, NEW)
        with pytest.raises(Refused) as deletion:
            delete_user_address(ports, actor, global_id(address))
        problems = (*creation.value.problems, *deletion.value.problems)
        assert [(problem.field, problem.code) for problem in problems] == [
            ("userId", "NOT_FOUND"),
            ("id", "NOT_FOUND"),
        ]
    permissions = (Permission.MANAGE_USERS, Permission.MANAGE_STAFF)
    both = actor_of(ports, make_staff(ports, "both@example.com", *permissions))
    delete_user_address(ports, both, global_id(address))


def test_default_must_be_an_address_of_that_user(ports: Ports) -> None:
    key, other = make_user(ports), make_user(ports, "other@example.com")
    address = global_id(make_address(ports, other))
    id_, kind = to_global_id("User", key), AddressKind.BILLING
    assert refusal(lambda: set_user_default_address(ports, APP, address, id_, kind)) == [
        ("addressId", "NOT_FOUND")
    ]


def test_strangers_and_extensions_change_no_address(ports: Ports) -> None:
    key = make_user(ports)
    address = global_id(make_address(ports, key))
    extension = replace(actor_of(ports, key), app_id=3)
    for actor in (NOBODY, extension, replace(APP, permissions=frozenset())):
        for call in (
            lambda actor=actor: create_address(ports, actor, NEW),
            lambda actor=actor: update_address(
                ports, actor, address, AddressChange(city="x", country="PL")
            ),
            lambda actor=actor: delete_address(ports, actor, address),
            lambda actor=actor: set_default_address(ports, actor, address, AddressKind.BILLING),
            lambda actor=actor: delete_user_address(ports, actor, address),
        ):
            with pytest.raises(PermissionDenied):
                call()
    assert len(addresses_of(ports, key)) == 1


def test_addresses_go_with_their_user(ports: Ports) -> None:
    key = make_user(ports)
    make_address(ports, key)
    delete_customer(ports, APP, to_global_id("User", key))
    assert addresses_of(ports, key) == []


@pytest.mark.both_databases
def test_addresses_of_a_page_are_one_statement(ports: Ports) -> None:
    users = [user_of(ports, make_user(ports, f"{name}@example.com")) for name in "abc"]
    address = make_address(ports, users[1].id)
    with recorded_statements() as statements:
        found = addresses_of_users(ports, APP, users)
    assert {key: [one.id for one in of_user] for key, of_user in found.items()} == {
        users[0].id: [],
        users[1].id: [address],
        users[2].id: [],
    }
    assert len(selects(statements)) == 1
    with pytest.raises(PermissionDenied):
        addresses_of_users(ports, NOBODY, users)


def test_addresses_are_a_column_of_another_query(ports: Ports) -> None:
    key = make_user(ports)
    for _ in range(2):
        make_address(ports, key, is_default=False)
    make_address(ports, key)
    query = select(addresses_text(2)).select_from(models.User).where(models.User.id == key)
    with ports.database.reading() as session:
        found = read_addresses(session.scalars(query).one())
    first, _, default = addresses_of(ports, key)
    assert found == (default, first)
