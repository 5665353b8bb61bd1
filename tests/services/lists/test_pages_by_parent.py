"""The same page of many parents' lists, in one statement: each is the page that it has alone."""

from collections.abc import Collection, Mapping
from typing import Any

import pytest
from sqlalchemy import Executable, Row, Select, select

from app import models
from app.domain.values.pages import Page, PageRequest
from app.ports import Ports
from app.services.lists import paging
from app.services.lists.paging import Order, Parents, read_rows, read_rows_by_parent
from tests.builders.addresses import make_address
from tests.builders.people import make_user
from tests.fixtures.statements import recorded_statements, selects

QUERY: Select[*tuple[object, ...]] = select(models.Address.city)
BY_KEY = Order((models.Address.id,), descending=True)
BY_CITY = Order((models.Address.city, models.Address.id))
LENGTHS = (0, 1, 3, 5, 4)
"""How many addresses each person has."""

Rows = Page[Row[*tuple[object, ...]]]


@pytest.fixture
def people(ports: Ports) -> list[int]:
    """People with addresses in cities that some share, made in turn."""
    keys = [make_user(ports, f"{number}@example.com") for number in range(len(LENGTHS))]
    for place in range(max(LENGTHS)):
        for key, length in zip(keys, LENGTHS, strict=True):
            if place < length:
                make_address(ports, key, is_default=False, city="aBcb"[place % 4])
    return keys


def pages_of(
    ports: Ports, people: Collection[int], order: Order, request: PageRequest
) -> Mapping[int, Rows]:
    with ports.database.reading() as session:
        return read_rows_by_parent(
            ports, session, QUERY, Parents(models.Address.user_id, people), order, request
        )


def page_of(ports: Ports, person: int, order: Order, request: PageRequest) -> Rows:
    query = QUERY.where(models.Address.user_id == person)
    with ports.database.reading() as session:
        return read_rows(ports, session, query, order, request)


def seen(page: Rows) -> tuple[object, ...]:
    cities = [row.city for row in page.items]
    return cities, page.cursors, page.has_next, page.has_previous, page.count()


REQUESTS = (PageRequest(1), PageRequest(3), PageRequest(100), PageRequest(2, backwards=True))


@pytest.mark.both_databases
@pytest.mark.parametrize("order", [BY_KEY, BY_CITY], ids=["by key", "by city"])
def test_each_page_is_the_one_that_the_parent_has_alone(
    ports: Ports, people: list[int], order: Order
) -> None:
    for request in REQUESTS:
        with recorded_statements() as recorded:
            found = pages_of(ports, people, order, request)
        # Both databases return the parts as they are written, unless they are told to sort them.
        assert " ORDER BY " in selects(recorded)[0].rpartition(")")[2].replace("\n", " ")
        assert list(found) == people
        for person in people:
            alone = page_of(ports, person, order, request)
            assert seen(found[person]) == seen(alone), request


@pytest.mark.both_databases
@pytest.mark.parametrize("backwards", [False, True])
def test_cursor_of_one_is_a_place_in_all_lists(
    ports: Ports, people: list[int], *, backwards: bool
) -> None:
    middle = page_of(ports, people[3], BY_CITY, PageRequest(2)).positions[-1]
    request = PageRequest(2, backwards, (str(middle[0]), int(str(middle[1]))))
    found = pages_of(ports, people, BY_CITY, request)
    for person in people:
        assert seen(found[person]) == seen(page_of(ports, person, BY_CITY, request))
    assert any(page.items for page in found.values())


def test_statement_is_for_up_to_128_parents(ports: Ports, people: list[int]) -> None:
    for parents, statements in ((1, 1), (128, 1), (129, 2)):
        missing = range(10_000, 10_000 + parents - 1)
        with recorded_statements() as recorded:
            found = pages_of(ports, [people[2], *missing], BY_KEY, PageRequest(10))
        assert len(selects(recorded)) == statements, parents
        assert len(found) == parents
        assert [len(page.items) for page in found.values()] == [3, *(0 for _ in missing)]


def test_statement_for_many_parents_is_not_cached(
    ports: Ports, people: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes megabytes, while that for one parent is as small as that of any page."""
    made = []
    make = paging._statement_by_parent  # noqa: SLF001 - what a page of a new query does

    def recorded(*args: Any) -> Executable:
        made.append(args[2])
        return make(*args)

    monkeypatch.setattr(paging, "_statement_by_parent", recorded)
    query = select(models.Address.city, models.Address.id)
    with ports.database.reading() as session:
        for keys in (people, people, people[:1], people[1:2]):
            parents = Parents(models.Address.user_id, keys)
            read_rows_by_parent(ports, session, query, parents, BY_CITY, PageRequest(10))
    assert made == [8, 8, 1]


def test_lists_are_counted_together_once_one_of_them_is(ports: Ports, people: list[int]) -> None:
    for size in (0, 2):
        with recorded_statements() as recorded:
            found = pages_of(ports, people, BY_KEY, PageRequest(size))
        assert len(selects(recorded)) == (1 if size else 0)
        with recorded_statements() as recorded:
            assert tuple(page.count() for page in found.values()) == LENGTHS
        assert len(selects(recorded)) == 1


def test_no_parents_take_no_statement(ports: Ports) -> None:
    with recorded_statements() as recorded:
        assert pages_of(ports, [], BY_KEY, PageRequest(10)) == {}
    assert not selects(recorded)
