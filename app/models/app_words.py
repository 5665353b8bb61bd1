"""The words that apps and webhooks are found by, kept in step with their records."""

from urllib.parse import urlsplit

from sqlalchemy import Connection, ForeignKey, Index, delete, event, insert, inspect
from sqlalchemy.orm import Mapped, Mapper, mapped_column

from app.domain.accounts.search import words_in
from app.models.apps import AppRecord
from app.models.record import Record
from app.models.user_words import WORD
from app.models.webhooks import WebhookRecord

_OF_APPS = ("name", "identifier")
_OF_WEBHOOKS = ("name", "target_url")


class AppWordRecord(Record):
    """One word of one app, folded (``app.domain.accounts.search``)."""

    __tablename__ = "app_words"
    __table_args__ = (
        Index("ix_app_words_search", "word", "app_id"),
        {"sqlite_with_rowid": False},
    )

    app_id: Mapped[int] = mapped_column(
        ForeignKey("apps.id", ondelete="CASCADE"), primary_key=True
    )
    word: Mapped[str] = mapped_column(WORD, primary_key=True)


class WebhookWordRecord(Record):
    """One word of one webhook, of its name or its target's host."""

    __tablename__ = "webhook_words"
    __table_args__ = (
        Index("ix_webhook_words_search", "word", "webhook_id"),
        {"sqlite_with_rowid": False},
    )

    webhook_id: Mapped[int] = mapped_column(
        ForeignKey("webhooks.id", ondelete="CASCADE"), primary_key=True
    )
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


# Whoever changes a name need not know that there is an index of words.


@event.listens_for(AppRecord, "after_insert")
def _add_app(_mapper: Mapper[AppRecord], connection: Connection, app: AppRecord) -> None:
    rows = app_word_rows(app.id, app.name, app.identifier or "")
    if rows:
        connection.execute(insert(AppWordRecord), rows)


@event.listens_for(AppRecord, "after_update")
def _replace_app(mapper: Mapper[AppRecord], connection: Connection, app: AppRecord) -> None:
    if _has_changed(app, _OF_APPS):
        connection.execute(delete(AppWordRecord).where(AppWordRecord.app_id == app.id))
        _add_app(mapper, connection, app)


@event.listens_for(WebhookRecord, "after_insert")
def _add_webhook(
    _mapper: Mapper[WebhookRecord], connection: Connection, webhook: WebhookRecord
) -> None:
    rows = webhook_word_rows(webhook.id, webhook.name or "", webhook.target_url)
    if rows:
        connection.execute(insert(WebhookWordRecord), rows)


@event.listens_for(WebhookRecord, "after_update")
def _replace_webhook(
    mapper: Mapper[WebhookRecord], connection: Connection, webhook: WebhookRecord
) -> None:
    if _has_changed(webhook, _OF_WEBHOOKS):
        of_webhook = WebhookWordRecord.webhook_id == webhook.id
        connection.execute(delete(WebhookWordRecord).where(of_webhook))
        _add_webhook(mapper, connection, webhook)


def _has_changed(record: Record, names: tuple[str, ...]) -> bool:
    state = inspect(record)
    return any(state.attrs[name].history.has_changes() for name in names)
