"""The signature of a webhook: a detached JWS by RFC 7797, which other libraries verify."""

import base64
import json

import pytest
from joserfc import jws as joserfc_jws
from joserfc.errors import BadSignatureError
from joserfc.jwk import RSAKey
from jwcrypto import jwk, jws

from app.ports.keys import KeyPair
from tests.fakes.keys import ReadyKeyStore

BODY = '{"product":{"name":"Schüssel. with a dot"}}'.encode()


@pytest.fixture
def pair() -> KeyPair:
    return ReadyKeyStore().generate()


@pytest.fixture
def signature(pair: KeyPair) -> str:
    return ReadyKeyStore().sign_detached(pair, BODY)


def _entry(pair: KeyPair) -> dict[str, str]:
    public = pair.public
    return {"kty": "RSA", "n": public.n, "e": public.e, "kid": public.kid}


def test_header_has_b64_false_as_critical(pair: KeyPair, signature: str) -> None:
    header, body, _ = signature.split(".")

    assert body == ""
    assert json.loads(base64.urlsafe_b64decode(header + "==")) == {
        "alg": "RS256",
        "kid": pair.public.kid,
        "b64": False,
        "crit": ["b64"],
    }


def test_independent_library_accepts_the_signature(pair: KeyPair, signature: str) -> None:
    token = jws.JWS()
    token.deserialize(signature)

    token.verify(jwk.JWK(**_entry(pair)), detached_payload=BODY)

    assert token.is_valid


def test_another_body_is_refused(pair: KeyPair, signature: str) -> None:
    token = jws.JWS()
    token.deserialize(signature)

    with pytest.raises(jws.InvalidJWSSignature):
        token.verify(jwk.JWK(**_entry(pair)), detached_payload=BODY + b" ")


def test_signature_with_encoded_payload_is_refused(pair: KeyPair, signature: str) -> None:
    header, _, rest = signature.split(".")
    encoded = base64.urlsafe_b64encode(BODY).rstrip(b"=").decode()
    key = RSAKey.import_key({**_entry(pair), "alg": "RS256"})

    with pytest.raises((BadSignatureError, ValueError)):
        joserfc_jws.deserialize_compact(f"{header}.{encoded}.{rest}", key, ["RS256"])
