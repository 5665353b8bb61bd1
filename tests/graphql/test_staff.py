"""Staff, customers and groups changed by GraphQL: what is sent, what is refused, and how."""

from typing import Any

import pytest

from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import MailKind
from app.domain.values.ids import to_global_id
from app.ports import Ports
from tests.builders.apps import make_app
from tests.builders.outbox import mails
from tests.builders.people import actor_of, make_group, make_staff, make_user, sign_in
from tests.builders.second_factor_rule import add_unusable_passkey
from tests.graphql.shop_client import ApiClient

STAFF = Permission.MANAGE_STAFF
USERS = Permission.MANAGE_USERS
ORDERS = Permission.MANAGE_ORDERS
PAGES = Permission.MANAGE_PAGES

PERSON = "user { email firstName lastName isActive isConfirmed permissionGroups { name } }"
STAFF_ERRORS = "errors { field code message permissions groups users }"
ERRORS = "errors { field code message } accountErrors { field code }"
GROUP = "group { name permissions { code } users { email } userCanManage }"
GROUP_ERRORS = "errors { field code message permissions users channels }"
STAFF_CREATE = f"""mutation ($input: StaffCreateInput!) {{
  staffCreate(input: $input) {{ {PERSON} {STAFF_ERRORS} }}
}}"""
STAFF_UPDATE = f"""mutation ($id: ID!, $input: StaffUpdateInput!) {{
  staffUpdate(id: $id, input: $input) {{ {PERSON} {STAFF_ERRORS} }}
}}"""
STAFF_DELETE = f"""mutation ($id: ID!) {{ staffDelete(id: $id) {{ {PERSON} {STAFF_ERRORS} }} }}"""
SECOND_FACTOR_RESET = f"""mutation ($id: ID!) {{
  userSecondFactorReset(id: $id) {{ {PERSON} {STAFF_ERRORS} }}
}}"""
CUSTOMER_CREATE = f"""mutation ($input: UserCreateInput!) {{
  customerCreate(input: $input) {{ {PERSON} {ERRORS} }}
}}"""
CUSTOMER_UPDATE = f"""mutation ($id: ID, $input: CustomerInput!) {{
  customerUpdate(id: $id, input: $input) {{ {PERSON} {ERRORS} }}
}}"""
CUSTOMER_DELETE = f"mutation ($id: ID) {{ customerDelete(id: $id) {{ {PERSON} {ERRORS} }} }}"
GROUP_CREATE = f"""mutation ($input: PermissionGroupCreateInput!) {{
  permissionGroupCreate(input: $input) {{ {GROUP} {GROUP_ERRORS} }}
}}"""
GROUP_UPDATE = f"""mutation ($id: ID!, $input: PermissionGroupUpdateInput!) {{
  permissionGroupUpdate(id: $id, input: $input) {{ {GROUP} {GROUP_ERRORS} }}
}}"""
GROUP_DELETE = f"""mutation ($id: ID!) {{
  permissionGroupDelete(id: $id) {{ {GROUP} {GROUP_ERRORS} }}
}}"""


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports)


@pytest.fixture
def manager(ports: Ports) -> str:
    """The token of somebody who manages staff, customers and orders."""
    return sign_in(ports, make_staff(ports, "boss@example.com", STAFF, USERS, ORDERS)).access


def user_id(key: int) -> str:
    return to_global_id("User", key)


def group_id(key: int) -> str:
    return to_global_id("Group", key)


def error_codes(payload: Any) -> list[tuple[str | None, str]]:
    """Field and code of what was wrong, with nothing done."""
    assert payload.get("user") is payload.get("group") is None
    assert all(error["message"] for error in payload["errors"])
    found = [(error["field"], error["code"]) for error in payload["errors"]]
    if "accountErrors" in payload:
        assert found == [(error["field"], error["code"]) for error in payload["accountErrors"]]
    return found


def test_staff_are_invited_updated_and_deleted(ports: Ports, api: ApiClient, manager: str) -> None:
    support = group_id(make_group(ports, "Support", ORDERS))
    new = {
        "email": "Eve@example.com",
        "firstName": "Eve",
        "addGroups": [support],
        "redirectUrl": "http://localhost:3000/",
    }
    made = api.run(STAFF_CREATE, manager, input=new)
    assert made == {
        "user": {
            "email": "eve@example.com",
            "firstName": "Eve",
            "lastName": "",
            "isActive": True,
            "isConfirmed": True,
            "permissionGroups": [{"name": "Support"}],
        },
        "errors": [],
    }
    assert [mail.kind for mail in mails(ports)] == [MailKind.STAFF_INVITATION]
    eve = api.run('{ user(email: "eve@example.com") { id } }', manager)["id"]
    changes = {"lastName": "Lee", "isActive": False, "removeGroups": [support], "addGroups": None}
    changed = api.run(STAFF_UPDATE, manager, id=eve, input=changes)["user"]
    assert (changed["firstName"], changed["lastName"]) == ("Eve", "Lee")
    assert (changed["isActive"], changed["permissionGroups"]) == (False, [])
    assert api.run(STAFF_DELETE, manager, id=eve)["user"]["email"] == "eve@example.com"
    assert error_codes(api.run(STAFF_DELETE, manager, id=eve)) == [("id", "NOT_FOUND")]


def test_out_of_scope_items_are_listed(ports: Ports, api: ApiClient, manager: str) -> None:
    above = make_staff(ports, "above@example.com", PAGES)
    editors = group_id(make_group(ports, "Editors", PAGES))
    payload = api.run(
        STAFF_CREATE, manager, input={"email": "e@x.example", "addGroups": [editors]}
    )
    assert error_codes(payload) == [("addGroups", "OUT_OF_SCOPE_GROUP")]
    assert payload["errors"][0]["groups"] == [editors]
    payload = api.run(STAFF_UPDATE, manager, id=user_id(above), input={"firstName": "x"})
    assert error_codes(payload) == [("id", "OUT_OF_SCOPE_USER")]
    assert payload["errors"][0]["users"] == [user_id(above)]
    input_ = {"name": "G", "addPermissions": ["MANAGE_PAGES", "MANAGE_ORDERS"]}
    payload = api.run(GROUP_CREATE, manager, input=input_)
    assert error_codes(payload) == [("addPermissions", "OUT_OF_SCOPE_PERMISSION")]
    assert payload["errors"][0]["permissions"] == ["MANAGE_PAGES"]
    assert (payload["errors"][0]["users"], payload["errors"][0]["channels"]) == (None, None)


def test_direct_permission_is_taken_away(ports: Ports, api: ApiClient, manager: str) -> None:
    bob = make_staff(ports, "bob@example.com", ORDERS)
    above = {"removePermissions": ["MANAGE_PAGES"]}
    payload = api.run(STAFF_UPDATE, manager, id=user_id(bob), input=above)
    assert error_codes(payload) == [("removePermissions", "OUT_OF_SCOPE_PERMISSION")]
    assert payload["errors"][0]["permissions"] == ["MANAGE_PAGES"]
    changes = {"removePermissions": ["MANAGE_ORDERS"], "addPermissions": ["MANAGE_USERS"]}
    assert api.run(STAFF_UPDATE, manager, id=user_id(bob), input=changes)["errors"] == []
    assert actor_of(ports, bob).permissions == {USERS}


def test_customer_is_invited_changed_and_deleted(ports: Ports, api: ApiClient) -> None:
    _, crm = make_app(ports, "crm", USERS)
    new = {
        "email": "ann@example.com",
        "channel": "default",
        "redirectUrl": "http://localhost:3000/",
    }
    made = api.run(CUSTOMER_CREATE, crm, input=new)
    assert made["errors"] == made["accountErrors"] == []
    assert [mail.kind for mail in mails(ports)] == [MailKind.CUSTOMER_INVITATION]
    ann = api.run('{ user(email: "ann@example.com") { id } }', crm)["id"]
    changes = {"firstName": "Ann", "isConfirmed": False, "isActive": False}
    changed = api.run(CUSTOMER_UPDATE, crm, id=ann, input=changes)["user"]
    assert (changed["firstName"], changed["isConfirmed"], changed["isActive"]) == (
        *("Ann", False, False),
    )
    assert api.run(CUSTOMER_DELETE, crm, id=ann)["user"]["firstName"] == "Ann"
    assert error_codes(api.run(CUSTOMER_UPDATE, crm, id=ann, input={})) == [("id", "NOT_FOUND")]


def test_invalid_input_is_a_payload_error(ports: Ports, api: ApiClient, manager: str) -> None:
    make_user(ports, "ann@example.com")
    make_group(ports, "Support", ORDERS)
    cases: list[tuple[str, dict[str, Any], list[tuple[str, str]]]] = [
        (STAFF_CREATE, {"input": {}}, [("email", "REQUIRED")]),
        (STAFF_CREATE, {"input": {"email": "boss@example.com"}}, [("email", "UNIQUE")]),
        (
            STAFF_CREATE,
            {"input": {"email": "e@x.example", "redirectUrl": "https://evil.example"}},
            [("redirectUrl", "INVALID")],
        ),
        (STAFF_UPDATE, {"id": user_id(1), "input": {"email": None}}, [("email", "REQUIRED")]),
        (STAFF_UPDATE, {"id": "garbage", "input": {}}, [("id", "NOT_FOUND")]),
        (
            STAFF_UPDATE,
            {"id": user_id(1), "input": {"isActive": False}},
            [("isActive", "DEACTIVATE_OWN_ACCOUNT")],
        ),
        (STAFF_DELETE, {"id": user_id(1)}, [("id", "DELETE_OWN_ACCOUNT")]),
        (STAFF_DELETE, {"id": ""}, [("id", "NOT_FOUND")]),
        (CUSTOMER_CREATE, {"input": {}}, [("email", "REQUIRED")]),
        (
            CUSTOMER_CREATE,
            {"input": {"email": "a@x.example", "customerType": "Q3VzdG9tZXJUeXBlOjE="}},
            [("customerType", "NOT_FOUND")],
        ),
        (CUSTOMER_UPDATE, {"input": {}}, [("id", "REQUIRED")]),
        (
            CUSTOMER_UPDATE,
            {"id": user_id(2), "input": {"customerType": "x"}},
            [("customerType", "NOT_FOUND")],
        ),
        (CUSTOMER_UPDATE, {"id": user_id(1), "input": {}}, [("id", "NOT_FOUND")]),
        (CUSTOMER_DELETE, {}, [("id", "REQUIRED")]),
        (CUSTOMER_DELETE, {"id": user_id(1)}, [("id", "DELETE_STAFF_ACCOUNT")]),
        (GROUP_CREATE, {"input": {"name": " "}}, [("name", "REQUIRED")]),
        (
            GROUP_CREATE,
            {"input": {"name": "G", "addUsers": [user_id(2)]}},
            [("addUsers", "ASSIGN_NON_STAFF_MEMBER")],
        ),
        (GROUP_UPDATE, {"id": group_id(9), "input": {}}, [("id", "NOT_FOUND")]),
        (GROUP_UPDATE, {"id": group_id(1), "input": {"name": None}}, [("name", "REQUIRED")]),
        (
            GROUP_UPDATE,
            {
                "id": group_id(1),
                "input": {
                    "addPermissions": ["MANAGE_ORDERS"],
                    "removePermissions": ["MANAGE_ORDERS"],
                },
            },
            [("permissions", "DUPLICATED_INPUT_ITEM")],
        ),
        (GROUP_DELETE, {"id": "garbage"}, [("id", "NOT_FOUND")]),
    ]
    for query, variables, problems in cases:
        assert error_codes(api.run(query, manager, **variables)) == problems, variables


def test_group_is_made_changed_and_deleted(ports: Ports, api: ApiClient, manager: str) -> None:
    bob = user_id(make_staff(ports, "bob@example.com"))
    new = {"name": "Support", "addPermissions": ["MANAGE_ORDERS"], "addUsers": [bob]}
    made = api.run(GROUP_CREATE, manager, input=new)
    assert made == {
        "group": {
            "name": "Support",
            "permissions": [{"code": "MANAGE_ORDERS"}],
            "users": [{"email": "bob@example.com"}],
            "userCanManage": True,
        },
        "errors": [],
    }
    support = api.run("{ permissionGroups(first: 1) { edges { node { id } } } }", manager)
    support = support["edges"][0]["node"]["id"]
    changes = {"name": "Care", "removeUsers": [bob], "removePermissions": ["MANAGE_ORDERS"]}
    changed = api.run(GROUP_UPDATE, manager, id=support, input=changes)["group"]
    assert (changed["name"], changed["permissions"], changed["users"]) == ("Care", [], [])
    assert api.run(GROUP_DELETE, manager, id=support)["group"]["name"] == "Care"


def test_each_mutation_sees_the_changes_of_the_previous_one(
    ports: Ports, api: ApiClient, manager: str
) -> None:
    group = group_id(make_group(ports, "Support"))
    bob, eve = (user_id(make_staff(ports, f"{name}@example.com")) for name in ("bob", "eve"))
    query = """mutation ($group: ID!, $bob: ID!, $eve: ID!) {
      a: permissionGroupUpdate(id: $group, input: {addUsers: [$bob]}) {
        group { users { email } }
      }
      b: permissionGroupUpdate(id: $group, input: {addUsers: [$eve], removeUsers: [$bob]}) {
        group { users { email } }
      }
    }"""
    response = api.ask(query, manager, group=group, bob=bob, eve=eve)
    assert "errors" not in response
    assert response["data"]["a"]["group"]["users"] == [{"email": "bob@example.com"}]
    assert response["data"]["b"]["group"]["users"] == [{"email": "eve@example.com"}]


def test_deleted_object_is_returned(ports: Ports, api: ApiClient, manager: str) -> None:
    group = make_group(ports, "Support", ORDERS)
    bob = make_user(ports, "bob@example.com", is_staff=True, groups=[group])
    user = api.run(STAFF_DELETE, manager, id=user_id(bob))["user"]
    assert user["permissionGroups"] == [{"name": "Support"}]
    payload = api.run(GROUP_DELETE, manager, id=group_id(group))
    assert payload["group"]["permissions"] == [{"code": "MANAGE_ORDERS"}]


def test_deletion_returns_what_was_stored(ports: Ports, api: ApiClient, manager: str) -> None:
    new = {"email": "ann@example.com", "externalReference": "crm-7", "note": "calls on Mondays"}
    api.run(CUSTOMER_CREATE, manager, input=new)
    deletion = """mutation ($reference: String) {
      customerDelete(externalReference: $reference) {
        user { externalReference note metadata { key } } errors { code }
      }
    }"""
    assert api.run(deletion, manager, reference="crm-7") == {
        "user": {"externalReference": "crm-7", "note": "calls on Mondays", "metadata": []},
        "errors": [],
    }
    assert error_codes(api.run(deletion.replace("errors { code }", ERRORS), manager)) == [
        ("id", "REQUIRED")
    ]


def test_second_factors_of_staff_are_reset(api: ApiClient, ports: Ports, manager: str) -> None:
    ann = make_staff(ports, "ann@example.com")
    add_unusable_passkey(ports, ann)
    done = api.run(SECOND_FACTOR_RESET, manager, id=user_id(ann))
    assert done["user"]["email"] == "ann@example.com"
    assert done["errors"] == []
    assert len(mails(ports, MailKind.SECOND_FACTORS_RESET)) == 1
    unknown = api.run(SECOND_FACTOR_RESET, manager, id=user_id(999))
    assert error_codes(unknown) == [("id", "NOT_FOUND")]
