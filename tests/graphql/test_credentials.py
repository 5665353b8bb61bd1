"""Who is let in, and what a broken credential answers (contract, "Credentials, precisely")."""

from itertools import product

import pytest

from tests.fakes.clock import START, FakeClock
from tests.fixtures.cases import cases
from tests.graphql.endpoint_client import EndpointClient, codes, messages
from tests.graphql.fake_identity import APP, CUSTOMER, EXPIRED, FORGED, STAFF, Callers

CLOSED = {
    "errors": [
        {
            "message": "Storefront traffic is not allowed.",
            "extensions": {"code": "STOREFRONT_TRAFFIC_NOT_ALLOWED"},
        }
    ]
}
STRICT = "application/graphql-response+json"


@cases(
    ("credential", "query"),
    product(
        [None, CUSTOMER, EXPIRED, FORGED, "unknown"],
        ["{ greeting }", "{ greeting", "{ nothing }", "{ __schema { queryType { name } } }"],
    ),
)
def test_closed_storefront_is_401_for_any_document(
    client: EndpointClient, callers: Callers, credential: str | None, query: str
) -> None:
    callers.traffic_allowed = False
    response = client.run(query, credential=credential)
    assert (response.status_code, response.json) == (401, CLOSED)
    assert client.documents_read == 0


@pytest.mark.parametrize("credential", [STAFF, APP])
def test_closed_storefront_admits_staff_and_apps(
    client: EndpointClient, callers: Callers, credential: str
) -> None:
    callers.traffic_allowed = False
    assert client.run("{ caller }", credential=credential).json == {"data": {"caller": credential}}


def test_closed_storefront_answers_each_entry_of_a_batch(
    client: EndpointClient, callers: Callers
) -> None:
    callers.traffic_allowed = False
    response = client.post([{"query": "{ greeting }"}, {"query": "{"}, {"query": None}])
    assert (response.status_code, response.json) == (401, [CLOSED] * 3)


@cases(
    ("body", "content_type", "status"),
    [
        (b"{", "application/json", 400),
        (b"{}", "application/json", 400),
        (b"[5]", "application/json", 400),
        (b"[" + b",".join([b"{}"] * 11) + b"]", "application/json", 400),
        (b" " * (1024 * 1024 + 1), "application/json", 413),
        (b"{ greeting }", "text/plain", 415),
    ],
)
def test_malformed_request_is_refused_before_the_storefront_check(
    client: EndpointClient, callers: Callers, body: bytes, content_type: str, status: int
) -> None:
    callers.traffic_allowed = False
    assert client.send(body, content_type=content_type).status_code == status
    assert callers.calls == 0


def test_playground_is_served_by_a_closed_storefront(
    client: EndpointClient, callers: Callers
) -> None:
    callers.traffic_allowed = False
    assert client.client.get("/graphql/").status_code == 200


def test_expired_token_fails_every_root_field(client: EndpointClient) -> None:
    response = client.run(
        "{ greeting\n  again: greeting ...F }\nfragment F on Query { caller }", credential=EXPIRED
    )
    assert response.status_code == 200
    assert response.json["data"] == {"greeting": None, "again": None, "caller": None}
    assert response.json["errors"] == [
        {
            "message": "Signature has expired",
            "locations": [location],
            "path": [name],
            "extensions": {"exception": {"code": "ExpiredSignatureError"}},
        }
        for name, location in (
            ("greeting", {"line": 1, "column": 3}),
            ("again", {"line": 2, "column": 3}),
            ("caller", {"line": 3, "column": 23}),
        )
    ]


@cases("query", ["{ caller always }", "{ __typename }", "{ __schema { queryType { name } } }"])
def test_expired_token_nulls_data_with_a_non_null_field(
    client: EndpointClient, query: str
) -> None:
    response = client.run(query, credential=EXPIRED)
    assert response.status_code == 200
    assert response.json["data"] is None
    assert set(codes(response)) == {"ExpiredSignatureError"}


def test_expired_token_is_reported_without_fields(client: EndpointClient) -> None:
    response = client.run("{ caller @skip(if: true) }", credential=EXPIRED)
    assert response.json == {
        "errors": [
            {
                "message": "Signature has expired",
                "extensions": {"exception": {"code": "ExpiredSignatureError"}},
            }
        ],
        "data": {},
    }


def test_expired_token_executes_nothing(client: EndpointClient, clock: FakeClock) -> None:
    response = client.run("mutation { wait }", credential=EXPIRED)
    assert response.json["data"] == {"wait": None}
    assert clock.now() == START


def test_cached_introspection_fails_with_an_expired_token(client: EndpointClient) -> None:
    query = '{ __type(name: "Book") { name } }'
    assert client.run(query).json == {"data": {"__type": {"name": "Book"}}}
    response = client.run(query, credential=EXPIRED)
    assert response.json["data"] == {"__type": None}
    assert codes(response) == ["ExpiredSignatureError"]


@cases("query", ["{ greeting", "{ nothing }", "query($n: Int!) { greeting }"])
def test_invalid_request_is_reported_before_an_expired_token(
    client: EndpointClient, query: str
) -> None:
    with_it, without = client.run(query, credential=EXPIRED), client.run(query)
    assert with_it.status_code == 400
    assert with_it.json == without.json


def test_other_invalid_credential_is_anonymous_on_public_fields(client: EndpointClient) -> None:
    response = client.run("{ caller }", credential=FORGED)
    assert response.json == {"data": {"caller": "anonymous"}}


def test_credential_is_read_from_either_header(client: EndpointClient) -> None:
    assert client.run("{ caller }", Authorization_Bearer=APP).json == {"data": {"caller": APP}}
    both = client.run("{ caller }", credential=STAFF, Authorization_Bearer=APP)
    assert both.json == {"data": {"caller": APP}}


@cases(
    "accept",
    [
        STRICT,
        f"{STRICT}, application/json;q=0.9",
        f"application/json;q=0.5, {STRICT}",
        f"application/json, {STRICT}",
        f"{STRICT.upper()}; charset=utf-8",
        f"text/html, {STRICT};q=0.1",
    ],
)
def test_graphql_response_json_is_sent_when_preferred(client: EndpointClient, accept: str) -> None:
    response = client.run("{ greeting }", Accept=accept)
    assert response.content_type == STRICT
    assert response.json == {"data": {"greeting": "Hello, you"}}


@cases(
    "accept",
    [
        "",
        "*/*",
        "application/*",
        "application/json",
        "text/html",
        f"application/json, {STRICT};q=0.9",
        f"{STRICT};q=0",
        "application/graphql-response+jsonx",
        ";;q=,,",
    ],
)
def test_plain_json_is_sent_by_default(client: EndpointClient, accept: str) -> None:
    response = client.run("{ greeting }", Accept=accept)
    assert response.content_type == "application/json"
    assert response.status_code == 200


@cases(
    ("query", "credential", "status"),
    [
        ("{ greeting denied }", None, 200),
        ("{ brokenAlways }", None, 200),
        ("{ greeting", None, 400),
        ("{ nothing }", None, 400),
        ("{ greeting }", EXPIRED, 401),
        ("{ greeting", EXPIRED, 400),
        ("{ rejected greeting }", FORGED, 401),
        ("{ greeting }", FORGED, 200),
    ],
)
def test_graphql_response_json_uses_status_codes(
    client: EndpointClient, query: str, credential: str | None, status: int
) -> None:
    response = client.run(query, credential=credential, Accept=STRICT)
    assert (response.status_code, response.content_type) == (status, STRICT)
    assert ("WWW-Authenticate" in response.headers) is (status == 401)


def test_batch_in_graphql_response_json_is_401_when_one_entry_is(client: EndpointClient) -> None:
    batch = [{"query": "{ greeting }"}, {"query": "{ rejected }"}]
    assert client.post(batch, credential=FORGED, Accept=STRICT).status_code == 401
    assert client.post(batch, credential=FORGED).status_code == 200


def test_closed_storefront_uses_the_requested_media_type(
    client: EndpointClient, callers: Callers
) -> None:
    callers.traffic_allowed = False
    response = client.run("{ greeting }", Accept=STRICT)
    assert (response.status_code, response.content_type) == (401, STRICT)
    assert messages(response) == ["Storefront traffic is not allowed."]
