"""Names that exist for clients' sake: what the table says is what the schema says and gives."""

from typing import Any

import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLUnionType,
    get_named_type,
    is_leaf_type,
    is_required_argument,
)

from app.composition.settings import Settings
from app.domain.authorization.permissions import Permission
from app.domain.commerce.sales import OrderStatus
from app.domain.values.ids import to_global_id
from app.graphql import unavailable
from app.graphql.compatibility import FIELDS, INPUTS, Constant
from app.graphql.schema import schema
from app.ports import Ports
from tests.builders.orders import make_order
from tests.builders.people import NOBODY, make_staff, sign_in
from tests.builders.products import make_product, product_id
from tests.graphql.shop_client import ApiClient

SCHEMA = schema.graphql_schema
UPDATE = """
mutation ($input: ShopSettingsInput!) {
  shopSettingsUpdate(input: $input) {
    shop { name }
    errors { field code message }
    shopErrors { field }
  }
}
"""


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports, Settings())


@pytest.fixture
def manager(ports: Ports) -> str:
    return sign_in(ports, make_staff(ports, "m@example.com", Permission.MANAGE_SETTINGS)).access


def described(kind: type, phrase: str) -> dict[str, str]:
    """Return the descriptions that begin with ``phrase``, by type and name."""
    return {
        f"{name}.{field}": entry.description or ""
        for name, one in SCHEMA.type_map.items()
        if isinstance(one, kind)
        for field, entry in getattr(one, "fields", {}).items()
        if (entry.description or "").startswith(phrase) and getattr(entry, "resolve", True)
    }


def test_each_listed_field_says_what_it_always_is() -> None:
    for name, entry in FIELDS.items():
        type_name, field = name.split(".")
        kind = SCHEMA.type_map[type_name]
        assert isinstance(kind, GraphQLObjectType)
        assert kind.fields[field].description == f"Always {entry.text}. {entry.reason}"


def test_each_listed_input_says_what_it_accepts() -> None:
    for name, entry in INPUTS.items():
        type_name, field = name.split(".")
        kind = SCHEMA.type_map[type_name]
        assert isinstance(kind, GraphQLInputObjectType)
        shown = kind.fields[field].description
        assert shown == f"Only {entry.text} is accepted. {entry.reason}"


def test_every_field_that_has_one_value_is_listed() -> None:
    by_table = {name for name in FIELDS if not name.startswith("Query.")}
    shown = {
        f"{kind.name}.{name}"
        for kind in SCHEMA.type_map.values()
        if isinstance(kind, GraphQLObjectType | GraphQLInterfaceType)
        for name, field in kind.fields.items()
        if getattr(field.resolve, "constant", False) and kind.name != "Query"
    }
    assert shown == by_table
    inputs = described(GraphQLInputObjectType, "Only ")
    accepted = {name for name, text in inputs.items() if " is accepted. " in text}
    assert accepted == INPUTS.keys()


def test_types_that_are_never_returned_are_reached_by_listed_fields_alone() -> None:
    """So no field can return one by mistake, and each of them is named with its reason."""
    unreturned = {
        name
        for name, kind in SCHEMA.type_map.items()
        if isinstance(kind, GraphQLObjectType) and name in unavailable.TYPES
    }
    assert unreturned
    reaching = {
        f"{kind.name}.{name}"
        for kind in SCHEMA.type_map.values()
        if isinstance(kind, GraphQLObjectType) and kind.name not in unreturned
        for name, field in kind.fields.items()
        if get_named_type(field.type).name in unreturned
    }
    edges = {name for name in reaching if name.endswith(("Edge.node", "Connection.edges"))}
    assert reaching - edges <= FIELDS.keys()


def shown_shop() -> dict[str, Constant]:
    return {
        name.removeprefix("Shop."): entry
        for name, entry in FIELDS.items()
        if name.startswith("Shop.")
    }


def test_shop_answers_with_the_listed_values_for_everyone(api: ApiClient) -> None:
    kind: Any = SCHEMA.type_map["Shop"]
    for name, entry in shown_shop().items():
        field = kind.fields[name]
        if any(map(is_required_argument, field.args.values())):
            continue
        named = get_named_type(field.type)
        if isinstance(named, GraphQLObjectType):
            inner = {"LimitInfo": "{ allowedUsage { orders } }"}.get(named.name, "{ __typename }")
        else:
            inner = ""
        value = api.run(f"{{ shop {{ {name} {inner} }} }}")[name]
        expected = list(entry.value) if isinstance(entry.value, tuple) else entry.value
        if name == "limits":
            expected = {"allowedUsage": {"orders": None}}
        assert value == expected, name


def selection(kind: GraphQLObjectType | GraphQLUnionType) -> str:
    """Select the plain fields of a type, and of the objects of constants in it."""
    if isinstance(kind, GraphQLUnionType):
        return "__typename"
    fields = (
        f"{name} {{ {selection(named)} }}" if isinstance(named, GraphQLObjectType) else name
        for name, field in kind.fields.items()
        if not field.args
        for named in (get_named_type(field.type),)
        if is_leaf_type(named) or (field.description or "").startswith("Always")
    )
    return " ".join(fields) or "__typename"


def test_lists_and_lookups_at_the_root_are_empty(api: ApiClient) -> None:
    """Whatever is looked for, and for everyone: what isn't here has no permissions either."""
    kind: Any = SCHEMA.query_type
    names = [name.removeprefix("Query.") for name in FIELDS if name.startswith("Query.")]
    wanted = {}
    for name in names:
        field = kind.fields[name]
        sent = {
            "id": 'id: "Q2F0ZWdvcnk6MQ=="',
            "first": "first: 10",
            "filter": 'filter: { search: "x", metadata: [{ key: "k" }] }',
            "where": "where: { AND: [{ ids: [1] }] }",
            "search": 'search: "x"',
            "kind": "kind: PRODUCT",
        }
        arguments = ", ".join(text for argument, text in sent.items() if argument in field.args)
        node = "__typename" if name == "translations" else "id"
        inner = (
            f"totalCount edges {{ node {{ {node} }} }} pageInfo {{ hasNextPage endCursor }}"
            if "first" in field.args
            else selection(get_named_type(field.type))
        )
        wanted[name] = f"{name}{f'({arguments})' if arguments else ''} {{ {inner} }}"
    for name, text in wanted.items():
        found = api.run(f"{{ {text} }}")
        if "first" in kind.fields[name].args:
            page = {"hasNextPage": False, "endCursor": None}
            assert found == {"totalCount": 0, "edges": [], "pageInfo": page}, name
        elif FIELDS[name_of := f"Query.{name}"].value == {}:
            assert isinstance(found, dict), name_of
        else:
            assert found in (None, []), name
    settings = api.run("{ giftCardSettings { expiryType expiryPeriod { type amount } } }")
    assert settings == {"expiryType": "NEVER_EXPIRE", "expiryPeriod": None}


def test_products_and_orders_are_found_by_conditions(ports: Ports, api: ApiClient) -> None:
    """These lists are real, so their conditions count."""
    keys = [make_product(ports, name) for name in ("Cup", "Bowl")]
    document = "query ($w: ProductWhereInput) { products(first: 5, where: $w) { totalCount } }"
    cases: list[tuple[dict[str, object], int]] = [
        ({}, 2),
        ({"ids": [product_id(keys[0])]}, 1),
        ({"slug": {"eq": "cup"}, "isPublished": True}, 1),
        ({"OR": [{"slug": {"eq": "cup"}}, {"slug": {"oneOf": ["bowl", "\x00"]}}]}, 2),
        ({"AND": [{"slug": {"eq": "cup"}}, {"isPublished": False}]}, 0),
        ({"isVisibleInListing": True, "isAvailable": True}, 2),
        ({"isVisibleInListing": False}, 0),
        ({"isPublished": True, "isVisibleInListing": False}, 0),
        ({"isAvailable": False}, 0),
        ({"price": {"eq": "12.5"}}, 2),
        ({"price": {"oneOf": ["12.505", -1, "1e300"]}}, 0),
        ({"price": {"range": {"gte": 12, "lte": 12.5}}}, 2),
        ({"price": {"range": {"lte": 12.49}}}, 0),
        ({"hasCategory": False, "giftCard": False, "hasPreorderedVariants": False}, 2),
        ({"hasCategory": True}, 0),
        ({"giftCard": True}, 0),
        ({"hasPreorderedVariants": True}, 0),
        ({"OR": [{"hasCategory": True}, {"slug": {"eq": "cup"}}]}, 1),
    ]
    for where, count in cases:
        assert api.run(document, w=where) == {"totalCount": count}, where
    filtered = "query ($f: ProductFilterInput) { products(filter: $f) { totalCount } }"
    assert api.run(filtered, f={"hasCategory": True}) == {"totalCount": 0}
    assert api.run(filtered, f={"hasCategory": False}) == {"totalCount": 2}
    order = make_order(ports)
    manager = make_staff(ports, "o@example.com", Permission.MANAGE_ORDERS)
    token = sign_in(ports, manager).access
    orders = """query ($w: OrderWhereInput, $s: String) {
      orders(first: 5, where: $w, search: $s) { totalCount } }"""
    for found, variables in (
        (1, {"w": {"status": {"eq": "UNCONFIRMED"}}, "s": str(order.id)}),
        (0, {"w": {"status": {"eq": "FULFILLED"}}}),
        (0, {"s": str(order.id + 1)}),
        (1, {"w": {"number": {"eq": order.id}, "userEmail": {"eq": order.user_email}}}),
        (0, {"w": {"number": {"oneOf": [order.id + 1]}}}),
        (1, {"w": {"number": {"range": {"gte": order.id, "lte": order.id}}}}),
        (0, {"w": {"number": {"range": {"lte": order.id - 1}}}}),
        (1, {"w": {"userEmail": {"oneOf": ["a@example.com", order.user_email.upper()]}}}),
        (0, {"w": {"userEmail": {"oneOf": ["a@example.com", "\x00"]}}}),
    ):
        assert api.run(orders, token, **variables) == {"totalCount": found}


def test_objects_have_the_values_that_the_document_declares(ports: Ports, api: ApiClient) -> None:
    channel = api.run("""{ channel(slug: "default-channel") {
      checkoutSettings { automaticallyCompleteFullyPaidCheckouts automaticCompletionDelay }
      orderSettings { allowUnpaidOrders markAsPaidStrategy deleteExpiredOrdersAfter }
      paymentSettings { defaultTransactionFlowStrategy releaseFundsForExpiredCheckouts }
      taxConfiguration { id } warehouses { id }
    } }""")
    assert channel == {
        "checkoutSettings": {
            "automaticallyCompleteFullyPaidCheckouts": False,
            "automaticCompletionDelay": None,
        },
        "orderSettings": {
            "allowUnpaidOrders": True,
            "markAsPaidStrategy": "PAYMENT_FLOW",
            "deleteExpiredOrdersAfter": 0,
        },
        "paymentSettings": {
            "defaultTransactionFlowStrategy": "CHARGE",
            "releaseFundsForExpiredCheckouts": None,
        },
        "taxConfiguration": None,
        "warehouses": [],
    }
    make_product(ports, "Cup")
    products = api.run("""{ products(first: 1) { edges { node {
      name productType { name hasVariants metadata { key } metafield(key: "k") }
      category { id } collections { id } attributes { values { id } }
      thumbnail(size: 64) { url } channelListings { id } metadata { key } metafield(key: "k")
      productVariants(first: 5) { totalCount edges { node { sku } } }
    } } } }""")
    assert products["edges"] == [
        {
            "node": {
                "name": "Cup",
                "productType": {
                    "name": "Product",
                    "hasVariants": True,
                    "metadata": [],
                    "metafield": None,
                },
                "category": None,
                "collections": [],
                "attributes": [],
                "thumbnail": None,
                "channelListings": [],
                "metadata": [],
                "metafield": None,
                "productVariants": {"totalCount": 0, "edges": []},
            }
        }
    ]


ORDER = """query ($id: ID!) { order(id: $id) {
  canFinalize customerNote authorizeStatus events { id } discounts { id } transactions { id }
  deliveryMethod { ... on Warehouse { id } } payments { id } metadata { key }
  total { gross { amount fractionDigits } } undiscountedTotal { gross { amount } }
  totalCharged { amount currency } totalBalance { amount } totalAuthorized { amount }
  totalRemainingGrant { amount }
  fulfillments {
    id fulfillmentOrder status created trackingNumber warehouse { id } metadata { key }
    lines { quantity orderLine { id } reason }
  }
  lines {
    id quantityFulfilled quantityToFulfill unitDiscountValue unitDiscount { amount }
    undiscountedUnitPrice { gross { amount } } undiscountedTotalPrice { gross { amount } }
    variantName variant { id } thumbnail(size: 64) { url } taxRate metafield(key: "k")
  }
} }"""


def test_order_is_paid_and_sent_as_a_whole(ports: Ports, api: ApiClient) -> None:
    """What Saleor tells in parcels, payments and discounts follows from the order."""
    manager = make_staff(ports, "o@example.com", Permission.MANAGE_ORDERS)
    token = sign_in(ports, manager).access
    cup = make_product(ports, "Cup")
    waiting = make_order(ports, NOBODY, cup)
    sent = make_order(ports, NOBODY, cup, status=OrderStatus.FULFILLED, is_paid=True)
    for order, quantities, charged, balance in (
        (waiting, (0, 1), 0, -12.5),
        (sent, (1, 0), 12.5, 0),
    ):
        found = api.run(ORDER, token, id=to_global_id("Order", order.id))
        (line,) = found["lines"]
        assert (line["quantityFulfilled"], line["quantityToFulfill"]) == quantities
        assert line["undiscountedUnitPrice"] == {"gross": {"amount": 12.5}}
        assert (line["unitDiscount"], line["variantName"]) == ({"amount": 0}, "")
        assert found["totalCharged"] == {"amount": charged, "currency": "EUR"}
        assert found["totalBalance"] == {"amount": balance}
        assert found["total"] == {"gross": {"amount": 12.5, "fractionDigits": 2}}
        assert found["totalAuthorized"] == {"amount": 0}
        assert (found["events"], found["customerNote"]) == ([], "")
        parcels = found["fulfillments"]
        expected = [{"quantity": 1, "orderLine": {"id": line["id"]}, "reason": None}]
        assert [parcel["lines"] for parcel in parcels] == ([expected] if order is sent else [])
        assert all(parcel["trackingNumber"] == "" for parcel in parcels)
    listed = """{ orders(first: 5) { edges { node {
      fulfillments { lines { quantity } } lines { quantityFulfilled } } } } }"""
    assert api.run(listed, token)["edges"] == [
        {
            "node": {
                "fulfillments": [{"lines": [{"quantity": 1}]}],
                "lines": [{"quantityFulfilled": 1}],
            }
        },
        {"node": {"fulfillments": [], "lines": [{"quantityFulfilled": 0}]}},
    ]


def test_input_accepts_its_value_alone(api: ApiClient, manager: str) -> None:
    kind: Any = SCHEMA.type_map["ShopSettingsInput"]
    entries = {
        name.removeprefix("ShopSettingsInput."): entry
        for name, entry in INPUTS.items()
        if name.startswith("ShopSettingsInput.")
    }
    assert len(entries) > 9
    for field, entry in entries.items():
        for accepted in (None, entry.value, *entry.same):
            changed = api.run(UPDATE, manager, input={field: accepted, "name": "Marigold"})
            assert changed == {"shop": {"name": "Marigold"}, "errors": [], "shopErrors": []}
        named = get_named_type(kind.fields[field].type)
        other: object
        if isinstance(named, GraphQLEnumType):
            other = next(value for value in named.values if value != entry.value)
        else:
            other = {"Boolean": entry.value is not True, "Int": 7, "String": "text"}[named.name]
        refused = api.run(UPDATE, manager, input={field: other, "name": "Other"})
        assert refused["shop"] is None, field
        (error,) = refused["errors"]
        assert (error["field"], error["code"]) == (field, "INVALID")
        assert refused["shopErrors"] == [{"field": field}]
        assert api.run("{ shop { name } }") == {"name": "Marigold"}


def test_product_is_saved_as_the_dashboard_does_and_nothing_else_is_taken(
    ports: Ports, api: ApiClient
) -> None:
    product = product_id(make_product(ports, "Cup"))
    manager = make_staff(ports, "p@example.com", Permission.MANAGE_PRODUCTS)
    token = sign_in(ports, manager).access
    change = """mutation ($id: ID!, $input: ProductInput!) {
      productUpdate(id: $id, input: $input) { product { name } errors { field code message } } }"""
    nothing: dict[str, object] = {
        "attributes": [],
        "category": None,
        "collections": [],
        "rating": None,
        "seo": None,
    }
    saved = api.run(change, token, id=product, input={"name": "Mug", **nothing, "taxClass": None})
    assert saved == {"product": {"name": "Mug"}, "errors": []}
    for field, value in {
        "attributes": [{"id": "QXR0cmlidXRlOjE="}],
        "category": "Q2F0ZWdvcnk6MQ==",
        "collections": ["Q29sbGVjdGlvbjox"],
        "rating": 4.5,
        "seo": {"title": "Mug"},
        "taxClass": "VGF4Q2xhc3M6MQ==",
        "weight": 2,
    }.items():
        refused = api.run(change, token, id=product, input={"name": "Bowl", field: value})
        (error,) = refused["errors"]
        assert (error["field"], error["code"]) == (field, "INVALID"), field
    assert api.run("query ($id: ID!) { product(id: $id) { name } }", id=product)["name"] == "Mug"
