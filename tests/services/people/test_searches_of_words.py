"""Searches for several words: the same people, whether they are looked up or sets compared."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from sqlalchemy import Engine, event

from app.domain.accounts.search import UserFilter, words_of
from app.domain.accounts.users import User
from app.domain.authorization.actor import OPERATOR
from app.domain.values.pages import Page, PageRequest, read_cursor
from app.ports import Ports
from app.services.people import directory
from app.services.people.directory import list_customers, list_staff, list_users
from tests.builders.people import make_user
from tests.fakes.clock import FakeClock
from tests.fixtures.ports import fake_ports
from tests.fixtures.statements import recorded_statements, selects

pytestmark = pytest.mark.both_databases

AS_SETS = "WITH matches AS"
BOTH = UserFilter(search="anna smi")
PAGE = PageRequest(5)

_NAMES = (
    ("anna.smith", "Anna", "Smith"),
    ("smith.anna", "Anna", "Smithers"),  # two words that begin with "smi"
    ("anna", "Annabel", "Smiley"),
    ("zoe", "Anna-Zoe", "Goldsmith"),  # "smith" is not the beginning of a word
    ("smila", "Joanna", "Smila"),
    ("x", "ANNA", "Smïth"),
    ("ann", "Ann", "Smith"),
    ("late", "Anna", "Adams"),
)

_FREQUENT_WORDS = """
INSERT INTO users (id, email, first_name, last_name, is_staff, is_active, date_joined, updated_at)
SELECT n, n || '@x.example', '', '', false, true, now(), now()
FROM generate_series(1001, 21000) AS n;
INSERT INTO user_words (user_id, word, is_staff)
SELECT n, CASE WHEN mod(n, 2) = 0 THEN 'anna.' ELSE 'smith.' END || n, false
FROM generate_series(1001, 21000) AS n;
ANALYZE users, user_words;
"""
"""Nobody has both."""


@pytest.fixture
def people(ports: Ports) -> list[tuple[str, int]]:
    """Some people; return the place of each who has both words in the list: word and key."""
    places = []
    for number in range(3):
        for local, first, last in _NAMES:
            email = f"{local}{number or ''}@shop.example"
            key = make_user(ports, email, first_name=first, last_name=last)
            words = words_of(email, first, last)
            of_anna, of_smi = ([w for w in words if w.startswith(b)] for b in ("anna", "smi"))
            if of_anna and of_smi:
                places.append((min(of_anna), key))
    make_user(ports, "boss@shop.example", first_name="Anna", last_name="Smith", is_staff=True)
    return sorted(places)


@pytest.fixture
def few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let limits be reached with a few people: two are frequent, four many, thirty too many."""
    for name, limit in (("_FREQUENT", 2), ("_NEAR", 1), ("_MANY", 3), ("_MOST", 29)):
        monkeypatch.setattr(directory, name, limit)


def keys(page: Page[User]) -> list[int]:
    return [user.id for user in page.items]


def compared_as_sets(ports: Ports, search: str, page: PageRequest = PAGE) -> bool:
    with recorded_statements() as statements:
        list_customers(ports, OPERATOR, page, UserFilter(search=search))
    return any(AS_SETS in statement for statement in statements)


@pytest.fixture
def on_postgresql(postgresql_url: str, clock: FakeClock) -> Ports:
    return fake_ports(postgresql_url, clock)


@pytest.mark.parametrize("as_sets", [False, True])
def test_pages_have_the_same_people_in_the_same_order(
    ports: Ports, people: list[tuple[str, int]], as_sets: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directory, "_rarely_meet", lambda *_arguments: as_sets)
    monkeypatch.setattr(directory, "_FREQUENT", 1)  # so that "anna" is the first word
    expected = [key for _, key in people]
    for backwards in (False, True):
        read: list[int] = []
        request = PageRequest(4, backwards=backwards)
        with recorded_statements() as statements:
            page = list_customers(ports, OPERATOR, request, BOTH)
        assert any(AS_SETS in statement for statement in statements) is as_sets
        while page.items:
            read = keys(page) + read if backwards else read + keys(page)
            end, field = (0, "before") if backwards else (-1, "after")
            cursor = read_cursor(page.cursors[end], field)
            request = PageRequest(4, backwards=backwards, cursor=cursor)
            page = list_customers(ports, OPERATOR, request, BOTH)
        assert read == expected
    counted = list_customers(ports, OPERATOR, PageRequest(4, is_counted=True), BOTH)
    assert counted.counts.matching == counted.count() == len(expected)
    assert len(list_staff(ports, OPERATOR, PageRequest(4), BOTH).items) == 1


@pytest.mark.usefixtures("few_are_many")
def test_sets_are_compared_if_the_next_people_do_not_have_both_words(on_postgresql: Ports) -> None:
    for number in range(9):
        make_user(on_postgresql, f"anna{number}@shop.example")
        make_user(on_postgresql, f"smith{number}@shop.example")
    assert compared_as_sets(on_postgresql, "anna smith")
    # The list is sorted by "smith", the longer word: this is its first entry.
    make_user(on_postgresql, "smith.anna@shop.example", last_name="Anna")
    first = list_customers(
        on_postgresql, OPERATOR, PageRequest(1), UserFilter(search="anna smith")
    )
    assert not compared_as_sets(on_postgresql, "anna smith")
    after = PageRequest(1, cursor=read_cursor(first.cursors[-1], "after"))
    assert compared_as_sets(on_postgresql, "anna smith", after)
    assert compared_as_sets(on_postgresql, "anna smith", PageRequest(1, backwards=True))


@pytest.mark.usefixtures("few_are_many")
def test_people_are_looked_up_if_a_word_is_rare_or_too_frequent(on_postgresql: Ports) -> None:
    for number in range(9):
        make_user(on_postgresql, f"anna{number}@shop.example")
    make_user(on_postgresql, "smith@shop.example")
    assert not compared_as_sets(on_postgresql, "anna smith")  # rare
    for number in range(2):
        make_user(on_postgresql, f"smith{number}@shop.example")
    assert not compared_as_sets(on_postgresql, "anna smith")  # frequent, but not many
    make_user(on_postgresql, "smith2@shop.example")
    assert compared_as_sets(on_postgresql, "anna smith")
    for number in range(9, 30):
        make_user(on_postgresql, f"anna{number}@shop.example")
    assert not compared_as_sets(on_postgresql, "anna smith")  # too many
    make_user(on_postgresql, "smith3@shop.example", is_staff=True)
    with recorded_statements() as statements:
        list_users(on_postgresql, OPERATOR, PAGE, search="anna smith")
    assert not any(AS_SETS in statement for statement in statements)


@pytest.mark.usefixtures("few_are_many")
def test_sqlite_looks_people_up(sqlite_url: str, clock: FakeClock) -> None:
    ports = fake_ports(sqlite_url, clock)
    for number in range(9):
        make_user(ports, f"anna{number}@shop.example")
        make_user(ports, f"smith{number}@shop.example")
    assert not compared_as_sets(ports, "anna smith")


def test_rare_word_costs_two_statements(ports: Ports) -> None:
    make_user(ports, "smith@shop.example", first_name="Anna")
    with recorded_statements() as statements:
        list_customers(ports, OPERATOR, PAGE, UserFilter(search="anna smith quimby"))
    assert len(selects(statements)) == 2
    with recorded_statements() as statements:
        list_customers(ports, OPERATOR, PAGE, UserFilter(search="anna"))
    assert len(selects(statements)) == 1


@contextmanager
def _executed() -> Iterator[list[tuple[str, Any]]]:
    """Record statements with their values."""
    recorded: list[tuple[str, Any]] = []

    def record(
        _connection: object, _cursor: object, statement: str, values: Any, *_rest: object
    ) -> None:
        recorded.append((statement, values))

    event.listen(Engine, "before_cursor_execute", record)
    try:
        yield recorded
    finally:
        event.remove(Engine, "before_cursor_execute", record)


def test_postgresql_reads_frequent_words_as_sets(
    on_postgresql: Ports, postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directory, "_FREQUENT", 0)
    page, search = PageRequest(20), UserFilter(search="anna smith")
    plans = {}
    # Rolled back at the end.
    with psycopg.connect(postgresql_url) as connection:
        connection.execute(_FREQUENT_WORDS)
        for as_sets in (False, True):
            monkeypatch.setattr(directory, "_rarely_meet", lambda *_, found=as_sets: found)
            with _executed() as executed:
                list_customers(on_postgresql, OPERATOR, page, search)
            statement, values = executed[-1]
            lines = connection.execute(f"EXPLAIN {statement}", values)
            plans[as_sets] = "\n".join(line for (line,) in lines)
        connection.rollback()
    for as_sets, plan in plans.items():
        assert (re.search(r"Hash (Right )?Semi Join", plan) is not None) is as_sets, plan
        # The set is sorted, and people are found in that order: no one beyond the page is read.
        assert plan.count("Sort Key") == int(as_sets), plan
