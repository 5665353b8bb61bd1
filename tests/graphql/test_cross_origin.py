"""Which pages of other origins may use the API from a browser (contract, "HTTP": cross-origin)."""

from dataclasses import replace

import pytest

from app.web.installation import Installation
from tests.fixtures.cases import cases
from tests.graphql.endpoint_client import EndpointClient
from tests.graphql.fake_identity import Callers

SHOP = "https://shop.example.com"
PREFLIGHT = {"Origin": SHOP, "Access_Control_Request_Method": "POST"}


@pytest.fixture
def choosy(installation: Installation, callers: Callers) -> EndpointClient:
    """An endpoint that one origin may use."""
    return EndpointClient(replace(installation, allowed_graphql_origins=(SHOP,)), callers)


def words(header: str) -> set[str]:
    return {word.strip() for word in header.split(",")}


@cases("query", ["{ greeting }", "{ nothing }", "{"])
def test_every_origin_can_read_responses_without_credentials(
    client: EndpointClient, query: str
) -> None:
    response = client.run(query, Origin=SHOP)
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Credentials" not in response.headers


def test_other_origins_can_read_a_closed_storefronts_response(
    client: EndpointClient, callers: Callers
) -> None:
    callers.traffic_allowed = False
    response = client.run("{ greeting }", Origin=SHOP)
    assert (response.status_code, response.headers["Access-Control-Allow-Origin"]) == (401, "*")


def test_only_allowed_origins_can_read_responses(choosy: EndpointClient) -> None:
    own, other = (choosy.run("{ greeting }", Origin=origin) for origin in (SHOP, "https://a.b"))
    assert own.headers["Access-Control-Allow-Origin"] == SHOP
    assert "Access-Control-Allow-Origin" not in other.headers
    assert own.headers["Vary"] == other.headers["Vary"] == "Origin"


def test_a_preflight_is_answered_without_a_body(client: EndpointClient) -> None:
    response = client.send(
        method="OPTIONS",
        content_type=None,
        **PREFLIGHT,
        Access_Control_Request_Headers="content-type,Traceparent",
    )
    assert (response.status_code, response.data) == (200, b"")
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert words(response.headers["Access-Control-Allow-Methods"]) == {"GET", "POST", "OPTIONS"}
    assert words(response.headers["Access-Control-Allow-Headers"]) == {
        "accept",
        "authorization",
        "authorization-bearer",
        "content-type",
        "graphql-require-preflight",
        "traceparent",
    }


def test_preflight_of_another_origin_gets_no_permission(choosy: EndpointClient) -> None:
    response = choosy.send(method="OPTIONS", **(PREFLIGHT | {"Origin": "https://a.b"}))
    assert response.status_code == 200
    assert not [name for name, _ in response.headers if name.startswith("Access-Control-Allow")]


def test_invalid_header_name_is_not_echoed_in_a_preflight(client: EndpointClient) -> None:
    hostile = ", ".join(["x y", "a\x00b", "é", "a" * 101, '"q"', *(f"h{n}" for n in range(99))])
    response = client.send(method="OPTIONS", **PREFLIGHT, Access_Control_Request_Headers=hostile)
    allowed = words(response.headers["Access-Control-Allow-Headers"])
    assert len(allowed) == 5 + 50
    assert {"x", "y", "h0"} <= allowed
    assert not any(set(name) & set('\x00é"') for name in allowed)


def test_options_lists_the_methods(client: EndpointClient) -> None:
    response = client.send(method="OPTIONS", content_type=None)
    assert (response.status_code, response.data) == (200, b"")
    assert response.headers["Allow"] == "GET, HEAD, OPTIONS, POST"
