"""Rows that tests of the database port read and write: the shop's name, and users."""

from datetime import UTC, datetime

from sqlalchemy import Select, bindparam, select

from app.models import ShopRecord, UserRecord
from app.models.shop import SHOP_ID
from app.ports import Database

NOON = datetime(2026, 3, 1, 12, 0, 0, 250_000, tzinfo=UTC)

NAME: Select[*tuple[object, ...]] = select(ShopRecord.name).where(ShopRecord.id == SHOP_ID)
USER: Select[*tuple[object, ...]] = select(
    UserRecord.id, UserRecord.first_name, UserRecord.is_staff, UserRecord.last_login
).where(UserRecord.email == bindparam("email"))


def shop_name(database: Database) -> object:
    return database.read(NAME, {})[0].name


def rename_shop(database: Database, name: str) -> None:
    with database.transaction() as session:
        session.get_one(ShopRecord, SHOP_ID).name = name


def new_user(email: str, **fields: object) -> UserRecord:
    return UserRecord(email=email, date_joined=NOON, updated_at=NOON, **fields)
