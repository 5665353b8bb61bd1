"""No page of the console fails, whatever texts the rows hold that it shows."""

import sqlite3
from collections.abc import Iterator

import pytest
from sqlalchemy import Column, String, Text

from app.composition.factory import create_app
from app.composition.settings import Settings
from app.models.record import Record
from app.ports import Ports
from tests.console.populated_shop import ADMIN, open_console, populate
from tests.fakes.clock import FakeClock
from tests.fixtures.databases import StoredRows
from tests.fixtures.one_of_each import InTurn
from tests.fixtures.ports import fake_ports
from tests.hostile.test_invalid_page_input import good_path

pytestmark = pytest.mark.first

ODD = {
    "long": "x" * 3000,
    "empty": "",
    "blank": "  \t\n ",
    "right to left": "\u202e\u2067أبجد\u2069 <b>&\"'",
    "control characters": "a\x01\x1b\x7f\x85\u2028b\ufffe",
    "templates": "{0} {name} %s %(x)s {{ x }} {% x %}",
    "joined emoji": "👨‍👩‍👧‍👦🏳️‍🌈" * 50,
    "digits": "9" * 400,
    "half of JSON": "[",
    "half of a URL": "http://[",
    "a script's URL": "javascript:alert(1)",
}

WORDS = {
    *("action", "amr", "codes", "country", "currency", "event", "kind", "language_code"),
    *("account_type", "method", "origin", "password_login_mode", "reason", "scope", "slug"),
    *("permissions", "staff_second_factor", "status", "subject_claim", "subject_type", "type"),
    *("language", "mode", "second_factor", "version_num", "public_key"),
}
"""Columns of a few words that the code knows, or that it wrote itself."""

SECRET = ("secret", "sealed", "encrypted", "private_key", "token", "hash", "digest", "key", "salt")


@pytest.fixture
def shop(sqlite_url: str, clock: FakeClock) -> Ports:
    ports = fake_ports(sqlite_url, clock)
    populate(ports)
    return ports


def free_texts() -> Iterator[Column[str]]:
    """Yield the columns whose text people, apps or providers chose."""
    for table in Record.metadata.sorted_tables:
        for column in table.columns:
            is_word = column.name in WORDS or column.name.endswith(("_kind", "_sender"))
            is_secret = any(part in column.name for part in SECRET)
            if type(column.type) in (String, Text) and not (is_word or is_secret):
                yield column


def test_every_page_shows_odd_texts(shop: Ports, sqlite_url: str, in_turn: InTurn) -> None:
    app = create_app(shop, Settings())
    desk = open_console(app, shop, ADMIN)
    paths = [
        good_path(rule)
        for rule in app.url_map.iter_rules()
        if "GET" in (rule.methods or ()) and rule.endpoint.startswith("console.")
    ]
    file = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)
    kept = StoredRows.of(file)
    columns = [*free_texts()]
    failed, shown, changed = [], 0, 0
    for label, text in ODD.items():
        file.execute("BEGIN")
        changed += sum(put(file, column, text) for column in columns)
        file.execute("COMMIT")
        for path in in_turn(paths, len(paths) // len(ODD) + 1):
            status = desk.client.get(path).status_code
            shown += status == 200
            failed += [f"{label}: {path}: {status}"] if status >= 500 else []
        kept.put_back(file)
    file.close()
    assert failed == []
    assert shown > 6 * len(ODD)
    assert changed > 80 * len(ODD)


def put(file: sqlite3.Connection, column: Column[str], text: str) -> int:
    """Write ``text`` into each row; with a number where the column is unique."""
    change = f'UPDATE "{column.table.name}" SET "{column.name}" = ? || %s WHERE "{column.name}" IS NOT NULL'  # noqa: E501, S608
    for number in ("''", "rowid"):
        try:
            return file.execute(change % number, (text,)).rowcount
        except (sqlite3.IntegrityError, sqlite3.OperationalError):
            continue  # unique, or a table without row numbers
    return 0
