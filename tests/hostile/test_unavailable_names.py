"""Names without anything behind them give attackers nothing: no work, no data, no faults."""

import json
from typing import Any

import pytest

from app.composition.settings import Settings
from app.domain.authorization.permissions import Permission
from app.domain.values.ids import to_global_id
from app.ports import Ports
from tests.builders.people import make_staff, sign_in
from tests.builders.products import make_product
from tests.fixtures.statements import recorded_statements, selects
from tests.graphql.shop_client import ApiClient


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """One kind of database is enough: no statement is about these names."""
    return sqlite_url


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports, Settings(graphql_cost_shown=True))


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"a": [value]}
    return value


def test_ignored_inputs_take_any_value_without_a_fault(api: ApiClient) -> None:
    document = """query ($f: CategoryFilterInput, $s: CategorySortingInput) {
      categories(first: 1, filter: $f, sortBy: $s) { totalCount } }"""
    values: tuple[object, ...] = (
        nested(5),
        nested(20),
        "\x00",
        -(2**62),
        1e308,
        [],
        {},
        None,
        True,
    )
    for value in values:
        reply = api.ask(document, f=value, s=value)
        assert reply.get("data") == {"categories": {"totalCount": 0}} or "errors" in reply
        assert "Internal Server Error" not in json.dumps(reply)
    deep = '{"a":' * 20_000 + "1" + "}" * 20_000
    body = json.dumps({"query": document, "variables": {"f": "deep"}}).replace('"deep"', deep)
    assert api.send(body.encode()).status_code in (200, 400)


@pytest.mark.parametrize("depth", [10, 400, 1200])
def test_ignored_literals_of_any_depth_cause_no_fault(api: ApiClient, depth: int) -> None:
    literal = "{a: " * depth + "1" + "}" * depth
    reply = api.ask(f"{{ categories(first: 1, filter: {literal}) {{ totalCount }} }}")
    assert "Internal Server Error" not in json.dumps(reply)
    if depth == 10:
        assert reply["data"] == {"categories": {"totalCount": 0}}


def test_constants_take_no_statement_and_cost_what_they_show(ports: Ports, api: ApiClient) -> None:
    page = "totalCount edges { node { id name products(first: 100) { edges { node { id } } } } }"
    lists = " ".join(f"a{number}: categories(first: 100) {{ {page} }}" for number in range(90))
    with recorded_statements() as recorded:
        reply = api.ask(f"{{ {lists} }}")
    assert len(reply["data"]) == 90
    # The caller alone.
    assert len(selects(recorded)) <= 1
    assert reply["extensions"]["cost"]["requestedQueryCost"] == 90 * 3


def test_constants_of_real_objects_add_no_statement(ports: Ports, api: ApiClient) -> None:
    for number in range(3):
        make_product(ports, f"Cup {number}")
    inner = "productType { id metadata { key } } attributes { values { id } } thumbnail { url }"
    query = f"{{ products(first: 100) {{ edges {{ node {{ id {inner} }} }} }} }}"
    with recorded_statements() as recorded:
        found = api.run(query)
    assert len(found["edges"]) == 3
    plain = "{ products(first: 100) { edges { node { id } } } }"
    with recorded_statements() as fewer:
        api.run(plain)
    assert len(selects(recorded)) == len(selects(fewer))


def test_lookups_say_the_same_of_every_id(ports: Ports, api: ApiClient) -> None:
    """So no ID of another type can be tried on them, with permissions or without."""
    staff = make_staff(ports, "boss@example.com", Permission.MANAGE_STAFF)
    credential = sign_in(ports, staff).access
    document = "query ($id: ID!) { voucher(id: $id) { id } page(id: $id) { id } }"
    for token in (None, credential):
        for id_ in (to_global_id("User", staff), to_global_id("Voucher", 1), "", "\x00", "x" * 99):
            reply = api.ask(document, token, id=id_)
            assert reply["data"] == {"voucher": None, "page": None}
