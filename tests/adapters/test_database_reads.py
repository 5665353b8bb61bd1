"""The raw read of the hot path, and servers that come and go."""

import psycopg
import pytest
from sqlalchemy import Select, bindparam, func, literal, select, update

from app import models
from app.adapters.database.sql_database import connect_database
from app.domain.values.installation import Unreachable
from app.ports import Database
from app.services.authorization.shop_state import moment
from tests.adapters.database_rows import NOON, USER, new_user, rename_shop, shop_name
from tests.fixtures.statements import recorded_statements

pytestmark = pytest.mark.both_databases

_JOINED: Select[*tuple[object, ...]] = select(
    func.aggregate_strings(models.User.email, "\x1e").label("emails"),
    literal("constant").label("constant"),
).where(models.User.first_name == bindparam("first_name"), models.User.is_active.is_(True))


def test_raw_read_gives_the_same_on_every_database(database: Database) -> None:
    with database.transaction() as session:
        session.add_all(
            [
                new_user("a@example.com", first_name="Ægir 🛍", is_staff=True, last_login=NOON),
                new_user("b@example.com", first_name="Ægir 🛍"),
            ]
        )

    [staff] = database.read(USER, {"email": "a@example.com"})
    [customer] = database.read(USER, {"email": "b@example.com"})

    assert staff.first_name == "Ægir 🛍"
    assert (bool(staff.is_staff), bool(customer.is_staff)) == (True, False)
    assert (moment(staff.last_login), customer.last_login) == (NOON, None)
    assert database.read(USER, {"email": "nobody@example.com"}) == []


def test_raw_read_keeps_the_constants_of_its_statement(database: Database) -> None:
    with database.transaction() as session:
        session.add_all(
            [new_user("a@example.com", first_name="A"), new_user("b@example.com", first_name="A")]
        )
        session.add(new_user("c@example.com", first_name="A", is_active=False))

    [row] = database.read(_JOINED, {"first_name": "A"})

    assert set(row.emails.split("\x1e")) == {"a@example.com", "b@example.com"}
    assert row.constant == "constant"


@pytest.mark.parametrize("text", ["' OR 1=1 --", "%(name)s", "%s", ":name", "?", "\\", '"'])
def test_parameters_are_never_part_of_the_statement(database: Database, text: str) -> None:
    with database.transaction() as session:
        session.add_all([new_user("a@example.com", first_name=text), new_user("b@example.com")])

    assert database.read(_JOINED, {"first_name": text})[0].emails == "a@example.com"


def test_raw_read_is_one_statement_without_transaction(database: Database) -> None:
    shop_name(database)

    with recorded_statements() as statements:
        shop_name(database)

    assert len(statements) == 1
    assert statements[0].startswith("SELECT")


def test_failed_read_returns_its_connection(database: Database) -> None:
    for _ in range(40):
        with pytest.raises((KeyError, psycopg.Error)):
            database.read(USER, {})

    assert shop_name(database)


def test_reading_continues_after_the_server_closes_connections(postgresql_url: str) -> None:
    database = connect_database(postgresql_url)
    before = shop_name(database)

    _cut_connections(postgresql_url)

    assert shop_name(database) == before
    database.close()


@pytest.mark.first
def test_broken_idle_connection_is_replaced_before_use(postgresql_url: str) -> None:
    database = connect_database(postgresql_url, ping_after=0)
    rename_shop(database, "Before")
    with database.reading() as session:
        assert session.scalar(select(models.Shop.name)) == "Before"

    _cut_connections(postgresql_url)

    with database.reading() as session:
        assert session.scalar(select(models.Shop.name)) == "Before"
    rename_shop(database, "After")
    assert shop_name(database) == "After"
    database.close()


def test_unreachable_server_is_an_error() -> None:
    database = connect_database("postgresql://nobody@127.0.0.1:1/nowhere")

    with pytest.raises(Unreachable, match="port 1 failed") as refused:
        shop_name(database)
    assert refused.value.service == "The database"
    with pytest.raises(Unreachable), database.transaction() as session:
        session.execute(update(models.Shop).values(name="x"))
    with pytest.raises(Unreachable), database.reading() as session:
        session.execute(select(models.Shop.name))
    assert not database.in_transaction


def _cut_connections(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
