"""Products by GraphQL: looked at by anybody, made by those who manage them."""

from typing import Any

import pytest

from app.domain.authorization.permissions import Permission
from app.ports import Ports
from tests.builders.apps import make_app
from tests.builders.people import make_staff, make_user, sign_in
from tests.builders.products import make_product, product_id
from tests.fixtures.cases import cases
from tests.fixtures.statements import recorded_statements, selects
from tests.graphql.shop_client import ApiClient

FIELDS = "id name slug description price { amount currency } isPublished created updatedAt"
ERRORS = "errors { field message code }"
ONE = f"query ($id: ID, $slug: String) {{ product(id: $id, slug: $slug) {{ {FIELDS} }} }}"
LIST = f"""
query ($first: Int, $after: String, $filter: ProductFilterInput, $sortBy: ProductOrder) {{
  products(first: $first, after: $after, filter: $filter, sortBy: $sortBy) {{
    edges {{ node {{ {FIELDS} }} cursor }}
    pageInfo {{ hasNextPage endCursor }}
    totalCount
  }}
}}"""
CREATE = f"""
mutation ($input: ProductCreateInput!) {{
  productCreate(input: $input) {{ product {{ {FIELDS} }} {ERRORS} }}
}}"""
UPDATE = f"""
mutation ($id: ID!, $input: ProductInput!) {{
  productUpdate(id: $id, input: $input) {{ product {{ {FIELDS} }} {ERRORS} }}
}}"""
DELETE = f"mutation ($id: ID!) {{ productDelete(id: $id) {{ product {{ {FIELDS} }} {ERRORS} }} }}"


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports)


@pytest.fixture
def token(ports: Ports) -> str:
    """An app that manages products."""
    return make_app(ports, "warehouse", Permission.MANAGE_PRODUCTS)[1]


def error_codes(payload: Any) -> list[tuple[str | None, str]]:
    """Field and code of what was wrong, with nothing done."""
    assert payload["product"] is None
    assert all(error["message"] for error in payload["errors"])
    return [(error["field"], error["code"]) for error in payload["errors"]]


def test_product_is_created_updated_and_deleted(api: ApiClient, token: str) -> None:
    made = api.run(CREATE, token, input={"name": "Ash bowl", "price": 12.5})
    assert made["errors"] == []
    product = made["product"]
    assert product == {
        "id": product["id"],
        "name": "Ash bowl",
        "slug": "ash-bowl",
        "description": "",
        "price": {"amount": 12.5, "currency": "EUR"},
        "isPublished": False,
        "created": "2026-03-01T12:00:00+00:00",
        "updatedAt": "2026-03-01T12:00:00+00:00",
    }
    assert api.run(ONE, id=product["id"]) is None
    changed = api.run(UPDATE, token, id=product["id"], input={"isPublished": True})
    assert changed == {"product": product | {"isPublished": True}, "errors": []}
    assert api.run(ONE, id=product["id"]) == changed["product"]
    assert api.run(ONE, slug="ash-bowl") == changed["product"]
    deleted_object = api.run(DELETE, token, id=product["id"])
    assert deleted_object == changed
    assert api.run(ONE, token, id=product["id"]) is None


@cases(
    ("literal", "amount"),
    [("12", 12.0), ("12.5", 12.5), ('"12.50"', 12.5), ("1e2", 100.0), ("null", None)],
)
def test_price_is_written_as_a_number_or_as_text(
    api: ApiClient, token: str, literal: str, amount: float | None
) -> None:
    query = (
        f'mutation {{ productCreate(input: {{name: "a", price: {literal}}})'
        f" {{ product {{ price {{ amount }} }} {ERRORS} }} }}"
    )
    made = api.run(query, token)
    assert made["errors"] == []
    assert made["product"]["price"] == (None if amount is None else {"amount": amount})


@cases(
    ("input_", "errors"),
    [
        ({}, [("name", "REQUIRED")]),
        ({"name": None, "slug": None}, [("name", "REQUIRED")]),
        ({"name": "a" * 100_000}, [("name", "INVALID")]),
        ({"name": "a", "price": -1}, [("price", "INVALID")]),
        ({"name": "a", "price": 1e300}, [("price", "INVALID")]),
        ({"name": "a", "price": "0.001"}, [("price", "INVALID")]),
        ({"name": "a", "price": 1, "currency": "USD"}, [("currency", "INVALID")]),
        ({"name": "a", "slug": "b c"}, [("slug", "INVALID")]),
        ({"name": "", "price": -1}, [("name", "REQUIRED"), ("price", "INVALID")]),
    ],
)
def test_invalid_value_names_its_field(
    api: ApiClient, token: str, input_: dict[str, Any], errors: list[tuple[str, str]]
) -> None:
    assert error_codes(api.run(CREATE, token, input=input_)) == errors


@cases(
    "input_",
    [
        {"name": 5},
        {"name": ["a"]},
        {"name": "a", "isPublished": "yes"},
        {"name": "a", "price": True},
        {"name": "a", "price": "cheap"},
        {"name": "a", "price": "NaN"},
        {"name": "a", "price": "Infinity"},
        {"name": "a", "price": "1e9999"},
        {"name": "a", "price": "9" * 1000},
        {"name": "a", "price": {"amount": 1}},
        {"name": "a", "price": [1]},
        {"name": "a", "stock": 5},
    ],
)
def test_id_of_another_type_is_refused_without_changes(
    api: ApiClient, token: str, input_: dict[str, Any]
) -> None:
    response = api.post({"query": CREATE, "variables": {"input": input_}}, token)
    assert response.status_code == 400
    assert "data" not in response.json


def test_invalid_slugs_and_ids_are_refused(api: ApiClient, ports: Ports, token: str) -> None:
    make_product(ports, "Cup")
    assert error_codes(api.run(CREATE, token, input={"name": "a", "slug": "cup"})) == [
        ("slug", "UNIQUE")
    ]
    for id_ in ("", "nonsense", "UHJvZHVjdDo=", "VXNlcjox", product_id(4711)):
        assert error_codes(api.run(UPDATE, token, id=id_, input={})) == [("id", "NOT_FOUND")]
        assert error_codes(api.run(DELETE, token, id=id_)) == [("id", "NOT_FOUND")]
    assert api.run(ONE, id=product_id(4711)) is None
    assert api.code(ONE, id="nonsense") == "GraphQLError"
    assert api.code(ONE) == "GraphQLError"


def test_products_need_manage_products(api: ApiClient, ports: Ports) -> None:
    callers = [
        None,
        sign_in(ports, make_user(ports)).access,
        sign_in(ports, make_staff(ports, "s@example.com", Permission.MANAGE_ORDERS)).access,
        make_app(ports, "other", Permission.MANAGE_ORDERS)[1],
    ]
    id_ = product_id(make_product(ports))
    for caller in callers:
        for query, variables in (
            (CREATE, {"input": {"name": "a"}}),
            (UPDATE, {"id": id_, "input": {"name": "a"}}),
            (DELETE, {"id": id_}),
        ):
            (error,) = api.ask(query, caller, **variables)["errors"]
            assert error["extensions"] == {
                "exception": {"code": "PermissionDenied"},
                "requiredPermissions": ["MANAGE_PRODUCTS"],
            }
    for query, variables in ((CREATE, {"input": {"name": "a"}}), (DELETE, {"id": id_})):
        assert api.code(query, "garbage", **variables) == "InvalidTokenError"


def test_list_is_filtered_sorted_and_paged(api: ApiClient, ports: Ports) -> None:
    for name, cost in (("Cup", "5"), ("Bowl", "9"), ("Cup for two", "12"), ("Jug", None)):
        make_product(ports, name, cost)
    make_product(ports, "Cup of gold", is_published=False)
    arguments: dict[str, Any] = {
        "filter": {"search": "CUP", "price": {"gte": 1, "lte": 12.0}},
        "sortBy": {"field": "PRICE", "direction": "DESC"},
    }
    first = api.run(LIST, first=1, **arguments)
    assert [edge["node"]["name"] for edge in first["edges"]] == ["Cup for two"]
    assert (first["totalCount"], first["pageInfo"]["hasNextPage"]) == (2, True)
    rest = api.run(LIST, first=10, after=first["pageInfo"]["endCursor"], **arguments)
    assert [edge["node"]["name"] for edge in rest["edges"]] == ["Cup"]
    assert rest["pageInfo"]["hasNextPage"] is False


@cases(
    "variables",
    [
        {},
        {"first": 0},
        {"first": -1},
        {"first": 1, "after": "nonsense"},
        {"first": 1, "filter": {"ids": ["nonsense"]}},
        {"first": 1, "filter": {"slugs": ["a"] * 2000}},
    ],
)
def test_invalid_list_arguments_are_refused(api: ApiClient, variables: dict[str, Any]) -> None:
    assert api.code(LIST, **variables) == "GraphQLError"


def test_filter_accepts_any_range(api: ApiClient, ports: Ports) -> None:
    make_product(ports)
    for filter_, found in (
        ({"search": "%" * 60_000}, 0),
        ({"search": "\0"}, 0),
        ({"slugs": ["\0"]}, 0),
        ({"price": {"gte": 1e300}}, 0),
        ({"price": {"lte": -1}}, 0),
        ({"updatedAt": {"lte": "0001-01-01T00:00:00"}}, 0),
        ({"updatedAt": {"gte": "0001-01-01T00:00:00+05:00"}}, 1),
        ({"updatedAt": {"lte": "9999-12-31T23:59:59-05:00"}}, 1),
    ):
        assert api.run(LIST, first=1, filter=filter_)["totalCount"] == found, filter_


def test_page_costs_two_statements(api: ApiClient, ports: Ports, token: str) -> None:
    for number in range(5):
        make_product(ports, f"Bowl {number}")
    query = f"{{ products(first: 4) {{ edges {{ node {{ {FIELDS} }} }} }} }}"
    api.run(query, token)
    with recorded_statements() as statements:
        page = api.run(query, token)
    assert len(page["edges"]) == 4
    assert len(selects(statements)) == 2
