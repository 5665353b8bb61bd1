"""Contract, part 2: "HTTP", the table of requests and answers."""

import json

import pytest

from tests.spec.client import JSON, Answer, Client
from tests.spec.documents import LOGIN, ME_QUERY
from tests.spec.forged_tokens import Forger
from tests.spec.recorded_shop import RecordedShop

pytestmark = pytest.mark.xdist_group("spec")

SHOP = {"query": "{ shop { id } }"}
RESPONSE_JSON = "application/graphql-response+json"


def test_executed_request_is_200_with_field_errors_too(client: Client) -> None:
    response = client.run("mutation { tokensDeactivateAll { errors { code } } }")
    assert response.status == 200
    assert response.body["data"] == {"tokensDeactivateAll": None}
    assert len(response.body["errors"]) == 1


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{not json",
        b'{"query": "{__typename}"',
        b"\xff\xfe",
        b"5",
        b'"query"',
        b"null",
        b"{}",
        b'{"query": null}',
        b'{"query": ""}',
        b'{"query": 5}',
        b'{"query": ["{__typename}"]}',
        b'{"query": "{__typename}", "variables": 5}',
        b'{"query": "{__typename}", "variables": [1]}',
        b'{"query": "{__typename}", "variables": "[]"}',
        b'{"query": "query A{__typename}", "operationName": 5}',
        b'{"query": "{ shop { "}',
        b'{"query": "{ nothing }"}',
        b'{"query": "{ shop { id { id } } }"}',
        b'{"query": "{ shop }"}',
        b'{"query": "query A{__typename} query B{__typename}"}',
        b'{"query": "query A{__typename}", "operationName": "B"}',
        b'{"query": "query($a: Boolean!){shop @include(if: $a){id}}"}',
        b'{"query": "query($a: Boolean!){shop @include(if: $a){id}}", "variables": {"a": "yes"}}',
    ],
)
def test_request_that_cannot_be_executed_is_400_with_errors_alone(
    client: Client, body: bytes
) -> None:
    response = client.send(body=body, headers=JSON)
    assert response.status == 400
    assert response.body.keys() == {"errors"}
    assert response.errors
    for error in response.errors:
        assert error["message"]
        assert error["extensions"]["exception"]["code"] in ("GraphQLError", "GraphQLSyntaxError")


def test_syntax_error_has_a_code_of_its_own(client: Client) -> None:
    assert client.run("{ shop { ").code == "GraphQLSyntaxError"
    assert client.run("{ nothing }").code == "GraphQLError"


def test_batch_is_answered_in_its_order_with_the_highest_status(client: Client) -> None:
    response = client.post([SHOP, {"query": "{ nothing }"}, {"query": ME_QUERY}])
    assert response.status == 400
    assert [sorted(entry) for entry in response.body] == [["data"], ["errors"], ["data"]]
    assert response.body[2] == {"data": {"me": None}}


def test_batch_of_ten_is_the_largest(client: Client) -> None:
    assert client.post([SHOP] * 10).status == 200
    assert client.post([SHOP] * 11).status == 400


@pytest.mark.parametrize("entry", [5, "{__typename}", None, [], True])
def test_non_object_batch_entry_is_400(client: Client, entry: object) -> None:
    assert client.post([SHOP, entry]).status == 400


def test_empty_batch_is_an_empty_list(client: Client) -> None:
    response = client.post([])
    assert (response.status, response.body) == (200, [])


def test_body_over_one_mebibyte_is_413(client: Client) -> None:
    document = {"query": "{ __typename }", "variables": {"padding": ""}}
    room = 1024 * 1024 - len(json.dumps(document))
    document["variables"] = {"padding": "x" * room}
    assert client.post(document).status == 200
    document["variables"] = {"padding": "x" * (room + 1)}
    assert client.post(document).status == 413


def _upload(
    client: Client, operations: object, headers: dict[str, str] | None = None, file: str = ""
) -> Answer:
    places = {"0": ["variables.file"]} if file else {}
    texts = {"operations": json.dumps(operations), "map": json.dumps(places)}
    parts = [_part(f'name="{name}"', text) for name, text in texts.items()]
    if file:
        parts.append(_part('name="0"; filename="a.txt"\r\nContent-Type: text/plain', file))
    kind = {"Content-Type": "multipart/form-data; boundary=edge"}
    return client.send(body=f"{''.join(parts)}--edge--\r\n", headers={**kind, **(headers or {})})


def _part(head: str, text: str) -> str:
    return f"--edge\r\nContent-Disposition: form-data; {head}\r\n\r\n{text}\r\n"


def test_form_with_files_needs_a_credential_or_the_preflight_header(
    client: Client, shop: RecordedShop
) -> None:
    assert _upload(client, SHOP, {"GraphQL-Require-Preflight": "1"}).data.keys() == {"shop"}
    bearer = {"Authorization": f"Bearer {shop.access('customer')}"}
    assert _upload(client, {"query": ME_QUERY}, bearer).data["me"] == {
        "email": "customer@example.com"
    }
    refused = _upload(client, SHOP)
    assert 400 <= refused.status < 500
    assert "data" not in refused.body


def test_form_with_files_carries_one_operation(client: Client) -> None:
    refused = _upload(client, [SHOP], {"GraphQL-Require-Preflight": "1"})
    assert refused.status == 400
    assert "data" not in refused.body


def test_form_with_files_carries_up_to_five_mebibytes(client: Client) -> None:
    headers = {"GraphQL-Require-Preflight": "1"}
    taking = {"query": "{ __typename }", "variables": {"file": None}}
    assert _upload(client, taking, headers, "x" * 5 * 1024 * 1024).status == 200
    assert _upload(client, taking, headers, "x" * (5 * 1024 * 1024 + 1)).status == 413


@pytest.mark.parametrize(
    "content_type",
    ["application/x-www-form-urlencoded", "text/plain", "text/plain;charset=UTF-8", "a/b", None],
)
def test_another_content_type_is_415_and_never_runs(
    client: Client, content_type: str | None
) -> None:
    headers = {} if content_type is None else {"Content-Type": content_type}
    response = client.send(body=SHOP, headers=headers)
    assert response.status == 415
    assert "data" not in response.body


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "APPLICATION/JSON"])
def test_json_content_type_is_accepted_in_every_spelling(
    client: Client, content_type: str
) -> None:
    assert client.send(body=SHOP, headers={"Content-Type": content_type}).status == 200


def test_bare_document_is_accepted_as_application_graphql(client: Client) -> None:
    response = client.send(body="{ shop { id } }", headers={"Content-Type": "application/graphql"})
    assert response.data.keys() == {"shop"}


QUERY_URL = "/graphql/?query=%7B__typename%7D"


@pytest.mark.parametrize("accept", ["*/*", "text/html", "text/html,application/json;q=0.9"])
def test_get_answers_the_playground_unless_json_is_named(client: Client, accept: str) -> None:
    response = client.send("GET", QUERY_URL, headers={"Accept": accept})
    assert response.status == 200
    assert response.headers["Content-Type"].startswith("text/html")
    assert '"__typename"' not in response.body


def test_get_executes_a_query_for_clients_that_name_json(client: Client) -> None:
    response = client.send("GET", QUERY_URL, headers={"Accept": "application/json"})
    assert response.data == {"__typename": "Query"}
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["Vary"] == "Accept, Authorization, Authorization-Bearer, Origin"


def test_mutation_in_a_url_is_405(client: Client) -> None:
    url = "/graphql/?query=mutation%7BtokensDeactivateAll%7Berrors%7Bcode%7D%7D%7D"
    response = client.send("GET", url, headers={"Accept": "application/json"})
    assert response.status == 405
    assert response.headers["Allow"] == "POST"


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
def test_other_methods_are_405_with_allow(client: Client, method: str) -> None:
    response = client.send(method, body=SHOP, headers=JSON)
    assert response.status == 405
    assert "POST" in response.headers["Allow"]


def test_preflight_is_answered_with_no_body(client: Client) -> None:
    headers = {
        "Origin": "http://localhost:3000",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type",
    }
    response = client.send("OPTIONS", headers=headers)
    assert response.status in (200, 204)
    assert response.body == ""
    allowed = response.headers["Access-Control-Allow-Headers"].lower()
    assert "authorization" in allowed
    assert "authorization-bearer" in allowed
    assert "POST" in response.headers["Access-Control-Allow-Methods"]


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/graphql/"), ("GET", "/.well-known/jwks.json")]
)
def test_every_origin_can_read_responses_without_credentials(
    client: Client, method: str, path: str
) -> None:
    body = SHOP if method == "POST" else None
    response = client.send(method, path, body, {**JSON, "Origin": "https://shop.example.com"})
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Credentials" not in response.headers


def test_key_set_answers_get_and_head_only(client: Client) -> None:
    path = "/.well-known/jwks.json"
    head = client.send("HEAD", path)
    assert (head.status, head.body) == (200, "")
    for method in ("POST", "PUT", "DELETE"):
        refused = client.send(method, path)
        assert refused.status == 405
        assert "GET" in refused.headers["Allow"]


def _asking(client: Client, body: object, credential: str | None = None) -> Answer:
    return client.post(body, credential, {"Accept": RESPONSE_JSON})


def test_graphql_response_json_has_status_codes(client: Client, shop: RecordedShop) -> None:
    good = _asking(client, SHOP)
    assert good.status == 200
    assert good.headers["Content-Type"].startswith(RESPONSE_JSON)
    bad = _asking(client, {"query": "{ nothing }"})
    assert bad.status == 400
    assert bad.headers["Content-Type"].startswith(RESPONSE_JSON)
    assert _asking(client, SHOP, Forger(shop).expired()).status == 401


def test_graphql_response_json_refused_mutation_is_200(client: Client) -> None:
    body = {"query": LOGIN, "variables": {"email": "nobody@example.com", "password": "x"}}
    assert _asking(client, body).status == 200
