"""Who could undo a change of the doors, as the records tell."""

from datetime import timedelta

import pytest
from sqlalchemy import delete, update

from app import models
from app.domain.authorization.actor import Actor, ActorKind, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.shop.lockouts import AccessChange, LockoutReason
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.errors import PermissionDenied
from app.ports import Ports
from app.services.shop.lockout_guard import lockout
from tests.builders.apps import change_app, make_app
from tests.builders.people import NOBODY, actor_of, change_user, make_group, make_staff, make_user
from tests.builders.provider_records import (
    ISSUER_THERE,
    link_identity,
    make_provider,
    sign_in_by_grant,
)
from tests.builders.shop import set_mode
from tests.fakes.clock import FakeClock
from tests.fixtures.statements import recorded_statements, selects

SETTINGS = Permission.MANAGE_SETTINGS
RESTRICT = AccessChange(password_login_mode=PasswordLoginMode.CUSTOMERS_ONLY)


@pytest.fixture
def actor(ports: Ports) -> Actor:
    """Somebody who came in by password and may manage settings."""
    return actor_of(ports, make_staff(ports, "me@example.com", SETTINGS))


def test_change_without_a_provider_cannot_be_undone(ports: Ports, actor: Actor) -> None:
    judged = lockout(ports, actor, RESTRICT)
    assert judged.reason is LockoutReason.NO_PROVIDER


def test_change_without_an_identity_cannot_be_undone(ports: Ports, actor: Actor) -> None:
    make_provider(ports)
    make_staff(ports, "other@example.com", Permission.MANAGE_STAFF)
    assert lockout(ports, actor, RESTRICT).reason is LockoutReason.NO_IDENTITY


def test_staff_with_permission_and_identity_can_undo(ports: Ports, actor: Actor) -> None:
    make_provider(ports)
    group = make_group(ports, "Managers", SETTINGS)
    by_group = make_user(ports, "g@example.com", is_staff=True, groups=[group])
    link_identity(ports, by_group)
    link_identity(ports, make_user(ports, "s@example.com", is_superuser=True))
    link_identity(ports, make_user(ports, "customer@example.com", groups=[group]))
    judged = lockout(ports, actor, RESTRICT)
    assert (judged.is_locked_out, judged.people, judged.apps) == (False, 2, 0)
    change_user(ports, by_group, is_active=False)
    assert lockout(ports, actor, RESTRICT).people == 1


@pytest.mark.parametrize(
    "values", [{"active": False}, {"json_web_key_set_url": ""}, {"user_info_url": ""}]
)
def test_identity_at_an_unusable_provider_cannot_undo(
    ports: Ports, actor: Actor, values: dict[str, object]
) -> None:
    make_provider(ports, "default", issuer=ISSUER_THERE, **values)
    link_identity(ports, make_staff(ports, "other@example.com", SETTINGS))
    assert lockout(ports, actor, RESTRICT).reason is LockoutReason.NO_PROVIDER


def test_identities_of_an_unconfigured_issuer_use_the_slug(ports: Ports, actor: Actor) -> None:
    make_provider(ports, "acme", issuer="")
    other = make_staff(ports, "other@example.com", SETTINGS)
    link_identity(ports, other, issuer="acme-2|https://idp.example")
    assert lockout(ports, actor, RESTRICT).is_locked_out
    link_identity(ports, other, issuer="acme|https://idp.example")
    assert lockout(ports, actor, RESTRICT).people == 1


def test_provider_permissions_replace_local_ones(ports: Ports, actor: Actor) -> None:
    provider = make_provider(ports, use_oauth_scope_permissions=True)
    holds_here = make_staff(ports, "other@example.com", SETTINGS)
    link_identity(ports, holds_here)
    assert lockout(ports, actor, RESTRICT).is_locked_out
    sign_in_by_grant(ports, holds_here, provider, "STAFF MANAGE_APPS")
    assert lockout(ports, actor, RESTRICT).is_locked_out
    sign_in_by_grant(ports, holds_here, provider, "STAFF MANAGE_SETTINGS")
    sign_in_by_grant(ports, holds_here, provider, "MANAGE_SETTINGS")
    assert lockout(ports, actor, RESTRICT).people == 1


def test_grants_of_ended_sessions_do_not_count(ports: Ports, clock: FakeClock) -> None:
    provider = make_provider(ports, use_oauth_scope_permissions=True)
    other = make_staff(ports, "other@example.com")
    link_identity(ports, other)
    sign_in_by_grant(ports, other, provider, "MANAGE_SETTINGS")
    me = Actor(ActorKind.USER, user_id=4711, permissions=frozenset({SETTINGS}))
    clock.pass_(hours=30 * 24 - 1)
    for is_active in (False, True):
        change_user(ports, other, is_active=is_active)
        assert lockout(ports, me, RESTRICT).people == is_active
    clock.pass_(hours=1)
    assert lockout(ports, me, RESTRICT).people == 0


def test_app_with_manage_settings_can_undo(ports: Ports, actor: Actor) -> None:
    app_id, _ = make_app(ports, "Settings", SETTINGS)
    make_app(ports, "Orders", Permission.MANAGE_ORDERS)
    assert lockout(ports, actor, RESTRICT).apps == 1
    for state in ({"is_active": False}, {"is_active": True, "is_installed": False}):
        change_app(ports, app_id, **state)
        assert lockout(ports, actor, RESTRICT).is_locked_out, state


@pytest.mark.parametrize("narrowed", ["MANAGE_ORDERS", "expired"])
def test_app_without_a_sufficient_token_cannot_undo(
    ports: Ports, actor: Actor, narrowed: str
) -> None:
    make_app(ports, "Settings", SETTINGS)
    values: dict[str, object] = {"permissions": narrowed}
    if narrowed == "expired":
        values = {"expires_at": ports.clock.now() - timedelta(seconds=1)}
    with ports.database.transaction() as session:
        session.execute(update(models.AppToken).values(**values))
    assert lockout(ports, actor, RESTRICT).is_locked_out


def test_token_of_another_app_does_not_count(ports: Ports, actor: Actor) -> None:
    app_id, _ = make_app(ports, "Settings", SETTINGS)
    make_app(ports, "Orders", Permission.MANAGE_ORDERS)
    with ports.database.transaction() as session:
        session.execute(delete(models.AppToken).where(models.AppToken.app_id == app_id))
    assert lockout(ports, actor, RESTRICT).is_locked_out


def test_sso_caller_is_not_locked_out(ports: Ports) -> None:
    make_provider(ports)
    me = actor_of(ports, make_staff(ports, "me@example.com", SETTINGS), SessionOrigin.OIDC)
    assert not lockout(ports, me, RESTRICT).is_locked_out


def test_provider_that_waits_for_confirmation_is_no_recovery(ports: Ports) -> None:
    key = make_provider(ports)
    link_identity(ports, make_user(ports, "s@example.com", is_superuser=True))
    me = actor_of(ports, make_staff(ports, "me@example.com", SETTINGS), SessionOrigin.OIDC)
    with ports.database.transaction() as session:
        record = session.get_one(models.IdentityProvider, key)
        record.waiting_changes = "damaged"
    assert lockout(ports, me, RESTRICT).reason is LockoutReason.WAITS
    with ports.database.transaction() as session:
        session.get_one(models.IdentityProvider, key).waiting_changes = ""
    assert not lockout(ports, me, RESTRICT).is_locked_out


def test_closing_the_storefront_locks_out_no_one_who_can_sign_in(
    ports: Ports, actor: Actor
) -> None:
    change = AccessChange(allow_storefront_traffic=False)
    assert lockout(ports, actor, change).people == 1


def test_last_provider_of_a_restricted_shop_cannot_be_disabled(ports: Ports) -> None:
    make_provider(ports)
    user_id = make_staff(ports, "me@example.com", SETTINGS)
    link_identity(ports, user_id)
    set_mode(ports, PasswordLoginMode.DISABLED)
    me = actor_of(ports, user_id, SessionOrigin.OIDC)
    judged = lockout(ports, me, AccessChange(provider_off="default"))
    assert judged.reason is LockoutReason.NO_PROVIDER
    assert not lockout(ports, me, AccessChange(provider_off="another")).is_locked_out


def test_change_without_former_managers_is_allowed(ports: Ports) -> None:
    make_provider(ports)
    helper = Actor(ActorKind.APP, app_id=1, permissions=frozenset({Permission.MANAGE_PLUGINS}))
    off = AccessChange(provider_off="default")
    set_mode(ports, PasswordLoginMode.DISABLED)
    assert not lockout(ports, helper, off).is_locked_out
    link_identity(ports, make_staff(ports, "me@example.com", SETTINGS))
    assert lockout(ports, helper, off).reason is LockoutReason.NO_PROVIDER


@pytest.mark.both_databases
def test_guard_costs_one_statement(ports: Ports, actor: Actor) -> None:
    with recorded_statements() as statements:
        lockout(ports, actor, RESTRICT)
    assert len(selects(statements)) == 1


def test_lockout_check_requires_permission(ports: Ports) -> None:
    with pytest.raises(PermissionDenied):
        lockout(ports, NOBODY, RESTRICT)
