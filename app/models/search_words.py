"""The words that people, apps and webhooks are found by, kept in step with their records."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import Connection, Index, String, delete, event, insert, inspect, select
from sqlalchemy.orm import Mapped, Mapper, mapped_column

from app.domain.accounts.search import ADDRESS_FIELDS, MAX_WORD_LENGTH, words_in, words_of
from app.models.apps import App
from app.models.record import Record, deleted_with
from app.models.users import Address, User
from app.models.webhooks import Webhook

WORD = String(MAX_WORD_LENGTH).with_variant(String(MAX_WORD_LENGTH, collation="C"), "postgresql")
"""Compared by code points on every database, so that a beginning is a range of an index."""

_KEPT = ("email", "first_name", "last_name", "is_staff")


class UserWord(Record):
    """A word that finds a person, folded by ``app.domain.accounts.search``."""

    __tablename__ = "user_words"
    __table_args__ = (
        Index("ix_user_words_search", "is_staff", "word", "user_id"),
        {"sqlite_with_rowid": False},
    )

    user_id: Mapped[int] = deleted_with("users.id", primary_key=True)
    word: Mapped[str] = mapped_column(WORD, primary_key=True)
    is_staff: Mapped[bool]


def write_user_words(connection: Connection, user_ids: Collection[int]) -> None:
    """Write the words of these people anew, from what is stored of them and their addresses.

    For statements that write many rows at once; a record that is written does it by itself.
    """
    columns = (User.id, *(getattr(User, name) for name in _KEPT))
    people = connection.execute(select(*columns).where(User.id.in_(user_ids))).all()
    _write(connection, people, _addresses_of(connection, user_ids))


def _addresses_of(
    connection: Connection, user_ids: Collection[int]
) -> Mapping[int, list[Mapping[str, str]]]:
    """Return the addresses of each of these people, the newest first."""
    address = Address
    columns = [getattr(address, name) for name in ADDRESS_FIELDS]
    query = select(address.user_id, *columns).where(address.user_id.in_(user_ids))
    found: dict[int, list[Mapping[str, str]]] = defaultdict(list)
    for owner, *texts in connection.execute(query.order_by(address.user_id, address.id.desc())):
        found[owner].append(dict(zip(ADDRESS_FIELDS, texts, strict=True)))
    return found


def _write(
    connection: Connection, people: Iterable[Any], addresses: Mapping[int, list[Mapping[str, str]]]
) -> None:
    keys = [one.id for one in people]
    rows = [
        {"user_id": one.id, "word": word, "is_staff": one.is_staff}
        for one in people
        for word in words_of(one.email, one.first_name, one.last_name, addresses.get(one.id, ()))
    ]
    connection.execute(delete(UserWord).where(UserWord.user_id.in_(keys)))
    if rows:
        connection.execute(insert(UserWord), rows)


# What changes a person's name, email or addresses need not know that there is an index of words.


@event.listens_for(User, "after_insert")
def _add(_mapper: Mapper[User], connection: Connection, user: User) -> None:
    words = words_of(user.email, user.first_name, user.last_name)
    connection.execute(
        insert(UserWord),
        [{"user_id": user.id, "word": word, "is_staff": user.is_staff} for word in words],
    )


@event.listens_for(User, "after_update")
def _replace(_mapper: Mapper[User], connection: Connection, user: User) -> None:
    if _has_changed(user, _KEPT):
        _write(connection, [user], _addresses_of(connection, [user.id]))


@event.listens_for(Address, "after_insert")
@event.listens_for(Address, "after_delete")
def _follow(_mapper: Mapper[Address], connection: Connection, address: Address) -> None:
    write_user_words(connection, [address.user_id])


@event.listens_for(Address, "after_update")
def _follow_change(mapper: Mapper[Address], connection: Connection, address: Address) -> None:
    if _has_changed(address, ADDRESS_FIELDS):
        _follow(mapper, connection, address)


def _has_changed(record: Record, names: tuple[str, ...]) -> bool:
    state = inspect(record)
    return any(state.attrs[name].history.has_changes() for name in names)


_OF_APPS = ("name", "identifier")
_OF_WEBHOOKS = ("name", "target_url")


class AppWord(Record):
    """One word of one app, folded (``app.domain.accounts.search``)."""

    __tablename__ = "app_words"
    __table_args__ = (Index("ix_app_words_search", "word", "app_id"), {"sqlite_with_rowid": False})

    app_id: Mapped[int] = deleted_with("apps.id", primary_key=True)
    word: Mapped[str] = mapped_column(WORD, primary_key=True)


class WebhookWord(Record):
    """One word of one webhook, of its name or its target's host."""

    __tablename__ = "webhook_words"
    __table_args__ = (
        Index("ix_webhook_words_search", "word", "webhook_id"),
        {"sqlite_with_rowid": False},
    )

    webhook_id: Mapped[int] = deleted_with("webhooks.id", primary_key=True)
    word: Mapped[str] = mapped_column(WORD, primary_key=True)


def host_of(url: str) -> str:
    """The host that a target names; empty where it names none."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def app_word_rows(app_id: int, name: str, identifier: str) -> list[dict[str, object]]:
    """Return the rows of ``app_words`` of an app."""
    return [{"app_id": app_id, "word": word} for word in words_in(name, identifier)]


def webhook_word_rows(webhook_id: int, name: str, target_url: str) -> list[dict[str, object]]:
    """Return the rows of ``webhook_words`` of a webhook."""
    words = words_in(name, host_of(target_url))
    return [{"webhook_id": webhook_id, "word": word} for word in words]


# Code that changes a name need not know that there is an index of words.


@event.listens_for(App, "after_insert")
def _add_app(_mapper: Mapper[App], connection: Connection, app: App) -> None:
    rows = app_word_rows(app.id, app.name, app.identifier or "")
    if rows:
        connection.execute(insert(AppWord), rows)


@event.listens_for(App, "after_update")
def _replace_app(mapper: Mapper[App], connection: Connection, app: App) -> None:
    if _has_changed(app, _OF_APPS):
        connection.execute(delete(AppWord).where(AppWord.app_id == app.id))
        _add_app(mapper, connection, app)


@event.listens_for(Webhook, "after_insert")
def _add_webhook(_mapper: Mapper[Webhook], connection: Connection, webhook: Webhook) -> None:
    rows = webhook_word_rows(webhook.id, webhook.name or "", webhook.target_url)
    if rows:
        connection.execute(insert(WebhookWord), rows)


@event.listens_for(Webhook, "after_update")
def _replace_webhook(mapper: Mapper[Webhook], connection: Connection, webhook: Webhook) -> None:
    if _has_changed(webhook, _OF_WEBHOOKS):
        of_webhook = WebhookWord.webhook_id == webhook.id
        connection.execute(delete(WebhookWord).where(of_webhook))
        _add_webhook(mapper, connection, webhook)
