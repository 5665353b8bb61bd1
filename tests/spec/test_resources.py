"""Products, carts and orders, as far as permissions guard and events speak of them."""

from typing import Any

import pytest

from app.domain.authorization.permissions import Permission
from tests.spec.client import Client
from tests.spec.recorded_shop import RecordedShop

pytestmark = pytest.mark.xdist_group("spec")

MAKE = """
mutation ($input: ProductCreateInput!) {
  productCreate(input: $input) { product { id name slug isPublished price { amount currency } }
    errors { field code } }
}"""
PRODUCTS = """
query ($search: String) {
  products(first: 5, filter: {search: $search}, sortBy: {field: NAME, direction: DESC}) {
    edges { node { name } cursor } pageInfo { hasNextPage } totalCount
  }
}"""
PRODUCT = "query ($id: ID!) { product(id: $id) { name } }"
CART = """
mutation ($product: ID!) {
  checkoutCreate(input: {email: "buyer@example.com", lines: [{productId: $product, quantity: 2}]})
  { checkout { id token totalPrice { gross { amount currency } } } errors { field code } }
}"""
CHECKOUT = "query ($id: ID!) { checkout(id: $id) { id email } }"
ORDER = """
mutation ($id: ID!) {
  checkoutComplete(id: $id) {
    order { id status isPaid total { gross { amount currency } } } errors { field code }
  }
}"""
ORDERS = "{ orders(first: 5) { edges { node { id } } totalCount } }"
MINE = """
{ me { orders(first: 5) { edges { node { id status } } }
    checkouts(first: 5) { edges { node { id } } } } }"""


def step(name: str, field: str = "id") -> str:
    return (
        f"mutation ($id: ID!) {{ {name}({field}: $id) "
        "{ order { status isPaid } errors { field code } } }"
    )


@pytest.fixture
def bowl(client: Client, shop: RecordedShop) -> str:
    """The id of a product that anybody can buy."""
    input_ = {"name": "Ash bowl", "price": "12.50", "isPublished": True}
    made = client.run(MAKE, shop.app_token("PRODUCTS"), input=input_).data["productCreate"]
    return str(made["product"]["id"])


def cart(client: Client, product: str, credential: str | None = None) -> Any:
    return client.run(CART, credential, product=product).data["checkoutCreate"]["checkout"]


def test_product_requires_only_a_name(client: Client, shop: RecordedShop) -> None:
    manager = shop.access("manager")
    made = client.run(MAKE, manager, input={"name": "Ash bowl"}).data["productCreate"]
    assert made["errors"] == []
    assert (made["product"]["slug"], made["product"]["price"]) == ("ash-bowl", None)
    nameless = client.run(MAKE, manager, input={"name": " "}).data["productCreate"]
    assert nameless["errors"] == [{"field": "name", "code": "REQUIRED"}]


def test_published_products_are_public_and_writes_need_manage_products(
    client: Client, shop: RecordedShop, bowl: str
) -> None:
    assert client.run(PRODUCT, id=bowl).data["product"] == {"name": "Ash bowl"}
    for name in ("customer", "noperm"):
        denied = client.run(MAKE, shop.access(name), input={"name": "x"})
        assert denied.errors[0]["extensions"]["requiredPermissions"] == ["MANAGE_PRODUCTS"]
    draft = client.run(MAKE, shop.access("manager"), input={"name": "Draft"})
    draft_id = draft.data["productCreate"]["product"]["id"]
    assert client.run(PRODUCT, id=draft_id).data["product"] is None


def test_products_are_listed_as_a_relay_connection_filtered_and_sorted(
    client: Client, bowl: str
) -> None:
    found = client.run(PRODUCTS, search="bowl").data["products"]
    assert [edge["node"]["name"] for edge in found["edges"]] == ["Ash bowl"]
    assert (found["totalCount"], found["pageInfo"]) == (1, {"hasNextPage": False})
    assert client.run(PRODUCTS, search="cup").data["products"]["totalCount"] == 0


def test_cart_is_read_by_its_id_and_money_has_a_currency(client: Client, bowl: str) -> None:
    made = cart(client, bowl)
    assert made["totalPrice"] == {"gross": {"amount": 25.0, "currency": "EUR"}}
    shown = client.run(CHECKOUT, id=made["id"]).data["checkout"]
    assert shown == {"id": made["id"], "email": "buyer@example.com"}


def test_completing_a_cart_twice_creates_one_order(client: Client, bowl: str) -> None:
    made = cart(client, bowl)
    first, second = (client.run(ORDER, id=made["id"]).data["checkoutComplete"] for _ in range(2))
    assert first["order"]["total"] == {"gross": {"amount": 25.0, "currency": "EUR"}}
    assert first == second
    assert client.run(CHECKOUT, id=made["id"]).data["checkout"] is None


def test_me_lists_own_carts_and_orders(client: Client, shop: RecordedShop, bowl: str) -> None:
    customer, other = shop.access("customer"), shop.access("customer2")
    open_cart, ordered = cart(client, bowl, customer), cart(client, bowl, customer)
    order = client.run(ORDER, customer, id=ordered["id"]).data["checkoutComplete"]["order"]

    mine = client.run(MINE, customer).data["me"]
    assert [edge["node"]["id"] for edge in mine["orders"]["edges"]] == [order["id"]]
    assert [edge["node"]["id"] for edge in mine["checkouts"]["edges"]] == [open_cart["id"]]
    assert client.run(MINE, other).data["me"] == {
        "orders": {"edges": []},
        "checkouts": {"edges": []},
    }


def test_orders_are_listed_confirmed_paid_and_fulfilled_with_manage_orders(
    client: Client, shop: RecordedShop, bowl: str
) -> None:
    made = cart(client, bowl)
    order = client.run(ORDER, id=made["id"]).data["checkoutComplete"]["order"]
    denied = client.run(ORDERS, shop.access("manager"))
    assert denied.errors[0]["extensions"]["requiredPermissions"] == ["MANAGE_ORDERS"]
    shop.grant("noperm", Permission.MANAGE_ORDERS)
    staff = shop.access("noperm")
    assert client.run(ORDERS, staff).data["orders"]["totalCount"] == 1

    found = [
        client.run(step(name, field), staff, id=order["id"]).data[name]["order"]
        for name, field in (
            ("orderConfirm", "id"),
            ("orderMarkAsPaid", "id"),
            ("orderFulfill", "order"),
        )
    ]
    assert order["status"] == "UNCONFIRMED"
    assert [(order["status"], order["isPaid"]) for order in found] == [
        ("UNFULFILLED", False),
        ("UNFULFILLED", True),
        ("FULFILLED", True),
    ]
    refused = client.run(step("orderCancel"), staff, id=order["id"]).data["orderCancel"]
    assert refused["errors"] == [{"field": "id", "code": "CANNOT_CANCEL_ORDER"}]


def test_order_can_be_cancelled_until_it_is_fulfilled(
    client: Client, shop: RecordedShop, bowl: str
) -> None:
    order = client.run(ORDER, id=cart(client, bowl)["id"]).data["checkoutComplete"]["order"]
    cancelled = client.run(step("orderCancel"), shop.access("staff"), id=order["id"])
    assert cancelled.data["orderCancel"]["order"]["status"] == "CANCELED"
