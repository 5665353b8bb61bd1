"""Queries in a URL (contract, part 3: GET)."""

from dataclasses import replace
from urllib.parse import urlencode

import pytest

from app.graphql.server.request import GRAPHQL_RESPONSE, MAX_URL
from app.web.installation import Installation
from tests.fixtures.cases import cases
from tests.graphql.endpoint_client import JSON, EndpointClient, Reply, codes
from tests.graphql.fake_identity import Callers

URQL = (
    "application/graphql-response+json, application/graphql+json, application/json, "
    "text/event-stream, multipart/mixed"
)
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


def get(
    client: EndpointClient, accept: str = JSON, *, method: str = "GET", **parameters: str
) -> Reply:
    response = client.client.open(
        f"/graphql/?{urlencode(parameters)}", method=method, headers={"Accept": accept}
    )
    assert isinstance(response, Reply)
    return response


@cases(
    ("accept", "media_type"),
    [
        (JSON, JSON),
        (URQL, GRAPHQL_RESPONSE),
        ("application/json, text/html", JSON),
        ("application/json;q=0.5, */*;q=0.1", JSON),
    ],
)
def test_query_is_executed_for_clients_that_name_json(
    client: EndpointClient, accept: str, media_type: str
) -> None:
    response = get(
        client,
        accept,
        query="query A($n: String) { greeting(name: $n) } query B { always }",
        operationName="A",
        variables='{"n": "Ann"}',
        extensions="{}",
    )
    assert response.status_code == 200
    assert response.content_type == media_type
    assert response.json == {"data": {"greeting": "Hello, Ann"}}
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers.getlist("Vary") == [
        "Accept, Authorization, Authorization-Bearer, Origin"
    ]


@cases(
    "accept",
    [
        "",
        "*/*",
        "application/*",
        BROWSER,
        "application/json;q=0",
        "text/html, application/json;q=0.9",
    ],
)
def test_other_clients_get_the_playground(client: EndpointClient, accept: str) -> None:
    response = get(client, accept, query="{ greeting }")
    assert (response.status_code, response.mimetype) == (200, "text/html")
    assert response.headers["Vary"] == "Accept"
    assert client.documents_read == 0


def test_a_url_without_parameters_is_the_playgrounds(client: EndpointClient) -> None:
    response = get(client)
    assert (response.status_code, response.mimetype) == (200, "text/html")


def test_head_has_the_headers_of_get_and_no_body(client: EndpointClient) -> None:
    response = get(client, method="HEAD", query="{ always }")
    assert (response.status_code, response.data) == (200, b"")
    assert response.headers["Content-Length"] == str(len(get(client, query="{ always }").data))


def test_queries_are_answered_without_the_playground(
    installation: Installation, callers: Callers
) -> None:
    client = EndpointClient(replace(installation, playground_enabled=False), callers)
    assert get(client, query="{ always }").json == {"data": {"always": "always"}}


@cases(
    "parameters",
    [
        "a=b",
        "query=",
        "query={always",
        "query={nothing}",
        "query={always}&variables=[]",
        "query={always}&variables=x",
        "query={always}&extensions=[]",
        "query={always}&extensions={",
        "query={always}&query={greeting}",
        "query={always}&operationName=B",
        "query={greeting(name:%22%FF%22)}",
        "&".join(f"a{number}=b" for number in range(200)),
    ],
)
def test_malformed_urls_are_400(client: EndpointClient, parameters: str) -> None:
    response = client.client.get(f"/graphql/?{parameters}", headers={"Accept": JSON})
    assert response.status_code == 400


@pytest.mark.parametrize("accept", [JSON, GRAPHQL_RESPONSE])
def test_mutation_is_405_and_not_executed(client: EndpointClient, accept: str) -> None:
    response = get(client, accept, query="mutation { wait }")
    assert (response.status_code, response.headers["Allow"]) == (405, "POST")
    assert codes(response) == ["GraphQLError"]


def test_longest_url_is_8_kib(client: EndpointClient) -> None:
    padding = "x" * (MAX_URL - len("/graphql/query={always}&a="))
    url = "/graphql/?query={{always}}&a={padding}"
    assert (
        client.client.get(url.format(padding=padding), headers={"Accept": JSON}).status_code == 200
    )
    response = client.client.get(url.format(padding=padding + "x"), headers={"Accept": JSON})
    assert response.status_code == 414


def test_credential_comes_from_headers_alone(client: EndpointClient) -> None:
    response = client.client.get(
        "/graphql/?query={caller}&authorization=Bearer+customer",
        headers={"Accept": JSON, "Cookie": "session=customer"},
    )
    assert response.json == {"data": {"caller": "anonymous"}}
    known = client.client.get(
        "/graphql/?query={caller}", headers={"Accept": JSON, "Authorization": "Bearer customer"}
    )
    assert known.json == {"data": {"caller": "customer"}}


def test_closed_storefront_is_401(client: EndpointClient, callers: Callers) -> None:
    callers.traffic_allowed = False
    for query in ("{ always }", "{ nothing", "mutation { wait }"):
        response = get(client, query=query)
        assert response.status_code == 401
        assert response.json["errors"][0]["extensions"]["code"] == "STOREFRONT_TRAFFIC_NOT_ALLOWED"
    assert client.documents_read == 0


def test_a_hash_without_a_query_makes_clients_send_the_query(client: EndpointClient) -> None:
    response = get(client, extensions='{"persistedQuery":{"version":1,"sha256Hash":"a"}}')
    assert response.json["errors"][0]["message"] == "PersistedQueryNotSupported"
