"""Whatever is sent, the answer is one: never a fault of ours."""

from itertools import product
from typing import Any

import orjson
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fixtures.cases import cases
from tests.graphql.endpoint_client import EndpointClient

ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)
MEMBERS = st.fixed_dictionaries(
    {},
    optional={
        "query": ANY_JSON | st.sampled_from(["{ always }", "{", "query A { always }"]),
        "variables": ANY_JSON,
        "operationName": ANY_JSON | st.sampled_from(["A", ""]),
        "extensions": ANY_JSON,
    },
)
SHARED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def _encode(value: Any) -> bytes:
    return orjson.dumps(value)


@SHARED
@given(body=st.binary(max_size=200))
def test_any_bytes_get_a_response(client: EndpointClient, body: bytes) -> None:
    assert client.send(body).status_code in (200, 400)


@cases(
    ("mark", "kind"), product([b"", b"\xef\xbb\xbf"], ["application/json", "application/graphql"])
)
def test_byte_order_mark_before_a_body_is_skipped(
    client: EndpointClient, kind: str, mark: bytes
) -> None:
    body = b"{ always }" if kind == "application/graphql" else _encode({"query": "{ always }"})
    response = client.send(mark + body, content_type=kind)
    assert (response.status_code, response.json) == (200, {"data": {"always": "always"}})
    batch = client.send(mark + _encode([{"query": "{ always }"}]))
    assert batch.status_code == 200


def test_body_in_utf_16_is_refused_with_that_reason(client: EndpointClient) -> None:
    response = client.send('{"query": "{ always }"}'.encode("utf-16"))
    assert response.status_code == 400
    assert "must be UTF-8" in response.text


@SHARED
@given(value=st.one_of(ANY_JSON, MEMBERS, st.lists(MEMBERS, max_size=11)))
def test_any_json_gets_a_response(client: EndpointClient, value: Any) -> None:
    response = client.send(_encode(value))
    assert response.status_code in (200, 400)
    assert response.json is not None


@SHARED
@given(name=st.text(), variable=ANY_JSON)
def test_any_text_and_variable_get_a_response(
    client: EndpointClient, name: str, variable: Any
) -> None:
    query = "query($n: String) { greeting(name: $n) }"
    response = client.send(_encode({"query": query, "variables": {"n": variable}}))
    expected = 200 if variable is None or isinstance(variable, str) else 400
    assert response.status_code == expected


@SHARED
@given(accept=st.text(st.characters(max_codepoint=255, exclude_categories=["Cc"])))
def test_any_accept_header_gets_a_response(client: EndpointClient, accept: str) -> None:
    assert client.run("{ always }", Accept=accept).status_code == 200


@SHARED
@given(content_type=st.text(st.characters(max_codepoint=255, exclude_categories=["Cc"])))
def test_any_content_type_gets_a_response(client: EndpointClient, content_type: str) -> None:
    response = client.send(b'{"query": "{ always }"}', content_type=content_type)
    assert response.status_code in (200, 400, 415)
