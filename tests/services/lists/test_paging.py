"""Pages of stored lists: every item once, at any depth, both ways, on both databases."""

import gc
import weakref
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import pytest
from sqlalchemy import Row, Select, select

from app import models
from app.domain.values.errors import Refused
from app.domain.values.pages import Counts, Page, PageRequest, make_cursor, read_cursor
from app.ports import Ports
from app.services.lists import paging
from app.services.lists.paging import Order, read_page, with_conditions
from tests.fixtures.cases import cases
from tests.fixtures.one_of_each import InTurn
from tests.fixtures.statements import recorded_statements, selects

pytestmark = pytest.mark.both_databases

LENGTH = 23
BY_KEY = Order((models.User.id,))
BY_NAME = Order((models.User.last_name, models.User.id))
BY_NAMES = Order((models.User.last_name, models.User.first_name, models.User.id))
BY_AGE = Order((models.User.date_joined, models.User.id))
ORDERS = (BY_KEY, BY_NAME, BY_NAMES, BY_AGE)


def row_names(order: Order) -> str:
    """An order by the names of its columns, for the name of a test."""
    return "+".join(str(column.key) for column in order.columns)


@pytest.fixture
def people(ports: Ports) -> None:
    """People of whom some share a name or the moment that they joined."""
    now = ports.clock.now()
    with ports.database.transaction() as session:
        session.add_all(
            models.User(
                email=f"{number}@example.com",
                first_name=("", "Zoë", "ann", "Ann")[number % 4],
                last_name=("", "a", "B", "É", "zz")[number % 5],
                date_joined=now + timedelta(microseconds=number % 7),
                updated_at=now,
            )
            for number in range(LENGTH)
        )


@cache
def query_of(up_to: int) -> Select[*tuple[object, ...]]:
    """Return the same query whenever it's asked for, as a module's constant is."""
    return select(models.User.email).where(models.User.id <= up_to)


def page_of(
    ports: Ports, request: PageRequest, order: Order = BY_KEY, *, up_to: int = 1000
) -> Page[str]:
    query = query_of(up_to)
    with ports.database.reading() as session:
        return read_page(ports, session, query, order, request, email, select(models.User.id))


def email(row: Row[*tuple[object, ...]]) -> str:
    return str(row[0])


def walk(ports: Ports, order: Order, size: int, *, backwards: bool = False) -> Iterator[Page[str]]:
    """One page after the other, as a client goes by cursors."""
    cursor: tuple[str | int, ...] = ()
    for _ in range(LENGTH):
        page = page_of(ports, PageRequest(size, backwards, cursor), order)
        yield page
        if not (page.has_previous if backwards else page.has_next):
            return
        cursor = read_cursor(page.cursors[0 if backwards else -1], "after")


@pytest.mark.usefixtures("people")
@cases("order", ORDERS)
@cases("descending", [False, True])
def test_pages_contain_everyone_once_in_order(
    ports: Ports, in_turn: InTurn, order: Order, *, descending: bool
) -> None:
    order = replace(order, descending=descending)
    everybody = page_of(ports, PageRequest(100), order).items
    assert len(everybody) == len(set(everybody)) == LENGTH
    for size in in_turn((1, 4, LENGTH - 1, LENGTH, LENGTH + 1), 2):
        forwards = list(walk(ports, order, size))
        backwards = list(walk(ports, order, size, backwards=True))
        found = [item for page in forwards for item in page.items]
        assert found == list(everybody), size
        found = [item for page in reversed(backwards) for item in page.items]
        assert found == list(everybody), size


@pytest.mark.usefixtures("people")
def test_page_knows_whether_neighbors_exist(ports: Ports) -> None:
    pages = list(walk(ports, BY_KEY, 10))
    assert [(page.has_previous, page.has_next) for page in pages] == [
        (False, True),
        (True, True),
        (True, False),
    ]
    pages = list(walk(ports, BY_KEY, 10, backwards=True))
    assert [(page.has_previous, page.has_next) for page in pages] == [
        (True, False),
        (True, True),
        (False, True),
    ]


@pytest.mark.usefixtures("people")
def test_page_is_stable_when_earlier_items_are_deleted(ports: Ports) -> None:
    first = page_of(ports, PageRequest(5))
    with ports.database.transaction() as session:
        session.delete(session.get_one(models.User, 2))
        session.delete(session.get_one(models.User, 5))  # whose row the cursor stands for

    cursor = read_cursor(first.cursors[-1], "after")
    assert page_of(ports, PageRequest(2, cursor=cursor)).items == (
        "5@example.com",
        "6@example.com",
    )


@pytest.mark.usefixtures("people")
def test_total_count_is_the_same_on_every_page(ports: Ports) -> None:
    assert page_of(ports, PageRequest(5)).count() == LENGTH
    assert page_of(ports, PageRequest(5, cursor=(20,))).count() == LENGTH
    assert page_of(ports, PageRequest(5), up_to=7).count() == 7


def test_empty_list_is_an_empty_page(ports: Ports) -> None:
    page = page_of(ports, PageRequest(5))

    assert (page.items, page.positions, page.has_next, page.has_previous) == ((), (), False, False)
    assert page.count() == 0


Cursor = tuple[str | int, ...]
OF_ANOTHER_LIST: tuple[tuple[Order, Cursor], ...] = (
    (BY_KEY, ("1",)),
    (BY_KEY, (1, 2)),
    (BY_NAME, (1,)),
    (BY_NAME, (1, 1)),
    (BY_NAME, ("a", "1")),
    (BY_NAME, ("a", 1, 1)),
    (BY_AGE, ("yesterday", 1)),
    (BY_AGE, (1, 1)),
    (BY_AGE, ("0001-01-01T00:00:00+23:59", 1)),
    (BY_AGE, ("9999-12-31T23:59:59-23:59", 1)),
    (BY_AGE, ("", 1)),
)
INVENTED: tuple[tuple[Order, Cursor], ...] = (
    (BY_KEY, (2**63 - 1,)),
    (BY_KEY, (-(2**63) + 1,)),
    (BY_NAME, ("\U0010ffff", 0)),
    (BY_NAME, ("'; DROP TABLE users; --", 0)),
    (BY_AGE, ("2026-03-01", 0)),
    (BY_AGE, ("0001-01-01T00:00:00+00:00", 0)),
    (BY_AGE, ("9999-12-31T23:59:59+00:00", 0)),
)


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize(("backwards", "field"), [(False, "after"), (True, "before")])
def test_cursor_of_another_list_is_refused(ports: Ports, *, backwards: bool, field: str) -> None:
    for order, cursor in OF_ANOTHER_LIST:
        with pytest.raises(Refused) as refused:
            page_of(ports, PageRequest(5, backwards, cursor), order)
        [problem] = refused.value.problems
        assert (problem.code, problem.field) == ("GRAPHQL_ERROR", field), (order, cursor)


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("backwards", [False, True])
def test_invented_cursor_is_accepted(ports: Ports, *, backwards: bool) -> None:
    # A client may make such a cursor; what it gets is a page of the list that it may see anyway.
    for order, cursor in INVENTED:
        found = page_of(ports, PageRequest(100, backwards, cursor), order)
        assert len(found.items) <= LENGTH, (order, cursor)


def test_time_in_a_cursor_is_exact(ports: Ports, people: None) -> None:
    page = page_of(ports, PageRequest(1), BY_AGE)

    [moment, _] = read_cursor(page.cursors[0], "after")
    assert datetime.fromisoformat(str(moment)) == ports.clock.now()
    assert page.cursors[0] == make_cursor((ports.clock.now().isoformat(), 1))


@pytest.mark.usefixtures("people")
def test_page_counts_what_matches_and_all_without_a_further_statement(ports: Ports) -> None:
    with recorded_statements() as seen:
        page = page_of(ports, PageRequest(3, is_counted=True), up_to=10)
    assert page.counts == Counts(10, LENGTH)
    assert len(selects(seen)) == 1
    last = PageRequest(3, cursor=read_cursor(page.cursors[-1], "after"), is_counted=True)
    assert page_of(ports, last, up_to=10).counts == Counts(10, LENGTH)
    assert page_of(ports, PageRequest(3, is_counted=True), up_to=0).counts == Counts(0, LENGTH)
    assert page_of(ports, PageRequest(3), up_to=10).counts == Counts(0, 0)


@pytest.mark.usefixtures("people")
def test_counting_stops_at_its_limit(ports: Ports, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging, "MAX_COUNTED", 5)
    page = page_of(ports, PageRequest(3, is_counted=True), up_to=2)
    assert page.counts == Counts(2, 6)
    assert page_of(ports, PageRequest(3, is_counted=True)).counts == Counts(6, 6)


@pytest.mark.usefixtures("people")
def test_statement_of_a_constant_query_is_made_once_for_all_depths(
    ports: Ports, monkeypatch: pytest.MonkeyPatch
) -> None:
    list(walk(ports, BY_NAME, 4))  # the first page, and one with a cursor
    made = []
    make = paging._statement  # noqa: SLF001 - what a page of a new query does

    def recorded(*args: Any) -> Select[*tuple[object, ...]]:
        made.append(args)
        return make(*args)

    monkeypatch.setattr(paging, "_statement", recorded)
    for size in (1, 4, 9):
        list(walk(ports, BY_NAME, size))
    assert made == []
    query = query_of(1000).where(models.User.is_staff.is_(False))
    with ports.database.reading() as session:
        read_page(ports, session, query, BY_NAME, PageRequest(4), email)
    assert len(made) == 1


def test_statements_are_forgotten_with_their_query(ports: Ports) -> None:
    query = query_of(1000).where(models.User.is_staff.is_(False))
    with ports.database.reading() as session:
        for cursor in ((), (4,)):
            read_page(ports, session, query, BY_KEY, PageRequest(4, cursor=cursor), email)
    reference = weakref.ref(query)
    del query
    gc.collect()
    assert reference() is None


def test_query_without_conditions_stays_the_same(ports: Ports) -> None:
    query = query_of(1000)
    assert with_conditions(query, ()) is query
    assert with_conditions(query, [models.User.is_staff.is_(True)]) is not query
