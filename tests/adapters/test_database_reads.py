"""The raw read of the hot path, and servers that come and go."""

from collections.abc import Iterator
from datetime import UTC, datetime

import psycopg
import pytest
from sqlalchemy import Select, bindparam, func, literal, select, update

from app.adapters.database import connect_database
from app.domain.faults import Unreachable
from app.models import ShopRecord, UserRecord
from app.models.shop import SHOP_ID
from app.ports import Database
from app.services.callers import moment
from tests.fixtures.statements import recorded_statements

NOON = datetime(2026, 3, 1, 12, 0, 0, 250_000, tzinfo=UTC)

_NAME: Select[*tuple[object, ...]] = select(ShopRecord.name).where(ShopRecord.id == SHOP_ID)
_USER: Select[*tuple[object, ...]] = select(
    UserRecord.id, UserRecord.first_name, UserRecord.is_staff, UserRecord.last_login
).where(UserRecord.email == bindparam("email"))
_JOINED: Select[*tuple[object, ...]] = select(
    func.aggregate_strings(UserRecord.email, "\x1e"), literal("constant")
).where(UserRecord.first_name == bindparam("first_name"), UserRecord.is_active.is_(True))


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    connected = connect_database(database_url)
    yield connected
    connected.close()


def _name(database: Database) -> object:
    return database.read(_NAME, {})[0][0]


def _rename(database: Database, name: str) -> None:
    with database.transaction() as session:
        session.get_one(ShopRecord, SHOP_ID).name = name


def _user(email: str, **fields: object) -> UserRecord:
    return UserRecord(email=email, date_joined=NOON, updated_at=NOON, **fields)


def test_the_raw_read_gives_the_same_on_every_database(database: Database) -> None:
    with database.transaction() as session:
        session.add_all(
            [
                _user("a@example.com", first_name="Ægir 🛍", is_staff=True, last_login=NOON),
                _user("b@example.com", first_name="Ægir 🛍"),
            ]
        )

    [(_, first_name, is_staff, last_login)] = database.read(_USER, {"email": "a@example.com"})
    [(_, _, is_no_staff, never)] = database.read(_USER, {"email": "b@example.com"})

    assert first_name == "Ægir 🛍"
    assert (bool(is_staff), bool(is_no_staff)) == (True, False)
    assert (moment(last_login), never) == (NOON, None)
    assert database.read(_USER, {"email": "nobody@example.com"}) == []


def test_the_raw_read_keeps_the_constants_of_its_statement(database: Database) -> None:
    with database.transaction() as session:
        session.add_all(
            [_user("a@example.com", first_name="A"), _user("b@example.com", first_name="A")]
        )
        session.add(_user("c@example.com", first_name="A", is_active=False))

    [(joined, constant)] = database.read(_JOINED, {"first_name": "A"})

    assert set(str(joined).split("\x1e")) == {"a@example.com", "b@example.com"}
    assert constant == "constant"


@pytest.mark.parametrize("text", ["' OR 1=1 --", "%(name)s", "%s", ":name", "?", "\\", '"'])
def test_a_parameter_is_never_part_of_the_statement(database: Database, text: str) -> None:
    with database.transaction() as session:
        session.add_all([_user("a@example.com", first_name=text), _user("b@example.com")])

    assert database.read(_JOINED, {"first_name": text})[0][0] == "a@example.com"


def test_the_raw_read_is_one_statement_and_opens_no_transaction(database: Database) -> None:
    _name(database)

    with recorded_statements() as statements:
        _name(database)

    assert len(statements) == 1
    assert statements[0].startswith("SELECT")


def test_a_read_that_fails_gives_its_connection_back(database: Database) -> None:
    for _ in range(40):
        with pytest.raises((KeyError, psycopg.Error)):
            database.read(_USER, {})

    assert _name(database)


def test_reading_goes_on_after_the_server_cut_every_connection(postgresql_url: str) -> None:
    database = connect_database(postgresql_url)
    before = _name(database)

    _cut_connections(postgresql_url)

    assert _name(database) == before
    database.close()


def test_an_idle_connection_that_broke_is_replaced_before_it_is_used(postgresql_url: str) -> None:
    database = connect_database(postgresql_url, ping_after=0)
    _rename(database, "Before")
    with database.reading() as session:
        assert session.scalar(select(ShopRecord.name)) == "Before"

    _cut_connections(postgresql_url)

    with database.reading() as session:
        assert session.scalar(select(ShopRecord.name)) == "Before"
    _rename(database, "After")
    assert _name(database) == "After"
    database.close()


def test_a_server_that_is_gone_is_an_error_and_no_endless_loop() -> None:
    database = connect_database("postgresql://nobody@127.0.0.1:1/nowhere")

    with pytest.raises(Unreachable, match="port 1 failed") as refused:
        _name(database)
    assert refused.value.service == "The database"
    with pytest.raises(Unreachable), database.transaction() as session:
        session.execute(update(ShopRecord).values(name="x"))
    with pytest.raises(Unreachable), database.reading() as session:
        session.execute(select(ShopRecord.name))
    assert not database.in_transaction


def _cut_connections(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
