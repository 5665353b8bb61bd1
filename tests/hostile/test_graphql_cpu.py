"""No GraphQL request of an anonymous client takes more than a quarter of a second of CPU."""

from dataclasses import replace

import orjson
import pytest
from sqlalchemy import insert, select
from werkzeug.test import EnvironBuilder, run_wsgi_app

from app import models
from app.composition.settings import Settings
from app.composition.wiring import make_installation
from app.graphql.schema import create_endpoint
from app.ports import Ports
from tests.builders.people import ADDRESS
from tests.builders.products import make_product
from tests.fakes.clock import FakeClock
from tests.fixtures.ports import fake_ports
from tests.hostile.cpu import BOUND, slowest
from tests.hostile.graphql_inputs import (
    ACCOUNTS,
    BATCHES,
    DOCUMENTS,
    FILTERS,
    LINES,
    VARIABLES,
    Body,
    aliased,
    query,
)

BODY = 1024 * 1024
LARGE = 20_000
"""Products; a search reads every one."""


@pytest.fixture
def anonymous(sqlite_url: str, clock: FakeClock) -> Ports:
    """A shop in production with a page of products and more."""
    ports = fake_ports(sqlite_url, clock)
    configuration = replace(
        ports.configuration, development=False, public_url="https://shop.example.com"
    )
    make_product(ports, "Ash bowl 0")
    copy_product(
        ports,
        *(
            {"name": f"Ash bowl {n}", "folded": f"ash bowl {n}", "slug": f"ash-bowl-{n}"}
            for n in range(1, 110)
        ),
    )
    return replace(ports, configuration=configuration)


@pytest.mark.first
@pytest.mark.parametrize(
    "cases",
    [VARIABLES, DOCUMENTS, BATCHES, ACCOUNTS],
    ids=["variables", "documents", "batches", "accounts"],
)
def test_request_of_any_shape_is_answered_within_the_allowed_cpu(
    anonymous: Ports, cases: dict[str, Body]
) -> None:
    # The first token that a shop sees makes its signing keys.
    send(anonymous, orjson.dumps(query('mutation { tokenVerify(token: "x") { isValid } }')))
    taken = {name: _taken(anonymous, orjson.dumps(make())) for name, make in cases.items()}
    assert {name: seconds for name, seconds in taken.items() if seconds > BOUND} == {}


@pytest.mark.first
def test_filters_of_a_large_catalogue_are_within_the_allowed_cpu(anonymous: Ports) -> None:
    copy_product(anonymous, *({"slug": f"ash-bowl-{n}-x"} for n in range(LARGE)))
    taken = {name: _taken(anonymous, orjson.dumps(make())) for name, make in FILTERS.items()}
    assert {name: seconds for name, seconds in taken.items() if seconds > BOUND} == {}


def test_shops_own_page_of_filtered_lists_is_answered(anonymous: Ports) -> None:
    lists = [
        *(
            f'a{n}: products(first: 12, filter: {{slugs: ["ash-bowl-{n}"]}}) {{ totalCount }}'
            for n in range(12)
        ),
        *(
            f"b{n}: products(first: 12, filter: {{isPublished: true}}) {{ totalCount }}"
            for n in range(6)
        ),
        'c: products(first: 12, search: "bowl") { totalCount }',
    ]
    response = orjson.loads(send(anonymous, orjson.dumps(query("{" + " ".join(lists) + "}"))))
    assert response["data"]["c"]["totalCount"] == 110


def copy_product(ports: Ports, *changes: dict[str, str]) -> None:
    """Store copies of a product with these changes."""
    with ports.database.transaction() as session:
        columns = {column.name for column in models.Product.__table__.columns} - {"id"}
        first = session.scalars(select(models.Product).limit(1)).one()
        given = {name: getattr(first, name) for name in columns - {"slug"}}
        session.execute(insert(models.Product), [{**given, **change} for change in changes])


def _taken(ports: Ports, body: bytes) -> float:
    assert len(body) <= BODY
    return slowest(lambda: send(ports, body))


def send(ports: Ports, body: bytes) -> bytes:
    """Send ``body`` to an endpoint that has not seen it before."""
    builder = EnvironBuilder(
        path="/graphql/",
        method="POST",
        data=body,
        content_type="application/json",
        environ_overrides={"REMOTE_ADDR": ADDRESS},
    )
    response, status, _ = run_wsgi_app(
        create_endpoint(make_installation(ports, Settings())), builder.get_environ()
    )
    assert status[:3] in ("200", "400"), status
    return b"".join(response)


def test_wrong_values_are_reported_without_quoting_any(anonymous: Ports) -> None:
    body = query(LINES, lines=[{"quantity": "sesame", "productId": ["sesame"]}])
    response = orjson.loads(send(anonymous, orjson.dumps(body)))
    assert [error["message"] for error in response["errors"]] == [
        "Variable '$lines' got an invalid value at 'lines[0].productId': Expected type 'ID'.",
        "Variable '$lines' got an invalid value at 'lines[0].quantity': Expected type 'Int'.",
    ]


def test_text_is_an_int_only_if_it_is_one_in_digits(anonymous: Ports) -> None:
    page = "query Page($n: Int) { products(first: $n) { totalCount } }"
    for value, is_int in {
        "2": True,
        "-1": True,
        "2147483648": False,
        "9" * 5000: False,
        "1.5": False,
        " 2": False,
        "2\n": False,
        "1_0": False,
        "٢": False,
        "": False,
    }.items():
        response = orjson.loads(send(anonymous, orjson.dumps(query(page, n=value))))
        message = "Variable '$n' got an invalid value: Expected type 'Int'."
        refused = [error["message"] for error in response.get("errors", ())] == [message]
        assert refused is not is_int, value[:20]


def test_ordinary_batch_of_ten_operations_is_answered(anonymous: Ports) -> None:
    page = (
        "query Page($n: Int) { shop { name description } me { id email firstName lastName }"
        + aliased("products(first: $n) { edges { node { ...Item } } pageInfo { hasNextPage } }", 8)
        + "} fragment Item on Product { id name slug description price { currency amount } }"
    )
    body = [query(f"#{number}\n{page}", n=20) for number in range(10)]
    for entry in orjson.loads(send(anonymous, orjson.dumps(body))):
        assert len(entry["data"]["a7"]["edges"]) == 20


def test_operation_with_a_hundred_aliases_is_answered(anonymous: Ports) -> None:
    body = query("{" + aliased("shop { name }", 100) + "}")
    response = orjson.loads(send(anonymous, orjson.dumps(body)))
    assert len(response["data"]) == 100
