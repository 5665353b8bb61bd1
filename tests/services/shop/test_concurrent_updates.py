"""Concurrent changes of the settings, on PostgreSQL: SQLite has one writer at a time."""

from collections.abc import Iterator
from threading import Thread

import psycopg
import pytest
from sqlalchemy import Engine, event

from app.domain.authorization.actor import OPERATOR
from app.domain.shop.settings import ShopUpdate
from app.ports import Ports
from app.services.shop.settings import show_settings, update_shop
from tests.builders.audit import trail

_BLOCKED = (
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


@pytest.fixture
def database_url(postgresql_url: str) -> str:
    return postgresql_url


@pytest.fixture
def second_update(second_process: Ports, database_url: str) -> Iterator[Thread]:
    """A second change that starts when the first has read the row and is about to write it.

    The first goes on when the second has finished or waits for a lock.
    """
    change = ShopUpdate(name="Second")
    second = Thread(target=update_shop, args=(second_process, OPERATOR, change), daemon=True)

    def start(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        if not statement.startswith("UPDATE shop") or second.ident is not None:
            return
        second.start()
        with psycopg.connect(database_url, autocommit=True) as observer:
            while second.is_alive() and observer.execute(_BLOCKED).fetchone() == (0,):
                second.join(0.01)

    event.listen(Engine, "before_cursor_execute", start)
    yield second
    event.remove(Engine, "before_cursor_execute", start)


def test_audit_log_records_the_value_that_a_concurrent_change_replaced(
    ports: Ports, second_update: Thread
) -> None:
    original = show_settings(ports, OPERATOR).name

    update_shop(ports, OPERATOR, ShopUpdate(name="First"))
    second_update.join(60)

    assert [(row.before["name"], row.after["name"]) for row in trail(ports, "shop.update")] == [
        (original, "First"),
        ("First", "Second"),
    ]
    assert show_settings(ports, OPERATOR).name == "Second"
