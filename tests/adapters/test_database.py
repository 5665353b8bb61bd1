"""The database port, on SQLite and PostgreSQL alike."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta, timezone
from pathlib import Path
from threading import Barrier, Event

import pytest
from sqlalchemy import delete, func, select, text, update
from sqlalchemy.exc import IntegrityError, OperationalError

from app import models
from app.adapters.database.migrations import upgrade
from app.adapters.database.sql_database import connect_database
from app.domain.values.installation import SchemaBehind, Unreachable
from app.ports import Database
from app.ports.database import UpgradeProgress
from tests.adapters.database_rows import NOON, USER, new_user, rename_shop, shop_name

pytestmark = pytest.mark.both_databases

_MOST_PARAMETERS = 65_535
"""What PostgreSQL's protocol can count."""

WAIT = 30
"""Seconds after which a test that should never wait so long gives up."""


def test_transaction_commits_at_the_end_of_its_block(database: Database) -> None:
    rename_shop(database, "Renamed")

    assert shop_name(database) == "Renamed"


def test_failed_transaction_is_rolled_back(database: Database) -> None:
    before = shop_name(database)

    def fail_half_way() -> None:
        with database.transaction() as session:
            session.get_one(models.Shop, models.SHOP_ID).name = "Never"
            session.flush()
            raise LookupError

    with pytest.raises(LookupError):
        fail_half_way()

    assert shop_name(database) == before


def test_database_errors_are_raised_in_their_own_transaction(database: Database) -> None:
    with pytest.raises(IntegrityError), database.transaction() as session:
        session.add_all([new_user("a@example.com"), new_user("a@example.com")])

    assert not database.in_transaction
    assert database.read(USER, {"email": "a@example.com"}) == []


def test_thread_knows_whether_it_is_in_a_transaction(database: Database) -> None:
    def is_in_one() -> bool:
        return database.in_transaction

    before = is_in_one()
    with database.transaction(), ThreadPoolExecutor(1) as other:
        inside = is_in_one()
        elsewhere = other.submit(is_in_one).result(WAIT)
    with database.reading():
        while_reading = is_in_one()

    assert inside
    assert [before, elsewhere, while_reading, is_in_one()] == [False] * 4


def test_transaction_inside_another_is_refused_at_once(database: Database) -> None:
    with database.transaction(), pytest.raises(RuntimeError, match="open already"):
        rename_shop(database, "From inside")

    rename_shop(database, "Works again")
    assert shop_name(database) == "Works again"


def test_second_writer_waits_until_the_first_has_committed(sqlite_url: str) -> None:
    database = connect_database(sqlite_url)
    written, go_on = Event(), Event()

    def first() -> None:
        with database.transaction() as session:
            session.get_one(models.Shop, models.SHOP_ID).name = "first"
            session.flush()
            written.set()
            assert go_on.wait(WAIT)

    def second() -> str:
        with database.transaction() as session:
            return session.get_one(models.Shop, models.SHOP_ID).name

    with ThreadPoolExecutor(2) as threads:
        holding = threads.submit(first)
        assert written.wait(WAIT)
        waiting = threads.submit(second)
        assert shop_name(database) != "first"
        go_on.set()
        holding.result(WAIT)
        assert waiting.result(WAIT) == "first"
    database.close()


def test_concurrent_writes_are_all_stored(database: Database) -> None:
    writers, changes = 4, 10
    together = Barrier(writers, timeout=60)

    def count() -> None:
        together.wait(WAIT)
        for _ in range(changes):
            with database.transaction() as session:
                shop = session.get_one(models.Shop, models.SHOP_ID, with_for_update=True)
                shop.keys_version += 1

    before = database.read(select(models.Shop.keys_version), {})[0].keys_version
    with ThreadPoolExecutor(writers) as threads:
        for done in [threads.submit(count) for _ in range(writers)]:
            done.result(WAIT)
    after = database.read(select(models.Shop.keys_version), {})[0].keys_version

    assert isinstance(before, int)
    assert after == before + writers * changes


def test_readers_neither_wait_for_writers_nor_see_uncommitted_data(database: Database) -> None:
    before = shop_name(database)

    with database.transaction() as session:
        session.get_one(models.Shop, models.SHOP_ID).name = "Not yet"
        session.flush()
        with ThreadPoolExecutor(1) as other:
            assert other.submit(shop_name, database).result(WAIT) == before

    assert shop_name(database) == "Not yet"


def test_every_statement_of_a_read_sees_committed_data(database: Database) -> None:
    names = select(models.Shop.name)
    with database.reading() as session:
        before = session.scalar(names)
        rename_shop(database, "Meanwhile")
        after = session.scalar(names)

    assert before != after == "Meanwhile"


def test_session_without_user_cannot_be_stored(database: Database) -> None:
    with pytest.raises(IntegrityError), database.transaction() as session:
        session.add(_session(user_id=404))


def test_deleting_a_user_deletes_their_sessions(database: Database) -> None:
    with database.transaction() as session:
        user = new_user("a@example.com")
        session.add(user)
        session.flush()
        session.add(_session(user.id))

    with database.transaction() as session:
        session.execute(delete(models.User))

    with database.reading() as session:
        assert session.scalar(select(func.count()).select_from(models.Session)) == 0


def test_there_is_exactly_one_row_of_settings(database: Database) -> None:
    with pytest.raises(IntegrityError), database.transaction() as session:
        session.add(models.Shop(id=models.SHOP_ID + 1, name="Another"))


def test_times_are_read_in_utc(database: Database) -> None:
    abroad = NOON.astimezone(timezone(timedelta(hours=5, minutes=30)))
    with database.transaction() as session:
        session.add(new_user("a@example.com", last_login=abroad))

    with database.reading() as session:
        read = session.scalars(select(models.User.last_login)).one()

    assert read == NOON
    assert read is not None
    assert read.utcoffset() == timedelta(0)


def test_sqlite_file_is_created_with_its_folder(tmp_path: Path) -> None:
    file = tmp_path / "new" / "folder" / "shop.sqlite3"
    connect_database(f"sqlite:///{file}").close()

    def stop(_progress: UpgradeProgress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        upgrade(f"sqlite:///{file}", stop)
    assert file.exists()


def test_non_database_file_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "shop.sqlite3"
    file.write_text("a letter")
    database = connect_database(f"sqlite:///{file}")

    with pytest.raises(Unreachable, match="not a database"):
        shop_name(database)
    with pytest.raises(Unreachable, match="not a database"), database.transaction() as session:
        session.execute(update(models.Shop).values(name="x"))
    database.close()


def test_uncreatable_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("a letter")

    database = connect_database(f"sqlite:///{tmp_path / 'folder' / 'shop.sqlite3'}")
    with pytest.raises(Unreachable, match=r"its folder .* cannot be made"):
        shop_name(database)
    database.close()


@pytest.mark.first
@pytest.mark.parametrize("parameters", [1_000, 70_000])
def test_statement_with_too_many_parameters_is_no_outage(
    postgresql_url: str, parameters: int
) -> None:
    database = connect_database(postgresql_url)
    query = select(models.User.id).where(models.User.id.in_(range(parameters)))

    def find() -> int:
        with database.reading() as session:
            return len(session.scalars(query).all())

    if parameters > _MOST_PARAMETERS:
        with pytest.raises(OperationalError):
            find()
    else:
        assert find() == 0
    assert shop_name(database)
    database.close()


def test_missing_tables_are_distinguished_from_failures(empty_database_url: str) -> None:
    database = connect_database(empty_database_url)

    with pytest.raises(SchemaBehind, match="flask db upgrade"):
        shop_name(database)
    with pytest.raises(SchemaBehind), database.transaction() as session:
        session.execute(update(models.Shop).values(name="x"))
    database.close()


def _session(user_id: int) -> models.Session:
    return models.Session(
        token="x" * 16, user_id=user_id, origin="password", created_at=NOON, expires_at=NOON
    )


def test_missing_column_is_distinguished_from_failures(database: Database) -> None:
    with database.transaction() as session:
        session.execute(text("ALTER TABLE permission_groups RENAME COLUMN name TO former_name"))
    with pytest.raises(SchemaBehind), database.transaction() as session:
        session.add(models.Group(name="Till"))
    database.close()  # SQLite renames no column that its connection hasn't read
    with database.transaction() as session:
        session.execute(text("ALTER TABLE permission_groups RENAME COLUMN former_name TO name"))
