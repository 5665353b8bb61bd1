"""``python -m benchmarks.scale rows``: what it fills is like real, and its goals are judged."""

from collections.abc import Iterator

import psycopg
import pytest

from app.domain.accounts.search import words_of
from benchmarks.receiver import receiver
from benchmarks.scale import row_housekeeping, row_sizes, row_work
from benchmarks.scale.filling import RARE, fill
from benchmarks.scale.row_work import FilledShop, Work
from benchmarks.scale.rows import MAX_SEARCH, Compared, Times

ROWS = 1000

_INDEXES = "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1"


@pytest.fixture
def indexes(postgresql_url: str) -> list[tuple[object, ...]]:
    """The indexes of a database before it is filled."""
    with psycopg.connect(postgresql_url) as connection:
        return connection.execute(_INDEXES).fetchall()


@pytest.fixture
def shop(postgresql_url: str, indexes: list[tuple[object, ...]]) -> Iterator[FilledShop]:
    assert indexes
    fill(postgresql_url, ROWS)
    with receiver() as port:
        shop = FilledShop(postgresql_url, ROWS, port)
        yield shop
        shop.close()


def test_filled_database_is_like_a_real_one_and_every_kind_of_work_can_be_done_again(
    shop: FilledShop, indexes: list[tuple[object, ...]]
) -> None:
    is_like_one_that_the_service_wrote(shop, indexes)
    every_kind_of_work_can_be_done_again_and_again(shop)


def is_like_one_that_the_service_wrote(
    shop: FilledShop, indexes: list[tuple[object, ...]]
) -> None:
    with psycopg.connect(shop.url) as connection:
        people = connection.execute(
            "SELECT email, first_name, last_name, array_agg(word) FROM users"
            " JOIN user_words ON user_id = id GROUP BY id"
        ).fetchall()
        assert len(people) == ROWS + 1
        for email, first, last, words in people:
            assert set(words) == words_of(email, first, last)
        assert sum((first, last) == RARE for _, first, last, _ in people) == 10
        assert _one(connection, "SELECT count(*) FROM deliveries") == ROWS
        assert (
            _one(
                connection,
                "SELECT count(*) FROM deliveries d JOIN delivery_attempts a ON delivery_id = d.id"
                " JOIN outbox_events e ON e.id = d.note_id JOIN webhooks w ON w.id = webhook_id"
                " WHERE e.subject_id = d.subject_id AND d.payload::json IS NOT NULL",
            )
            == ROWS
        )
        assert indexes == connection.execute(_INDEXES).fetchall()


def every_kind_of_work_can_be_done_again_and_again(shop: FilledShop) -> None:
    for work in (*row_work.works(MAX_SEARCH), *row_housekeeping.works(due=100)):
        for _ in range(2):
            if work.before is not None:
                work.before(shop)
            work.do(shop)
    deleted = row_housekeeping.delete_many(shop)

    assert deleted.deliveries == ROWS // 10
    assert any(line.startswith("- together") for line in row_sizes.report(shop.url))


def test_work_is_too_slow_by_its_ratio_and_a_search_by_its_time() -> None:
    def compared(few: float, many: float, limit: float = 0.0, passed: float = 1.0) -> Compared:
        work = Work("work", lambda _shop: None, limit=limit)
        return Compared.of(work, Times([few], [1.0]), Times([many], [passed]))

    assert compared(10.0, 11.2).is_too_slow
    assert "too slow" in compared(10.0, 11.2).line
    assert not compared(10.0, 10.9).is_too_slow
    assert not compared(1.0, 1.19).is_too_slow, "a difference of 0.19 ms is chance"
    assert compared(1.0, 1.0, MAX_SEARCH, passed=301.0).is_too_slow
    assert not compared(1.0, 50.0, MAX_SEARCH, passed=299.0).is_too_slow
    assert "too slow" not in compared(1.0, 50.0, MAX_SEARCH, passed=299.0).line


def _one(connection: psycopg.Connection, query: str) -> object:
    (row,) = connection.execute(query.encode()).fetchall()
    return row[0]
