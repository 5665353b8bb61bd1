"""Rows that tests of the database port read and write: the shop's name, and users."""

from datetime import UTC, datetime

from sqlalchemy import Select, bindparam, select

from app import models
from app.ports import Database

NOON = datetime(2026, 3, 1, 12, 0, 0, 250_000, tzinfo=UTC)

NAME: Select[*tuple[object, ...]] = select(models.Shop.name).where(
    models.Shop.id == models.SHOP_ID
)
USER: Select[*tuple[object, ...]] = select(
    models.User.id, models.User.first_name, models.User.is_staff, models.User.last_login
).where(models.User.email == bindparam("email"))


def shop_name(database: Database) -> object:
    return database.read(NAME, {})[0].name


def rename_shop(database: Database, name: str) -> None:
    with database.transaction() as session:
        session.get_one(models.Shop, models.SHOP_ID).name = name


def new_user(email: str, **fields: object) -> models.User:
    return models.User(email=email, date_joined=NOON, updated_at=NOON, **fields)
