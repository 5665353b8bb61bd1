"""Forged and malformed tokens at the running server: a clear refusal, nothing done, no fault."""

import json
from collections.abc import Callable

import jwt
import pytest

from app.domain.values.ids import to_global_id
from tests.spec.client import Answer, Client
from tests.spec.documents import ME_QUERY, REFRESH, VERIFY
from tests.spec.forged_tokens import Forger, broken_signature, encode, foreign_key
from tests.spec.recorded_shop import RecordedShop

pytestmark = pytest.mark.xdist_group("spec")

CODES = {
    "InvalidTokenError": {"JWT_DECODE_ERROR", "JWT_INVALID_TOKEN"},
    "InvalidSignatureError": {"JWT_DECODE_ERROR"},
    "InvalidAlgorithmError": {"JWT_INVALID_TOKEN", "JWT_DECODE_ERROR"},
    "ImmatureSignatureError": {"JWT_INVALID_TOKEN"},
    "ExpiredSignatureError": {"JWT_SIGNATURE_EXPIRED"},
}
Make = Callable[[Forger], str]


def _check(client: Client, token: str, code: str) -> None:
    """Everywhere where a token can stand, this one is refused for what it is."""
    assert _refusal(client.run(ME_QUERY, token)) == code
    headers = {"Authorization-Bearer": token}
    assert _refusal(client.post({"query": ME_QUERY}, headers=headers)) == code
    verified = client.run(VERIFY, token=token).data["tokenVerify"]
    assert verified["isValid"] is False
    assert {error["code"] for error in verified["errors"]} <= CODES[code]
    refreshed = client.run(REFRESH, token=token).data["tokenRefresh"]
    assert refreshed["token"] is None
    assert {error["code"] for error in refreshed["errors"]} <= CODES[code]


def _refusal(response: Answer) -> str:
    assert (response.status, response.body["data"]) == (200, {"me": None})
    return response.code


def _with_other_claims(forger: Forger) -> str:
    header, _, signature = forger.sign(forger.claims()).split(".")
    claims = {**forger.claims(), "is_staff": True}
    return f"{header}.{encode(json.dumps(claims).encode())}.{signature}"


ALGORITHMS: dict[str, Make] = {
    "none": lambda forger: forger.make("alg_none"),
    "HS256 with the public key": lambda forger: forger.with_hmac_of_the_public_key(),
    "HS256 with the PEM": lambda forger: forger.with_hmac_of_the_pem(),
    "none in other letters": lambda forger: _with_header(forger, alg="nOnE"),
    "PS256": lambda forger: jwt.encode(
        forger.claims(), forger.key, "PS256", headers={"kid": forger.kid}
    ),
    "RS512": lambda forger: jwt.encode(
        forger.claims(), forger.key, "RS512", headers={"kid": forger.kid}
    ),
    "no algorithm": lambda forger: _with_header(forger, alg=None),
    "an algorithm that is no text": lambda forger: _with_header(forger, alg=["RS256"]),
}

SIGNATURES: dict[str, Make] = {
    "a stranger's key": lambda forger: forger.make("wrongsig"),
    "no signature": lambda forger: forger.sign(forger.claims()).rpartition(".")[0] + ".",
    "one bit turned over": lambda forger: broken_signature(forger.sign(forger.claims())),
    "unknown kid": lambda forger: _with_header(forger, kid="unknown"),
    "path-like kid": lambda forger: _with_header(forger, kid="../../../../dev/null"),
    "kid that asks the database": lambda forger: _with_header(forger, kid="' OR '1'='1"),
    "kid with a zero byte": lambda forger: _with_header(forger, kid="\0"),
    "kid that is a number": lambda forger: _with_header(forger, kid=1),
    "no kid": lambda forger: _with_header(forger, kid=None),
    "claims changed afterwards": _with_other_claims,
}

HEADERS: dict[str, Make] = {
    "embedded jwk": lambda forger: forger.sign(
        forger.claims(), forger.header(jwk=_public_jwk()), foreign_key()
    ),
    "embedded jwk, signed right": lambda forger: _with_header(forger, jwk=_public_jwk()),
    "jku": lambda forger: _with_header(forger, jku="http://127.0.0.1:1/keys"),
    "x5u": lambda forger: _with_header(forger, x5u="http://127.0.0.1:1/certificate"),
    "x5c": lambda forger: _with_header(forger, x5c=["MIIB"]),
    "unknown crit": lambda forger: _with_header(forger, crit=["new"], new=True),
    "crit of a webhook": lambda forger: _with_header(forger, crit=["b64"], b64=False),
    "another type": lambda forger: _with_header(forger, typ="at+jwt"),
    "compressed": lambda forger: _with_header(forger, zip="DEF"),
}

CLAIMS: dict[str, dict[str, object]] = {
    "exp missing": {"exp": None},
    "exp no number": {"exp": "tomorrow"},
    "exp a fraction": {"exp": 9e9},
    "exp true": {"exp": True},
    "iat missing": {"iat": None},
    "iat no number": {"iat": "now"},
    "owner missing": {"owner": None},
    "another owner": {"owner": "someone"},
    "iss missing": {"iss": None},
    "another iss": {"iss": "https://elsewhere.example/graphql/"},
    "iss that only begins like ours": {"iss": "http://127.0.0.1.example.com/graphql/"},
    "iss a list": {"iss": ["http://127.0.0.1/graphql/"]},
    "type missing": {"type": None},
    "another type": {"type": "other"},
    "type of a reset link": {"type": "reset"},
    "token missing": {"token": None},
    "token of no session": {"token": "x" * 16},
    "token a list": {"token": ["x"]},
    "token with a zero byte": {"token": "\0"},
    "user_id missing": {"user_id": None},
    "user_id of nobody": {"user_id": to_global_id("User", 10**17)},
    "user_id of an app": {"user_id": to_global_id("App", 1)},
    "user_id no global id": {"user_id": "1"},
    "user_id beyond every key": {"user_id": to_global_id("User", 10**40)},
    "user_id negative": {"user_id": to_global_id("User", -1)},
    "user_id a number": {"user_id": 1},
}

TEXTS: dict[str, Make] = {
    "one word": lambda _forger: "garbage",
    "two dots": lambda _forger: "a.b.c",
    "dots alone": lambda _forger: "..",
    "four parts": lambda forger: f"{forger.sign(forger.claims())}.more",
    "five parts": lambda _forger: "a.b.c.d.e",
    "no JSON": lambda forger: forger.sign_bytes(b"header", b"payload"),
    "a list for claims": lambda forger: forger.sign_bytes(_header(forger), b"[]"),
    "a number for claims": lambda forger: forger.sign_bytes(_header(forger), b"5"),
    "null for claims": lambda forger: forger.sign_bytes(_header(forger), b"null"),
    "claims that are no UTF-8": lambda forger: forger.sign_bytes(_header(forger), b"\xff"),
    "claims nested too deep": lambda forger: forger.sign_bytes(_header(forger), b"[" * 3000),
    "not a number": lambda forger: forger.sign_bytes(_header(forger), b'{"exp": NaN}'),
    "a claim twice": lambda forger: forger.sign_bytes(_header(forger), _twice(forger)),
    "a header member twice": lambda forger: forger.sign_bytes(
        b'{"alg":"none",' + _header(forger)[1:], json.dumps(forger.claims()).encode()
    ),
    "padded": lambda forger: _respelled(forger, lambda payload: f"{payload}=="),
    "padded signature": lambda forger: forger.sign(forger.claims()) + "=",
    "standard base64": lambda forger: _respelled(forger, _in_standard_alphabet),
    "spare bits set": lambda forger: _respelled(forger, _with_spare_bits),
    "longer than any": lambda _forger: "x" * 10_000,
    "an app token with a wrong check sum": lambda _forger: "lkapp_" + "x" * 43,
}


@pytest.mark.parametrize("name", ALGORITHMS)
def test_only_our_algorithm_is_accepted(client: Client, shop: RecordedShop, name: str) -> None:
    _check(client, ALGORITHMS[name](Forger(shop)), "InvalidAlgorithmError")


@pytest.mark.parametrize("name", SIGNATURES)
def test_only_our_signature_is_accepted(client: Client, shop: RecordedShop, name: str) -> None:
    _check(client, SIGNATURES[name](Forger(shop)), "InvalidSignatureError")


@pytest.mark.parametrize("name", HEADERS)
def test_token_header_with_extra_parameters_is_rejected(
    client: Client, shop: RecordedShop, name: str
) -> None:
    _check(client, HEADERS[name](Forger(shop)), "InvalidTokenError")


@pytest.mark.parametrize("name", CLAIMS)
def test_signed_token_with_foreign_claims_is_rejected(
    client: Client, shop: RecordedShop, name: str
) -> None:
    forger = Forger(shop)
    _check(client, forger.sign(forger.claims(**CLAIMS[name])), "InvalidTokenError")


@pytest.mark.parametrize("name", TEXTS)
def test_text_that_is_not_a_token_is_refused(
    client: Client, shop: RecordedShop, name: str
) -> None:
    _check(client, TEXTS[name](Forger(shop)), "InvalidTokenError")


def test_token_times_are_checked_to_the_second(client: Client, shop: RecordedShop) -> None:
    forger, now = Forger(shop), int(shop.ports.clock.timestamp())
    _check_kind(client, forger.sign(forger.claims(exp=now - 1)), "ExpiredSignatureError")
    tomorrow = forger.claims(iat=now + 86_400, exp=now + 90_000)
    _check_kind(client, forger.sign(tomorrow), "ImmatureSignatureError")
    for past in (0, -1, -(10**10)):
        _check_kind(client, forger.sign(forger.claims(exp=past)), "ExpiredSignatureError")


def _check_kind(client: Client, token: str, code: str) -> None:
    assert client.run(ME_QUERY, token).code == code
    (error,) = client.run(VERIFY, token=token).data["tokenVerify"]["errors"]
    assert error["code"] in CODES[code]


def test_access_refresh_and_app_tokens_are_not_interchangeable(
    client: Client, shop: RecordedShop
) -> None:
    assert client.run(ME_QUERY, shop.refresh("customer")).code == "InvalidTokenError"
    for token in (shop.access("customer"), shop.app_token("PRODUCTS")):
        assert client.run(REFRESH, token=token).data["tokenRefresh"]["token"] is None
    verified = client.run(VERIFY, token=shop.app_token("PRODUCTS")).data["tokenVerify"]
    assert verified["isValid"] is False


@pytest.mark.parametrize(
    "value",
    ["Bearer \x01", "Bearer é", "Bearer a b", "Bearer " + "a" * 6000, "Bearer \t", "Bearer ,"],
)
def test_unusual_header_causes_no_internal_error(client: Client, value: str) -> None:
    response = client.post({"query": ME_QUERY}, headers={"Authorization": value})
    assert response.status in (200, 400, 431)
    if response.status == 200:
        assert response.body["data"] == {"me": None}


def _with_header(forger: Forger, **changed: object) -> str:
    return forger.sign(forger.claims(), forger.header(**changed))


def _header(forger: Forger) -> bytes:
    return json.dumps(forger.header()).encode()


def _twice(forger: Forger) -> bytes:
    return b'{"user_id": "x",' + json.dumps(forger.claims()).encode()[1:]


def _respelled(forger: Forger, respell: Callable[[str], str]) -> str:
    """A payload in another spelling that loose readers take for the same, signed as it stands."""
    claims = json.dumps({**forger.claims(), "more": "??>>??>>"}).encode()
    claims += b" " * ((1 - len(claims)) % 3)
    payload = encode(claims)
    assert respell(payload) != payload
    return forger.sign_text(f"{encode(_header(forger))}.{respell(payload)}")


def _in_standard_alphabet(payload: str) -> str:
    return payload.replace("-", "+").replace("_", "/")


def _with_spare_bits(payload: str) -> str:
    """The lowest bits of the last character say nothing where one byte is left over."""
    return payload[:-1] + chr(ord(payload[-1]) + 1)


def _public_jwk() -> dict[str, str]:
    numbers = foreign_key().public_key().public_numbers()
    return {"kty": "RSA", "n": encode(numbers.n.to_bytes(256)), "e": "AQAB"}
