"""Detached signatures as their receivers check them: nothing but ours, over these very bytes."""

import base64
import json

import pytest

from app.adapters.keys.signing_keys import DetachedSignatures
from app.domain.keys import PublicKey, read_key_set
from app.domain.values.errors import TokenFault, TokenRejected
from app.ports.keys import KeyPair
from tests.fakes.keys import ReadyKeyStore
from tests.fixtures.cases import cases

BODY = '{"product":{"name":"Schüssel. with a dot"}}'.encode()
STORE = ReadyKeyStore()


@pytest.fixture(scope="module")
def pair() -> KeyPair:
    return STORE.generate()


def keys(pair: KeyPair) -> dict[str, PublicKey]:
    return {pair.public.kid: pair.public}


def with_header(pair: KeyPair, **members: object) -> str:
    """A signature of ours behind another header."""
    header = {"alg": "RS256", "kid": pair.public.kid, "b64": False, "crit": ["b64"], **members}
    present = {name: value for name, value in header.items() if value is not None}
    encoded = base64.urlsafe_b64encode(json.dumps(present).encode()).rstrip(b"=").decode()
    return f"{encoded}..{STORE.sign_detached(pair, BODY).rpartition('.')[2]}"


def test_our_signature_verifies_and_names_its_key(pair: KeyPair) -> None:
    signature = STORE.sign_detached(pair, BODY)
    assert DetachedSignatures().verify_detached(keys(pair), signature, BODY) == pair.public
    assert DetachedSignatures().verify_detached(keys(pair), f"{signature}\n", BODY) == pair.public


@cases("body", [b"", BODY + b" ", BODY[:-1]])
def test_another_body_is_refused(pair: KeyPair, body: bytes) -> None:
    signature = STORE.sign_detached(pair, BODY)
    with pytest.raises(TokenRejected) as raised:
        DetachedSignatures().verify_detached(keys(pair), signature, body)
    assert raised.value.fault is TokenFault.SIGNATURE


@cases(
    ("members", "fault"),
    [
        ({"alg": "none"}, TokenFault.ALGORITHM),
        ({"alg": "HS256"}, TokenFault.ALGORITHM),
        ({"alg": "PS256"}, TokenFault.ALGORITHM),
        ({"b64": True}, TokenFault.INVALID),
        ({"b64": None}, TokenFault.INVALID),
        ({"crit": None}, TokenFault.INVALID),
        ({"crit": []}, TokenFault.INVALID),
        ({"crit": ["b64", "exp"]}, TokenFault.INVALID),
        ({"kid": "another"}, TokenFault.SIGNATURE),
        ({"kid": None}, TokenFault.SIGNATURE),
        ({"kid": ["x"]}, TokenFault.SIGNATURE),
        ({"typ": "JWT"}, TokenFault.SIGNATURE),
    ],
)
def test_another_header_is_refused(
    pair: KeyPair, members: dict[str, object], fault: TokenFault
) -> None:
    with pytest.raises(TokenRejected) as raised:
        DetachedSignatures().verify_detached(keys(pair), with_header(pair, **members), BODY)
    assert raised.value.fault is fault


@cases("text", ["", ".", "..", "a.b.c", "a..b..c", "é..b", "e30..*", "bm8..AAAA"])
def test_invalid_rate_text_is_refused(pair: KeyPair, text: str) -> None:
    with pytest.raises(TokenRejected):
        DetachedSignatures().verify_detached(keys(pair), text, BODY)


@cases(
    "public",
    [
        PublicKey("kid", "AQ", "Ag"),
        PublicKey("kid", "", "AQAB"),
        PublicKey("kid", "BA", "AQAB"),
        PublicKey("kid", "AQAB", "AQ"),
    ],
)
def test_invalid_key_verifies_nothing(pair: KeyPair, public: PublicKey) -> None:
    with pytest.raises(TokenRejected):
        DetachedSignatures().verify_detached(
            {pair.public.kid: public}, STORE.sign_detached(pair, BODY), BODY
        )


def test_key_set_is_read_without_unusable_keys(pair: KeyPair) -> None:
    public = pair.public
    entries = [
        {"kty": "RSA", "kid": public.kid, "n": public.n, "e": public.e, "use": "sig"},
        {"kty": "EC", "kid": "ec"},
        {"kty": "RSA", "kid": 7},
        "nonsense",
    ]
    assert read_key_set({"keys": entries}) == {public.kid: public}
    assert read_key_set({"keys": []}) == {}
    with pytest.raises(ValueError, match="keys"):
        read_key_set({"keys": "none"})
