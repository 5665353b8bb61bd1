"""Runs that import apps and webhooks, and what they stored."""

from sqlalchemy import select

from app import models
from app.domain.webhooks import Webhook
from app.models.record import Record
from app.ports import Ports
from app.services.webhooks.stored_webhooks import read_webhooks
from tests.imports.importing import Report, import_platform
from tests.imports.platform import PlatformDatabase


def run(target: Ports, platform: PlatformDatabase, *options: str) -> Report:
    """Import apps and webhooks in small batches."""
    return import_platform(target, platform, "--only", "apps,webhooks", "--batch", "2", *options)


def codes(report: Report) -> list[tuple[str, object, str]]:
    """Return table, key and code of each finding in order."""
    findings = report.printed["findings"]
    return [(each["table"], each["key"], each["code"]) for each in findings]


def stored_webhook(target: Ports, key: int) -> Webhook:
    with target.database.reading() as session:
        return read_webhooks(target, session, [session.get_one(models.Webhook, key)])[0]


def keys(target: Ports, record: type[Record]) -> list[int]:
    with target.database.reading() as session:
        return sorted(session.scalars(select(record.__table__.c.id)))


def words(target: Ports, record: type[models.AppWord] | type[models.WebhookWord]) -> set[str]:
    with target.database.reading() as session:
        return set(session.scalars(select(record.word)))
