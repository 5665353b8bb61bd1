"""Requests of any form to the API, many of them as large as the limits let them be."""

import json
from collections.abc import Callable

from hypothesis import strategies as st

from benchmarks.fuzz.api import API, CALLERS, headers_of
from benchmarks.fuzz.client import Client, Request
from benchmarks.fuzz.values import encodable, json_values

LIMIT = 1024 * 1024
_Large = Callable[[int], str]


def _declared(n: int) -> str:
    names = ",".join(f"$v{i}:Int" for i in range(n))
    return f"query({names}){{shop{{name}}}}"


def _chain(n: int) -> str:
    links = "".join(f"fragment f{i} on Query{{...f{i + 1}}} " for i in range(n))
    return f"{{...f0}} {links}fragment f{n} on Query{{shop{{name}}}}"


_DOCUMENTS: dict[str, tuple[int, _Large]] = {
    "aliases": (10, lambda n: "{" + "".join(f"a{i}:shop{{name}}" for i in range(n)) + "}"),
    "fields": (6, lambda n: "{" + "shop{name}" * n + "}"),
    "depth": (2, lambda n: "{a" * n + "}" * n),
    "unclosed": (1, lambda n: "{" * n),
    "brackets": (1, lambda n: "{shop(a:" + "[" * n),
    "nested list": (2, lambda n: "{shop(a:" + "[" * n + "]" * n + "){name}}"),
    "nested object": (4, lambda n: "{shop(a:" + "{a:" * n + "1" + "}" * n + "){name}}"),
    "string": (1, lambda n: '{user(email:"' + "é" * (n // 2) + '"){id}}'),
    "block string": (1, lambda n: '{user(email:"""' + "\n " * (n // 2) + '"""){id}}'),
    "escapes": (6, lambda n: '{user(email:"' + "\\u00e9" * n + '"){id}}'),
    "comment": (1, lambda n: "#" * n + "\n{shop{name}}"),
    "commas": (1, lambda n: "{shop" + "," * n + "{name}}"),
    "name": (1, lambda n: "{" + "a" * n + "}"),
    "names": (7, lambda n: "{" + " ".join(f"a{i}" for i in range(n)) + "}"),
    "number": (1, lambda n: "{products(first:" + "9" * n + "){totalCount}}"),
    "directives": (18, lambda n: "{shop" + " @include(if:true)" * n + "{name}}"),
    "variables": (14, _declared),
    "fragments": (40, _chain),
    "cycle": (40, lambda n: _chain(n) + " fragment fEnd on Query{...f0}"),
    "spreads": (5, lambda n: "{" + "...f " * n + "} fragment f on Query{shop{name}}"),
    "inline fragments": (14, lambda n: "{" + "...on Query{" * n + "a" + "}" * n + "}"),
    "operations": (22, lambda n: "".join(f"query q{i}{{shop{{name}}}}" for i in range(n))),
    "type conditions": (20, lambda n: "{node(id:1){" + "...on User{email}" * n + "}}"),
    "enum values": (8, lambda n: "{products(sort:{field:" + "A" * n + "}){totalCount}}"),
    "conflicts": (16, lambda n: "{" + "".join(f"a:shop{{n{i}:name}}" for i in range(n)) + "}"),
}
"""By name: about how many bytes a repetition takes, and the document with so many of them."""

_VARIABLES: dict[str, tuple[int, Callable[[int], object]]] = {
    "string": (1, lambda n: "a" * n),
    "list": (3, lambda n: [1] * n),
    "texts": (6, lambda n: ["ab"] * n),
    "objects": (8, lambda n: [{"a": 1}] * n),
    "members": (10, lambda n: {f"a{i}": i for i in range(n)}),
    "same message": (60, lambda n: ["must be at least 1 character long"] * (n // 2)),
}
_TAKING = "mutation($v: JSONString) { tokenCreate(email: $v, password: $v) { token } }"
_MULTIPART = "----fuzz"


def _nested(n: int) -> bytes:
    return b'{"query":"{shop{name}}","variables":' + b"[" * n + b"]" * n + b"}"


sizes = st.one_of(st.integers(0, 200), st.integers(0, LIMIT + 100), st.just(LIMIT - 200))


@st.composite
def _large_documents(draw: st.DrawFn) -> bytes:
    each, make = _DOCUMENTS[draw(st.sampled_from([*_DOCUMENTS]))]
    return json.dumps({"query": make(max(draw(sizes) // each, 1))}, ensure_ascii=False).encode()


@st.composite
def _large_variables(draw: st.DrawFn) -> bytes:
    each, make = _VARIABLES[draw(st.sampled_from([*_VARIABLES]))]
    value = make(max(draw(sizes) // each, 1))
    document = draw(st.sampled_from([_TAKING, "{shop{name}}", "query($v:Int!){shop{name}}"]))
    return json.dumps({"query": document, "variables": {"v": value}}).encode()


@st.composite
def _batches(draw: st.DrawFn) -> bytes:
    entry = draw(st.one_of(json_values, st.just({"query": "{shop{name}}"})))
    count = draw(st.one_of(st.integers(0, 15), st.integers(0, 20_000)))
    return json.dumps([entry] * count).encode()[: LIMIT + 100]


@st.composite
def _multiparts(draw: st.DrawFn) -> bytes:
    names = draw(st.lists(st.sampled_from(["operations", "map", "0", "1", "x"]), max_size=40))
    parts = []
    for name in names:
        content = draw(st.one_of(st.binary(max_size=50), json_values.map(_as_json)))
        head = f'--{_MULTIPART}\r\nContent-Disposition: form-data; name="{name}"; filename="f"'
        parts.append(f"{head}\r\n\r\n".encode() + content + b"\r\n")
    return b"".join(parts) + f"--{_MULTIPART}--\r\n".encode()


def _as_json(value: object) -> bytes:
    return json.dumps(value).encode()


bodies = st.one_of(
    _large_documents(),
    _large_variables(),
    _batches(),
    _multiparts(),
    json_values.map(_as_json),
    st.binary(max_size=200),
    sizes.map(lambda n: b"\xff" * n),
    sizes.map(lambda n: b" " * n),
    st.integers(0, LIMIT // 2 - 50).map(_nested),
    encodable.map(lambda text: json.dumps({"query": text}).encode()),
)

_CONTENT_TYPES = (
    *("application/json", "application/json", "application/json; charset=utf-16", "text/plain"),
    *(f"multipart/form-data; boundary={_MULTIPART}", "multipart/form-data", "application/graphql"),
    *("application/x-www-form-urlencoded", "", "a" * 5_000, "application/json; a=" + "b;" * 500),
)
_HEADERS = (
    *("Authorization", "Authorization-Bearer", "Cookie", "Host", "Accept", "Accept-Encoding"),
    *("Origin", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Content-Encoding"),
    *("Accept-Language", "If-None-Match", "Range", "User-Agent", "X-Request-Id"),
)
_values = st.one_of(
    st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=255), max_size=60),
    st.integers(0, 6_000).map(lambda n: "a" * n),
    st.sampled_from(
        ["Bearer ", "Bearer a.b.c", "JWT eyJhbGciOiJub25lIn0.e30.", "gzip", "bytes=0-"]
    ),
)


class Bodies:
    """Any bytes under any content type, with odd headers now and then."""

    name = "bodies"

    def __init__(self, client: Client) -> None:
        self._client = client
        self.strategy = st.tuples(
            bodies,
            st.sampled_from(["POST"] * 8 + ["GET", "PUT", "OPTIONS", "HEAD", "DELETE"]),
            st.sampled_from(_CONTENT_TYPES),
            st.dictionaries(st.sampled_from(_HEADERS), _values, max_size=2),
            st.sampled_from(CALLERS),
        )

    def attempt(self, seed: int, example: tuple[bytes, str, str, dict[str, str], str]) -> None:
        body, method, content_type, odd, caller = example
        headers = {**headers_of(self._client, caller), "Content-Type": content_type, **odd}
        self._client.send(self.name, seed, Request(method, API, headers, body))
