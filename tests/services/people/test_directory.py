"""Looking people up: lists in every order, searches by the beginnings of words, one by one."""

from collections.abc import Callable

import pytest
from sqlalchemy import select

from app import models
from app.domain.accounts.search import UserFilter, UserSort
from app.domain.accounts.users import User
from app.domain.authorization.actor import OPERATOR, Actor
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.values.errors import PermissionDenied, Refused
from app.domain.values.ids import to_global_id
from app.domain.values.pages import Page, PageRequest, read_cursor
from app.ports import Ports
from app.services.people.directory import (
    find_user,
    list_customers,
    list_staff,
    list_users,
    show_user,
)
from tests.builders.people import actor_of, make_group, make_staff, make_user
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases
from tests.fixtures.ports import fake_ports
from tests.fixtures.statements import plans, recorded_statements, selects

ALL = PageRequest(100)
STAFF = Permission.MANAGE_STAFF
USERS = Permission.MANAGE_USERS
ORDERS = Permission.MANAGE_ORDERS


def emails(page: Page[User]) -> list[str]:
    return [user.email.partition("@")[0] for user in page.items]


def customers(ports: Ports, filter_: UserFilter, page: PageRequest = ALL) -> list[str]:
    return emails(list_customers(ports, OPERATOR, page, filter_))


def found(ports: Ports, search: str) -> list[str]:
    return customers(ports, UserFilter(search=search))


def codes(refused: pytest.ExceptionInfo[Refused]) -> list[tuple[str | None, str]]:
    return [(problem.field, problem.code) for problem in refused.value.problems]


def staff_actor(ports: Ports, *permissions: Permission) -> Actor:
    return actor_of(ports, make_staff(ports, "boss@example.com", *permissions))


@pytest.fixture
def crowd(ports: Ports, clock: FakeClock) -> None:
    """Four customers and somebody of the staff, each a minute after the other."""
    for email, first, last in (
        ("cleo@a.example", "Zoë", "Adams"),
        ("ann@b.example", "Ann", "Zimmer"),
        ("dora@c.example", "Ann", "Adams"),
        ("bob@d.example", "", ""),
    ):
        make_user(ports, email, first_name=first, last_name=last)
        clock.pass_(minutes=1)
    make_user(ports, "eve@e.example", first_name="Ann", last_name="Staff", is_staff=True)


@pytest.mark.both_databases
@pytest.mark.usefixtures("crowd")
@cases(
    ("sort", "order"),
    [
        (None, ["cleo", "ann", "dora", "bob"]),
        (UserSort.EMAIL, ["ann", "bob", "cleo", "dora"]),
        (UserSort.FIRST_NAME, ["bob", "dora", "ann", "cleo"]),
        (UserSort.LAST_NAME, ["bob", "dora", "cleo", "ann"]),
        (UserSort.CREATED_AT, ["cleo", "ann", "dora", "bob"]),
        (UserSort.LAST_MODIFIED_AT, ["cleo", "ann", "dora", "bob"]),
    ],
)
def test_customers_are_listed_in_any_order_both_ways(
    ports: Ports, sort: UserSort | None, order: list[str]
) -> None:
    assert customers(ports, UserFilter(sort=sort)) == order
    assert customers(ports, UserFilter(sort=sort, descending=True)) == order[::-1]
    first = list_customers(ports, OPERATOR, PageRequest(3), UserFilter(sort=sort))
    rest = PageRequest(3, cursor=read_cursor(first.cursors[-1], "after"))
    assert emails(first) == order[:3]
    assert customers(ports, UserFilter(sort=sort), rest) == order[3:]


@pytest.mark.usefixtures("crowd")
def test_staff_and_customers_are_separate_lists(ports: Ports) -> None:
    page = list_staff(ports, OPERATOR, ALL)
    assert emails(page) == ["eve"]
    assert page.count() == 1
    assert list_customers(ports, OPERATOR, PageRequest(1)).count() == 4


def test_list_includes_groups_and_permissions(ports: Ports) -> None:
    group = make_group(ports, "Support", ORDERS)
    make_user(ports, "eve@example.com", is_staff=True, groups=[group], permissions=[USERS])
    make_user(ports, "root@example.com", is_superuser=True)
    eve, root = list_staff(ports, OPERATOR, ALL).items
    assert eve.permissions == {ORDERS, USERS}
    assert [(group.name, set(group.permissions)) for group in eve.groups] == [
        ("Support", {ORDERS})
    ]
    assert root.permissions == ALL_PERMISSIONS


@pytest.mark.usefixtures("crowd")
def test_search_finds_by_the_beginning_of_any_word(ports: Ports) -> None:
    assert found(ports, "an") == ["dora", "ann"]  # by their words: ann, ann@b.example
    assert found(ports, "ANN@") == ["ann"]
    assert found(ports, "c.exa") == ["dora"]
    assert found(ports, "zo") == found(ports, "ZOË") == ["cleo"]
    assert found(ports, "zimmer") == ["ann"]
    assert found(ports, "nn") == []


@pytest.mark.usefixtures("crowd")
def test_every_word_of_a_search_has_to_be_found(ports: Ports) -> None:
    assert found(ports, "ada") == ["cleo", "dora"]
    assert found(ports, "ann ada") == found(ports, "Adams ANN") == ["dora"]
    assert found(ports, "ann zoe") == []


def test_person_matching_twice_is_listed_once(ports: Ports) -> None:
    make_user(ports, "smith.anna@example.com", first_name="Anna", last_name="Smithers")
    make_user(ports, "x@example.com", first_name="Smila", last_name="Smart")
    page = list_customers(ports, OPERATOR, ALL, UserFilter(search="sm"))
    assert emails(page) == ["x", "smith.anna"]
    assert page.count() == 2


@pytest.mark.usefixtures("crowd")
def test_search_results_are_paged(ports: Ports) -> None:
    filter_ = UserFilter(search="a")
    first = list_customers(ports, OPERATOR, PageRequest(1), filter_)
    assert (emails(first), first.has_next, first.count()) == (["cleo"], True, 3)
    after = PageRequest(5, cursor=read_cursor(first.cursors[-1], "after"))
    assert customers(ports, filter_, after) == ["dora", "ann"]
    before = PageRequest(5, backwards=True, cursor=read_cursor(first.cursors[-1], "before"))
    assert customers(ports, filter_, before) == []


def test_search_of_several_words_is_paged_by_its_first_word(ports: Ports) -> None:
    for number in range(5):
        make_user(ports, f"x{number}@example.com", first_name=f"Anna{number}", last_name="Bergman")
    filter_ = UserFilter(search="anna berg")
    first = list_customers(ports, OPERATOR, PageRequest(2), filter_)
    make_user(ports, "bergen@example.com")  # now fewer begin with the other word
    make_user(ports, "annas@example.com")
    make_user(ports, "anna.x@example.com")
    cursor = read_cursor(first.cursors[-1], "after")
    rest = list_customers(ports, OPERATOR, PageRequest(10, cursor=cursor), filter_)
    assert emails(first) + emails(rest) == ["x0", "x1", "x2", "x3", "x4"]


@pytest.mark.usefixtures("crowd")
def test_staff_search_is_separate_from_all_users(ports: Ports) -> None:
    assert emails(list_staff(ports, OPERATOR, ALL, UserFilter(search="ann"))) == ["eve"]
    everybody = list_users(ports, OPERATOR, ALL, search="ann")
    assert sorted(emails(everybody)) == ["ann", "dora", "eve"]
    assert everybody.count() == 3


@pytest.mark.usefixtures("crowd")
@cases("search", ["", "  ", "\u0301"])
def test_empty_search_lists_everyone(ports: Ports, search: str) -> None:
    assert len(found(ports, search)) == 4


@pytest.mark.both_databases
@pytest.mark.usefixtures("crowd")
@cases("search", ["nul \0", "\ud800", "%", "_", "'; --", "x" * 100_000])
def test_unusual_search_matches_no_one(ports: Ports, search: str) -> None:
    assert found(ports, search) == []


def test_search_is_sorted_as_asked(ports: Ports) -> None:
    for name, last_name in (("zoe", "Adams"), ("ann", "Berg"), ("eva", "Ask"), ("bo", "Lund")):
        make_user(ports, f"{name}@example.com", first_name="Al", last_name=last_name)
    make_user(ports, "other@shop.test", first_name="Bea")
    make_staff(ports, "alma@example.com")

    @cases("search", ["a", "a ex"])
    def check(search: str) -> None:
        by_name = UserFilter(search=search, sort=UserSort.LAST_NAME)
        assert customers(ports, by_name) == ["zoe", "eva", "ann", "bo"]
        backwards = UserFilter(search=search, sort=UserSort.EMAIL, descending=True)
        assert customers(ports, backwards) == ["zoe", "eva", "bo", "ann"]
        first = list_customers(ports, OPERATOR, PageRequest(3), by_name)
        after = PageRequest(3, cursor=read_cursor(first.cursors[-1], "after"))
        assert (first.count(), customers(ports, by_name, after)) == (4, ["bo"])

    check()


@pytest.mark.usefixtures("crowd")
def test_list_is_filtered_by_status_and_ids(ports: Ports) -> None:
    gone = make_user(ports, "gone@example.com", is_active=False, first_name="Ann")
    ids = (to_global_id("User", gone), to_global_id("User", 1), to_global_id("User", 5))
    assert "gone" not in customers(ports, UserFilter(is_active=True))
    assert customers(ports, UserFilter(is_active=False)) == ["gone"]
    assert customers(ports, UserFilter(is_active=False, search="ann")) == ["gone"]
    assert customers(ports, UserFilter(ids=ids)) == ["cleo", "gone"]
    assert customers(ports, UserFilter(ids=ids, search="zoe")) == ["cleo"]
    assert customers(ports, UserFilter(ids=())) == []


@pytest.mark.both_databases
def test_inactive_people_are_not_listed_by_default(sqlite_url: str, clock: FakeClock) -> None:
    ports = fake_ports(sqlite_url, clock)
    for sort in (None, *(one for one in UserSort if one is not UserSort.ORDER_COUNT)):
        with recorded_statements() as statements:
            customers(ports, UserFilter(is_active=False, sort=sort))
        plan = plans(ports, selects(statements))
        assert any("USING INDEX ix_users_locked_out_" in step for step in plan), (sort, plan)
        assert not any("TEMP B-TREE" in step for step in plan), (sort, plan)


@cases("ids", [("garbage",), (to_global_id("Group", 1),), ("VXNlcjox",) * 1001])
def test_id_of_another_type_is_refused(ports: Ports, ids: tuple[str, ...]) -> None:
    with pytest.raises(Refused) as refused:
        customers(ports, UserFilter(ids=ids))
    assert refused.value.problems[0].field == "ids"


def test_search_words_follow_name_email_and_kind(ports: Ports) -> None:
    key = make_user(ports, "ann@example.com", first_name="Ann")
    with ports.database.transaction() as session:
        user = session.get_one(models.User, key)
        user.first_name, user.email, user.is_staff = "Berta", "b@example.com", True
    assert found(ports, "ann") == found(ports, "berta") == []
    assert emails(list_staff(ports, OPERATOR, ALL, UserFilter(search="berta"))) == ["b"]
    with ports.database.transaction() as session:
        session.delete(session.get_one(models.User, key))
        session.flush()
        assert session.scalars(select(models.UserWord.word)).all() == []


def test_unrelated_changes_keep_the_search_words(ports: Ports) -> None:
    key = make_user(ports, "ann@example.com", first_name="Ann")
    with ports.database.transaction() as session:
        for word in session.scalars(select(models.UserWord)):
            session.delete(word)
    with ports.database.transaction() as session:
        session.get_one(models.User, key).last_login = ports.clock.now()
    assert found(ports, "ann") == []


@pytest.mark.parametrize(
    ("permission", "listing"), [(STAFF, list_customers), (USERS, list_staff), (ORDERS, list_staff)]
)
def test_each_list_needs_its_own_permission(
    ports: Ports,
    permission: Permission,
    listing: Callable[[Ports, Actor, PageRequest], Page[User]],
) -> None:
    with pytest.raises(PermissionDenied):
        listing(ports, staff_actor(ports, permission), ALL)


def test_orders_and_users_each_show_customers(ports: Ports) -> None:
    ann = make_user(ports, "ann@example.com")
    boss = staff_actor(ports, STAFF)
    clerk = actor_of(ports, make_staff(ports, "clerk@example.com", ORDERS))
    keeper = actor_of(ports, make_staff(ports, "keeper@example.com", USERS))
    customer = actor_of(ports, ann)
    id_of_ann, id_of_boss = (to_global_id("User", key) for key in (ann, boss.user_id or 0))
    for actor in (clerk, keeper):
        assert emails(list_customers(ports, actor, ALL)) == ["ann"]
        assert show_user(ports, actor, user_id=id_of_ann) is not None
        assert show_user(ports, actor, user_id=id_of_boss) is None
    assert show_user(ports, boss, user_id=id_of_ann) is None
    assert show_user(ports, boss, email="BOSS@example.com") is not None
    with pytest.raises(PermissionDenied):
        show_user(ports, customer, user_id=id_of_ann)


@pytest.mark.parametrize("own", [STAFF, USERS])
def test_email_lookup_hides_people_whom_the_caller_cannot_see(
    ports: Ports, own: Permission
) -> None:
    make_user(ports, "ann@example.com")
    asker = staff_actor(ports, own)
    seen, hidden = "boss@example.com", "ann@example.com"
    if own is USERS:
        seen, hidden = hidden, seen
    assert find_user(ports, asker, seen).email == seen
    with pytest.raises(PermissionDenied):
        find_user(ports, asker, hidden)


@cases(
    ("who", "code"),
    [
        ({}, "GRAPHQL_ERROR"),
        ({"user_id": "VXNlcjox", "email": "a@b.cc"}, "GRAPHQL_ERROR"),
        ({"user_id": "garbage"}, "NOT_FOUND"),
        ({"user_id": to_global_id("App", 1)}, "NOT_FOUND"),
    ],
)
def test_user_is_requested_by_id_or_email(ports: Ports, who: dict[str, str], code: str) -> None:
    with pytest.raises(Refused) as refused:
        show_user(ports, OPERATOR, **who)
    assert codes(refused) == [("id", code)]


@cases("email", ["", "nobody@example.com", "nul \0@example.com", "\ud800"])
def test_unknown_email_is_not_found(ports: Ports, email: str) -> None:
    assert show_user(ports, OPERATOR, email=email) is None
