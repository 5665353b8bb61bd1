"""What a test leaves in a database or in Valkey does not reach the next one, in any order."""

from collections.abc import Iterator

import psycopg
import pytest
from redis import Redis
from sqlalchemy import create_engine, inspect, text

from app.adapters.database.engines import SchemaRevisions
from app.adapters.database.sql_database import connect_database

pytestmark = [
    pytest.mark.parametrize("turn", ["one", "two"]),
    pytest.mark.xdist_group("isolation"),
]


@pytest.fixture(scope="module")
def left_open() -> Iterator[list["psycopg.Connection[tuple[object, ...]]"]]:
    connections: list[psycopg.Connection[tuple[object, ...]]] = []
    yield connections
    for connection in connections:
        connection.close()


def test_database_is_migrated_and_has_no_rows_of_another_test(
    database_url: str, turn: str
) -> None:
    revisions = SchemaRevisions(database_url)
    assert revisions.current() == revisions.newest()
    database = connect_database(database_url)
    with database.transaction() as session:
        assert session.scalar(text("SELECT count(*) FROM shop")) == 1
        assert session.scalar(text("SELECT count(*) FROM permission_groups")) == 0
        session.execute(text("DELETE FROM shop"))
        session.execute(text("INSERT INTO permission_groups (name) VALUES ('left behind')"))
        assert session.scalar(text("SELECT id FROM permission_groups")) == 1
    database.close()


def test_empty_database_has_no_table(empty_database_url: str, turn: str) -> None:
    engine = create_engine(empty_database_url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        assert inspect(connection).get_table_names() == []
        connection.execute(text("CREATE TABLE left_behind (id integer)"))
    engine.dispose()


def test_open_connection_holds_no_lock_in_the_next_test(
    postgresql_url: str, turn: str, left_open: list["psycopg.Connection[tuple[object, ...]]"]
) -> None:
    left = psycopg.connect(postgresql_url)
    left_open.append(left)
    left.execute("LOCK TABLE shop NOWAIT")


def test_server_without_connections_serves_the_next_test(postgresql_url: str, turn: str) -> None:
    with psycopg.connect(postgresql_url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        assert connection.execute("SELECT count(*) FROM shop").fetchone() == (1,)


def test_valkey_is_empty(redis_url: str, turn: str) -> None:
    with Redis.from_url(redis_url) as redis:
        assert redis.dbsize() == 0
        redis.set("left", "behind")
