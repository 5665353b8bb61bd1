"""Tokens that somebody made up: each is refused for what it is, and nothing else ever happens."""

import base64
import hashlib
import hmac
import json
from functools import cache
from typing import Any

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from hypothesis import given
from hypothesis import strategies as st

from app.adapters.keys.signing_keys import RsaKeyStore
from app.domain.keys import PublicKey
from app.domain.values.errors import TokenFault, TokenRejected
from app.ports.keys import KeyPair
from tests.fakes.keys import private_key
from tests.fixtures.cases import cases

CLAIMS = {"iat": 1, "exp": 2, "owner": "latchkey", "user_id": "VXNlcjox"}
MINE, THEIRS = private_key(0), private_key(1)
PEM = MINE.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
STORE = RsaKeyStore("a secret that only this test has", PEM)

UNDECODABLE = TokenFault.UNDECODABLE
ALGORITHM = TokenFault.ALGORITHM
SIGNATURE = TokenFault.SIGNATURE
INVALID = TokenFault.INVALID


@cache
def mine() -> KeyPair:
    pair = STORE.fixed()
    assert pair is not None
    return pair


def keys() -> dict[str, PublicKey]:
    return {mine().public.kid: mine().public}


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def raw(data: object) -> bytes:
    return data if isinstance(data, bytes) else json.dumps(data).encode()


def head(**changes: object) -> dict[str, object]:
    return {"alg": "RS256", "typ": "JWT", "kid": mine().public.kid, **changes}


def sign(signing_input: str, key: rsa.RSAPrivateKey = MINE) -> str:
    """A token over any text, truly signed: what is wrong is then its form alone."""
    signature = key.sign(signing_input.encode(), padding.PKCS1v15(), hashes.SHA256())
    return f"{signing_input}.{encode(signature)}"


def forge(header: object = None, payload: object = CLAIMS, **options: Any) -> str:
    header = head() if header is None else header
    return sign(f"{encode(raw(header))}.{encode(raw(payload))}", **options)


def unsigned(header: object, signature: bytes = b"") -> str:
    return f"{encode(raw(header))}.{encode(raw(CLAIMS))}.{encode(signature)}"


def hs256(secret: bytes) -> str:
    signing_input = unsigned(head(alg="HS256")).rpartition(".")[0]
    mac = hmac.digest(secret, signing_input.encode(), hashlib.sha256)
    return f"{signing_input}.{encode(mac)}"


def without(member: str) -> dict[str, object]:
    return {name: value for name, value in head().items() if name != member}


def respelled() -> str:
    """The payload's last character changed in the bits that no byte is made of."""
    header, payload = encode(raw(head())), encode(b'{"a": 12}' + b" ")
    last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return sign(f"{header}.{payload[:-1]}{last[last.index(payload[-1]) + 1]}")


def public(form: PublicFormat, encoding: Encoding) -> bytes:
    return MINE.public_key().public_bytes(encoding, form)


GOOD = forge()
HEADER, PAYLOAD, SIGNED = GOOD.split(".")
THEIR_JWK = {"kty": "RSA", "e": "AQAB", "n": "AQAB"}
FLIPPED = bytearray(base64.urlsafe_b64decode(SIGNED + "=="))
FLIPPED[0] ^= 1
TILDES = b'{"a": "~~~???"}'
KID = f'"kid": "{mine().public.kid}"'

NO_COMPACT_JWS = {
    "nothing": "",
    "one dot": ".",
    "two dots": "..",
    "three dots": "...",
    "one word": "hello",
    "two parts": f"{HEADER}.{PAYLOAD}",
    "four parts": f"{GOOD}.{SIGNED}",
    "five parts": f"{HEADER}..{PAYLOAD}.{SIGNED}.{SIGNED}",
    "a space before": f" {GOOD}",
    "a line end after": f"{GOOD}\n",
    "a tab within": f"{HEADER}.\t{PAYLOAD}.{SIGNED}",
    "a NUL within": f"{HEADER}\0.{PAYLOAD}.{SIGNED}",
    "a letter of another script": f"{HEADER}.ä{PAYLOAD}.{SIGNED}",
    "wide digits": f"{HEADER}.{PAYLOAD}.１２３４",  # noqa: RUF001 - that is the point
    "half a character": f"{HEADER}.\ud800.{SIGNED}",
    "padding after the signature": f"{GOOD}==",
    "padding in the header": sign(f"{encode(raw(head()) + b'  ')}=.{PAYLOAD}"),
    "the other alphabet": sign(f"{HEADER}.{encode(TILDES).replace('_', '/')}"),
    "skipped characters": sign(f"{HEADER}.!{PAYLOAD}"),
    "spare bits": respelled(),
    "a character too many": f"{HEADER}.{PAYLOAD}.A",
    "a size nobody needs": forge(payload={**CLAIMS, "more": "x" * 8192}),
    "a long header": forge(head(kid="x" * 8192)),
    "a header of text": forge(b"hello"),
    "an empty header": forge(b""),
    "a header that is a list": forge([head()]),
    "a header that is a string": forge("RS256"),
    "a header that is null": forge(b"null"),
    "a header in no UTF-8": forge(b'{"alg": "RS256", "kid": "\xff"}'),
    "a header in UTF-16": forge(json.dumps(head()).encode("utf-16")),
    "a header with a byte order mark": forge(b"\xef\xbb\xbf" + raw(head())),
    "a bottomless header": forge(b'{"alg":' + b"[" * 5000),
    "alg twice": forge(f'{{"alg": "none", "alg": "RS256", {KID}}}'.encode()),
    "kid twice": forge(f'{{"alg": "RS256", "kid": "other", {KID}}}'.encode()),
    "a header with NaN": forge(f'{{"alg": "RS256", {KID}, "typ": NaN}}'.encode()),
    "a payload that is a list": forge(payload=[CLAIMS]),
    "a payload that is a string": forge(payload="staff"),
    "a payload that is a number": forge(payload=1),
    "a payload that is null": forge(payload=b"null"),
    "a payload of text": forge(payload=b"hello"),
    "an empty payload": forge(payload=b""),
    "two payloads": forge(payload=raw(CLAIMS) * 2),
    "a payload in no UTF-8": forge(payload=b'{"email": "\xff"}'),
    "a claim twice": forge(payload=b'{"user_id": "VXNlcjox", "user_id": "VXNlcjoy"}'),
    "a claim twice, spelled otherwise": forge(payload=b'{"exp": 1, "e\\u0078p": 2}'),
    "a member twice, deep down": forge(payload=b'{"a": [{"b": 1, "b": 2}]}'),
    "an expiry that is NaN": forge(payload=b'{"exp": NaN}'),
    "an expiry without end": forge(payload=b'{"exp": Infinity}'),
    "a bottomless payload": forge(payload=b'{"a":' + b"[" * 5000),
    "a number of 5000 digits": forge(payload=b'{"exp": ' + b"9" * 5000 + b"}"),
}
OTHER_ALGORITHM = {
    "none": unsigned(head(alg="none")),
    "none, signed": forge(head(alg="none")),
    "None": unsigned(head(alg="None")),
    "NONE": unsigned(head(alg="NONE")),
    "nOnE": unsigned(head(alg="nOnE")),
    "no algorithm": forge(without("alg")),
    "null": forge(head(alg=None)),
    "an empty name": forge(head(alg="")),
    "a list": forge(head(alg=["RS256"])),
    "an object": forge(head(alg={"RS256": True})),
    "small letters": forge(head(alg="rs256")),
    "a space": forge(head(alg="RS256 ")),
    "RS384": forge(head(alg="RS384")),
    "PS256": forge(head(alg="PS256")),
    "ES256": forge(head(alg="ES256")),
    "HS256, the public key as PEM": hs256(public(PublicFormat.SubjectPublicKeyInfo, Encoding.PEM)),
    "HS256, the public key as PKCS1": hs256(public(PublicFormat.PKCS1, Encoding.PEM)),
    "HS256, the public key as DER": hs256(public(PublicFormat.SubjectPublicKeyInfo, Encoding.DER)),
    "HS256, the modulus": hs256(mine().public.n.encode()),
    "HS256, no secret": hs256(b""),
}
MORE_THAN_OURS = {
    "a key brought along": forge(head(jwk=THEIR_JWK), key=THEIRS),
    "a key brought along, signed by ours": forge(head(jwk=THEIR_JWK)),
    "an address of keys": forge(head(jku="https://evil.example.com/jwks.json")),
    "an address of certificates": forge(head(x5u="https://evil.example.com/cert.pem")),
    "certificates brought along": forge(head(x5c=["MIIB"])),
    "a certificate's name": forge(head(x5t="abc")),
    "an unknown critical member": forge(head(crit=["exp"], exp=1)),
    "critical: nothing": forge(head(crit=[])),
    "critical: no list": forge(head(crit="b64")),
    "an unencoded payload": forge(head(crit=["b64"], b64=False)),
    "a webhook's signature": sign(f"{encode(raw(head(crit=['b64'], b64=False)))}."),
    "b64 alone": forge(head(b64=True)),
    "compression": forge(head(zip="DEF")),
    "another type": forge(head(typ="at+jwt")),
    "a type that is no text": forge(head(typ=5)),
}
BADLY_SIGNED = {
    "no kid": forge(without("kid")),
    "kid null": forge(head(kid=None)),
    "kid a number": forge(head(kid=1)),
    "kid a list": forge(head(kid=[mine().public.kid])),
    "kid an object": forge(head(kid={})),
    "kid empty": forge(head(kid="")),
    "kid unknown": forge(head(kid="A" * 43)),
    "kid in small letters": forge(head(kid=mine().public.kid.swapcase())),
    "kid with a NUL": forge(head(kid=mine().public.kid + "\0")),
    "kid half a character": forge(head(kid="\ud800")),
    "kid a path": forge(head(kid="../../../../../../dev/null")),
    "kid a file": forge(head(kid="/proc/sys/kernel/randomize_va_space")),
    "kid an address": forge(head(kid="https://evil.example.com/key")),
    "kid a statement": forge(head(kid="x' UNION SELECT 'secret';--")),
    "no signature": f"{HEADER}.{PAYLOAD}.",
    "half a signature": f"{HEADER}.{PAYLOAD}.{encode(bytes(FLIPPED[:128]))}",
    "a longer signature": f"{HEADER}.{PAYLOAD}.{encode(bytes(FLIPPED) + b'0')}",
    "one bit off": f"{HEADER}.{PAYLOAD}.{encode(bytes(FLIPPED))}",
    "zeros": f"{HEADER}.{PAYLOAD}.{encode(bytes(256))}",
    "another key": forge(key=THEIRS),
    "another payload": f"{HEADER}.{encode(raw({**CLAIMS, 'user_id': 'VXNlcjoy'}))}.{SIGNED}",
    "another spelling of the header": f"{encode(raw(head()) + b' ')}.{PAYLOAD}.{SIGNED}",
    "another padding scheme": f"{HEADER}.{PAYLOAD}."
    + encode(
        MINE.sign(
            f"{HEADER}.{PAYLOAD}".encode(),
            padding.PSS(padding.MGF1(hashes.SHA256()), 32),
            hashes.SHA256(),
        )
    ),
    "another hash": f"{HEADER}.{PAYLOAD}."
    + encode(MINE.sign(f"{HEADER}.{PAYLOAD}".encode(), padding.PKCS1v15(), hashes.SHA512())),
}
HOSTILE = [
    (name, token, fault)
    for fault, tokens in (
        (UNDECODABLE, NO_COMPACT_JWS),
        (ALGORITHM, OTHER_ALGORITHM),
        (INVALID, MORE_THAN_OURS),
        (SIGNATURE, BADLY_SIGNED),
    )
    for name, token in tokens.items()
]


def verdict(token: str) -> object:
    """The claims, or the fault; any exception but ``TokenRejected`` fails the test."""
    try:
        return STORE.verify(keys(), token)
    except TokenRejected as rejected:
        return rejected.fault


@cases(("name", "token", "fault"), HOSTILE)
def test_hostile_token_is_rejected_with_its_fault(
    name: str, token: str, fault: TokenFault
) -> None:
    assert verdict(token) is fault, name


def test_original_token_is_valid() -> None:
    assert verdict(GOOD) == CLAIMS
    assert verdict(forge(without("typ"))) == CLAIMS


def test_token_is_refused_when_no_key_is_known() -> None:
    with pytest.raises(TokenRejected) as refusal:
        STORE.verify({}, GOOD)
    assert refusal.value.fault is SIGNATURE


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(st.text() | st.text(alphabet="ABC.=-_+/ \n"))
def test_arbitrary_text_is_rejected(token: str) -> None:
    assert isinstance(verdict(token), TokenFault)


@given(st.integers(0, len(GOOD)), st.integers(0, 3), st.text(max_size=3))
def test_changed_token_is_refused(place: int, cut: int, put: str) -> None:
    token = GOOD[:place] + put + GOOD[place + cut :]
    assert verdict(token) == CLAIMS if token == GOOD else isinstance(verdict(token), TokenFault)


@given(JSON | st.dictionaries(st.sampled_from(["alg", "kid", "typ", "crit"]), JSON))
def test_header_of_any_json_is_refused(header: object) -> None:
    assert isinstance(verdict(forge(raw(header))), TokenFault)


@given(st.binary() | JSON.map(raw))
def test_signed_payload_is_an_object_or_refused(payload: bytes) -> None:
    found = verdict(forge(payload=payload))
    assert isinstance(found, TokenFault) or found == json.loads(payload)
