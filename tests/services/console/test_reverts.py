"""Changes are reverted from the audit log, by the use case and the rights that make them."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from sqlalchemy import func, select

from app import models
from app.domain.authorization.actor import OPERATOR, Actor, SessionOrigin
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.events import EventType
from app.domain.shop.settings import PasswordLoginMode, ShopUpdate
from app.domain.values.errors import Refused, Stale
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.apps.app_changes import AppChange, deactivate_app, update_app
from app.services.console.reverts import Revert, revert_change, show_revert
from app.services.people.groups import GroupChanges, update_group
from app.services.people.staff import StaffChanges, update_staff
from app.services.people.user_status import deactivate_user
from app.services.people.users import Details
from app.services.shop.settings import update_shop
from app.services.single_sign_on.provider_settings import ProviderUpdate, save_provider
from app.services.webhooks.changes import WebhookInput, update_webhook
from tests.builders.apps import app_as_stored, make_app
from tests.builders.people import actor_of, make_group, make_staff, make_user
from tests.builders.webhooks import make_webhook

APPS, ORDERS, STAFF = Permission.MANAGE_APPS, Permission.MANAGE_ORDERS, Permission.MANAGE_STAFF


QUERY = "subscription { event { ... on ProductUpdated { product { id } } } }"


@dataclass(frozen=True)
class Things:
    """One of each thing whose changes can be reverted."""

    app: int
    webhook: int
    group: int
    person: int
    provider: str = "default"


@pytest.fixture
def things(ports: Ports) -> Things:
    app, _ = make_app(ports, "Labels", ORDERS)
    hook = make_webhook(ports, app, EventType.ORDER_PAID, custom_headers={"X-Shop": "a"})
    group = make_group(ports, "Support", ORDERS)
    save_provider(ports, OPERATOR, "default", ProviderUpdate({"client_id": "one"}, name="Keys"))
    return Things(app, hook, group, make_user(ports, "tom@example.com", is_staff=True))


def boss(ports: Ports, *permissions: Permission, email: str = "boss@example.com") -> Actor:
    return actor_of(ports, make_staff(ports, email, *(permissions or ALL_PERMISSIONS)))


def newest(ports: Ports) -> int:
    with ports.database.reading() as session:
        return session.scalar(select(func.max(models.AuditEntry.id))) or 0


def found(ports: Ports, actor: Actor, entry: int) -> Revert:
    revert = show_revert(ports, actor, entry)
    assert revert is not None
    return revert


def go_back(ports: Ports, actor: Actor, entry: int) -> None:
    revert = found(ports, actor, entry)
    revert_change(ports, actor, entry, revert.before.keys(), revert.after)


def webhook_change(things: Things, change: WebhookInput) -> Callable[[Ports], object]:
    hook = to_global_id("Webhook", things.webhook)
    return lambda ports: update_webhook(ports, OPERATOR, hook, "", change)


def changes(things: Things) -> dict[str, Callable[[Ports], object]]:
    """Return a change of each kind that can be reverted."""
    group, person = to_global_id("Group", things.group), to_global_id("User", things.person)
    added = frozenset({APPS})
    return {
        "setting": lambda ports: update_shop(ports, OPERATOR, ShopUpdate(name="Harbour")),
        "switch": lambda ports: update_shop(
            ports, OPERATOR, ShopUpdate(password_login_mode=PasswordLoginMode.CUSTOMERS_ONLY)
        ),
        "closing": lambda ports: update_shop(
            ports, OPERATOR, ShopUpdate(allow_storefront_traffic=False, storefront_note="Stock")
        ),
        "app": lambda ports: update_app(
            ports,
            OPERATOR,
            things.app,
            AppChange(
                "Till", "till", frozenset(), "till@example.com", client_credentials_only=True
            ),
        ),
        "app off": lambda ports: deactivate_app(ports, OPERATOR, things.app),
        "webhook": webhook_change(
            things, WebhookInput(name="Other", target_url="https://b.example.com/", events=())
        ),
        "webhook query": webhook_change(things, WebhookInput(query=QUERY)),
        "webhook limits": webhook_change(
            things, WebhookInput(identifier="hook", is_paused=True, max_rate=5)
        ),
        "webhook off": webhook_change(things, WebhookInput(is_active=False)),
        "group": lambda ports: update_group(
            ports,
            OPERATOR,
            group,
            GroupChanges(name="Help", add_permissions=added, add_users=(person,)),
        ),
        "staff": lambda ports: update_staff(
            ports, OPERATOR, person, StaffChanges(add_groups=(group,), add_permissions=added)
        ),
        "person off": lambda ports: deactivate_user(ports, OPERATOR, things.person),
        "provider": lambda ports: save_provider(
            ports,
            OPERATOR,
            "default",
            ProviderUpdate({"client_id": "two", "audience": "new"}, name="Locks"),
        ),
    }


@pytest.mark.first
def test_each_kind_of_change_is_reverted_once(ports: Ports, things: Things) -> None:
    key = make_staff(ports, "boss@example.com", *ALL_PERMISSIONS)
    actor = actor_of(ports, key, SessionOrigin.OIDC)
    for name, change in changes(things).items():
        change(ports)
        entry = newest(ports)
        go_back(ports, actor, entry)
        revert = found(ports, actor, entry)
        assert revert.current == revert.before, name
        assert revert.left_out == (), name
        assert newest(ports) > entry, name
        with pytest.raises(Stale):
            go_back(ports, actor, entry)
        last = newest(ports)
        revert_change(ports, actor, last, revert.before.keys(), revert.before)
        assert found(ports, actor, entry).current == revert.after, name
        go_back(ports, actor, newest(ports))


def test_what_was_changed_since_is_not_reverted(ports: Ports, things: Things) -> None:
    actor = boss(ports)
    update_app(ports, OPERATOR, things.app, AppChange(permissions=frozenset()))
    entry = newest(ports)
    update_app(ports, OPERATOR, things.app, AppChange(permissions=frozenset({STAFF})))
    with pytest.raises(Stale):
        go_back(ports, actor, entry)
    assert app_as_stored(ports, things.app).permissions == {STAFF}


def test_secrets_and_deletions_stay(ports: Ports, things: Things) -> None:
    actor = boss(ports)
    webhook_change(things, WebhookInput(custom_headers={"X-Other": "b"}, secret_key="s"))(ports)
    assert show_revert(ports, actor, newest(ports)) is None
    save_provider(ports, OPERATOR, "default", ProviderUpdate({"client_secret": "hidden"}))
    assert show_revert(ports, actor, newest(ports)) is None
    keyed = WebhookInput(target_url="https://hooks.example.com/x?key=Zm9vYmFyYmF6cXV4MTIzNDU2")
    webhook_change(things, keyed)(ports)
    webhook_change(things, WebhookInput(target_url="https://b.example.com/"))(ports)
    assert show_revert(ports, actor, newest(ports)) is None
    email = Details(email="tim@example.com")
    update_staff(ports, OPERATOR, to_global_id("User", things.person), StaffChanges(email))
    assert show_revert(ports, actor, newest(ports)) is None
    with pytest.raises(Refused):
        revert_change(ports, actor, newest(ports), ["email"], {})


def test_only_fields_of_the_entry_can_be_reverted(ports: Ports, things: Things) -> None:
    update_app(ports, OPERATOR, things.app, AppChange("Till"))
    entry = newest(ports)
    for names in (["is_active"], ["password_login_mode"], ["name", "nothing"]):
        with pytest.raises(Refused):
            revert_change(ports, boss(ports, email=f"{names[-1]}@example.com"), entry, names, {})
    assert app_as_stored(ports, things.app).name == "Till"
