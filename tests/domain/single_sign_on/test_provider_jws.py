"""The form of other people's signed tokens."""

import base64
import json

import pytest

from app.domain.sign_in.jws import MAX_PROVIDER_TOKEN_LENGTH, peek, read_foreign_token
from app.domain.single_sign_on.provider_tokens import ALGORITHMS
from app.domain.values.errors import TokenFault, TokenRejected
from tests.fixtures.cases import cases

HEADER = {"alg": "RS256", "kid": "key-1", "typ": "JWT"}


def part(value: object) -> str:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def token(payload: object = None, **header: object) -> str:
    present = {name: value for name, value in (HEADER | header).items() if value is not ...}
    return f"{part(present)}.{part(payload or {'sub': 'alice'})}.{part(b'signature')}"


def fault_of(text: str) -> TokenFault:
    with pytest.raises(TokenRejected) as rejected:
        read_foreign_token(text, ALGORITHMS)
    return rejected.value.fault


def test_token_is_parsed_without_being_trusted() -> None:
    read = read_foreign_token(token(extra="harmless"), ALGORITHMS)
    assert (read.algorithm, read.kid, read.header["extra"]) == ("RS256", "key-1", "harmless")
    assert (read.payload, read.signature) == (b'{"sub": "alice"}', b"signature")
    assert read.signing_input.decode() == token(extra="harmless").rpartition(".")[0]


def test_token_without_a_key_id_is_parsed() -> None:
    assert read_foreign_token(token(kid=...), ALGORITHMS).kid is None


@cases("algorithm", sorted(ALGORITHMS))
def test_common_provider_algorithms_are_allowed(algorithm: str) -> None:
    assert read_foreign_token(token(alg=algorithm), ALGORITHMS).algorithm == algorithm


@cases(
    "algorithm",
    ["none", "None", "HS256", "HS512", "rs256", "RS1", "ES256K", "", None, ..., 5, ["RS256"]],
)
def test_any_other_algorithm_is_refused(algorithm: object) -> None:
    assert fault_of(token(alg=algorithm)) is TokenFault.ALGORITHM


@cases("header", [{"crit": ["exp"]}, {"crit": []}, {"crit": None}, {"kid": 5}, {"kid": ["key-1"]}])
def test_critical_header_is_refused(header: dict[str, object]) -> None:
    assert fault_of(token(**header)) is TokenFault.INVALID


TWICE = b'{"alg": "RS256", "alg": "none"}'
UNREADABLE = {
    "nothing": "",
    "no dots": "abc",
    "two parts": "a.b",
    "four parts": f"{token()}.x",
    "a part that is empty": f".{part({})}.x",
    "a header that is no JSON": f"{part(b'{')}.{part({})}.x",
    "a header that is a list": f"{part([])}.{part({})}.x",
    "a header with a member twice": f"{part(TWICE)}.{part({})}.x",
    "padding": f"{part(HEADER)}=.{part({})}.{part(b'x')}",
    "a letter of another alphabet": token().replace("e", "\u0435", 1),
    "white space": f" {token()}",
    "base64 of another spelling": f"{part(HEADER)}.{part(b'a')[:-1]}R.{part(b'x')}",
    "characters of plain base64": f"{part(HEADER)}.+/+/.{part(b'x')}",
    "too much": token({"x": "x" * MAX_PROVIDER_TOKEN_LENGTH}),
}


@cases("text", UNREADABLE.values())
def test_non_canonical_jws_is_undecodable(text: str) -> None:
    assert fault_of(text) is TokenFault.UNDECODABLE


@cases(
    ("text", "expected"),
    [
        (token({"iss": "https://id.example"}), {"iss": "https://id.example"}),
        (token({"iss": "x"}, alg="none"), {"iss": "x"}),
        ("opaque", {}),
        ("a.b", {}),
        ("a.b.c", {}),
        (f"a.{part([])}.c", {}),
        (token({"x": "x" * MAX_PROVIDER_TOKEN_LENGTH}), {}),
        ("\u0435.\u0435.\u0435", {}),
    ],
)
def test_unverified_claims_are_read_without_an_error(
    text: str, expected: dict[str, object]
) -> None:
    assert peek(text) == expected
