"""Files, by the GraphQL multipart request specification (contract, "HTTP")."""

import json
from dataclasses import replace
from io import BytesIO
from typing import Any

from app.graphql.server.request import MAX_FILE_PATHS, MAX_PARTS
from app.web.installation import Installation
from tests.fixtures.cases import cases
from tests.graphql.endpoint_client import EndpointClient, Reply, messages
from tests.graphql.fake_identity import CUSTOMER, Callers

SEND = {"query": "mutation($f: Upload!) { send(file: $f) }", "variables": {"f": None}}
PLACE = {"0": ["variables.f"]}
PREFLIGHT = {"GraphQL-Require-Preflight": "1"}
File = tuple[str, bytes, str]
PICTURE: File = ("cat.png", b"12345", "image/png")


def upload(
    client: EndpointClient,
    operations: object = SEND,
    places: object = PLACE,
    files: dict[str, File] | None = None,
    headers: dict[str, str] | None = None,
) -> Reply:
    """Send a form with ``operations``, ``map`` and ``files``."""
    form: dict[str, Any] = {"operations": json.dumps(operations), "map": json.dumps(places)}
    for name, (filename, data, content_type) in (
        {"0": PICTURE} if files is None else files
    ).items():
        form[name] = (BytesIO(data), filename, content_type)
    sent_headers = PREFLIGHT if headers is None else headers
    response = client.client.post("/graphql/", data=form, headers=sent_headers)
    assert isinstance(response, Reply)
    return response


def test_file_arrives_with_its_name_and_type(client: EndpointClient) -> None:
    response = upload(client)
    assert response.status_code == 200, response.text
    assert response.json == {"data": {"send": "cat.png image/png 5 None"}}


def test_file_can_be_used_in_several_variables_and_lists(client: EndpointClient) -> None:
    operations = {
        "query": "mutation($f: Upload!, $m: [Upload]) { send(file: $f) sendMany(files: $m) }",
        "variables": {"f": None, "m": [None, None]},
    }
    places = {"a": ["variables.f", "variables.m.1"], "b": ["variables.m.0"]}
    files = {"a": PICTURE, "b": ("dog.gif", b"", "image/gif")}
    response = upload(client, operations, places, files)
    assert response.json["data"]["sendMany"] == "dog.gif cat.png"


@cases(
    ("filename", "stored"),
    [("../../etc/passwd", "passwd"), ("C:\\\\temp\\\\cat.png", "cat.png"), ("кот.png", "кот.png")],
)
def test_only_the_last_part_of_a_file_name_is_kept(
    client: EndpointClient, filename: str, stored: str
) -> None:
    response = upload(client, files={"0": (filename, b"1", "image/png")})
    assert response.json["data"]["send"].startswith(f"{stored} ")


def test_form_needs_a_credential_or_the_preflight_header(client: EndpointClient) -> None:
    assert upload(client, headers={"Authorization": f"Bearer {CUSTOMER}"}).status_code == 200
    assert upload(client, headers={"Authorization-Bearer": CUSTOMER}).status_code == 200
    for headers in ({}, {"Authorization": "Basic c2hvcDpwYXNz"}, {"Cookie": "a=b"}):
        response = upload(client, headers=headers)
        assert response.status_code == 400
        assert "GraphQL-Require-Preflight" in messages(response)[0]
    assert client.documents_read == 1


@cases(
    ("operations", "places"),
    [
        ([SEND], PLACE),
        (5, PLACE),
        ({}, {}),
        ({**SEND, "query": None}, PLACE),
        (SEND, []),
        (SEND, {"0": "variables.f"}),
        (SEND, {"0": [5]}),
        (SEND, {"1": ["variables.f"]}),
        (SEND, {"0": ["variables"]}),
        (SEND, {"0": ["variables.g"]}),
        (SEND, {"0": ["variables.f.x"]}),
        (SEND, {"0": ["query"]}),
        (SEND, {"0": ["operationName"]}),
        (SEND, {"0": [""]}),
        (SEND, {"0": ["0.variables.f"]}),
        (SEND, {"0": ["variables.f", "variables.f"]}),
        (SEND, {"0": ["variables.f"] * (MAX_FILE_PATHS + 1)}),
        ({**SEND, "variables": {"f": "taken"}}, PLACE),
        ({**SEND, "variables": {"f": [None]}}, {"0": ["variables.f.1"]}),
        ({**SEND, "variables": {"f": [None]}}, {"0": ["variables.f.-1"]}),
        ({**SEND, "variables": {"f": [None]}}, {"0": ["variables.f.99999999999"]}),
        ({**SEND, "variables": None}, PLACE),
    ],
)
def test_inconsistent_form_is_400(
    client: EndpointClient, operations: object, places: object
) -> None:
    response = upload(client, operations, places)
    assert response.status_code == 400
    assert response.json.keys() == {"errors"}


def form(*parts: tuple[str, str]) -> bytes:
    """A form of text parts, bounded by ``edge``."""
    lines = [
        f'--edge\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{text}\r\n'
        for name, text in parts
    ]
    return ("".join(lines) + "--edge--\r\n").encode()


@cases(
    ("body", "content_type"),
    [
        (b"", "multipart/form-data; boundary=edge"),
        (b"nonsense", "multipart/form-data; boundary=edge"),
        (form(("operations", "{}")), "multipart/form-data; boundary=other"),
        (form(("operations", "{}")), "multipart/form-data"),
        (form(("operations", "{}")), "multipart/form-data; boundary=é"),
        (form(("operations", "{}")), "multipart/form-data; boundary=edge"),
        (form(("map", "{}")), "multipart/form-data; boundary=edge"),
        (form(("operations", "{"), ("map", "{}")), "multipart/form-data; boundary=edge"),
        (form(("operations", "{}"), ("map", "NaN")), "multipart/form-data; boundary=edge"),
        (form(("operations", "[" * 5000), ("map", "{}")), "multipart/form-data; boundary=edge"),
        (form(("operations", "{}"))[:20], "multipart/form-data; boundary=edge"),
    ],
)
def test_malformed_form_is_400(client: EndpointClient, body: bytes, content_type: str) -> None:
    response = client.send(body, content_type=content_type, credential=CUSTOMER)
    assert response.status_code == 400
    assert response.json.keys() == {"errors"}


def test_files_of_maximum_total_size_are_accepted(
    installation: Installation, callers: Callers
) -> None:
    client = EndpointClient(replace(installation, upload_max=1000), callers)
    half = ("a", b"x" * 500, "b/c")
    assert upload(client, files={"0": half, "1": half}).status_code == 200
    response = upload(client, files={"0": half, "1": ("a", b"x" * 501, "b/c")})
    assert response.status_code == 413
    assert messages(response) == ["The files together are larger than 1000 bytes."]


def test_text_in_a_form_is_limited_like_a_body(
    installation: Installation, callers: Callers
) -> None:
    client = EndpointClient(replace(installation, graphql_body_max=2000), callers)
    assert upload(client).status_code == 200
    padded = {**SEND, "extensions": {"x": "x" * 2000}}
    assert upload(client, padded).status_code == 413


def test_form_larger_than_both_limits_is_not_read(
    installation: Installation, callers: Callers
) -> None:
    client = EndpointClient(replace(installation, graphql_body_max=1000, upload_max=1000), callers)
    response = upload(client, files={"0": ("a", b"x" * 3000, "b/c")})
    assert response.status_code == 413


def test_form_of_too_many_parts_answers_413(client: EndpointClient) -> None:
    parts = [(str(number), "") for number in range(MAX_PARTS)]
    body = form(("operations", "{}"), ("map", "{}"), *parts)
    content_type = "multipart/form-data; boundary=edge"
    assert client.send(body, content_type=content_type, credential=CUSTOMER).status_code == 413


def test_text_is_not_a_file(client: EndpointClient) -> None:
    response = client.post({**SEND, "variables": {"f": "cat.png"}})
    assert response.status_code == 400


def test_file_is_accepted_with_an_introspection(client: EndpointClient) -> None:
    operations = {
        "query": "query($f: Upload) { __typename greeting(files: [$f]) }",
        "variables": {"f": None},
    }
    assert upload(client, operations).json["data"]["greeting"] == "Hello, you cat.png:5"
    operations = {"query": "{ __typename }", "variables": {"f": None}}
    assert upload(client, operations).json == {"data": {"__typename": "Query"}}
