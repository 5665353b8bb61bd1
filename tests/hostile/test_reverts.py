"""A revert gives no one more than the change itself would."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from threading import Barrier

import pytest
from sqlalchemy import func, select

from app import models
from app.domain.authorization.actor import OPERATOR, Actor, SessionOrigin
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.events import EventType
from app.domain.shop.settings import PasswordLoginMode, ShopUpdate
from app.domain.values.errors import PermissionDenied, ProofRequired, Refused, Stale
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.apps.app_changes import AppChange, update_app
from app.services.authorization.register import act_sentence
from app.services.console.reverts import revert_change, show_revert
from app.services.identity.providers import known_providers
from app.services.people.groups import GroupChanges, update_group
from app.services.shop.settings import update_shop
from app.services.single_sign_on.provider_settings import ProviderUpdate, save_provider
from app.services.webhooks.changes import WebhookInput, update_webhook
from tests.builders.apps import app_as_stored, make_app
from tests.builders.deliveries import stored_webhook
from tests.builders.people import actor_of, make_group, make_staff
from tests.builders.provider_records import link_identity, make_provider
from tests.builders.webhooks import make_webhook

APPS, ORDERS, STAFF = Permission.MANAGE_APPS, Permission.MANAGE_ORDERS, Permission.MANAGE_STAFF
SETTINGS = Permission.MANAGE_SETTINGS
MODE = ["password_login_mode"]


def person(ports: Ports, name: str, *permissions: Permission) -> Actor:
    return actor_of(ports, make_staff(ports, f"{name}@example.com", *permissions))


def newest(ports: Ports) -> int:
    with ports.database.reading() as session:
        return session.scalar(select(func.max(models.AuditEntry.id))) or 0


def mode_of(ports: Ports) -> str:
    with ports.database.reading() as session:
        return session.scalars(select(models.Shop.password_login_mode)).one()


@pytest.fixture
def labels(ports: Ports) -> int:
    key, _ = make_app(ports, "Labels", ORDERS)
    update_app(ports, OPERATOR, key, AppChange(permissions=frozenset()))
    return key


def test_revert_needs_the_right_to_make_the_change(ports: Ports, labels: int) -> None:
    entry = newest(ports)
    reader = person(ports, "reader", STAFF, ORDERS)
    assert show_revert(ports, reader, entry) is None
    with pytest.raises(Refused):
        revert_change(ports, reader, entry, ["permissions"], {})
    for outsider in (person(ports, "apps", APPS, ORDERS), person(ports, "none")):
        with pytest.raises(PermissionDenied):
            revert_change(ports, outsider, entry, ["permissions"], {})
    assert app_as_stored(ports, labels).permissions == frozenset()
    both = person(ports, "both", STAFF, APPS, ORDERS)
    revert_change(ports, both, entry, ["permissions"], {})
    assert app_as_stored(ports, labels).permissions == {ORDERS}


def test_revert_grants_no_more_than_one_has(ports: Ports, labels: int) -> None:
    entry = newest(ports)
    with pytest.raises(Refused) as refused:
        revert_change(ports, person(ports, "a", STAFF, APPS), entry, ["permissions"], {})
    assert refused.value.problems[0].code == "OUT_OF_SCOPE_PERMISSION"
    assert app_as_stored(ports, labels).permissions == frozenset()
    group = to_global_id("Group", make_group(ports, "Support", ORDERS, SETTINGS))
    lost = GroupChanges(remove_permissions=frozenset({SETTINGS}))
    update_group(ports, OPERATOR, group, lost)
    manager = person(ports, "b", STAFF, ORDERS)
    with pytest.raises(Refused) as refused:
        revert_change(ports, manager, newest(ports), ["permissions"], {})
    assert refused.value.problems[0].code == "OUT_OF_SCOPE_PERMISSION"


def test_revert_asks_for_a_fresh_proof(ports: Ports, labels: int) -> None:
    entry = newest(ports)
    actor = replace(person(ports, "a", STAFF, APPS, ORDERS), proof_is_old=True)
    with pytest.raises(ProofRequired):
        revert_change(ports, actor, entry, ["permissions"], {})
    assert app_as_stored(ports, labels).permissions == frozenset()
    revert_change(ports, replace(actor, proof_is_old=False), entry, ["permissions"], {})
    assert app_as_stored(ports, labels).permissions == {ORDERS}


def test_tokens_that_an_app_refuses_work_again_with_a_fresh_proof_alone(
    ports: Ports, labels: int
) -> None:
    actor = person(ports, "a", STAFF, APPS)
    stale = replace(actor, proof_is_old=True)
    allowed, only = (AppChange(client_credentials_only=value) for value in (False, True))
    update_app(ports, stale, labels, only)
    entry = newest(ports)
    for call in (
        partial(update_app, ports, stale, labels, allowed),
        partial(revert_change, ports, stale, entry, ["client_credentials_only"], {}),
    ):
        with pytest.raises(ProofRequired) as required:
            call()
        assert (
            act_sentence(required.value.act) == "You're about to let an app's tokens work again."
        )
    assert app_as_stored(ports, labels).client_credentials_only
    update_app(ports, stale, labels, AppChange(name="Label printer"))
    revert_change(ports, actor, entry, ["client_credentials_only"], {})
    assert not app_as_stored(ports, labels).client_credentials_only
    update_app(ports, stale, labels, allowed)


def test_revert_keeps_to_the_rule_about_login_modes(ports: Ports) -> None:
    actor = person(ports, "a", *ALL_PERMISSIONS)
    closed = PasswordLoginMode.CUSTOMERS_ONLY
    update_shop(ports, OPERATOR, ShopUpdate(password_login_mode=closed))
    update_shop(ports, OPERATOR, ShopUpdate(password_login_mode=PasswordLoginMode.ENABLED))
    entry = newest(ports)
    with pytest.raises(Refused) as refused:
        revert_change(ports, actor, entry, MODE, {})
    assert refused.value.problems[0].code == "LOCKOUT"
    make_provider(ports)
    link_identity(ports, actor.user_id or 0)
    with pytest.raises(Refused) as refused:
        revert_change(ports, actor, entry, MODE, {})
    assert refused.value.problems[0].code == "PASSWORD_AUTH_RESTRICTION"
    assert mode_of(ports) == PasswordLoginMode.ENABLED
    by_sso = actor_of(ports, actor.user_id or 0, SessionOrigin.OIDC)
    revert_change(ports, by_sso, entry, MODE, {})
    assert mode_of(ports) == closed


def test_revert_of_a_webhook_needs_every_permission_of_its_app(ports: Ports) -> None:
    app, _ = make_app(ports, "Labels", ORDERS)
    hook = make_webhook(ports, app, EventType.ORDER_PAID)
    webhook = to_global_id("Webhook", hook)
    update_webhook(ports, OPERATOR, webhook, "", WebhookInput(is_paused=True))
    entry = newest(ports)
    with pytest.raises(PermissionDenied):
        revert_change(ports, person(ports, "narrow", STAFF, APPS), entry, ["is_paused"], {})
    assert stored_webhook(ports, hook).paused_at is not None
    revert_change(ports, person(ports, "wide", STAFF, APPS, ORDERS), entry, ["is_paused"], {})
    assert stored_webhook(ports, hook).paused_at is None


def test_reverted_group_table_waits_for_confirmation(ports: Ports) -> None:
    make_group(ports, "Admins", *ALL_PERMISSIONS)
    for table in ('{"a": "Admins"}', ""):
        save_provider(ports, OPERATOR, "default", ProviderUpdate({"group_mapping": table}))
    entry = newest(ports)
    manager = person(ports, "manager", STAFF, Permission.MANAGE_PLUGINS)
    revert_change(ports, manager, entry, ["group_mapping"], {})
    [provider] = known_providers(ports)
    assert (provider.group_mapping, provider.waits) == ('{"a": "Admins"}', True)
    save_provider(ports, OPERATOR, "default", ProviderUpdate({"group_mapping": ""}))
    revert_change(ports, person(ports, "boss", *ALL_PERMISSIONS), entry, ["group_mapping"], {})
    [provider] = known_providers(ports)
    assert (provider.group_mapping, provider.waits) == ('{"a": "Admins"}', False)


@pytest.mark.both_databases
def test_of_two_reverts_at_once_one_is_made(ports: Ports, labels: int) -> None:
    entry = newest(ports)
    people = [person(ports, name, STAFF, APPS, ORDERS) for name in ("first", "second")]
    shown = show_revert(ports, people[0], entry)
    assert shown is not None
    begin = Barrier(2, timeout=30)

    def revert(actor: Actor) -> bool:
        begin.wait()
        try:
            revert_change(ports, actor, entry, ["permissions"], shown.current)
        except (Stale, Refused):
            return False
        return True

    before = newest(ports)
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(revert, actor) for actor in people]
        assert sum(run.result(timeout=60) for run in runs) == 1
    assert newest(ports) == before + 1
    assert app_as_stored(ports, labels).permissions == {ORDERS}
