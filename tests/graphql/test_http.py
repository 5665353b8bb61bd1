"""What ``/graphql/`` answers to which request (contract, "HTTP")."""

import gzip
from dataclasses import replace
from io import BytesIO
from itertools import product

import orjson
from typing_extensions import override
from werkzeug.test import EnvironBuilder, run_wsgi_app

from app.graphql.server.bodies import DEEPEST_JSON
from app.graphql.server.request import GRAPHQL_RESPONSE
from app.web.installation import Installation
from tests.fixtures.cases import cases
from tests.graphql.endpoint_client import JSON, EndpointClient, codes, messages
from tests.graphql.fake_identity import Callers

GREETING = b'{"query": "{ greeting }"}'


def test_executed_operation_is_200_with_only_data(client: EndpointClient) -> None:
    response = client.run("{ greeting }")
    assert response.status_code == 200
    assert response.content_type == JSON
    assert response.json == {"data": {"greeting": "Hello, you"}}


def test_executed_operation_with_failed_fields_is_200_with_both(client: EndpointClient) -> None:
    response = client.run("{ greeting denied }")
    assert response.status_code == 200
    assert response.json["data"] == {"greeting": "Hello, you", "denied": None}
    assert codes(response) == ["PermissionDenied"]


@cases(
    ("body", "code"),
    [
        (b"", "GraphQLError"),
        (b"{not json", "GraphQLError"),
        (b"5", "GraphQLError"),
        (b"null", "GraphQLError"),
        (b'"{ greeting }"', "GraphQLError"),
        (b"{}", "GraphQLError"),
        (b'{"query": null}', "GraphQLError"),
        (b'{"query": ""}', "GraphQLError"),
        (b'{"query": 5}', "GraphQLError"),
        (b'{"query": ["{ greeting }"]}', "GraphQLError"),
        (b'{"query": "{ greeting }", "variables": []}', "GraphQLError"),
        (b'{"query": "{ greeting }", "variables": ""}', "GraphQLError"),
        (b'{"query": "{ greeting }", "variables": "[]"}', "GraphQLError"),
        (b'{"query": "{ greeting }", "variables": "null"}', "GraphQLError"),
        (b'{"query": "{ greeting }", "variables": "{"}', "GraphQLError"),
        (b'{"query": "{ greeting }", "variables": "\\"{}\\""}', "GraphQLError"),
        (b'{"extensions": {"persistedQuery": "x"}}', "GraphQLError"),
        (b'{"query": "", "extensions": {"persistedQuery": {}}}', "GraphQLError"),
        (b'{"query": "query A{greeting}", "operationName": 5}', "GraphQLError"),
        (b'{"query": "{ greeting }", "extensions": "x"}', "GraphQLError"),
        (b'{"query": "{ greeting }", "variables": {"a": NaN}}', "GraphQLError"),
        (b'{"query": "{ greeting }", "variables": {"a": "\\ud800"}}', "GraphQLError"),
        (b'{"query": "{ greeting }"} trailing', "GraphQLError"),
        (b'{"query": "{ greeting }", "variables": {"a": "\xff"}}', "GraphQLError"),
        (b'{"query": "{ greeting "}', "GraphQLSyntaxError"),
        (b'{"query": "# nothing"}', "GraphQLSyntaxError"),
        (b'{"query": "{ greeting(name: \\"\\\\uD800\\") }"}', "GraphQLSyntaxError"),
        (b'{"query": "{ nothing }"}', "GraphQLError"),
        (b'{"query": "{ greeting { x } }"}', "GraphQLError"),
        (b'{"query": "{ greeting(nope: 1) }"}', "GraphQLError"),
        (b'{"query": "fragment f on Query { greeting }"}', "GraphQLError"),
        (b'{"query": "query A{greeting} query B{greeting}"}', "GraphQLError"),
        (b'{"query": "query A{greeting}", "operationName": "B"}', "GraphQLError"),
        (b'{"query": "query($n:String!){greeting(name:$n)}"}', "GraphQLError"),
        (
            b'{"query": "query($n:String){greeting(name:$n)}", "variables": {"n": 5}}',
            "GraphQLError",
        ),
        (b'{"query": "subscription { ticks }"}', "GraphQLError"),
    ],
)
def test_unexecutable_request_is_400_with_only_errors(
    client: EndpointClient, body: bytes, code: str
) -> None:
    response = client.send(body)
    assert response.status_code == 400
    assert response.json.keys() == {"errors"}
    assert set(codes(response)) == {code}


def test_operation_name_selects_the_operation(client: EndpointClient) -> None:
    query = "query A { greeting } query B { always }"
    response = client.post({"query": query, "operationName": "B"})
    assert response.json == {"data": {"always": "always"}}


@cases("name", [None, ""])
def test_only_operation_is_selected_without_a_name(
    client: EndpointClient, name: str | None
) -> None:
    response = client.post({"query": "query A { always }", "operationName": name})
    assert response.json == {"data": {"always": "always"}}


@cases("document", ["query A { always }", "{ always }"])
def test_name_of_null_in_quotes_selects_the_only_operation(
    client: EndpointClient, document: str
) -> None:
    response = client.post({"query": document, "operationName": "null"})
    assert response.json == {"data": {"always": "always"}}


def test_name_of_null_in_quotes_selects_none_of_several(client: EndpointClient) -> None:
    response = client.post({"query": "query A{a:always} query B{always}", "operationName": "null"})
    assert response.status_code == 400
    named = client.post(
        {"query": "query A{a:always} query null{b:always}", "operationName": "null"}
    )
    assert named.json == {"data": {"b": "always"}}


def test_variables_can_be_a_string_with_an_object(client: EndpointClient) -> None:
    response = client.run("query($n: String) { greeting(name: $n) }", '{"n": "Ann"}')
    assert response.json == {"data": {"greeting": "Hello, Ann"}}


def test_variables_in_a_string_have_the_limits_of_the_body(
    client: EndpointClient, installation: Installation
) -> None:
    many = orjson.dumps({"a": list(range(installation.graphql_values_max))}).decode()
    deep = '{"a":' * DEEPEST_JSON + "{}" + "}" * DEEPEST_JSON
    for variables in (many, deep):
        assert client.run("{ always }", variables).status_code == 400
    part = orjson.dumps({"a": list(range(installation.graphql_values_max // 2))}).decode()
    entry = {"query": "{ always }", "variables": part}
    assert client.post([entry] * 2).status_code == 400


HASH = {"persistedQuery": {"version": 1, "sha256Hash": 64 * "a"}}


@cases(("accept", "status"), [(JSON, 200), (GRAPHQL_RESPONSE, 400)])
def test_a_hash_without_a_query_makes_clients_send_the_query(
    client: EndpointClient, accept: str, status: int
) -> None:
    response = client.post({"operationName": "A", "extensions": HASH}, Accept=accept)
    assert response.status_code == status
    assert response.json == {
        "errors": [
            {
                "message": "PersistedQueryNotSupported",
                "extensions": {
                    "exception": {"code": "GraphQLError"},
                    "code": "PERSISTED_QUERY_NOT_SUPPORTED",
                },
            }
        ]
    }


def test_query_with_its_hash_is_executed(client: EndpointClient) -> None:
    response = client.post({"query": "{ always }", "extensions": HASH})
    assert response.json == {"data": {"always": "always"}}


def test_closed_storefront_comes_before_persisted_queries(
    client: EndpointClient, callers: Callers
) -> None:
    callers.traffic_allowed = False
    assert client.post({"extensions": HASH}).status_code == 401


def test_cost_is_shown_if_asked_for_by_the_setting(
    installation: Installation, callers: Callers
) -> None:
    client = EndpointClient(replace(installation, graphql_cost_shown=True), callers)
    shown = client.run("{ always greeting }").json
    assert shown["data"] == {"always": "always", "greeting": "Hello, you"}
    cost = shown["extensions"]["cost"]
    assert cost["maximumAvailable"] == installation.graphql_cost_max
    assert 0 < cost["requestedQueryCost"] < 1000
    failed = client.run("{ always denied }").json
    assert failed["extensions"]["cost"]["requestedQueryCost"] > 0
    assert failed["errors"]


def test_unknown_members_are_ignored(client: EndpointClient) -> None:
    response = client.post({"query": "{ always }", "id": 5, "extensions": {"x": 1}})
    assert response.status_code == 200


def test_text_in_variables_is_unchanged(client: EndpointClient) -> None:
    name = "NUL\x00 \U0001f600 é\u2028"
    response = client.run("query($n: String) { greeting(name: $n) }", {"n": name})
    assert response.json == {"data": {"greeting": f"Hello, {name}"}}


@cases(("nested", "depth"), product([b'{"a":%b}', b"[%b]"], [DEEPEST_JSON + 1, 5_000, 200_000]))
def test_deeply_nested_json_is_400(client: EndpointClient, nested: bytes, depth: int) -> None:
    opening, closing = nested.split(b"%b")
    bomb = opening * depth + b"1" + closing * depth
    response = client.send(b'{"query": "{ always }", "variables": {"a": ' + bomb + b"}}")
    assert response.status_code in (400, 413)
    assert codes(response) == ["GraphQLError"]


def test_wide_json_is_accepted(client: EndpointClient) -> None:
    wide = [{"a": [1]}] * 5_000
    assert client.run("{ always }", {"a": wide}).status_code == 200


@cases(
    "content_type",
    ["application/json", "application/json; charset=utf-8", "Application/JSON;charset=UTF-8"],
)
def test_json_content_type_is_recognized_in_every_spelling(
    client: EndpointClient, content_type: str
) -> None:
    assert client.send(GREETING, content_type=content_type).status_code == 200


def test_bare_document_is_application_graphql(client: EndpointClient) -> None:
    response = client.send("{ greeting }", content_type="application/graphql")
    assert response.json == {"data": {"greeting": "Hello, you"}}


@cases("body", [b"", b"\xff"])
def test_bare_document_must_be_text(client: EndpointClient, body: bytes) -> None:
    response = client.send(body, content_type="application/graphql")
    assert (response.status_code, codes(response)) == (400, ["GraphQLError"])


@cases(
    "content_type",
    [
        None,
        "",
        "text/plain",
        "text/plain;charset=UTF-8",
        "application/x-www-form-urlencoded",
        "application/jsonx",
        "application/json; charset=utf-16",
        "application/json; charset=latin-1",
        "nonsense",
        ";",
    ],
)
def test_other_content_type_is_415_and_not_executed(
    client: EndpointClient, content_type: str | None
) -> None:
    response = client.send(GREETING, content_type=content_type)
    assert response.status_code == 415
    assert codes(response) == ["GraphQLError"]
    assert "application/json" in response.headers["Accept-Post"]
    assert client.documents_read == 0


@cases(
    ("encoding", "shown"),
    [("gzip", " gzip"), ("br", " br"), ("identity, ZSTD", " ZSTD"), ("<b>", ""), ("a" * 99, "")],
)
def test_encoded_body_is_415_that_names_the_encoding(
    client: EndpointClient, encoding: str, shown: str
) -> None:
    for body in (GREETING, gzip.compress(GREETING)):
        response = client.send(body, Content_Encoding=encoding)
        assert response.status_code == 415
        [message] = messages(response)
        assert message == f"The Content-Encoding{shown} isn't supported. Send the body unencoded."
        assert response.headers["Accept-Encoding"] == "identity"
    assert client.documents_read == 0


@cases("encoding", ["", "identity", "Identity , identity"])
def test_identity_is_no_encoding(client: EndpointClient, encoding: str) -> None:
    response = client.send(GREETING, Content_Encoding=encoding)
    assert response.json == {"data": {"greeting": "Hello, you"}}


def _padded(size: int) -> bytes:
    frame = b'{"query": "{ always }", "variables": {"a": ""}}'
    return frame.replace(b'""', b'"' + b"x" * (size - len(frame)) + b'"')


def test_body_of_maximum_size_is_accepted(
    client: EndpointClient, installation: Installation
) -> None:
    assert client.send(_padded(installation.graphql_body_max)).status_code == 200


def test_larger_body_answers_413(client: EndpointClient, installation: Installation) -> None:
    response = client.send(_padded(installation.graphql_body_max + 1))
    assert (response.status_code, codes(response)) == (413, ["GraphQLError"])
    assert messages(response) == ["The body is larger than 1 MiB."]


class _Stream(BytesIO):
    """Counts what was taken from it."""

    taken = 0

    @override
    def read(self, size: int | None = -1) -> bytes:
        found = super().read(size)
        self.taken += len(found)
        return found


def _raw(client: EndpointClient, stream: BytesIO, **environ: object) -> tuple[int, bytes]:
    built = EnvironBuilder("/graphql/", method="POST", content_type=JSON).get_environ()
    built |= {"wsgi.input": stream, "CONTENT_LENGTH": ""} | environ
    body, status, _ = run_wsgi_app(client.endpoint, built)
    return int(status.split()[0]), b"".join(body)


def test_content_length_is_checked_before_reading(client: EndpointClient) -> None:
    stream = _Stream(GREETING)
    for announced in ("1048577", "9" * 30):
        assert _raw(client, stream, CONTENT_LENGTH=announced)[0] == 413
    assert stream.taken == 0


def test_body_without_a_length_is_read_no_further_than_the_limit(client: EndpointClient) -> None:
    stream = _Stream(b" " * 5_000_000)
    assert _raw(client, stream, **{"wsgi.input_terminated": True})[0] == 413
    assert stream.taken == 1024 * 1024 + 1


def test_chunked_body_is_read_to_its_end(client: EndpointClient) -> None:
    status, body = _raw(client, BytesIO(GREETING), **{"wsgi.input_terminated": True})
    assert (status, orjson.loads(body)) == (200, {"data": {"greeting": "Hello, you"}})


def test_endless_stream_without_a_length_is_not_read(client: EndpointClient) -> None:
    stream = _Stream(GREETING)
    assert _raw(client, stream)[0] == 400
    assert stream.taken == 0


@cases("announced", ["-1", "1e3", "x", "+5", "٣", str(len(GREETING) + 1)])
def test_wrong_content_length_is_400(client: EndpointClient, announced: str) -> None:
    assert _raw(client, BytesIO(GREETING), CONTENT_LENGTH=announced)[0] == 400


def test_body_is_read_only_up_to_its_content_length(client: EndpointClient) -> None:
    stream = _Stream(GREETING + b"x" * 5_000_000)
    assert _raw(client, stream, CONTENT_LENGTH=str(len(GREETING)))[0] == 200
    assert stream.taken == len(GREETING)


@cases("method", ["PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"])
def test_any_other_method_answers_405_with_allow(client: EndpointClient, method: str) -> None:
    response = client.send(GREETING, method=method)
    assert (response.status_code, response.data) == (405, b"")
    assert response.headers["Allow"] == "GET, HEAD, OPTIONS, POST"


def test_head_answers_as_get_without_a_body(client: EndpointClient) -> None:
    page, response = client.client.get("/graphql/"), client.client.head("/graphql/")
    assert (response.status_code, response.data) == (200, b"")
    assert response.headers["Content-Length"] == str(len(page.data))


def test_without_the_playground_get_answers_405(
    installation: Installation, callers: Callers
) -> None:
    client = EndpointClient(replace(installation, playground_enabled=False), callers)
    for method in ("GET", "HEAD"):
        response = client.client.open("/graphql/", method=method)
        assert response.status_code == 405
        assert response.headers["Allow"] == "OPTIONS, POST"


@cases("method", ["POST", "GET", "PUT", "OPTIONS"])
def test_every_response_has_security_headers(client: EndpointClient, method: str) -> None:
    response = client.send(GREETING, method=method)
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in response.headers["Content-Security-Policy"]


def test_responses_forbid_caching(client: EndpointClient) -> None:
    assert client.run("{ greeting }").headers["Cache-Control"] == "no-store"
