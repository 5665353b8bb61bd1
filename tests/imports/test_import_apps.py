"""Apps, tokens, extensions and webhooks of the platform are imported, again and again."""

from collections.abc import Collection

import pytest
from sqlalchemy import select, update

from app.domain.apps.apps import AppType
from app.domain.authorization.actor import OPERATOR, ActorKind
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.domain.values.metadata import to_stored_metadata
from app.domain.webhooks.webhooks import Webhook
from app.models import (
    AppExtensionRecord,
    AppRecord,
    AppTokenRecord,
    AppWordRecord,
    AuditRecord,
    OutboxEventRecord,
    WebhookRecord,
    WebhookWordRecord,
)
from app.models.record import Record
from app.ports import Ports
from app.services.apps.app_changes import AppChange, NewApp, create_app, delete_app, update_app
from app.services.webhooks.stored_webhooks import read_webhooks
from tests.builders.apps import app_as_stored
from tests.imports.app_rows import (
    CREATED,
    QUERY,
    TOKEN,
    add_app,
    add_permissions,
    add_token,
    add_webhook,
    django_hash,
)
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
        return read_webhooks(target, session, [session.get_one(WebhookRecord, key)])[0]


def keys(target: Ports, record: type[Record]) -> list[int]:
    with target.database.reading() as session:
        return sorted(session.scalars(select(record.__table__.c.id)))


def words(target: Ports, record: type[AppWordRecord] | type[WebhookWordRecord]) -> set[str]:
    with target.database.reading() as session:
        return set(session.scalars(select(record.word)))


def test_app_keeps_its_id_and_fields(target: Ports, platform: PlatformDatabase) -> None:
    add_permissions(platform, "manage_users", "manage_orders", "manage_apps", "fly")
    add_app(
        platform,
        41,
        *(1, 2, 3, 4),
        name="Parcel Post",
        identifier="parcel.post",
        type="thirdparty",
        app_url="https://post.example.com/app",
        about_app="Ships parcels.",
        metadata={"a": "b"},
        private_metadata={"c": "d"},
    )
    imported = run(target, platform)
    app = app_as_stored(target, 41)
    assert (app.name, app.identifier, app.type) == (
        "Parcel Post",
        "parcel.post",
        AppType.THIRDPARTY,
    )
    assert (app.created_at, app.about) == (CREATED, "Ships parcels.")
    assert app.permissions == {Permission.MANAGE_USERS, Permission.MANAGE_ORDERS}
    with target.database.reading() as session:
        columns = select(AppRecord.public_metadata, AppRecord.private_metadata)
        metadata = to_stored_metadata(*session.execute(columns).one())
    assert (metadata.public, metadata.private) == ({"a": "b"}, {"c": "d"})
    assert words(target, AppWordRecord) == {"parcel.post", "post"}
    assert codes(imported) == [
        ("app_app", 41, "PERMISSION_UNKNOWN"),
        ("app_app", 41, "PERMISSION_NOT_FOR_APPS"),
    ]


def test_second_run_changes_nothing(target: Ports, platform: PlatformDatabase) -> None:
    add_everything(platform)
    first = run(target, platform)
    second = run(target, platform)
    assert first.counts("app") == {"read": 3, "created": 2, "leftOut": 1}
    assert first.counts("app_token") == {"read": 3, "created": 1, "leftOut": 2}
    assert first.counts("app_extension") == {"read": 1, "created": 1}
    assert first.counts("webhook") == {"read": 4, "created": 2, "leftOut": 2}
    assert second.counts("app") == {"read": 3, "unchanged": 2, "leftOut": 1}
    assert second.counts("app_token") == {"read": 3, "unchanged": 1, "leftOut": 2}
    assert second.counts("app_extension") == {"read": 1, "unchanged": 1}
    assert second.counts("webhook") == {"read": 4, "unchanged": 2, "leftOut": 2}
    assert codes(second) == codes(first)


def test_import_sends_no_events_and_writes_one_audit_entry(
    target: Ports, platform: PlatformDatabase
) -> None:
    add_everything(platform)
    run(target, platform)
    with target.database.reading() as session:
        assert session.scalars(select(OutboxEventRecord.id)).all() == []
        assert session.scalars(select(AuditRecord.action)).all() == ["import.run"]


def test_dry_run_reports_the_same_and_writes_nothing(
    target: Ports, platform: PlatformDatabase
) -> None:
    add_everything(platform)
    dry = run(target, platform, "--dry-run")
    assert keys(target, AppRecord) == []
    assert keys(target, WebhookRecord) == []
    real = run(target, platform)
    assert codes(dry) == codes(real)
    assert dry.printed["imported"] == real.printed["imported"]


def add_everything(platform: PlatformDatabase) -> None:
    """Add an app, its removed neighbour, a second holder of its identifier, and their things."""
    add_permissions(platform, "manage_users")
    add_app(platform, 1, 1, identifier="post", app_url="https://post.example.com")
    add_app(platform, 2, identifier="gone", removed_at=CREATED)
    add_app(platform, 3, identifier="post")
    add_token(platform, 11, 1)
    add_token(platform, 12, 2)
    add_token(platform, 13, 1, token_last_4="")
    platform.add(
        "app_appextension",
        id=21,
        app_id=1,
        label="Ship",
        url="/ship",
        mount="order_details_more_actions",
        target="popup",
    )
    add_webhook(platform, 31, 1, "customer_created", subscription_query=QUERY)
    add_webhook(platform, 32, 2, "customer_created")
    add_webhook(platform, 33, 1, "customer_created", target_url="awssqs://k:s@sqs.example.com/q")
    add_webhook(platform, 34, 1, "invoice_requested", subscription_query="query { shop { name } }")


def test_awkward_rows_are_reported(target: Ports, platform: PlatformDatabase) -> None:
    add_everything(platform)
    imported = run(target, platform)
    assert codes(imported) == [
        ("app_app", 2, "APP_REMOVED"),
        ("app_app", 3, "IDENTIFIER_TAKEN"),
        ("app_apptoken", 13, "TOKEN_WITHOUT_LAST_FOUR"),
        ("webhook_webhook", 33, "TARGET_SCHEME_UNSUPPORTED"),
        ("webhook_webhook", 34, "EVENT_NOT_SUPPORTED"),
        ("webhook_webhook", 34, "QUERY_REFUSED"),
        ("webhook_webhook", 34, "NO_EVENT_LEFT"),
    ]
    assert keys(target, AppRecord) == [1, 3]
    assert keys(target, AppTokenRecord) == [11]
    assert keys(target, AppExtensionRecord) == [21]
    assert keys(target, WebhookRecord) == [31, 34]
    assert app_as_stored(target, 3).identifier == ""


def test_token_waits_for_its_first_use(target: Ports, platform: PlatformDatabase) -> None:
    add_app(platform, 1)
    add_token(platform, 11, 1)
    run(target, platform)
    with target.database.reading() as session:
        token = session.get_one(AppTokenRecord, 11)
        assert (token.app_id, token.name, token.last_four) == (1, "Default", TOKEN[-4:])
        assert (token.digest, token.imported_hash) == ("imported-11", django_hash(TOKEN))
        assert (token.created_at, token.permissions) == (target.clock.now(), None)


def test_webhook_is_imported_whole(target: Ports, platform: PlatformDatabase) -> None:
    add_permissions(platform, "manage_users")
    add_app(platform, 1, 1)
    add_webhook(
        platform,
        31,
        1,
        "customer_created",
        secret_key="sesame",
        custom_headers={"X-Shop": "1"},
        subscription_query=QUERY,
        identifier="hooks",
    )
    assert codes(run(target, platform)) == []
    webhook = stored_webhook(target, 31)
    assert (webhook.name, webhook.identifier, webhook.is_active) == ("Webhook 31", "hooks", True)
    assert webhook.events == (EventType.CUSTOMER_CREATED,)
    assert (webhook.query, webhook.custom_headers) == (QUERY, {"X-Shop": "1"})
    assert webhook.reveal() == "sesame"
    assert (webhook.saver.kind, webhook.saver.name) == (ActorKind.OPERATOR, "import")
    assert webhook.saver.permissions is None
    assert "app.example.com" in words(target, WebhookWordRecord)


def test_what_changed_at_the_source_is_taken_over(
    target: Ports, platform: PlatformDatabase
) -> None:
    add_permissions(platform, "manage_users", "manage_orders")
    add_app(platform, 1, 1, 2, name="Old name")
    add_token(platform, 11, 1)
    add_token(platform, 12, 1)
    add_webhook(platform, 31, 1, "customer_created", secret_key="sesame")
    run(target, platform)
    platform.run("UPDATE app_app SET name = 'New name', is_active = false")
    platform.run("DELETE FROM app_app_permissions WHERE permission_id = 2")
    platform.run("DELETE FROM app_apptoken WHERE id = 11")
    platform.run("UPDATE webhook_webhook SET secret_key = 'changed', name = 'Renamed'")
    platform.run("UPDATE webhook_webhookevent SET event_type = 'customer_updated'")
    add_token(platform, 13, 1, "anotherTokenWxyz")
    imported = run(target, platform)
    app = app_as_stored(target, 1)
    assert (app.name, app.is_active) == ("New name", False)
    assert app.permissions == {Permission.MANAGE_USERS}
    assert keys(target, AppTokenRecord) == [12, 13]
    webhook = stored_webhook(target, 31)
    assert (webhook.name, webhook.reveal()) == ("Renamed", "changed")
    assert webhook.events == (EventType.CUSTOMER_UPDATED,)
    assert words(target, AppWordRecord) == {"new", "name"}
    assert codes(imported) == [("app_apptoken", 11, "REMOVED")]
    assert imported.counts("app") == {"read": 1, "updated": 1}
    assert imported.counts("webhook") == {"read": 1, "updated": 1}


@pytest.mark.parametrize(
    "statement",
    ["UPDATE app_app SET removed_at = now()", "DELETE FROM app_app"],
    ids=["removed", "deleted"],
)
@pytest.mark.parametrize("dry_run", [True, False])
def test_app_removed_at_the_source_is_removed(
    target: Ports, platform: PlatformDatabase, statement: str, dry_run: bool
) -> None:
    add_app(platform, 1)
    add_token(platform, 11, 1)
    add_webhook(platform, 31, 1, "any_events")
    run(target, platform)
    platform.run(statement)
    if statement.startswith("DELETE"):
        platform.run("DELETE FROM app_apptoken")
        platform.run("DELETE FROM webhook_webhook")
    imported = run(target, platform, *(["--dry-run"] if dry_run else []))
    assert [each for each in codes(imported) if each[2] == "REMOVED"] == [
        ("app_app", 1, "REMOVED")
    ]
    left: Collection[int] = [1] if dry_run else []
    assert keys(target, AppRecord) == left
    assert bool(keys(target, WebhookRecord)) == dry_run


def test_app_edited_here_is_kept(target: Ports, platform: PlatformDatabase) -> None:
    add_app(platform, 1)
    run(target, platform)
    update_app(target, OPERATOR, 1, AppChange(name="Ours"))
    platform.run("UPDATE app_app SET name = 'Theirs'")
    assert codes(run(target, platform)) == [("app_app", 1, "EDITED_HERE")]
    assert app_as_stored(target, 1).name == "Ours"


def test_app_deleted_here_stays_deleted(target: Ports, platform: PlatformDatabase) -> None:
    add_app(platform, 1)
    add_token(platform, 11, 1)
    run(target, platform)
    delete_app(target, OPERATOR, 1)
    add_token(platform, 12, 1, "anotherTokenWxyz")
    add_webhook(platform, 31, 1, "any_events")
    assert codes(run(target, platform)) == [
        ("app_apptoken", 11, "APP_MISSING"),
        ("app_apptoken", 12, "APP_MISSING"),
        ("webhook_webhook", 31, "APP_MISSING"),
    ]
    assert keys(target, AppRecord) == []


def test_identifier_of_an_app_made_here_is_not_taken(
    target: Ports, platform: PlatformDatabase
) -> None:
    add_app(platform, 1)
    run(target, platform)
    created = create_app(target, OPERATOR, NewApp("Ours", identifier="post"))
    assert created.app.id > 100_000
    add_app(platform, 2, identifier="post")
    assert codes(run(target, platform)) == [("app_app", 2, "IDENTIFIER_TAKEN")]
    assert app_as_stored(target, 2).identifier == ""


def test_identifiers_can_change_hands(target: Ports, platform: PlatformDatabase) -> None:
    add_app(platform, 1)
    add_app(platform, 2, identifier="post")
    run(target, platform)
    platform.run("UPDATE app_app SET identifier = 'parcel' WHERE id = 2")
    platform.run("UPDATE app_app SET identifier = 'post' WHERE id = 1")
    assert codes(run(target, platform)) == []
    assert [app_as_stored(target, key).identifier for key in (1, 2)] == ["post", "parcel"]


def test_converted_token_is_not_an_edit(target: Ports, platform: PlatformDatabase) -> None:
    add_app(platform, 1)
    add_token(platform, 11, 1)
    run(target, platform)
    with target.database.transaction() as session:
        session.execute(
            update(AppTokenRecord).values(
                digest="0" * 64, imported_hash=None, last_used_at=CREATED
            )
        )
    platform.run("UPDATE app_apptoken SET name = 'Renamed'")
    imported = run(target, platform)
    assert codes(imported) == []
    with target.database.reading() as session:
        token = session.get_one(AppTokenRecord, 11)
    assert (token.name, token.digest, token.imported_hash) == ("Renamed", "0" * 64, None)


def test_failures_of_a_webhook_are_not_an_edit(target: Ports, platform: PlatformDatabase) -> None:
    add_app(platform, 1)
    add_webhook(platform, 31, 1, "any_events")
    run(target, platform)
    with target.database.transaction() as session:
        session.execute(
            update(WebhookRecord).values(
                is_active=False, disabled_reason="It failed.", failing_since=CREATED
            )
        )
    platform.run("UPDATE webhook_webhook SET name = 'Renamed'")
    run(target, platform)
    assert (stored_webhook(target, 31).name, stored_webhook(target, 31).is_active) == (
        "Renamed",
        False,
    )
    platform.run("UPDATE webhook_webhook SET target_url = 'https://new.example.com/hook'")
    run(target, platform)
    assert stored_webhook(target, 31).is_active


def test_webhook_of_an_app_that_was_not_imported_is_left_out(
    target: Ports, platform: PlatformDatabase
) -> None:
    add_app(platform, 1)
    run(target, platform)
    add_app(platform, 2)
    add_webhook(platform, 31, 2, "any_events")
    imported = import_platform(target, platform, "--only", "webhooks")
    assert codes(imported) == [("webhook_webhook", 31, "APP_MISSING")]
    assert run(target, platform).counts("webhook") == {"read": 1, "created": 1}
