"""Filters of customers and their orders, and what is done to several people at once."""

import pytest

from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.commerce.channels import NewChannel
from app.domain.values.ids import to_global_id
from app.domain.values.metadata import MetadataChange
from app.ports import Ports
from app.services.commerce.channels import create_channel
from app.services.metadata import change_user_metadata
from tests.builders.addresses import make_address
from tests.builders.orders import make_order, order_id
from tests.builders.outbox import events
from tests.builders.people import (
    actor_of,
    change_user,
    make_staff,
    make_user,
    sign_in,
    user_as_stored,
)
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases
from tests.graphql.shop_client import ApiClient

CUSTOMERS = """query ($filter: CustomerFilterInput, $sortBy: UserSortingInput) {
  customers(first: 9, filter: $filter, sortBy: $sortBy) { edges { node { email } } }
}"""
WHERE = """query ($where: CustomerWhereInput) {
  customers(first: 9, where: $where) { edges { node { email } } }
}"""
ORDERS = """query ($id: ID, $where: CustomerOrderWhereInput) {
  user(id: $id) { orders(first: 9, where: $where) { totalCount edges { node { id } } } }
}"""
PERMISSIONS = (Permission.MANAGE_USERS, Permission.MANAGE_STAFF, Permission.MANAGE_ORDERS)


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports)


@pytest.fixture
def manager(ports: Ports) -> str:
    return sign_in(ports, make_staff(ports, "boss@example.com", *PERMISSIONS)).access


def global_id(key: int) -> str:
    return to_global_id("User", key)


def found(api: ApiClient, manager: str, **variables: object) -> list[str]:
    edges = api.run(CUSTOMERS, manager, **variables)["edges"]
    return [edge["node"]["email"].partition("@")[0] for edge in edges]


def test_customers_are_filtered(ports: Ports, api: ApiClient, clock: FakeClock) -> None:
    ann, bob = (make_user(ports, f"{name}@example.com") for name in ("ann", "bob"))
    day = ports.clock.now().date().isoformat()
    make_order(ports, actor_of(ports, bob))
    clock.pass_(hours=48)
    cy = make_user(ports, "cy@example.com")
    for value in ("red", "blue"):
        key = ann if value == "red" else cy
        color = MetadataChange(values=(("color", value),))
        change_user_metadata(ports, OPERATOR, global_id(key), color)
    manager = sign_in(ports, make_staff(ports, "boss@example.com", *PERMISSIONS)).access
    until = {"lte": day}
    since = ports.clock.now().isoformat()
    cases: list[tuple[dict[str, object], list[str]]] = [
        ({}, ["ann", "bob", "cy"]),
        ({"dateJoined": until}, ["ann", "bob"]),
        ({"dateJoined": {"gte": day, "lte": day}}, ["ann", "bob"]),
        ({"updatedAt": {"gte": since}}, ["ann", "cy"]),
        ({"numberOfOrders": {"gte": 1}}, ["bob"]),
        ({"numberOfOrders": {"lte": 0}}, ["ann", "cy"]),
        # As the dashboard's form sends it.
        ({"numberOfOrders": {"gte": "1", "lte": "1"}}, ["bob"]),
        ({"placedOrders": until}, ["bob"]),
        ({"placedOrders": {"lte": "2020-01-01"}}, []),
        ({"search": "an"}, ["ann"]),
        ({"ids": [global_id(cy), global_id(bob)]}, ["bob", "cy"]),
        ({"metadata": [{"key": "color"}]}, ["ann", "cy"]),
        ({"metadata": [{"key": "color", "value": "red"}]}, ["ann"]),
        ({"metadata": [{"key": "color", "value": "red"}, {"key": "size"}]}, []),
        ({"metadata": [{"key": 'a"b\\'}]}, []),
        ({"metadata": [{"key": "a.b\x00"}]}, []),
    ]
    for filter_, names in cases:
        assert found(api, manager, filter=filter_) == names, filter_


def test_customers_are_found_by_conditions(ports: Ports, api: ApiClient, clock: FakeClock) -> None:
    ann = make_user(ports, "ann@example.com", first_name="Ann", last_name="Ek")
    make_address(ports, ann, country="PL", phone="+48221234567")
    clock.pass_(hours=48)
    bob = make_user(ports, "bob@example.com", first_name="Bob", last_name="Ek", is_active=False)
    make_address(ports, bob, country="US", phone="")
    make_user(ports, "cy@example.com", first_name="Cy")
    make_order(ports, actor_of(ports, ann))
    color = MetadataChange(values=(("color", "red"),))
    change_user_metadata(ports, OPERATOR, global_id(ann), color)
    manager = sign_in(ports, make_staff(ports, "boss@example.com", *PERMISSIONS)).access
    now = ports.clock.now().isoformat()
    cases: list[tuple[dict[str, object], list[str]]] = [
        ({}, ["ann", "bob", "cy"]),
        ({"ids": [global_id(bob)]}, ["bob"]),
        ({"email": {"eq": "ANN@example.com"}}, ["ann"]),
        ({"email": {"oneOf": ["bob@example.com", "\x00", "none@example.com"]}}, ["bob"]),
        ({"email": {}}, []),
        ({"firstName": {"oneOf": ["Ann", "Cy"]}}, ["ann", "cy"]),
        ({"firstName": {"eq": "an"}}, []),
        ({"lastName": {"eq": "Ek"}}, ["ann", "bob"]),
        ({"isActive": False}, ["bob"]),
        ({"dateJoined": {"gte": now}}, ["bob", "cy"]),
        ({"updatedAt": {"gte": now}}, ["ann", "bob", "cy"]),
        ({"placedOrdersAt": {"gte": now}}, ["ann"]),
        ({"placedOrdersAt": {"lte": "2020-01-01T00:00:00Z"}}, []),
        ({"numberOfOrders": {"eq": 1}}, ["ann"]),
        ({"numberOfOrders": {"oneOf": [0, 7]}}, ["bob", "cy"]),
        ({"numberOfOrders": {"range": {"lte": 0}}}, ["bob", "cy"]),
        ({"addresses": {"country": {"eq": "PL"}}}, ["ann"]),
        ({"addresses": {"country": {"oneOf": ["PL", "US"]}}}, ["ann", "bob"]),
        ({"addresses": {"country": {"notOneOf": ["PL"]}}}, ["bob"]),
        ({"addresses": {"phoneNumber": {"eq": "+48221234567"}}}, ["ann"]),
        ({"addresses": {"country": {"eq": "US"}, "phoneNumber": {"eq": "+48221234567"}}}, []),
        ({"metadata": {"key": "color"}}, ["ann"]),
        ({"metadata": {"key": "color", "value": {"oneOf": ["blue", "red"]}}}, ["ann"]),
        ({"metadata": {"key": "color", "value": {"eq": "blue"}}}, []),
        ({"AND": [{"lastName": {"eq": "Ek"}}, {"isActive": True}]}, ["ann"]),
        ({"OR": [{"firstName": {"eq": "Cy"}}, {"isActive": False}]}, ["bob", "cy"]),
        ({"lastName": {"eq": "Ek"}, "OR": [{"firstName": {"eq": "Cy"}}]}, []),
    ]
    for where, names in cases:
        edges = api.run(WHERE, manager, where=where)["edges"]
        emails = [edge["node"]["email"] for edge in edges]
        assert [email.partition("@")[0] for email in emails] == names, where


@cases(
    "where",
    [
        {"AND": [{"AND": [{"AND": [{"AND": [{"AND": [{"AND": [{}]}]}]}]}]}]},
        {"OR": [{"isActive": True}] * 100},
        {"OR": [{"email": {"oneOf": ["a@example.com"] * 600}}] * 2},
        {"metadata": {"key": "color", "value": {"oneOf": ["red"] * 1001}}},
    ],
)
def test_conditions_have_limits(api: ApiClient, manager: str, where: dict[str, object]) -> None:
    assert api.code(WHERE, manager, where=where) == "GraphQLError"
    assert api.run(WHERE, manager, where={"AND": [{"OR": [{}]}]})["edges"] == []


def test_conditions_and_filters_exclude_each_other(api: ApiClient, manager: str) -> None:
    document = "{ customers(first: 1, filter: {}, where: {}) { totalCount } }"
    assert api.code(document, manager) == "GraphQLError"


def test_customers_are_sorted_by_their_orders(ports: Ports, api: ApiClient, manager: str) -> None:
    for name, orders in (("ann", 1), ("bob", 2), ("cy", 0)):
        buyer = actor_of(ports, make_user(ports, f"{name}@example.com"))
        for _ in range(orders):
            make_order(ports, buyer)
    sort = {"field": "ORDER_COUNT", "direction": "DESC"}
    assert found(api, manager, sortBy=sort) == ["bob", "ann", "cy"]


def test_orders_of_a_customer_are_filtered(ports: Ports, api: ApiClient, manager: str) -> None:
    key = make_user(ports, "ann@example.com")
    buyer = actor_of(ports, key)
    order = order_id(make_order(ports, buyer))
    channel = api.run('{ channel(slug: "default-channel") { id } }')["id"]
    made = create_channel(ports, OPERATOR, NewChannel("Poland", "pl", "EUR", "PL"))
    other = to_global_id("Channel", made.id)
    status: dict[str, object] = {"status": {"oneOf": ["UNCONFIRMED", "RETURNED"]}}
    cases: list[tuple[dict[str, object] | None, bool]] = [
        (None, True),
        ({}, True),
        ({"channelId": {"eq": channel}}, True),
        ({"channelId": {"oneOf": [channel, other]}}, True),
        ({"channelId": {"eq": other}}, False),
        ({"channelId": {"eq": ""}}, False),
        ({"channelId": {"oneOf": ["", channel]}}, True),
        (status, True),
        ({"status": {"eq": "FULFILLED"}}, False),
        ({"AND": [status, {"channelId": {"eq": channel}}]}, True),
        ({"AND": [status, {"channelId": {"eq": other}}]}, False),
        ({"OR": [{"status": {"eq": "FULFILLED"}}, {"channelId": {"eq": channel}}]}, True),
        ({"OR": [{"status": {"eq": "FULFILLED"}}, {"channelId": {"eq": other}}]}, False),
        ({"ids": [order]}, True),
        ({"createdAt": {"lte": "2020-01-01T00:00:00Z"}}, False),
    ]
    for where, is_found in cases:
        orders = api.run(ORDERS, manager, id=global_id(key), where=where)["orders"]
        assert orders["totalCount"] == int(is_found), where
    deep: dict[str, object] = {}
    for _ in range(9):
        deep = {"AND": [deep]}
    assert api.code(ORDERS, manager, id=global_id(key), where=deep) == "GraphQLError"


def test_order_shows_how_much_is_paid_and_no_shipping(
    ports: Ports, api: ApiClient, manager: str
) -> None:
    query = """query ($id: ID!) { order(id: $id) {
      chargeStatus subtotal { net { amount } } shippingPrice { gross { amount } }
      totalRefunded { amount currency }
    } }"""
    for is_paid, status in ((False, "NONE"), (True, "FULL")):
        shown = api.run(query, manager, id=order_id(make_order(ports, is_paid=is_paid)))
        assert shown.pop("subtotal")["net"]["amount"] > 0
        assert shown == {
            "chargeStatus": status,
            "shippingPrice": {"gross": {"amount": 0.0}},
            "totalRefunded": {"amount": 0.0, "currency": "EUR"},
        }


def test_customers_are_deleted_together(ports: Ports, api: ApiClient, manager: str) -> None:
    ann, bob = (make_user(ports, f"{name}@example.com") for name in ("ann", "bob"))
    staff = make_staff(ports, "staff@example.com")
    delete = """mutation ($ids: [ID!]!) {
      customerBulkDelete(ids: $ids) { count errors { field code } accountErrors { code } }
    }"""
    ids = [global_id(key) for key in (ann, staff, bob, ann)]
    code = "DELETE_STAFF_ACCOUNT"
    assert api.run(delete, manager, ids=ids) == {
        "count": 2,
        "errors": [{"field": "ids", "code": code}],
        "accountErrors": [{"code": code}],
    }
    assert [one.type for one in events(ports)] == ["CUSTOMER_DELETED"] * 2
    assert user_as_stored(ports, staff).is_active
    many = [global_id(key) for key in range(1000, 1101)]
    refused = api.run(delete, manager, ids=many)
    assert (refused["count"], refused["errors"]) == (0, [{"field": "ids", "code": "INVALID"}])
    wrong = api.run(delete, manager, ids=[to_global_id("App", 1)])
    assert wrong["errors"] == [{"field": "ids", "code": "NOT_FOUND"}]
    customer = sign_in(ports, make_user(ports, "cy@example.com")).access
    assert api.code(delete, customer, ids=ids) == "PermissionDenied"


def test_staff_are_deleted_all_or_none(ports: Ports, api: ApiClient, manager: str) -> None:
    one, other = (make_staff(ports, f"{name}@example.com") for name in ("one", "other"))
    above = make_staff(ports, "above@example.com", Permission.MANAGE_PAGES)
    delete = """mutation ($ids: [ID!]!) {
      staffBulkDelete(ids: $ids) { count errors { field code users } staffErrors { code } }
    }"""
    refused = api.run(delete, manager, ids=[global_id(one), global_id(above)])
    assert refused["count"] == 0
    assert refused["errors"] == [
        {"field": "ids", "code": "OUT_OF_SCOPE_USER", "users": [global_id(above)]}
    ]
    assert user_as_stored(ports, one).is_active
    done = api.run(delete, manager, ids=[global_id(one), global_id(other)])
    assert done == {"count": 2, "errors": [], "staffErrors": []}


def test_users_are_deactivated_together(ports: Ports, api: ApiClient, manager: str) -> None:
    ann = make_user(ports, "ann@example.com")
    boss = make_user(ports, "root@example.com", is_superuser=True)
    change = """mutation ($ids: [ID!]!, $active: Boolean!) {
      userBulkSetActive(ids: $ids, isActive: $active) { count errors { field code } }
    }"""
    ids = [global_id(ann), global_id(boss)]
    done = api.run(change, manager, ids=ids, active=False)
    assert done == {"count": 1, "errors": [{"field": "ids", "code": "OUT_OF_SCOPE_USER"}]}
    assert not user_as_stored(ports, ann).is_active
    assert user_as_stored(ports, boss).is_active
    assert api.run(change, manager, ids=ids[:1], active=True) == {"count": 1, "errors": []}
    limited = sign_in(ports, make_staff(ports, "u@example.com", Permission.MANAGE_USERS)).access
    refused = api.run(change, limited, ids=ids[1:], active=False)
    assert refused == {"count": 0, "errors": [{"field": "ids", "code": "OUT_OF_SCOPE_USER"}]}


BULK = """mutation ($customers: [CustomerBulkUpdateInput!]!, $policy: ErrorPolicyEnum) {
  customerBulkUpdate(customers: $customers, errorPolicy: $policy) {
    count
    results { customer { firstName email note } errors { path code } }
    errors { path code }
  }
}"""


@pytest.mark.parametrize(
    ("policy", "names", "changed"),
    [
        (None, [None, None, None], []),
        ("REJECT_EVERYTHING", [None, None, None], []),
        ("REJECT_FAILED_ROWS", ["Ann", None, None], ["ann"]),
        ("IGNORE_FAILED", ["Ann", "Bob", None], ["ann", "bob"]),
    ],
)
def test_policy_decides_on_failed_changes_of_several_customers(
    ports: Ports,
    api: ApiClient,
    manager: str,
    policy: str | None,
    names: list[str | None],
    changed: list[str],
) -> None:
    ann, bob = (make_user(ports, f"{name}@example.com") for name in ("ann", "bob"))
    staff = make_user(ports, "staff@example.com", is_staff=True)
    customers = [
        {"id": global_id(ann), "input": {"firstName": "Ann"}},
        {"id": global_id(bob), "input": {"firstName": "Bob", "email": "ANN@example.com"}},
        {"id": global_id(staff), "input": {"firstName": "Sue"}},
    ]
    done = api.run(BULK, manager, customers=customers, policy=policy)
    shown = [each["customer"] and each["customer"]["firstName"] for each in done["results"]]
    assert (shown, done["count"], done["errors"]) == (names, len(changed), [])
    assert [each["errors"] for each in done["results"]] == [
        [],
        [{"path": "input.email", "code": "UNIQUE"}],
        [{"path": "id", "code": "NOT_FOUND"}],
    ]
    stored = [user_as_stored(ports, key) for key in (ann, bob)]
    assert [one.first_name for one in stored] == [each or "" for each in names[:2]]
    assert stored[1].email == "bob@example.com"
    assert [event.type for event in events(ports)] == ["CUSTOMER_UPDATED"] * len(changed)


def test_several_customers_are_named_once_each(ports: Ports, api: ApiClient, manager: str) -> None:
    key = make_user(ports, "ann@example.com")
    change_user(ports, key, external_reference="a-1")
    ann = global_id(key)
    change = {"firstName": "Ann"}
    by_reference = {"externalReference": "a-1", "input": change}
    done = api.run(BULK, manager, customers=[by_reference])
    assert [each["customer"]["firstName"] for each in done["results"]] == ["Ann"]
    twice = [{"id": ann, "input": change}, by_reference]
    done = api.run(BULK, manager, customers=twice, policy="IGNORE_FAILED")
    assert [each["errors"] for each in done["results"]] == [
        [{"path": field, "code": "DUPLICATED_INPUT_ITEM"}] for field in ("id", "externalReference")
    ]
    many = [{"id": ann, "input": {}}] * 101
    done = api.run(BULK, manager, customers=many)
    assert (done["results"], done["errors"]) == ([], [{"path": "customers", "code": "INVALID"}])
