"""People are found by the words of their addresses, and by none that they no longer have."""

from dataclasses import replace

import pytest
from sqlalchemy import select

from app import models
from app.domain.accounts.addresses import MAX_ADDRESSES, AddressChange, AddressKind
from app.domain.accounts.search import UserFilter
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import PermissionDenied
from app.domain.values.ids import to_global_id
from app.domain.values.pages import PageRequest
from app.ports import Ports
from app.services.accounts.addresses import (
    create_address,
    delete_address,
    set_default_address,
    update_address,
)
from app.services.console.search import search_everything
from app.services.people.customers import delete_customer
from app.services.people.directory import list_customers, list_staff, list_users
from tests.builders.addresses import make_address
from tests.builders.people import actor_of, make_staff, make_user
from tests.fixtures.cases import cases
from tests.fixtures.statements import recorded_statements, selects

ALL = PageRequest(100)
WROCLAW = AddressChange(
    street_address_1="Tęczowa 7", city="Wrocław", postal_code="53-601", country="PL"
)


def found(ports: Ports, search: str) -> list[int]:
    page = list_customers(ports, OPERATOR, ALL, UserFilter(search=search))
    return [user.id for user in page.items]


@pytest.fixture
def ann(ports: Ports) -> int:
    """A customer with an address, after one without."""
    make_user(ports, "bob@example.com", first_name="Bob")
    key = make_user(ports, "ann@example.com", first_name="Ann", last_name="Lee")
    make_address(
        ports,
        key,
        first_name="Rosa",
        last_name="Moor",
        company_name="Lathe & Sons",
        street_address_2="Floor 3",
        city_area="Krzyki",
        country_area="Dolny Śląsk",
    )
    return key


@pytest.mark.both_databases
def test_customer_is_found_by_each_detail_of_an_address(ports: Ports, ann: int) -> None:
    for search in (
        *("rosa", "MOOR", "lathe", "sons", "teczowa", "floor", "wroc", "krzyki", "dolny slask"),
        *("53-601", "601", "pl", "poland", "+48713448150", "48713", "ann lee wrocław"),
        "Tęczowa 7, 53-601 Wrocław, Poland",
    ):
        assert found(ports, search) == [ann], search


@cases("search", ["roc", "rosa bob", "berlin", "germany"])
def test_other_words_find_no_one(ports: Ports, ann: int, search: str) -> None:
    assert found(ports, search) == []
    assert found(ports, "ann") == [ann]


@pytest.mark.both_databases
def test_words_follow_every_change_of_addresses(ports: Ports) -> None:
    key = make_user(ports)
    own = actor_of(ports, key)
    first = create_address(ports, own, WROCLAW).address.id
    second = create_address(ports, own, replace(WROCLAW, first_name="Rosa", city="Kraków")).address
    assert found(ports, "wrocław") == found(ports, "krakow") == found(ports, "rosa") == [key]
    id_ = to_global_id("Address", first)
    update_address(ports, own, id_, replace(WROCLAW, city="Gdańsk"))
    assert (found(ports, "wrocław"), found(ports, "gdansk")) == ([], [key])
    set_default_address(ports, own, id_, AddressKind.SHIPPING)
    assert found(ports, "gdansk krakow") == [key]
    delete_address(ports, own, to_global_id("Address", second.id))
    assert found(ports, "krakow") == found(ports, "rosa") == []
    # Both addresses had this.
    assert found(ports, "teczowa") == [key]


@pytest.mark.first
def test_address_that_makes_room_for_another_is_not_found(ports: Ports) -> None:
    key = make_user(ports)
    make_address(ports, key, is_default=False, city="Lublin")
    for _ in range(MAX_ADDRESSES - 1):
        make_address(ports, key, is_default=False)
    assert found(ports, "lublin") == [key]
    create_address(ports, actor_of(ports, key), WROCLAW)
    assert (found(ports, "lublin"), found(ports, "wroc")) == ([], [key])


def test_change_of_name_or_kind_keeps_words_of_addresses(ports: Ports, ann: int) -> None:
    with ports.database.transaction() as session:
        session.get_one(models.User, ann).first_name = "Berta"
    assert found(ports, "berta wrocław") == [ann]
    with ports.database.transaction() as session:
        session.get_one(models.User, ann).is_staff = True
    assert found(ports, "wrocław") == []
    page = list_staff(ports, OPERATOR, ALL, UserFilter(search="wrocław"))
    assert [user.id for user in page.items] == [ann]


def test_deleted_customer_leaves_no_words(ports: Ports, ann: int) -> None:
    delete_customer(ports, OPERATOR, to_global_id("User", ann))
    with ports.database.reading() as session:
        words = select(models.UserWord.word).where(models.UserWord.user_id == ann)
        assert session.scalars(words).all() == []
    assert found(ports, "wrocław") == []


def test_addresses_find_whom_the_caller_sees_alone(ports: Ports, ann: int) -> None:
    colleague = make_staff(ports, "eve@example.com")
    make_address(ports, colleague)
    search = UserFilter(search="wrocław")
    for permission in (Permission.MANAGE_USERS, Permission.MANAGE_ORDERS):
        clerk = actor_of(ports, make_staff(ports, f"{permission.value}@example.com", permission))
        assert [user.id for user in list_customers(ports, clerk, ALL, search).items] == [ann]
        with pytest.raises(PermissionDenied):
            list_staff(ports, clerk, ALL, search)
        hits = search_everything(ports, clerk, "wrocław")
        assert [hit.id for hit in hits] == [ann]
        if permission is Permission.MANAGE_USERS:
            everybody = list_users(ports, clerk, ALL, search="wrocław")
            assert [user.id for user in everybody.items] == [ann]
    boss = actor_of(ports, make_staff(ports, "boss@example.com", Permission.MANAGE_STAFF))
    assert [user.id for user in list_staff(ports, boss, ALL, search).items] == [colleague]
    assert [user.id for user in list_users(ports, boss, ALL, search="wroc").items] == [colleague]
    with pytest.raises(PermissionDenied):
        list_customers(ports, boss, ALL, search)
    with pytest.raises(PermissionDenied):
        list_customers(ports, actor_of(ports, ann), ALL, search)
    nobody = actor_of(ports, make_staff(ports, "new@example.com"))
    assert search_everything(ports, nobody, "wrocław") == ()


def test_search_costs_one_statement_however_many_words_match(ports: Ports) -> None:
    for number in range(3):
        key = make_user(ports, f"u{number}@example.com", first_name="Wro")
        for city in ("Wrocław", "Wronki", "Wrzesnia"):
            make_address(ports, key, is_default=False, city=city)
    with recorded_statements() as statements:
        page = list_customers(ports, OPERATOR, ALL, UserFilter(search="wr"))
    assert len(selects(statements)) == 1
    assert (len(page.items), page.count()) == (3, 3)


def test_many_words_of_one_person_hide_no_one_in_the_console(ports: Ports) -> None:
    boss = actor_of(ports, make_staff(ports, "boss@example.com", Permission.MANAGE_USERS))
    many = make_user(ports, "many@example.com")
    streets = " ".join(f"smith{number:02}" for number in range(30))
    make_address(ports, many, street_address_1=streets)
    other = make_user(ports, "other@example.com", last_name="Smithson")
    hits = search_everything(ports, boss, "smith")
    assert {hit.id for hit in hits} == {many, other}
