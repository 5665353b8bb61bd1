"""Orders by GraphQL: seen by their owners, taken on by those who manage them."""

from typing import Any

import pytest

from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.values.ids import to_global_id
from app.ports import Ports
from tests.builders.apps import make_app
from tests.builders.orders import make_order, order_id
from tests.builders.people import NOBODY, actor_of, make_group, make_staff, make_user, sign_in
from tests.builders.products import make_product
from tests.fixtures.cases import cases
from tests.fixtures.statements import recorded_statements, selects
from tests.graphql.shop_client import ApiClient

LINES = "lines { id product { slug } productName quantity unitPrice { gross { amount } } }"
ORDER = (
    "id number status isPaid paymentStatus userEmail user { email } created updatedAt"
    f" total {{ gross {{ amount currency }} }} {LINES}"
)
ERRORS = "errors { field message code }"
ONE = f"query ($id: ID!) {{ order(id: $id) {{ {ORDER} }} }}"
LIST = f"""
query ($first: Int, $after: String, $filter: OrderFilterInput, $sortBy: OrderSortingInput) {{
  orders(first: $first, after: $after, filter: $filter, sortBy: $sortBy) {{
    edges {{ node {{ {ORDER} }} }} pageInfo {{ hasNextPage endCursor }} totalCount
  }}
}}"""
OWN = f"{{ me {{ orders(first: 20) {{ edges {{ node {{ {ORDER} }} }} totalCount }} }} }}"
STEPS = {
    "orderConfirm": ("id", "INVALID"),
    "orderMarkAsPaid": ("id", "PAYMENT_ERROR"),
    "orderCancel": ("id", "CANNOT_CANCEL_ORDER"),
    "orderFulfill": ("order", "INVALID"),
}


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports)


@pytest.fixture
def token(ports: Ports) -> str:
    """An app that manages orders."""
    return make_app(ports, "back office", Permission.MANAGE_ORDERS)[1]


def step(name: str) -> str:
    field, _ = STEPS[name]
    return f"mutation ($id: ID!) {{ {name}({field}: $id) {{ order {{ {ORDER} }} {ERRORS} }} }}"


def error_codes(payload: Any) -> list[tuple[str | None, str]]:
    """Field and code of what was wrong, with nothing done."""
    assert payload["order"] is None
    assert all(error["message"] for error in payload["errors"])
    return [(error["field"], error["code"]) for error in payload["errors"]]


def numbers(page: Any) -> list[str]:
    return [edge["node"]["number"] for edge in page["edges"]]


def test_an_order_is_confirmed_paid_and_fulfilled(
    api: ApiClient, ports: Ports, token: str
) -> None:
    id_ = order_id(make_order(ports))
    for name, status, paid in (
        ("orderConfirm", "UNFULFILLED", "NOT_CHARGED"),
        ("orderMarkAsPaid", "UNFULFILLED", "FULLY_CHARGED"),
        ("orderFulfill", "FULFILLED", "FULLY_CHARGED"),
    ):
        done = api.run(step(name), token, id=id_)
        assert done["errors"] == []
        assert (done["order"]["status"], done["order"]["paymentStatus"]) == (status, paid)
        assert done["order"] == api.run(ONE, token, id=id_)
    assert error_codes(api.run(step("orderCancel"), token, id=id_)) == [
        ("id", "CANNOT_CANCEL_ORDER")
    ]


@cases("name", STEPS)
def test_invalid_transition_is_refused(
    api: ApiClient, ports: Ports, token: str, name: str
) -> None:
    field, code = STEPS[name]
    id_ = order_id(make_order(ports))
    assert api.run(step("orderCancel"), token, id=id_)["order"]["status"] == "CANCELED"
    assert error_codes(api.run(step(name), token, id=id_)) == [(field, code)]
    for unknown in ("", "nonsense", order_id(4711), to_global_id("Product", 1)):
        assert error_codes(api.run(step(name), token, id=unknown)) == [(field, "NOT_FOUND")]


def test_order_transitions_require_manage_orders(api: ApiClient, ports: Ports) -> None:
    ann = make_user(ports, "ann@example.com")
    id_ = order_id(make_order(ports, actor_of(ports, ann)))
    credentials = [
        None,
        sign_in(ports, ann).access,
        sign_in(ports, make_staff(ports, "s@example.com", Permission.MANAGE_PRODUCTS)).access,
        make_app(ports, "other", Permission.MANAGE_CHECKOUTS)[1],
    ]
    for name in STEPS:
        for credential in credentials:
            (error,) = api.ask(step(name), credential, id=id_)["errors"]
            assert error["extensions"]["requiredPermissions"] == ["MANAGE_ORDERS"], name
        assert api.code(step(name), "garbage", id=id_) == "InvalidTokenError"


def test_users_see_only_their_own_orders(api: ApiClient, ports: Ports, token: str) -> None:
    ann, bob = make_user(ports, "ann@example.com"), make_user(ports, "bob@example.com")
    own = make_order(ports, actor_of(ports, ann), make_product(ports, "Ash bowl", "12.50"))
    other = make_order(ports, actor_of(ports, bob))
    access = sign_in(ports, ann).access
    (edge,) = api.run(OWN, access)["orders"]["edges"]
    node = edge["node"]
    assert node == {
        "id": order_id(own),
        "number": own.number,
        "status": "UNCONFIRMED",
        "isPaid": False,
        "paymentStatus": "NOT_CHARGED",
        "userEmail": "ann@example.com",
        "user": {"email": "ann@example.com"},
        "created": "2026-03-01T12:00:00+00:00",
        "updatedAt": "2026-03-01T12:00:00+00:00",
        "total": {"gross": {"amount": 12.5, "currency": "EUR"}},
        "lines": [
            {
                "id": node["lines"][0]["id"],
                "product": {"slug": "ash-bowl"},
                "productName": "Ash bowl",
                "quantity": 1,
                "unitPrice": {"gross": {"amount": 12.5}},
            }
        ],
    }
    assert api.run(ONE, access, id=order_id(own)) == node
    assert api.run(ONE, token, id=order_id(own)) == node
    assert api.run(ONE, access, id=order_id(other)) is None
    assert api.run(ONE, access, id=order_id(4711)) is None
    assert api.code(ONE, access, id="nonsense") == "GraphQLError"
    assert api.code(ONE, id=order_id(own)) == "PermissionDenied"
    assert api.code(LIST, access, first=1) == "PermissionDenied"


def test_orders_are_filtered_sorted_and_paged(api: ApiClient, ports: Ports, token: str) -> None:
    ann = actor_of(ports, make_user(ports, "ann@example.com"))
    first, second, third = (make_order(ports, who) for who in (ann, ann, NOBODY))
    api.run(step("orderMarkAsPaid"), token, id=order_id(second))
    assert numbers(api.run(LIST, token, first=5)) == [third.number, second.number, first.number]
    up = {"sortBy": {"field": "NUMBER", "direction": "ASC"}, "filter": {"customer": "ann@"}}
    page = api.run(LIST, token, first=1, **up)
    assert (numbers(page), page["totalCount"]) == ([first.number], 2)
    rest = api.run(LIST, token, first=5, after=page["pageInfo"]["endCursor"], **up)
    assert numbers(rest) == [second.number]
    for filter_, found in (
        ({"paymentStatus": ["FULLY_CHARGED"]}, [second]),
        ({"paymentStatus": ["FULLY_CHARGED", "NOT_CHARGED"]}, [third, second, first]),
        ({"paymentStatus": []}, []),
        ({"status": ["CANCELED", "FULFILLED"]}, []),
        ({"status": ["UNCONFIRMED"]}, [third, second, first]),
        ({"ids": [order_id(first)]}, [first]),
        ({"search": third.number}, [third]),
        ({"created": {"gte": "2026-03-01", "lte": "2026-03-01"}}, [third, second, first]),
        ({"created": {"lte": "2026-02-28"}}, []),
        ({"updatedAt": {"gte": "2026-03-01T12:00:01Z"}}, []),
        ({"created": {"gte": "0001-01-01", "lte": "9999-12-31"}}, [third, second, first]),
    ):
        response = api.run(LIST, token, first=5, filter=filter_)
        assert numbers(response) == [order.number for order in found], filter_


@cases(
    "variables",
    [
        {},
        {"first": 101},
        {"first": 1, "filter": {"ids": ["nonsense"]}},
        {"first": 1, "after": "x"},
    ],
)
def test_invalid_list_arguments_are_refused(
    api: ApiClient, token: str, variables: dict[str, Any]
) -> None:
    assert "errors" in api.ask(LIST, token, **variables)


def page_of(fields: str) -> str:
    return f"{{ orders(first: 20) {{ edges {{ node {{ {fields} }} }} }} }}"


COSTS = {
    # The caller's statement and the page's come first.
    "number status userEmail total { gross { amount } }": 2,
    LINES: 3,
    "user { email }": 3,
    f"{LINES} user {{ email }}": 4,
    # Addresses of customers and of staff are read apart.
    "user { addresses { city } permissionGroups { users { id } } }": 6,
}
"""The statements for a page of orders by the fields that are selected."""


@pytest.mark.parametrize("orders", [1, 4])
def test_page_of_orders_reads_only_what_is_selected(
    api: ApiClient, ports: Ports, orders: int
) -> None:
    staff = make_staff(ports, "root@example.com", *ALL_PERMISSIONS)
    token = sign_in(ports, staff).access
    products = [make_product(ports, f"Bowl {number}") for number in range(3)]
    for number in range(orders):
        groups = [make_group(ports, f"Group {number}")]
        buyer = make_user(ports, f"{number}@example.com", is_staff=number % 2 == 1, groups=groups)
        make_order(ports, actor_of(ports, buyer), *products)
    for fields, costs in COSTS.items():
        api.run(page_of(fields), token)
        with recorded_statements() as statements:
            page = api.run(page_of(fields), token)
        assert len(page["edges"]) == orders, fields
        for node in (edge["node"] for edge in page["edges"]):
            assert len(node.get("lines", products)) == 3, fields
            assert node.get("user", {}) is not None, fields
        assert len(selects(statements)) == costs - (costs == 6 and orders == 1), fields


def test_buyers_of_both_kinds_are_read_apart(api: ApiClient, ports: Ports) -> None:
    """Who sees the private metadata of staff sees none of customers by that."""
    hirer = make_staff(
        ports, "hirer@example.com", Permission.MANAGE_STAFF, Permission.MANAGE_ORDERS
    )
    for buyer in (make_user(ports, "ann@example.com"), make_staff(ports, "bob@example.com")):
        make_order(ports, actor_of(ports, buyer))
    query = page_of("user { email privateMetadata { key } }")
    answer = api.ask(query, sign_in(ports, hirer).access)
    assert [error["path"][2:4] for error in answer["errors"]] == [[1, "node"]]
