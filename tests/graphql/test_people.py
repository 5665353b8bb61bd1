"""People and groups by GraphQL: looked up, listed, and each with what belongs to them."""

from typing import Any

import pytest

from app import models
from app.domain.authorization.actor import SessionOrigin
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.ids import to_global_id
from app.ports import Ports
from tests.builders.apps import make_app
from tests.builders.people import make_group, make_staff, make_user, sign_in
from tests.fixtures.cases import cases
from tests.fixtures.statements import recorded_statements, selects
from tests.graphql.shop_client import ApiClient

STAFF = Permission.MANAGE_STAFF
USERS = Permission.MANAGE_USERS
ORDERS = Permission.MANAGE_ORDERS
CUSTOMERS = """
query ($search: String, $sortBy: UserSortingInput, $first: Int, $after: String, $last: Int,
       $before: String) {
  customers(search: $search, sortBy: $sortBy, first: $first, after: $after, last: $last,
            before: $before) {
    totalCount
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    edges { cursor node { email } }
  }
}"""
STAFF_USERS = """
query ($filter: StaffUserInput, $sortBy: UserSortingInput) {
  staffUsers(first: 100, filter: $filter, sortBy: $sortBy) { edges { node { email } } }
}"""
GROUPS = """
query ($filter: PermissionGroupFilterInput, $sortBy: PermissionGroupSortingInput) {
  permissionGroups(first: 100, filter: $filter, sortBy: $sortBy) { edges { node { name } } }
}"""
USER = "query ($id: ID, $email: String) { user(id: $id, email: $email) { id email isStaff } }"
NOTES = "id note externalReference"
CHANGE = f"""mutation ($id: ID, $reference: String, $input: CustomerInput!) {{
  customerUpdate(id: $id, externalReference: $reference, input: $input) {{
    user {{ {NOTES} }} errors {{ field code }}
  }}
}}"""
CREATE = f"""mutation ($input: UserCreateInput!) {{
  customerCreate(input: $input) {{ user {{ {NOTES} }} errors {{ field code }} }}
}}"""
EVERYTHING = """{
  staffUsers(first: 21) { edges { node {
    email
    userPermissions { code }
    editableGroups { name }
    permissionGroups {
      name permissions { code } userCanManage
      users { email permissionGroups { name } }
    }
  } } }
}"""


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports)


def token_of(ports: Ports, key: int, origin: SessionOrigin = SessionOrigin.PASSWORD) -> str:
    return sign_in(ports, key, origin).access


@pytest.fixture
def manager(ports: Ports) -> str:
    """The token of somebody who manages staff, customers and orders."""
    return token_of(ports, make_staff(ports, "boss@example.com", STAFF, USERS, ORDERS))


def emails(connection: Any) -> list[str]:
    return [edge["node"]["email"].partition("@")[0] for edge in connection["edges"]]


def names(connection: Any) -> list[str]:
    return [edge["node"]["name"] for edge in connection["edges"]]


def test_customers_are_paged_both_ways(ports: Ports, api: ApiClient, manager: str) -> None:
    for name in "abcde":
        make_user(ports, f"{name}@example.com")
    page = api.run(CUSTOMERS, manager, first=2)
    assert (emails(page), page["totalCount"]) == (["a", "b"], 5)
    assert page["pageInfo"]["hasNextPage"]
    assert not page["pageInfo"]["hasPreviousPage"]
    page = api.run(CUSTOMERS, manager, first=2, after=page["pageInfo"]["endCursor"])
    assert emails(page) == ["c", "d"]
    page = api.run(CUSTOMERS, manager, last=1, before=page["pageInfo"]["startCursor"])
    assert emails(page) == ["b"]
    assert page["edges"][0]["cursor"] == page["pageInfo"]["endCursor"]


def test_customers_are_searched_and_sorted(ports: Ports, api: ApiClient, manager: str) -> None:
    make_user(ports, "zoe@example.com", first_name="Änne")
    make_user(ports, "bob@example.com", first_name="Bob")
    assert emails(api.run(CUSTOMERS, manager, first=5, search="ANN")) == ["zoe"]
    by_email = {"field": "EMAIL", "direction": "ASC"}
    assert emails(api.run(CUSTOMERS, manager, first=5, sortBy=by_email)) == ["bob", "zoe"]
    by_email["direction"] = "DESC"
    assert emails(api.run(CUSTOMERS, manager, first=5, sortBy=by_email)) == ["zoe", "bob"]
    found = api.run(CUSTOMERS, manager, first=5, search="example.com", sortBy=by_email)
    assert emails(found) == ["zoe", "bob"]


@cases(
    "arguments",
    [
        {},
        {"first": 0},
        {"first": 1, "last": 1},
        {"first": 1, "after": "garbage"},
        {"first": 1, "after": "WyJhIl0="},
        {"last": 1, "after": "WzFd"},
    ],
)
def test_invalid_page_has_a_readable_error(
    api: ApiClient, manager: str, arguments: dict[str, Any]
) -> None:
    assert api.code(CUSTOMERS, manager, **arguments) == "GraphQLError"


def test_staff_are_filtered(ports: Ports, api: ApiClient, manager: str) -> None:
    eve = make_user(ports, "eve@example.com", is_staff=True, is_active=False, first_name="Eve")
    assert emails(api.run(STAFF_USERS, manager)) == ["boss", "eve"]
    for filter_, found in (
        ({"status": "ACTIVE"}, ["boss"]),
        ({"status": "DEACTIVATED"}, ["eve"]),
        ({"status": None, "search": None, "ids": None}, ["boss", "eve"]),
        ({"search": "eve"}, ["eve"]),
        ({"ids": [to_global_id("User", eve)]}, ["eve"]),
        ({"ids": []}, []),
    ):
        assert emails(api.run(STAFF_USERS, manager, filter=filter_)) == found


def test_groups_are_filtered_sorted_and_read_by_id(
    ports: Ports, api: ApiClient, manager: str
) -> None:
    support = make_group(ports, "Support", ORDERS)
    make_group(ports, "Editors")
    assert names(api.run(GROUPS, manager)) == ["Editors", "Support"]
    descending = {"field": "NAME", "direction": "DESC"}
    assert names(api.run(GROUPS, manager, sortBy=descending)) == ["Support", "Editors"]
    assert names(api.run(GROUPS, manager, filter={"search": "sup"})) == ["Support"]
    ids = {"ids": [to_global_id("Group", support)]}
    assert names(api.run(GROUPS, manager, filter=ids)) == ["Support"]
    one = "query ($id: ID!) { permissionGroup(id: $id) { name permissions { code name } } }"
    assert api.run(one, manager, id=to_global_id("Group", support)) == {
        "name": "Support",
        "permissions": [{"code": "MANAGE_ORDERS", "name": "Manage orders"}],
    }
    assert api.run(one, manager, id=to_global_id("Group", 4711)) is None
    assert api.code(one, manager, id="garbage") == "GraphQLError"


def test_user_is_found_by_id_or_email_with_permission(
    ports: Ports, api: ApiClient, manager: str
) -> None:
    ann = to_global_id("User", make_user(ports, "ann@example.com"))
    _, orders = make_app(ports, "orders", ORDERS)
    assert api.run(USER, manager, id=ann)["email"] == "ann@example.com"
    assert api.run(USER, orders, email="ANN@example.com")["id"] == ann
    assert api.run(USER, orders, email="boss@example.com") is None
    assert api.run(USER, manager, email="boss@example.com")["isStaff"]
    assert api.code(USER, manager) == "GraphQLError"
    assert api.code(USER, manager, id=ann, email="ann@example.com") == "GraphQLError"
    assert api.code(USER, manager, id="garbage") == "GraphQLError"
    assert api.code(USER) == "PermissionDenied"


def test_notes_and_references_are_written_read_and_looked_up(
    ports: Ports, api: ApiClient, manager: str
) -> None:
    ann = to_global_id("User", make_user(ports, "ann@example.com"))
    given = {"note": "Prefers tea", "externalReference": "erp-1"}
    changed = api.run(CHANGE, manager, id=ann, input=given)
    assert changed == {"user": {"id": ann, **given}, "errors": []}
    find = f"query ($name: String) {{ user(externalReference: $name) {{ {NOTES} }} }}"
    assert api.run(find, manager, name="erp-1") == {"id": ann, **given}

    created = api.run(CREATE, manager, input={"email": "bob@example.com", **given})
    assert created["errors"] == [{"field": "externalReference", "code": "UNIQUE"}]
    by_reference = api.run(CHANGE, manager, reference="erp-1", input={"note": None})
    assert by_reference["user"] == {**given, "id": ann, "note": None}
    missing = api.run(CHANGE, manager, reference="erp-2", input={})
    assert missing["errors"] == [{"field": "externalReference", "code": "NOT_FOUND"}]

    _, orders = make_app(ports, "orders", ORDERS)
    hidden = api.ask(find, orders, name="erp-1")
    assert hidden["data"]["user"] == {**given, "id": ann, "note": None}
    assert [error["extensions"]["requiredPermissions"] for error in hidden["errors"]] == [
        ["MANAGE_STAFF", "MANAGE_USERS"]
    ]
    api.run("mutation ($id: ID!) { customerDelete(id: $id) { errors { code } } }", manager, id=ann)
    assert api.run(find, manager, name="erp-1") is None


def test_notes_of_a_list_cost_one_statement(ports: Ports, api: ApiClient, manager: str) -> None:
    def statements() -> int:
        with recorded_statements() as recorded:
            api.run(f"{{ customers(first: 50) {{ edges {{ node {{ {NOTES} }} }} }} }}", manager)
        return len(selects(recorded))

    make_user(ports, "0@example.com")
    few = statements()
    for number in range(1, 10):
        make_user(ports, f"{number}@example.com")
    assert statements() == few


def test_nested_fields_cost_few_statements_for_any_length(ports: Ports, api: ApiClient) -> None:
    root = token_of(ports, make_user(ports, "root@example.com", is_superuser=True))

    def statements() -> int:
        with recorded_statements() as recorded:
            response = api.run(EVERYTHING, root)
        assert response["edges"]
        return len(selects(recorded))

    def hire(start: int, end: int) -> None:
        for number in range(start, end):
            groups = [make_group(ports, f"{number}-{each}", ORDERS) for each in range(2)]
            make_user(ports, f"{number}@example.com", is_staff=True, groups=groups)

    hire(0, 1)
    few = statements()
    hire(1, 20)  # with the one who asks, they fill the page
    assert statements() == few <= 6


def test_groups_list_members_and_user_can_manage(ports: Ports, api: ApiClient) -> None:
    within, beyond = make_group(ports, "A", STAFF), make_group(ports, "B", STAFF, ORDERS)
    manager = make_user(ports, "boss@example.com", is_staff=True, groups=[within])
    make_user(ports, "eve@example.com", is_staff=True, groups=[within, beyond])
    query = """{ permissionGroups(first: 5) { edges { node {
      name userCanManage users { email }
    } } } }"""
    found = api.run(query, token_of(ports, manager))
    a, b = (edge["node"] for edge in found["edges"])
    assert (a["userCanManage"], b["userCanManage"]) == (True, False)
    assert [user["email"] for user in a["users"]] == ["boss@example.com", "eve@example.com"]
    assert [user["email"] for user in b["users"]] == ["eve@example.com"]
    _, app = make_app(ports, "reader", *ALL_PERMISSIONS)
    found = api.run(query, app)
    assert [edge["node"]["userCanManage"] for edge in found["edges"]] == [False, False]


def test_group_members_require_manage_staff(ports: Ports, api: ApiClient) -> None:
    group = make_group(ports, "Support", ORDERS)
    eve = make_user(ports, "eve@example.com", is_staff=True, groups=[group])
    query = (
        "{ me { permissionGroups { name userCanManage permissions { code } users { email } } } }"
    )
    response = api.ask(query, token_of(ports, eve))
    assert response["data"]["me"]["permissionGroups"] == [
        {
            "name": "Support",
            "userCanManage": False,
            "permissions": [{"code": "MANAGE_ORDERS"}],
            "users": None,
        }
    ]
    [error] = response["errors"]
    assert error["path"] == ["me", "permissionGroups", 0, "users"]
    assert error["extensions"]["requiredPermissions"] == ["MANAGE_STAFF"]


def test_permission_lists_its_source_groups(ports: Ports, api: ApiClient) -> None:
    both, one = make_group(ports, "Both", STAFF, ORDERS), make_group(ports, "One", ORDERS)
    eve = make_user(
        ports, "eve@example.com", is_staff=True, groups=[both, one], permissions=[USERS]
    )
    query = """query ($id: ID!) {
      me { userPermissions { code name sourcePermissionGroups(userId: $id) { name } } }
    }"""
    token = token_of(ports, eve)
    me = api.run(query, token, id=to_global_id("User", eve))
    sources = {
        permission["code"]: [group["name"] for group in permission["sourcePermissionGroups"]]
        for permission in me["userPermissions"]
    }
    assert sources == {
        "MANAGE_ORDERS": ["Both", "One"],
        "MANAGE_STAFF": ["Both"],
        "MANAGE_USERS": [],
    }
    response = api.ask(query, token, id=to_global_id("User", eve + 1))
    assert all(
        permission["sourcePermissionGroups"] is None for permission in _permissions(response)
    )
    assert len(response["errors"]) == 3


def _permissions(response: Any) -> list[Any]:
    found: list[Any] = response["data"]["me"]["userPermissions"]
    return found


def test_editable_groups_have_only_own_permissions(ports: Ports, api: ApiClient) -> None:
    for name, permissions in (("A", [STAFF]), ("B", [ORDERS]), ("C", [])):
        make_group(ports, name, *permissions)
    query = "{ me { editableGroups { name } } }"

    def editable(key: int) -> list[str]:
        found = api.run(query, token_of(ports, key))["editableGroups"]
        return [group["name"] for group in found]

    assert editable(make_staff(ports, "boss@example.com", STAFF)) == ["A", "C"]
    assert editable(make_user(ports, "root@example.com", is_superuser=True)) == ["A", "B", "C"]
    assert editable(make_staff(ports, "clerk@example.com", ORDERS)) == []
    assert editable(make_user(ports, "ann@example.com")) == []


def test_staff_password_session_sees_no_users_in_customers_only(
    ports: Ports, api: ApiClient
) -> None:
    manager = make_staff(ports, "boss@example.com", STAFF, USERS)
    by_password = token_of(ports, manager)
    by_provider = token_of(ports, manager, SessionOrigin.OIDC)
    with ports.database.transaction() as session:
        shop = session.get_one(models.Shop, models.SHOP_ID)
        shop.password_login_mode = PasswordLoginMode.CUSTOMERS_ONLY.value
    for query, variables in ((CUSTOMERS, {"first": 1}), (STAFF_USERS, {}), (GROUPS, {})):
        assert api.code(query, by_password, **variables) == "PermissionDenied"
        assert "errors" not in api.ask(query, by_provider, **variables)
    assert api.run("{ me { editableGroups { name } } }", by_password) == {"editableGroups": []}


def test_list_is_counted_without_a_page_size(api: ApiClient, ports: Ports) -> None:
    boss = sign_in(ports, make_staff(ports, "counts@example.com", Permission.MANAGE_USERS)).access
    for number in range(3):
        make_user(ports, f"counted{number}@example.com")
    count = "{ customers { totalCount pageInfo { hasNextPage endCursor } } }"
    assert api.ask(count, boss)["data"]["customers"] == {
        "totalCount": 3,
        "pageInfo": {"hasNextPage": False, "endCursor": None},
    }
    [error] = api.ask("{ found: customers { edges { node { id } } } }", boss)["errors"]
    assert error["message"] == "You must provide a `first` or `last` value to paginate `found`."
    assert error["path"] == ["found", "edges"]
