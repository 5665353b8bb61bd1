"""Rights that are taken away while an operation with ten mutations is running."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import delete, func, select

from app import models
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode, ShopUpdate
from app.ports import Ports
from app.services.people.user_status import deactivate_user
from app.services.shop.settings import update_shop
from tests.builders.apps import change_app, make_app
from tests.builders.people import make_staff, make_user, sign_in
from tests.fakes.clock import FakeClock
from tests.fakes.interrupted_database import InterruptedDatabase
from tests.fixtures.statements import recorded_statements
from tests.graphql.shop_client import ApiClient

APPS, PRODUCTS = Permission.MANAGE_APPS, Permission.MANAGE_PRODUCTS
WRITTEN = 3
"""How many of the fields are answered before anything is revoked."""

FIELDS = 10
INVALID, DENIED, EXPIRED = "InvalidTokenError", "PermissionDenied", "ExpiredSignatureError"
CLOSED = "STOREFRONT_TRAFFIC_NOT_ALLOWED"
TEN_PRODUCTS = (
    "mutation {"
    + "".join(
        f' p{place}: productCreate(input: {{name: "Bowl {place}"}}) {{ errors {{ code }} }}'
        for place in range(FIELDS)
    )
    + "}"
)
TEN_CARTS = (
    "mutation {"
    + "".join(
        f" p{place}: checkoutCreate(input: {{lines: []}}) {{ errors {{ code }} }}"
        for place in range(FIELDS)
    )
    + "}"
)

Revoke = Callable[[Ports, int], object]


@pytest.fixture
def database(ports: Ports) -> InterruptedDatabase:
    return InterruptedDatabase(ports.database)


@pytest.fixture
def api(ports: Ports, database: InterruptedDatabase) -> ApiClient:
    return ApiClient(replace(ports, database=database))


def _delete(ports: Ports, what: Any) -> None:
    with ports.database.transaction() as session:
        session.execute(what)


def deactivate(ports: Ports, user_id: int) -> None:
    deactivate_user(ports, OPERATOR, user_id)


def end_session(ports: Ports, user_id: int) -> None:
    _delete(ports, delete(models.Session).where(models.Session.user_id == user_id))


def take_permission(ports: Ports, user_id: int) -> None:
    _delete(ports, delete(models.UserPermission).where(models.UserPermission.user_id == user_id))


def limit_passwords_to_customers(ports: Ports, _user_id: int) -> None:
    mode = PasswordLoginMode.CUSTOMERS_ONLY
    update_shop(ports, OPERATOR, ShopUpdate(password_login_mode=mode))


def switch_passwords_off(ports: Ports, _user_id: int) -> None:
    mode = PasswordLoginMode.DISABLED
    update_shop(ports, OPERATOR, ShopUpdate(password_login_mode=mode))


def close_storefront(ports: Ports) -> None:
    update_shop(ports, OPERATOR, ShopUpdate(allow_storefront_traffic=False))


def products(ports: Ports) -> int:
    with ports.database.reading() as session:
        return session.scalar(select(func.count()).select_from(models.Product)) or 0


def codes(response: Any) -> dict[str, str]:
    """The code of the error at each field that failed."""
    return {
        error["path"][0]: error["extensions"].get("code")
        or error["extensions"]["exception"]["code"]
        for error in response.get("errors", ())
    }


def from_fourth(code: str) -> dict[str, str]:
    """Every field behind the first three failed with ``code``."""
    return {f"p{place}": code for place in range(WRITTEN, FIELDS)}


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("revoke", "code"),
    [
        (deactivate, INVALID),
        (end_session, INVALID),
        (switch_passwords_off, INVALID),
        (take_permission, DENIED),
        (limit_passwords_to_customers, DENIED),
    ],
)
def test_mutations_of_a_manager_stop_at_the_field_after_the_revocation(
    ports: Ports,
    second_process: Ports,
    api: ApiClient,
    database: InterruptedDatabase,
    revoke: Revoke,
    code: str,
) -> None:
    manager = make_staff(ports, "manager@example.com", PRODUCTS)
    token = sign_in(ports, manager).access
    database.after[WRITTEN] = lambda: revoke(second_process, manager)

    response = api.ask(TEN_PRODUCTS, token)

    assert codes(response) == from_fourth(code)
    assert products(ports) == WRITTEN


def revoke_token(ports: Ports, app_id: int) -> None:
    _delete(ports, delete(models.AppToken).where(models.AppToken.app_id == app_id))


def deactivate_app(ports: Ports, app_id: int) -> None:
    change_app(ports, app_id, is_active=False)


@pytest.mark.both_databases
@pytest.mark.parametrize("revoke", [revoke_token, deactivate_app])
def test_mutations_of_an_app_stop_when_its_token_is_revoked(
    ports: Ports,
    second_process: Ports,
    api: ApiClient,
    database: InterruptedDatabase,
    revoke: Revoke,
) -> None:
    app_id, token = make_app(ports, "Stock", PRODUCTS)
    database.after[WRITTEN] = lambda: revoke(second_process, app_id)

    assert codes(api.ask(TEN_PRODUCTS, token)) == from_fourth(INVALID)
    assert products(ports) == WRITTEN


def test_token_that_expires_midway_fails_the_remaining_fields(
    ports: Ports, api: ApiClient, database: InterruptedDatabase, clock: FakeClock
) -> None:
    token = sign_in(ports, make_staff(ports, "manager@example.com", PRODUCTS)).access
    lifetime = ports.configuration.jwt_ttl_access
    database.after[WRITTEN] = lambda: clock.pass_(seconds=lifetime)

    assert codes(api.ask(TEN_PRODUCTS, token)) == from_fourth(EXPIRED)


@pytest.mark.both_databases
@pytest.mark.parametrize("is_signed_in", [True, False])
def test_storefront_that_closes_midway_stops_customers(
    ports: Ports,
    second_process: Ports,
    api: ApiClient,
    database: InterruptedDatabase,
    is_signed_in: bool,
) -> None:
    token = sign_in(ports, make_user(ports)).access if is_signed_in else None
    database.after[WRITTEN] = lambda: close_storefront(second_process)

    assert codes(api.ask(TEN_CARTS, token)) == from_fourth(CLOSED)


@pytest.mark.both_databases
def test_closed_storefront_does_not_stop_managers_or_apps(
    ports: Ports, second_process: Ports, api: ApiClient, database: InterruptedDatabase
) -> None:
    token = sign_in(ports, make_staff(ports, "manager@example.com", PRODUCTS)).access
    database.after[WRITTEN] = lambda: close_storefront(second_process)
    _, app_token = make_app(ports, "Stock", PRODUCTS)

    for credential in (token, app_token):
        assert codes(api.ask(TEN_PRODUCTS, credential)) == {}
    assert products(ports) == 2 * FIELDS


def test_ending_own_sessions_stops_later_fields(ports: Ports, api: ApiClient) -> None:
    token = sign_in(ports, make_staff(ports, "manager@example.com", PRODUCTS)).access
    end = "e: tokensDeactivateAll { errors { code } }"
    create = 'p: productCreate(input: {name: "Bowl"}) { errors { code } }'

    response = api.ask(f"mutation {{ {end} {create} }}", token)

    assert response["data"]["e"] == {"errors": []}
    assert codes(response) == {"p": INVALID}


def test_undisturbed_operation_writes_all_its_fields(ports: Ports, api: ApiClient) -> None:
    token = sign_in(ports, make_staff(ports, "manager@example.com", PRODUCTS)).access

    assert codes(api.ask(TEN_PRODUCTS, token)) == {}
    assert products(ports) == FIELDS


@pytest.mark.both_databases
def test_single_mutation_reads_its_caller_once(ports: Ports, api: ApiClient) -> None:
    token = sign_in(ports, make_user(ports)).access
    api.ask("{ me { email } }", token)
    with recorded_statements() as statements:
        api.ask('mutation { tokenVerify(token: "x") { isValid } }', token)

    assert (
        len(
            [
                statement
                for statement in statements
                if "FROM shop LEFT OUTER JOIN sessions" in statement
            ]
        )
        == 1
    )
