"""Who is calling: contract, "Credentials, precisely", "Modes, precisely", "Storefront traffic"."""

from dataclasses import replace
from itertools import product

import pytest
from sqlalchemy import update

from app import models
from app.domain.authorization.actor import ActorKind, SessionOrigin
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.shop.settings import PasswordLoginMode, admits
from app.domain.values.errors import TokenFault
from app.ports import Ports
from app.services.identity.identify import Identity, identify
from tests.builders.apps import make_app
from tests.builders.people import (
    ADDRESS,
    ISSUER,
    change_user,
    make_group,
    make_staff,
    make_user,
    sign_in,
    visit,
)
from tests.builders.shop import close_storefront, configure_shop, set_mode
from tests.builders.tokens import altered, extension_of
from tests.fakes.clock import START, FakeClock
from tests.fixtures.cases import cases
from tests.services.invalid_tokens import broken_tokens

ENABLED, CUSTOMERS_ONLY, DISABLED = PasswordLoginMode
PASSWORD, OIDC, _ = SessionOrigin
GRANTED = frozenset({Permission.MANAGE_APPS, Permission.MANAGE_SETTINGS})


def who(ports: Ports, credential: str | None = None) -> Identity:
    return identify(ports, visit(credential))


def test_missing_credential_is_anonymous_without_fault(ports: Ports) -> None:
    identity = who(ports)

    assert identity.actor.kind is ActorKind.ANONYMOUS
    assert identity.actor.fault is None
    assert identity.user is None
    assert (identity.actor.address, identity.actor.issuer) == (ADDRESS, ISSUER)


def test_access_token_identifies_caller_and_origin(ports: Ports) -> None:
    user_id = make_user(ports, first_name="Cus", last_name="Tomer")
    visitor = replace(visit(sign_in(ports, user_id).access), user_agent="Browser/1.0")

    identity = identify(ports, visitor)

    actor, user = identity.actor, identity.user
    assert (actor.kind, actor.user_id, actor.app_id) == (ActorKind.USER, user_id, None)
    assert actor.session_id is not None
    assert (actor.name, actor.is_staff, actor.origin) == ("customer@example.com", False, PASSWORD)
    assert (actor.permissions, actor.fault) == (frozenset(), None)
    assert (actor.address, actor.user_agent, actor.issuer) == (ADDRESS, "Browser/1.0", ISSUER)
    assert user is not None
    assert (user.id, user.first_name, user.last_name) == (user_id, "Cus", "Tomer")
    assert (user.date_joined, user.last_login) == (START, None)


@pytest.mark.both_databases
def test_permissions_come_from_groups_and_direct_grants_together(ports: Ports) -> None:
    first = make_group(ports, "Products", Permission.MANAGE_PRODUCTS, Permission.MANAGE_APPS)
    second = make_group(ports, "Apps", Permission.MANAGE_APPS)
    make_group(ports, "Orders", Permission.MANAGE_ORDERS)
    staff = make_user(
        ports, is_staff=True, groups=[first, second], permissions=[Permission.MANAGE_USERS]
    )

    identity = who(ports, sign_in(ports, staff).access)

    assert identity.actor.permissions == {
        Permission.MANAGE_PRODUCTS,
        Permission.MANAGE_APPS,
        Permission.MANAGE_USERS,
    }
    assert identity.user is not None
    assert [group.name for group in identity.user.groups] == ["Apps", "Products"]


@pytest.mark.parametrize("is_superuser", [False, True])
def test_who_is_no_longer_staff_holds_nothing(ports: Ports, *, is_superuser: bool) -> None:
    """Also if somebody has only changed that one column, by hand."""
    group = make_group(ports, "Products", Permission.MANAGE_PRODUCTS)
    person = make_user(
        ports,
        is_staff=True,
        is_superuser=is_superuser,
        groups=[group],
        permissions=[Permission.MANAGE_USERS],
    )
    app, _ = make_app(ports, "an app", Permission.MANAGE_PRODUCTS, Permission.MANAGE_USERS)
    own = sign_in(ports, person).access
    tokens = own, extension_of(ports, own, app)
    for is_staff in (True, False):
        change_user(ports, person, is_staff=is_staff)
        for token in tokens:
            found = who(ports, token)
            assert found.user is not None
            for one in (found.actor, found.user):
                assert bool(one.permissions) is is_staff, one


def test_superuser_holds_every_permission(ports: Ports) -> None:
    superuser = make_user(ports, is_superuser=True)

    assert who(ports, sign_in(ports, superuser).access).actor.permissions == ALL_PERMISSIONS


def test_permission_of_an_older_version_is_ignored(ports: Ports) -> None:
    _, token = make_app(ports, "an app", Permission.MANAGE_APPS)
    with ports.database.transaction() as session:
        session.execute(update(models.AppPermission).values(permission="MANAGE_TELEGRAMS"))

    assert who(ports, token).actor.permissions == frozenset()


def test_grant_applies_to_issued_tokens_on_the_next_request(ports: Ports) -> None:
    token = sign_in(ports, make_user(ports)).access
    assert not who(ports, token).actor.is_staff

    with ports.database.transaction() as session:
        session.execute(update(models.User).values(is_staff=True, is_superuser=True))

    actor = who(ports, token).actor
    assert (actor.is_staff, actor.permissions) == (True, ALL_PERMISSIONS)


MODES = [
    # mode, origin: is the session worth anything, and has staff its rights in it
    (ENABLED, PASSWORD, True, True),
    (ENABLED, OIDC, True, True),
    (CUSTOMERS_ONLY, PASSWORD, True, False),
    (CUSTOMERS_ONLY, OIDC, True, True),
    (DISABLED, PASSWORD, False, False),
    (DISABLED, OIDC, True, True),
]
ROLES = ["customer", "staff", "superuser"]


@pytest.fixture
def people(ports: Ports) -> dict[str, int]:
    """Return users by their role, in a shop with a closed storefront."""
    close_storefront(ports)
    managers = [make_group(ports, "Managers", *GRANTED)]
    return {
        "customer": make_user(ports),
        "staff": make_user(ports, "staff@example.com", is_staff=True, groups=managers),
        "superuser": make_user(ports, "root@example.com", is_superuser=True, groups=managers),
    }


@cases(("row", "role"), product(MODES, ROLES))
def test_session_rights_follow_mode_origin_and_role(
    ports: Ports,
    people: dict[str, int],
    row: tuple[PasswordLoginMode, SessionOrigin, bool, bool],
    role: str,
) -> None:
    mode, origin, is_worth_something, has_rights = row
    is_staff = role != "customer"
    token = sign_in(ports, people[role], origin).access
    set_mode(ports, mode)

    identity = who(ports, token)

    actor = identity.actor
    works_as_staff = is_staff and has_rights
    granted = {"customer": frozenset(), "staff": GRANTED, "superuser": ALL_PERMISSIONS}[role]
    assert actor.is_user is is_worth_something
    assert actor.fault is (None if is_worth_something else TokenFault.INVALID)
    assert actor.is_staff is works_as_staff
    assert actor.permissions == (granted if works_as_staff else frozenset())
    assert admits(actor, identity.switches) is works_as_staff
    if is_worth_something:
        assert actor.origin is origin
        assert identity.user is not None
        assert identity.user.is_staff is works_as_staff
        assert identity.user.permissions == actor.permissions
        assert [group.name for group in identity.user.groups] == ["Managers"] * is_staff
    else:
        assert identity.user is None


@pytest.mark.parametrize("mode", [CUSTOMERS_ONLY, DISABLED])
def test_login_mode_removes_permissions_only_while_it_lasts(
    ports: Ports, mode: PasswordLoginMode
) -> None:
    token = sign_in(ports, make_staff(ports, "staff@example.com", *GRANTED)).access
    assert who(ports, token).actor.permissions == GRANTED

    set_mode(ports, mode)
    assert who(ports, token).actor.permissions == frozenset()

    set_mode(ports, ENABLED)
    assert who(ports, token).actor.permissions == GRANTED


def test_bearer_of_broken_token_is_anonymous_with_the_fault(ports: Ports) -> None:
    broken = broken_tokens(ports, sign_in(ports, make_user(ports)).access)
    close_storefront(ports)

    identities = {name: who(ports, token) for name, (token, _) in broken.items()}

    faults = {name: identity.actor.fault for name, identity in identities.items()}
    assert faults == {name: fault for name, (_, fault) in broken.items()}
    for name, identity in identities.items():
        actor = identity.actor
        assert (actor.kind, actor.permissions) == (ActorKind.ANONYMOUS, frozenset()), name
        assert (actor.address, actor.issuer) == (ADDRESS, ISSUER), name
        assert identity.user is None, name
        assert not admits(actor, identity.switches), name


def test_refresh_token_is_not_accepted_as_credential(ports: Ports) -> None:
    pair = sign_in(ports, make_user(ports, is_superuser=True))

    assert who(ports, pair.refresh).actor.fault is TokenFault.INVALID


def test_expired_refresh_token_in_the_header_is_reported_as_expired(
    ports: Ports, clock: FakeClock
) -> None:
    pair = sign_in(ports, make_user(ports))
    clock.pass_(hours=24 * 31)

    assert who(ports, pair.refresh).actor.fault is TokenFault.EXPIRED


def test_token_claims_do_not_decide_who_is_calling(ports: Ports) -> None:
    user_id = make_user(ports)
    make_user(ports, "boss@example.com", is_superuser=True)
    token = sign_in(ports, user_id).access
    forged = altered(
        ports, token, email="boss@example.com", is_staff=True, permissions=["MANAGE_APPS"]
    )

    actor = who(ports, forged).actor

    assert (actor.user_id, actor.name) == (user_id, "customer@example.com")
    assert (actor.is_staff, actor.permissions) == (False, frozenset())


def test_deactivated_user_is_anonymous_immediately(ports: Ports) -> None:
    token = sign_in(ports, make_user(ports, is_superuser=True)).access
    assert who(ports, token).actor.is_user
    with ports.database.transaction() as session:
        session.execute(update(models.User).values(is_active=False))

    assert who(ports, token).actor.fault is TokenFault.INVALID


def test_identity_includes_the_shop(ports: Ports) -> None:
    configure_shop(ports, name="Früchte", description="Frisch", password_login_mode="DISABLED")
    _, app = make_app(ports)
    session = sign_in(ports, make_user(ports), OIDC).access

    for credential in (None, "garbage", app, session):
        shop = who(ports, credential).shop
        assert (shop.name, shop.description) == ("Früchte", "Frisch")
        assert (shop.password_login_mode, shop.allow_storefront_traffic) == (DISABLED, True)
