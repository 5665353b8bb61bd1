"""How long a page of a million customers takes: any order, any depth, any search."""

import sqlite3
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from statistics import median

import psycopg
from sqlalchemy import make_url

from app.adapters.database.migrations import upgrade
from app.composition.settings import DEFAULT_DATABASE_URL, Settings, load_settings
from app.composition.wiring import connect
from app.domain.accounts.search import UserFilter, UserSort, words_of
from app.domain.authorization.actor import OPERATOR
from app.domain.values.pages import PageRequest
from app.ports import Ports
from app.services.people.directory import list_customers

PEOPLE = 1_000_000
GOAL = 20.0
"""Milliseconds that a page may take."""

_CHUNK = 50_000
_TIMES = 15
_PAGE = 50
_START = datetime(2020, 1, 1, tzinfo=UTC)
_FIRST = [
    "Anna",
    "Emma",
    "Mia",
    "Lena",
    "Lea",
    "Sofia",
    "Lara",
    "Maria",
    "Laura",
    "Julia",
    "John",
    "Paul",
    "Ben",
    "Jonas",
    "Luis",
    "Felix",
    "Noah",
    "Max",
    "Jean-Luc",
    "Zoë",
    "Émile",
    "Åsa",
    "Øyvind",
    "Ömer",
    "Łukasz",
    "Chloé",
    "José",
    "Ángel",
    "Nguyễn",
    "Yusuf",
    "Fatima",
    "Olga",
    "Ivan",
]
_LAST = [
    "Smith",
    "Müller",
    "Schmidt",
    "Schneider",
    "Fischer",
    "Weber",
    "Meyer",
    "Wagner",
    "Becker",
    "Hoffmann",
    "Jones",
    "Taylor",
    "Brown",
    "Garcia",
    "Martín",
    "López",
    "Rossi",
    "Bianchi",
    "Dubois",
    "Laurent",
    "Nowak",
    "Kowalski",
    "Andersson",
    "Hansen",
    "Nielsen",
]
_ENDINGS = ("", "mann", "er", "son", "s", "ova", "ski", "ez", "ini", "ström", "berg", "land")
_SEARCHES = (
    "a",
    "anna",
    "smith",
    "smith anna",
    "zoë nowakberg",
    "anna.smith4711@",
    "example.com",
    "e x",
    "nobody",
)


def main() -> None:
    """Fill a database and print how long each page takes (SQLite unless ``DATABASE_URL`` says)."""
    settings = load_settings()
    with tempfile.TemporaryDirectory() as folder:
        url = settings.database_url
        if url == DEFAULT_DATABASE_URL:
            url = f"sqlite:///{folder}/lists.sqlite3"
        started_at = time.perf_counter()
        fill(url)
        print(f"{PEOPLE:,} customers added in {time.perf_counter() - started_at:.0f} s")
        ports = connect(Settings(database_url=url))
        worst = max([*_orders(ports), *_searches(ports)])
        ports.database.close()
    print(f"the slowest page: {worst:.1f} ms (the goal: {GOAL:.0f})")


def _orders(ports: Ports) -> Iterator[float]:
    depths = {"first": 0, "middle": PEOPLE // 2, "last": PEOPLE - 2 * _PAGE}
    for sort in (None, *UserSort):
        for name, depth in depths.items():
            request = PageRequest(_PAGE, cursor=_cursor(sort, depth))
            label = f"by {'age' if sort is None else sort.lower()}, {name} page"
            yield _time(ports, label, request, UserFilter(sort=sort))


def _searches(ports: Ports) -> Iterator[float]:
    for search in _SEARCHES:
        filter_ = UserFilter(search=search)
        yield _time(ports, f"search {search!r}, first page", PageRequest(_PAGE), filter_)
        # The last page of whatever is found, read from its end.
        end = PageRequest(_PAGE, backwards=True)
        yield _time(ports, f"search {search!r}, last page", end, filter_)


def _time(ports: Ports, label: str, request: PageRequest, filter_: UserFilter) -> float:
    milliseconds = []
    count = 0
    for _ in range(_TIMES):
        started_at = time.perf_counter()
        count = len(list_customers(ports, OPERATOR, request, filter_).items)
        milliseconds.append((time.perf_counter() - started_at) * 1000)
    print(
        f"{label:44} {median(milliseconds):7.2f} ms,"
        f" {max(milliseconds):7.2f} at most ({count} shown)"
    )
    return median(milliseconds)


def _cursor(sort: UserSort | None, depth: int) -> tuple[str | int, ...]:
    """A cursor at that depth of the list; near enough where names repeat."""
    if depth == 0:
        return ()
    if sort is None:
        return (depth,)
    share = depth / PEOPLE
    if sort in (UserSort.CREATED_AT, UserSort.LAST_MODIFIED_AT):
        return (_joined(depth).isoformat(), depth)
    if sort is UserSort.EMAIL:
        return (sorted(_person(key)[1] for key in range(1, PEOPLE, 997))[int(share * 1000)],)
    which = 2 if sort is UserSort.FIRST_NAME else 3
    names = sorted(_person(key)[which] for key in range(1, PEOPLE, 997))
    return (names[int(share * 1000)], "", 0)


def fill(url: str, *, after: int = 0) -> None:
    """A migrated database at ``url`` with so many customers, and the words they are found by.

    Their keys follow upon ``after``.
    """
    upgrade(url)
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite":
        _fill_sqlite(str(parsed.database), after)
    else:
        _fill_postgresql(parsed.render_as_string(hide_password=False), after)


_USERS = "users (id, email, first_name, last_name, is_staff, date_joined, updated_at)"
_WORDS = "user_words (user_id, word, is_staff)"


def _fill_sqlite(path: str, after: int) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous=OFF")
    for keys in _chunks(after):
        connection.execute("BEGIN")
        connection.executemany(
            f"INSERT INTO {_USERS} VALUES (?, ?, ?, ?, 0, ?, ?)",
            ((*person, joined, joined) for person, joined in _people(keys)),
        )
        connection.executemany(f"INSERT INTO {_WORDS} VALUES (?, ?, 0)", _words(keys))
        connection.execute("COMMIT")
    connection.close()


def _fill_postgresql(url: str, after: int) -> None:
    with psycopg.connect(url, autocommit=True) as connection, connection.cursor() as cursor:
        for keys in _chunks(after):
            with cursor.copy(f"COPY {_USERS} FROM STDIN") as copy:
                for person, joined in _people(keys):
                    copy.write_row((*person, False, f"{joined}+00", f"{joined}+00"))
            with cursor.copy(f"COPY {_WORDS} FROM STDIN") as copy:
                for key, word in _words(keys):
                    copy.write_row((key, word, False))
        cursor.execute("ANALYZE")


def _chunks(after: int) -> Iterator[range]:
    end = after + PEOPLE + 1
    for start in range(after + 1, end, _CHUNK):
        yield range(start, min(start + _CHUNK, end))


def _people(keys: range) -> Iterator[tuple[tuple[int, str, str, str], str]]:
    for key in keys:
        yield _person(key), f"{_joined(key):%Y-%m-%d %H:%M:%S.%f}"


def _words(keys: range) -> Iterator[tuple[int, str]]:
    for key in keys:
        _, email, first, last = _person(key)
        yield from ((key, word) for word in words_of(email, first, last))


def _person(key: int) -> tuple[int, str, str, str]:
    """Made-up, the same in every run; spread by a multiplication, as chance would."""
    spread = key * 2_654_435_761 % 2**32
    first = _FIRST[spread % len(_FIRST)]
    stem = _LAST[spread // 64 % len(_LAST)]
    last = stem + _ENDINGS[spread // 4096 % len(_ENDINGS)]
    domain = "example.com" if key % 3 else f"mail{key % 1000}.example"
    return key, f"{first}.{stem}{key}@{domain}".lower(), first, last


def _joined(key: int) -> datetime:
    return _START + timedelta(seconds=key * 60)
