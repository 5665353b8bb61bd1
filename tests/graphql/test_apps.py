"""Apps by GraphQL: what clients send and read."""

from collections.abc import Mapping
from itertools import product
from typing import Any

import pytest

from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.identity.identify import identify
from tests.builders.apps import change_app, make_app
from tests.builders.people import make_staff, make_user, sign_in, visit
from tests.builders.webhooks import make_webhook
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases
from tests.fixtures.statements import recorded_statements
from tests.graphql.shop_client import ApiClient

APPS, ORDERS = Permission.MANAGE_APPS, Permission.MANAGE_ORDERS
CREATE = """
mutation ($input: AppInput!) {
  appCreate(input: $input) {
    authToken app { id name identifier isActive type permissions { code } }
    errors { field message code permissions }
  }
}"""
UPDATE = """
mutation ($id: ID!, $input: AppInput!) {
  appUpdate(id: $id, input: $input) {
    app { name identifier permissions { code } } errors { field code permissions }
  }
}"""
TOKEN = """
mutation ($input: AppTokenInput!) {
  appTokenCreate(input: $input) {
    authToken errors { field code }
    appToken { id name authToken expiresAt permissions { code } }
  }
}"""
ROTATE = """
mutation ($id: ID!, $overlap: Int) {
  appTokenRotate(id: $id, overlapSeconds: $overlap) {
    authToken appToken { id name } errors { field code }
  }
}"""
LIST = """
query ($filter: AppFilterInput, $sortBy: AppSortingInput, $first: Int, $after: String) {
  apps(filter: $filter, sortBy: $sortBy, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor } edges { node { name } }
  }
}"""


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports)


@pytest.fixture
def manager(ports: Ports) -> str:
    return sign_in(ports, make_staff(ports, "boss@example.com", APPS, ORDERS)).access


def names(page: Mapping[str, Any]) -> list[str]:
    return [edge["node"]["name"] for edge in page["edges"]]


def test_app_is_created_with_a_token(api: ApiClient, manager: str, ports: Ports) -> None:
    input_ = {"name": "Warehouse", "identifier": "a.b", "permissions": ["MANAGE_ORDERS"]}
    made = api.run(CREATE, manager, input=input_)
    assert made["errors"] == []
    assert made["app"] | {"id": None} == {
        "id": None,
        "name": "Warehouse",
        "identifier": "a.b",
        "isActive": True,
        "type": "LOCAL",
        "permissions": [{"code": "MANAGE_ORDERS"}],
    }
    assert identify(ports, visit(made["authToken"])).actor.permissions == {ORDERS}


@cases("input_", [{}, {"name": None}, {"name": " "}])
def test_name_is_required(api: ApiClient, manager: str, input_: dict[str, object]) -> None:
    made = api.run(CREATE, manager, input=input_)
    assert [(error["field"], error["code"]) for error in made["errors"]] == [("name", "REQUIRED")]
    assert [error["permissions"] for error in made["errors"]] == [None]
    assert made["app"] is made["authToken"] is None


def test_missing_permission_is_named(api: ApiClient, manager: str) -> None:
    input_ = {"name": "x", "permissions": ["MANAGE_ORDERS", "MANAGE_TAXES", "MANAGE_APPS"]}
    [beyond, never] = api.run(CREATE, manager, input=input_)["errors"]
    assert (beyond["code"], beyond["permissions"]) == ("OUT_OF_SCOPE_PERMISSION", ["MANAGE_TAXES"])
    assert (never["code"], never["permissions"]) == ("OUT_OF_SCOPE_PERMISSION", ["MANAGE_APPS"])


def test_app_without_an_identifier_has_its_global_id(api: ApiClient, manager: str) -> None:
    made = api.run(CREATE, manager, input={"name": "Warehouse"})["app"]
    assert made["identifier"] == made["id"]
    named = api.run(UPDATE, manager, id=made["id"], input={"identifier": "a.b"})["app"]
    assert named["identifier"] == "a.b"


def test_null_leaves_a_field_unchanged(api: ApiClient, manager: str, ports: Ports) -> None:
    key, _ = make_app(ports, "Warehouse", ORDERS)
    input_ = {"name": None, "permissions": None, "identifier": "new"}
    updated = api.run(UPDATE, manager, id=to_global_id("App", key), input=input_)
    assert updated["app"] == {
        "name": "Warehouse",
        "identifier": "new",
        "permissions": [{"code": "MANAGE_ORDERS"}],
    }


@cases(
    ("wrong", "name"),
    product(
        ["", "garbage", to_global_id("User", 1), to_global_id("App", 9)],
        ["appDelete", "appActivate", "appDeactivate"],
    ),
)
def test_unknown_id_is_not_found(api: ApiClient, manager: str, name: str, wrong: str) -> None:
    query = f"mutation ($id: ID!) {{ {name}(id: $id) {{ app {{ id }} errors {{ field code }} }} }}"
    response = api.run(query, manager, id=wrong)
    assert response == {"app": None, "errors": [{"field": "id", "code": "NOT_FOUND"}]}
    assert api.code(query, id=wrong) == "PermissionDenied"


def test_token_can_have_an_expiry_and_fewer_permissions(
    api: ApiClient, manager: str, ports: Ports
) -> None:
    key, _ = make_app(ports, "Warehouse", ORDERS)
    input_ = {
        "app": to_global_id("App", key),
        "name": "nightly",
        "expiresAt": "2026-04-01T00:00:00+00:00",
        "permissions": [],
    }
    made = api.run(TOKEN, manager, input=input_)
    assert made["errors"] == []
    assert made["appToken"]["authToken"] == made["authToken"][-4:]
    assert made["appToken"]["expiresAt"] == "2026-04-01T00:00:00+00:00"
    assert made["appToken"]["permissions"] == []
    assert identify(ports, visit(made["authToken"])).actor.permissions == frozenset()


def test_token_is_replaced_with_an_overlap(
    api: ApiClient, manager: str, ports: Ports, clock: FakeClock
) -> None:
    key, old = make_app(ports, "Warehouse")
    made = api.run(TOKEN, manager, input={"app": to_global_id("App", key), "name": "nightly"})
    new = api.run(ROTATE, manager, id=made["appToken"]["id"], overlap=60)
    assert (new["errors"], new["appToken"]["name"]) == ([], "nightly")
    clock.pass_(seconds=60)
    opened = [made["authToken"], new["authToken"], old]
    assert [identify(ports, visit(token)).actor.is_app for token in opened] == [False, True, True]


def test_token_verification_needs_no_permission(api: ApiClient, ports: Ports) -> None:
    query = "mutation ($t: String!) { appTokenVerify(token: $t) { valid errors { code } } }"
    assert api.run(query, t=make_app(ports)[1]) == {"valid": True, "errors": []}
    assert api.run(query, t="garbage") == {"valid": False, "errors": []}


def test_apps_are_listed_by_name_unless_sorted_otherwise(
    api: ApiClient, manager: str, ports: Ports, clock: FakeClock
) -> None:
    for name in ("Berta", "Caesar", "Anton"):
        make_app(ports, name)
        clock.pass_(minutes=1)
    assert names(api.run(LIST, manager, first=5)) == ["Anton", "Berta", "Caesar"]
    for field, direction, expected in (
        ("NAME", "DESC", ["Caesar", "Berta", "Anton"]),
        ("CREATION_DATE", "ASC", ["Berta", "Caesar", "Anton"]),
        ("CREATION_DATE", "DESC", ["Anton", "Caesar", "Berta"]),
    ):
        sort = {"field": field, "direction": direction}
        assert names(api.run(LIST, manager, first=5, sortBy=sort)) == expected
        first = api.run(LIST, manager, first=2, sortBy=sort)
        assert (names(first), first["totalCount"]) == (expected[:2], 3)
        after = first["pageInfo"]["endCursor"]
        assert names(api.run(LIST, manager, first=2, sortBy=sort, after=after)) == expected[2:]


def test_apps_are_filtered_by_their_fields(api: ApiClient, manager: str, ports: Ports) -> None:
    change_app(ports, make_app(ports, "Warehouse")[0], type="THIRDPARTY")
    make_app(ports, "house_keeper", is_active=False)
    make_app(ports, "50% off")
    change_app(ports, make_app(ports, "house under construction")[0], is_installed=False)
    for filter_, expected in (
        ({}, ["50% off", "Warehouse", "house_keeper"]),
        ({"search": "HOUSE"}, ["Warehouse", "house_keeper"]),
        ({"search": "%"}, ["50% off"]),
        ({"search": "_"}, ["house_keeper"]),
        ({"search": "\\"}, []),
        ({"search": "\u0000"}, []),
        ({"isActive": False}, ["house_keeper"]),
        ({"isActive": True, "search": "house"}, ["Warehouse"]),
        ({"type": "THIRDPARTY"}, ["Warehouse"]),
        ({"type": "LOCAL", "isActive": True}, ["50% off"]),
        (
            {"isActive": None, "type": None, "search": None},
            ["50% off", "Warehouse", "house_keeper"],
        ),
    ):
        found = names(api.run(LIST, manager, first=9, filter=filter_))
        assert sorted(found) == expected, filter_


def test_nested_fields_of_apps_are_read_together(
    api: ApiClient, manager: str, ports: Ports
) -> None:
    query = """{ apps(first: 9) { edges { node {
      tokens { authToken } webhooks { name secretKey } extensions { label app { name } }
    } } } }"""
    for number in range(2):
        make_webhook(ports, make_app(ports, f"app {number}")[0], secret="sesame")
    api.run(query, manager)
    with recorded_statements() as few:
        api.run(query, manager)
    for number in range(5):
        make_webhook(ports, make_app(ports, f"more {number}")[0])
    with recorded_statements() as many:
        page = api.run(query, manager)
    assert len(few) == len(many)
    assert page["edges"][0]["node"]["webhooks"] == [{"name": "hook", "secretKey": "sesame"}]


def test_app_sees_only_itself_and_its_webhooks(api: ApiClient, ports: Ports) -> None:
    key, token = make_app(ports, "Warehouse", *(ALL_PERMISSIONS - {APPS}))
    other, _ = make_app(ports, "Other")
    make_webhook(ports, key, secret="sesame")
    itself = api.run("{ app { id name webhooks { secretKey } } }", token)
    assert itself["id"] == to_global_id("App", key)
    assert itself["webhooks"] == [{"secretKey": "sesame"}]
    by_id = "query ($id: ID) { app(id: $id) { name } }"
    assert api.run(by_id, token, id=to_global_id("App", key)) == {"name": "Warehouse"}
    assert api.code(by_id, token, id=to_global_id("App", other)) == "PermissionDenied"
    assert api.code("{ app { tokens { id } } }", token) == "PermissionDenied"


def test_staff_see_an_app_but_not_its_secrets(api: ApiClient, ports: Ports) -> None:
    key, _ = make_app(ports, "Warehouse", ORDERS)
    make_webhook(ports, key, secret="sesame")
    staff = sign_in(ports, make_staff(ports)).access
    one = f'{{ app(id: "{to_global_id("App", key)}") {{ %s }} }}'
    assert api.run(one % "name permissions { code }", staff)["name"] == "Warehouse"
    for hidden in ("tokens { id }", "webhooks { secretKey }"):
        response = api.ask(one % hidden, staff)
        assert response["errors"][0]["extensions"]["requiredPermissions"] == ["MANAGE_APPS"]
        assert "sesame" not in str(response)


@cases("wrong", ["garbage", to_global_id("User", 1), to_global_id("App", 4711)])
def test_missing_app_is_null(api: ApiClient, manager: str, wrong: str) -> None:
    assert api.run("query ($id: ID) { app(id: $id) { name } }", manager, id=wrong) is None


def test_app_query_without_id_needs_an_app(api: ApiClient, ports: Ports) -> None:
    customer = sign_in(ports, make_user(ports)).access
    staff = sign_in(ports, make_staff(ports, "s@example.com", APPS)).access
    for credential in (None, customer, staff):
        response = api.ask("{ app { id } }", credential)
        assert response["data"] == {"app": None}
        assert response["errors"][0]["extensions"] == {
            "exception": {"code": "PermissionDenied"},
            "requiredPermissions": ["AUTHENTICATED_APP"],
        }
