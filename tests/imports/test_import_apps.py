"""Apps, tokens, extensions and webhooks of the platform are imported, again and again."""

from sqlalchemy import select

from app import models
from app.domain.apps.apps import AppType
from app.domain.authorization.actor import ActorKind
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.domain.values.metadata import to_stored_metadata
from app.ports import Ports
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
from tests.imports.app_runs import codes, keys, run, stored_webhook, words
from tests.imports.platform import PlatformDatabase


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
        columns = select(models.App.public_metadata, models.App.private_metadata)
        metadata = to_stored_metadata(*session.execute(columns).one())
    assert (metadata.public, metadata.private) == ({"a": "b"}, {"c": "d"})
    assert words(target, models.AppWord) == {"parcel.post", "post"}
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
        assert session.scalars(select(models.OutboxEvent.id)).all() == []
        assert session.scalars(select(models.AuditEntry.action)).all() == ["import.run"]


def test_dry_run_reports_the_same_and_writes_nothing(
    target: Ports, platform: PlatformDatabase
) -> None:
    add_everything(platform)
    dry = run(target, platform, "--dry-run")
    assert keys(target, models.App) == []
    assert keys(target, models.Webhook) == []
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
    assert keys(target, models.App) == [1, 3]
    assert keys(target, models.AppToken) == [11]
    assert keys(target, models.AppExtension) == [21]
    assert keys(target, models.Webhook) == [31, 34]
    assert app_as_stored(target, 3).identifier == ""


def test_token_waits_for_its_first_use(target: Ports, platform: PlatformDatabase) -> None:
    add_app(platform, 1)
    add_token(platform, 11, 1)
    run(target, platform)
    with target.database.reading() as session:
        token = session.get_one(models.AppToken, 11)
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
    assert (webhook.query, webhook.reveal_headers()) == (QUERY, {"X-Shop": "1"})
    assert webhook.reveal() == "sesame"
    assert (webhook.saver.kind, webhook.saver.name) == (ActorKind.OPERATOR, "import")
    assert webhook.saver.permissions is None
    assert "app.example.com" in words(target, models.WebhookWord)
