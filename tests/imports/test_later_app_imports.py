"""Later runs take over what changed about apps and webhooks, unless it was edited here."""

import pytest
from sqlalchemy import update

from app import models
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.apps.app_changes import AppChange, NewApp, create_app, delete_app, update_app
from app.services.webhooks.changes import WebhookInput, update_webhook
from tests.builders.apps import app_as_stored
from tests.imports.app_rows import CREATED, add_app, add_permissions, add_token, add_webhook
from tests.imports.app_runs import codes, keys, run, stored_webhook, words
from tests.imports.importing import import_platform
from tests.imports.platform import PlatformDatabase


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
    assert keys(target, models.AppToken) == [12, 13]
    webhook = stored_webhook(target, 31)
    assert (webhook.name, webhook.reveal()) == ("Renamed", "changed")
    assert webhook.events == (EventType.CUSTOMER_UPDATED,)
    assert words(target, models.AppWord) == {"new", "name"}
    assert codes(imported) == [("app_apptoken", 11, "REMOVED")]
    assert imported.counts("app") == {"read": 1, "updated": 1}
    assert imported.counts("webhook") == {"read": 1, "updated": 1}


def test_app_removed_at_the_source_is_removed(target: Ports, platform: PlatformDatabase) -> None:
    """Whether its row is marked as removed, as that of app 1, or deleted."""
    for key in (1, 2):
        add_app(platform, key)
        add_token(platform, 10 + key, key)
        add_webhook(platform, 30 + key, key, "any_events")
    run(target, platform)
    platform.run("UPDATE app_app SET removed_at = now() WHERE id = 1")
    platform.run("DELETE FROM app_apptoken WHERE app_id = 2")
    platform.run("DELETE FROM webhook_webhook WHERE app_id = 2")
    platform.run("DELETE FROM app_app WHERE id = 2")
    for options in (("--dry-run",), ()):
        imported = run(target, platform, *options)
        assert sorted(each for each in codes(imported) if each[2] == "REMOVED") == [
            ("app_app", key, "REMOVED") for key in (1, 2)
        ]
        assert keys(target, models.App) == ([1, 2] if options else [])
        assert bool(keys(target, models.Webhook)) == bool(options)


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
    assert keys(target, models.App) == []


@pytest.mark.both_databases
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


@pytest.mark.both_databases
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
            update(models.AppToken).values(
                digest="0" * 64, imported_hash=None, last_used_at=CREATED
            )
        )
    platform.run("UPDATE app_apptoken SET name = 'Renamed'")
    imported = run(target, platform)
    assert codes(imported) == []
    with target.database.reading() as session:
        token = session.get_one(models.AppToken, 11)
    assert (token.name, token.digest, token.imported_hash) == ("Renamed", "0" * 64, None)


def test_failures_of_a_webhook_are_not_an_edit(target: Ports, platform: PlatformDatabase) -> None:
    add_app(platform, 1)
    add_webhook(platform, 31, 1, "any_events")
    run(target, platform)
    with target.database.transaction() as session:
        session.execute(
            update(models.Webhook).values(
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


def test_webhook_edited_here_is_kept(target: Ports, platform: PlatformDatabase) -> None:
    add_permissions(platform, "manage_users")
    add_app(platform, 1, 1)
    edits = {
        31: WebhookInput(secret_key="ours"),
        32: WebhookInput(custom_headers={"X-Ours": "1"}),
        33: WebhookInput(events=(EventType.ORDER_PAID,)),
        34: WebhookInput(is_active=False),
    }
    for key in edits:
        add_webhook(platform, key, 1, "any_events", secret_key="theirs")
    run(target, platform)
    for key, edited in edits.items():
        update_webhook(target, OPERATOR, to_global_id("Webhook", key), "", edited)
    before = {key: stored_webhook(target, key) for key in edits}
    platform.run("UPDATE webhook_webhook SET name = 'Theirs', secret_key = 'changed'")
    assert codes(run(target, platform)) == [
        ("webhook_webhook", key, "EDITED_HERE") for key in edits
    ]
    for key in edits:
        after = stored_webhook(target, key)
        assert after == before[key], key
        assert after.reveal() == before[key].reveal(), key


def test_webhook_removed_at_the_source_is_removed(
    target: Ports, platform: PlatformDatabase
) -> None:
    add_permissions(platform, "manage_users")
    add_app(platform, 1, 1)
    add_webhook(platform, 31, 1, "any_events")
    add_webhook(platform, 32, 1, "any_events")
    run(target, platform)
    platform.run("DELETE FROM webhook_webhook WHERE id = 31")
    assert codes(run(target, platform)) == [("webhook_webhook", 31, "REMOVED")]
    assert keys(target, models.Webhook) == [32]
