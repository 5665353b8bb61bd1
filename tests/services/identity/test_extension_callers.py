"""Dashboard extensions as callers: contract, "Apps and extensions", "Modes, precisely"."""

import pytest
from sqlalchemy import update

from app import models
from app.domain.authorization.actor import Actor, ActorKind, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode, admits
from app.domain.values.errors import TokenFault
from app.ports import Ports
from app.services.identity.identify import identify
from tests.builders.apps import make_app
from tests.builders.people import make_staff, make_user, sign_in, visit
from tests.builders.shop import close_storefront, set_mode
from tests.builders.tokens import altered, extension_of
from tests.fakes.clock import FakeClock

ENABLED, CUSTOMERS_ONLY, DISABLED = PasswordLoginMode
PASSWORD, OIDC, _ = SessionOrigin
PRODUCTS, ORDERS, USERS = (
    Permission.MANAGE_PRODUCTS,
    Permission.MANAGE_ORDERS,
    Permission.MANAGE_USERS,
)


def who(ports: Ports, credential: str) -> Actor:
    return identify(ports, visit(credential)).actor


def test_extension_has_permissions_that_user_and_app_hold(ports: Ports) -> None:
    app_id, _ = make_app(ports, "Importer", PRODUCTS, ORDERS)
    staff = make_staff(ports, "staff@example.com", PRODUCTS, USERS)
    token = extension_of(ports, sign_in(ports, staff).access, app_id)

    identity = identify(ports, visit(token))

    actor = identity.actor
    assert (actor.kind, actor.user_id, actor.app_id) == (ActorKind.USER, staff, app_id)
    assert actor.permissions == {PRODUCTS}
    assert identity.user is not None
    assert (identity.user.id, identity.user.permissions) == (staff, frozenset({PRODUCTS}))


def test_extension_token_claims_grant_no_permission(ports: Ports) -> None:
    app_id, _ = make_app(ports)
    superuser = make_user(ports, is_superuser=True)
    token = extension_of(ports, sign_in(ports, superuser).access, app_id)
    names = ["MANAGE_PRODUCTS", "MANAGE_APPS"]

    actor = who(ports, altered(ports, token, permissions=names, user_permissions=names))

    assert actor.permissions == frozenset()


def test_extension_follows_the_login_mode_of_its_session(ports: Ports) -> None:
    app_id, _ = make_app(ports, "Importer", PRODUCTS)
    staff = make_staff(ports, "staff@example.com", PRODUCTS)
    close_storefront(ports)
    for mode, origin, is_worth_something, has_rights in (
        (ENABLED, PASSWORD, True, True),
        (ENABLED, OIDC, True, True),
        (CUSTOMERS_ONLY, PASSWORD, True, False),
        (CUSTOMERS_ONLY, OIDC, True, True),
        (DISABLED, PASSWORD, False, False),
        (DISABLED, OIDC, True, True),
    ):
        token = extension_of(ports, sign_in(ports, staff, origin).access, app_id)
        set_mode(ports, mode)

        identity = identify(ports, visit(token))

        actor = identity.actor
        assert actor.fault is (None if is_worth_something else TokenFault.INVALID), (mode, origin)
        assert actor.is_user is is_worth_something
        assert actor.is_staff is has_rights, (mode, origin)
        assert actor.permissions == ({PRODUCTS} if has_rights else frozenset())
        assert admits(actor, identity.switches) is has_rights
        if is_worth_something:
            assert actor.origin is origin


def test_extension_token_without_an_existing_app_is_anonymous(ports: Ports) -> None:
    access = sign_in(ports, make_user(ports)).access

    for token in (altered(ports, access, type="thirdparty"), extension_of(ports, access, 404)):
        assert who(ports, token).fault is TokenFault.INVALID


@pytest.mark.parametrize("column", ["is_active", "is_installed"])
def test_extension_of_an_inactive_app_is_anonymous(ports: Ports, column: str) -> None:
    app_id, _ = make_app(ports)
    token = extension_of(ports, sign_in(ports, make_user(ports)).access, app_id)
    assert who(ports, token).is_user

    with ports.database.transaction() as session:
        session.execute(update(models.App).values({column: False}))

    assert who(ports, token).fault is TokenFault.INVALID


def test_expired_extension_token_is_reported_as_expired(ports: Ports, clock: FakeClock) -> None:
    app_id, _ = make_app(ports)
    token = extension_of(ports, sign_in(ports, make_user(ports)).access, app_id)
    clock.pass_(minutes=5)

    assert who(ports, token).fault is TokenFault.EXPIRED
