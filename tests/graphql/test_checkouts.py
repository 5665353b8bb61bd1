"""Carts by GraphQL: filled by anybody, seen by those whose they are, ordered once."""

from typing import Any

import pytest

from app.domain.authorization.permissions import Permission
from app.domain.values.ids import to_global_id
from app.ports import Ports
from tests.builders.apps import make_app
from tests.builders.people import make_staff, make_user, sign_in
from tests.builders.products import make_product, product_id
from tests.fixtures.cases import cases
from tests.fixtures.statements import recorded_statements, selects
from tests.graphql.shop_client import ApiClient

MONEY = "{ currency gross { amount currency } net { amount } tax { amount } }"
LINES = (
    f"lines {{ id product {{ slug }} productName quantity unitPrice {MONEY} totalPrice {MONEY} }}"
)
CART = f"id token email quantity totalPrice {MONEY} created updatedAt {LINES}"
ORDER = f"id number status isPaid userEmail total {MONEY} user {{ email }} {LINES}"
ERRORS = "errors { field message code }"
ONE = f"query ($id: ID!) {{ checkout(id: $id) {{ {CART} }} }}"
CREATE = f"""
mutation ($input: CheckoutCreateInput!) {{
  checkoutCreate(input: $input) {{ checkout {{ {CART} }} {ERRORS} }}
}}"""
ADD = f"""
mutation ($id: ID!, $lines: [CheckoutLineInput!]!) {{
  checkoutLinesAdd(id: $id, lines: $lines) {{ checkout {{ {CART} }} {ERRORS} }}
}}"""
UPDATE = f"""
mutation ($id: ID!, $lines: [CheckoutLineUpdateInput!]!) {{
  checkoutLinesUpdate(id: $id, lines: $lines) {{ checkout {{ {CART} }} {ERRORS} }}
}}"""
DELETE = f"""
mutation ($id: ID!, $lines: [ID!]!) {{
  checkoutLinesDelete(id: $id, linesIds: $lines) {{ checkout {{ {CART} }} {ERRORS} }}
}}"""
EMAIL = f"""
mutation ($id: ID!, $email: String!) {{
  checkoutEmailUpdate(id: $id, email: $email) {{ checkout {{ {CART} }} {ERRORS} }}
}}"""
ATTACH = f"""
mutation ($id: ID!) {{
  checkoutCustomerAttach(id: $id) {{ checkout {{ {CART} }} {ERRORS} }}
}}"""
COMPLETE = (
    f"mutation ($id: ID!) {{ checkoutComplete(id: $id) {{ order {{ {ORDER} }} {ERRORS} }} }}"
)
OWN = f"{{ me {{ checkouts(first: 20) {{ edges {{ node {{ {CART} }} }} totalCount }} }} }}"


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports)


@pytest.fixture
def bowl(ports: Ports) -> str:
    return product_id(make_product(ports, "Ash bowl", "12.50"))


def line(product: str, quantity: int = 1) -> dict[str, Any]:
    return {"productId": product, "quantity": quantity}


def error_codes(payload: Any) -> list[tuple[str | None, str]]:
    """Field and code of what was wrong, with nothing done."""
    assert payload.get("checkout") is None
    assert payload.get("order") is None
    assert all(error["message"] for error in payload["errors"])
    return [(error["field"], error["code"]) for error in payload["errors"]]


def money(amount: float) -> dict[str, Any]:
    return {
        "currency": "EUR",
        "gross": {"amount": amount, "currency": "EUR"},
        "net": {"amount": amount},
        "tax": {"amount": 0.0},
    }


def test_guest_completes_a_checkout(api: ApiClient, ports: Ports, bowl: str) -> None:
    cup = product_id(make_product(ports, "Cup", "5"))
    made = api.run(CREATE, input={"lines": [line(bowl, 2)]})
    assert made["errors"] == []
    cart = made["checkout"]
    (cart_line,) = cart["lines"]
    assert cart == {
        "id": to_global_id("Checkout", cart["token"]),
        "token": cart["token"],
        "email": None,
        "quantity": 2,
        "totalPrice": money(25.0),
        "created": "2026-03-01T12:00:00+00:00",
        "updatedAt": "2026-03-01T12:00:00+00:00",
        "lines": [
            {
                "id": cart_line["id"],
                "product": {"slug": "ash-bowl"},
                "productName": "Ash bowl",
                "quantity": 2,
                "unitPrice": money(12.5),
                "totalPrice": money(25.0),
            }
        ],
    }
    id_ = cart["id"]
    assert api.run(ADD, id=id_, lines=[line(cup, 3)])["checkout"]["quantity"] == 5
    assert api.run(UPDATE, id=id_, lines=[line(cup, 1)])["checkout"]["quantity"] == 3
    left = api.run(DELETE, id=id_, lines=[cart_line["id"]])["checkout"]
    assert [remaining["productName"] for remaining in left["lines"]] == ["Cup"]
    assert error_codes(api.run(COMPLETE, id=id_)) == [("email", "EMAIL_NOT_SET")]
    assert api.run(EMAIL, id=id_, email="Ann@Example.com")["errors"] == []
    assert api.run(ONE, id=id_)["email"] == "ann@example.com"
    done = api.run(COMPLETE, id=id_)
    assert done["errors"] == []
    order = done["order"]
    assert (order["status"], order["isPaid"]) == ("UNCONFIRMED", False)
    assert (order["userEmail"], order["user"]) == ("ann@example.com", None)
    assert order["total"] == money(5.0)
    assert api.run(COMPLETE, id=id_) == done
    assert api.run(ONE, id=id_) is None
    assert error_codes(api.run(ADD, id=id_, lines=[line(cup)])) == [("id", "NOT_FOUND")]


def test_person_sees_their_own_carts_and_orders_from_them(
    api: ApiClient, ports: Ports, bowl: str
) -> None:
    token = sign_in(ports, make_user(ports, "ann@example.com")).access
    free = api.run(CREATE, input={"lines": [line(bowl)], "email": ""})["checkout"]
    own = api.run(CREATE, token, input={"lines": [line(bowl)], "channel": "default-channel"})[
        "checkout"
    ]
    assert own["email"] == "ann@example.com"
    attached = api.run(ATTACH, token, id=free["id"])["checkout"]
    listed = api.run(OWN, token)["checkouts"]
    assert [edge["node"] for edge in listed["edges"]] == [own, attached]
    assert listed["totalCount"] == 2
    for id_ in (own["id"], free["id"]):
        assert api.run(ONE, id=id_) is None
        assert error_codes(api.run(EMAIL, id=id_, email="eve@example.com")) == [
            ("id", "NOT_FOUND")
        ]
        assert error_codes(api.run(COMPLETE, id=id_)) == [("id", "NOT_FOUND")]
    done = api.run(COMPLETE, token, id=own["id"])["order"]
    assert done["user"] == {"email": "ann@example.com"}
    assert api.run(OWN, token)["checkouts"]["totalCount"] == 1


def test_anonymous_caller_has_no_carts(api: ApiClient, ports: Ports) -> None:
    id_ = api.run(CREATE, input={})["checkout"]["id"]
    assert api.code(ATTACH, id=id_) == "PermissionDenied"
    assert api.code(ATTACH, make_app(ports)[1], id=id_) == "PermissionDenied"
    assert api.code(ATTACH, "garbage", id=id_) == "InvalidTokenError"


def test_staff_sees_carts_with_the_permission_for_it(
    api: ApiClient, ports: Ports, bowl: str
) -> None:
    ann = sign_in(ports, make_user(ports, "ann@example.com")).access
    id_ = api.run(CREATE, ann, input={"lines": [line(bowl)]})["checkout"]["id"]
    clerk = sign_in(ports, make_staff(ports, "c@example.com", Permission.MANAGE_CHECKOUTS)).access
    other = sign_in(ports, make_staff(ports, "o@example.com", Permission.MANAGE_ORDERS)).access
    app = make_app(ports, "carts", Permission.HANDLE_CHECKOUTS)[1]
    for credential in (clerk, app):
        assert api.run(ONE, credential, id=id_)["id"] == id_
        assert api.run(ADD, credential, id=id_, lines=[line(bowl)])["errors"] == []
    assert api.run(ONE, other, id=id_) is None


@cases(
    ("lines", "errors"),
    [
        ([line("nonsense")], [("productId", "NOT_FOUND")]),
        ([line(product_id(4711))], [("productId", "NOT_FOUND")]),
        ([line(to_global_id("User", 1))], [("productId", "NOT_FOUND")]),
        ([line("", 0)], [("productId", "NOT_FOUND")]),
        ([line(product_id(1), -1)], [("quantity", "ZERO_QUANTITY")]),
        ([line(product_id(1), 2_000)], [("quantity", "QUANTITY_GREATER_THAN_LIMIT")]),
        ([line(product_id(1))] * 101, [("lines", "INVALID")]),
    ],
)
def test_invalid_line_names_its_field(
    api: ApiClient, bowl: str, lines: list[dict[str, Any]], errors: list[tuple[str, str]]
) -> None:
    assert error_codes(api.run(CREATE, input={"lines": lines})) == errors
    id_ = api.run(CREATE, input={"lines": [line(bowl)]})["checkout"]["id"]
    assert error_codes(api.run(ADD, id=id_, lines=lines)) == errors
    assert error_codes(api.run(UPDATE, id=id_, lines=lines)) == errors
    assert api.run(ONE, id=id_)["quantity"] == 1


@cases(
    "id_",
    ["", "nonsense", "Q2hlY2tvdXQ6", to_global_id("Checkout", 1), to_global_id("Checkout", "\0")],
)
def test_unknown_cart_is_not_found(api: ApiClient, bowl: str, id_: str) -> None:
    token = {"id": id_}
    for query, variables in (
        (ADD, {"lines": [line(bowl)]}),
        (UPDATE, {"lines": [line(bowl)]}),
        (DELETE, {"lines": [to_global_id("CheckoutLine", 1)]}),
        (EMAIL, {"email": "a@example.com"}),
        (COMPLETE, {}),
    ):
        assert error_codes(api.run(query, **token, **variables)) == [("id", "NOT_FOUND")]
    assert api.run(ONE, **token) is None


@cases(
    "lines",
    [
        [{"productId": "x"}],
        [{"quantity": 1}],
        [line("x", 2**31)],
        [{"productId": "x", "quantity": 1.5}],
        [{"productId": "x", "quantity": "one"}],
        [{"productId": ["x"], "quantity": 1}],
        [None],
        "x",
    ],
)
def test_id_of_another_type_is_refused_without_changes(api: ApiClient, lines: Any) -> None:
    response = api.post({"query": CREATE, "variables": {"input": {"lines": lines}}})
    assert response.status_code == 400
    assert "data" not in response.json


def test_page_of_carts_costs_three_statements(api: ApiClient, ports: Ports, bowl: str) -> None:
    token = sign_in(ports, make_user(ports, "ann@example.com")).access
    for _ in range(4):
        api.run(CREATE, token, input={"lines": [line(bowl)]})
    query = OWN.replace("totalCount", "")
    api.run(query, token)
    with recorded_statements() as statements:
        assert len(api.run(query, token)["checkouts"]["edges"]) == 4
    assert len(selects(statements)) == 3
