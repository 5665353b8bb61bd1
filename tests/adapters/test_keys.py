"""Signing keys at work: what others make of our tokens, and how private parts are kept."""

import base64
import json
from dataclasses import replace
from functools import cache
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)
from joserfc import jwk
from joserfc import jwt as joserfc_jwt
from jwt.algorithms import RSAAlgorithm

from app.adapters.keys.signing_keys import RsaKeyStore, describe
from app.composition.settings import Settings, SettingsError
from app.composition.wiring import connect
from app.domain.keys import PublicKey
from app.domain.values.installation import KeyUnreadable
from app.ports.keys import KeyPair
from tests.fakes.keys import SECRET, ReadyKeyStore, private_key
from tests.fixtures.cases import cases
from tests.spec.exchanges import recorded

CLAIMS = {
    "iat": 1,
    "exp": 4102444800,
    "iss": "http://localhost/graphql/",
    "email": "ä@example.com",
}


def ready(place: int = 0) -> KeyPair:
    return ReadyKeyStore(place).generate()


def entry(public: PublicKey) -> dict[str, str | list[str]]:
    return {"kty": "RSA", "n": public.n, "e": public.e, "kid": public.kid, "alg": "RS256"}


@cache
def rsa_key(bits: int) -> rsa.RSAPrivateKey:
    return private_key(0) if bits == 2048 else rsa.generate_private_key(65537, bits)


def pem_of(
    key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey,
    form: PrivateFormat = PrivateFormat.PKCS8,
    encryption: KeySerializationEncryption | None = None,
) -> str:
    return key.private_bytes(Encoding.PEM, form, encryption or NoEncryption()).decode()


def test_new_key_has_3072_bits_and_is_named_by_its_thumbprint() -> None:
    pair = RsaKeyStore(SECRET).generate()
    other = jwk.RSAKey.import_key(entry(pair.public))
    assert int.from_bytes(base64.urlsafe_b64decode(pair.public.n + "==")).bit_length() == 3072
    assert pair.public.e == "AQAB"
    assert pair.public.kid == other.thumbprint()


def test_token_header_has_only_the_key_id() -> None:
    pair = ready()
    token = RsaKeyStore(SECRET).sign(pair, CLAIMS)
    assert jwt.get_unverified_header(token) == {
        "alg": "RS256",
        "kid": pair.public.kid,
        "typ": "JWT",
    }


def test_signed_token_round_trips() -> None:
    store, pair = RsaKeyStore(SECRET), ready()
    keys = {public.kid: public for public in (ready(1).public, pair.public)}
    assert store.verify(keys, store.sign(pair, CLAIMS)) == CLAIMS


def test_other_libraries_verify_our_tokens_by_the_published_members() -> None:
    pair = ready()
    token = RsaKeyStore(SECRET).sign(pair, CLAIMS)
    by_pyjwt = jwt.decode(
        token, jwt.PyJWK(entry(pair.public)), ["RS256"], options={"verify_iat": False}
    )
    by_joserfc = joserfc_jwt.decode(token, jwk.RSAKey.import_key(entry(pair.public)), ["RS256"])
    assert by_pyjwt == by_joserfc.claims == CLAIMS


def test_another_process_with_the_same_secret_signs_with_a_stored_key() -> None:
    pair = ready()
    token = RsaKeyStore(SECRET).sign(pair, CLAIMS)
    assert RsaKeyStore("any other").verify({pair.public.kid: pair.public}, token) == CLAIMS


def test_key_encrypted_with_another_secret_says_what_to_do() -> None:
    pair = ready()
    with pytest.raises(KeyUnreadable) as error:
        RsaKeyStore("another secret").sign(pair, CLAIMS)
    assert pair.public.kid in str(error.value)
    assert "Set SECRET_KEY back" in str(error.value)
    assert "flask keys rotate --force" in str(error.value)
    assert "another secret" not in str(error.value)


@cases("encrypted", ["", "v1.", "v1.AAAA", "v1." + "A" * 64, "hello", "v1.ä", "v2." + "A" * 64])
def test_damaged_private_key_has_its_own_error(encrypted: str) -> None:
    with pytest.raises(KeyUnreadable):
        RsaKeyStore(SECRET).sign(replace(ready(), encrypted=encrypted), CLAIMS)


def test_private_key_must_match_its_key_id() -> None:
    with pytest.raises(KeyUnreadable):
        RsaKeyStore(SECRET).sign(replace(ready(), encrypted=ready(1).encrypted), CLAIMS)


def test_changed_private_part_is_detected() -> None:
    box = bytearray(base64.b64decode(ready().encrypted.removeprefix("v1.")))
    for place in (0, 20, len(box) - 1):
        box[place] ^= 1
        changed = replace(ready(), encrypted="v1." + base64.b64encode(box).decode())
        with pytest.raises(KeyUnreadable):
            RsaKeyStore(SECRET).sign(changed, CLAIMS)
        box[place] ^= 1


def test_encryption_is_randomized() -> None:
    pem = pem_of(rsa_key(2048))
    first, second = RsaKeyStore(SECRET, pem).fixed(), RsaKeyStore(SECRET, pem).fixed()
    assert first is not None
    assert second is not None
    assert first.public == second.public
    assert first.encrypted != second.encrypted


def test_repr_shows_no_secret() -> None:
    pem = pem_of(rsa_key(2048))
    store = RsaKeyStore(SECRET, pem)
    shown = f"{store!r} {store.fixed()!r} {ready()!r} {vars(store)!r}"
    assert SECRET not in shown
    assert ready().encrypted not in shown
    assert "PRIVATE" not in shown
    numbers = load_pem_private_key(pem.encode(), None)
    assert isinstance(numbers, rsa.RSAPrivateKey)
    assert str(numbers.private_numbers().p) not in shown


def test_no_fixed_key_without_the_setting() -> None:
    assert RsaKeyStore(SECRET, "").fixed() is None


@cases("form", [PrivateFormat.PKCS8, PrivateFormat.TraditionalOpenSSL])
@cases("bits", [2048, 2304])
def test_configured_key_signs(form: PrivateFormat, bits: int) -> None:
    store = RsaKeyStore(SECRET, pem_of(rsa_key(bits), form))
    pair = store.fixed()
    assert pair is not None
    assert store.verify({pair.public.kid: pair.public}, store.sign(pair, CLAIMS)) == CLAIMS


def public_pem() -> str:
    public = rsa_key(2048).public_key()
    return public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def test_recorded_key_has_the_same_name_here() -> None:
    """The platform names its key as we do: verifiers find it in the key set that they have."""
    answer: Any = recorded()["jwks_external/jwks"].answer
    (key,) = answer["keys"]
    exponent, modulus = (
        int.from_bytes(base64.urlsafe_b64decode(key[name] + "==")) for name in "en"
    )
    public = describe(rsa.RSAPublicNumbers(exponent, modulus).public_key())
    assert entry(public) == {name: key[name] for name in entry(public)}


def test_configured_key_verifies_by_the_key_set_of_another_installation() -> None:
    """A webhook's signature and a token, by what a verifier fetched before the move."""
    elsewhere = json.loads(RSAAlgorithm.to_jwk(rsa_key(2048).public_key()))
    fetched = jwk.RSAKey.import_key({**elsewhere, "use": "sig"})
    store = RsaKeyStore(SECRET, pem_of(rsa_key(2048)))
    pair = store.fixed()
    assert pair is not None
    assert pair.public.kid == fetched.thumbprint()

    signature = store.sign_detached(pair, b'{"id": 1}')
    assert (
        jwt.PyJWS().decode_complete(
            signature, jwt.PyJWK(elsewhere), ["RS256"], detached_payload=b'{"id": 1}'
        )["header"]["kid"]
        == pair.public.kid
    )
    assert joserfc_jwt.decode(store.sign(pair, CLAIMS), fetched, ["RS256"]).claims == CLAIMS


PASSPHRASE = "drei Chinesen mit dem Kontrabaß"
ENCRYPTED = pem_of(rsa_key(2048), encryption=BestAvailableEncryption(PASSPHRASE.encode()))


def test_configured_key_can_be_encrypted_with_a_passphrase() -> None:
    plain = connect(Settings(database_url="sqlite://", rsa_private_key=pem_of(rsa_key(2048))))
    encrypted = connect(
        Settings(
            database_url="sqlite://", rsa_private_key=ENCRYPTED, rsa_private_password=PASSPHRASE
        )
    )
    expected, found = plain.keys.fixed(), encrypted.keys.fixed()
    assert expected is not None
    assert found is not None
    assert found.public == expected.public
    token = encrypted.keys.sign(found, CLAIMS)
    assert plain.keys.verify({expected.public.kid: expected.public}, token) == CLAIMS


@cases(
    ("pem", "passphrase", "named"),
    [
        (ENCRYPTED, "", "RSA_PRIVATE_KEY: is encrypted"),
        (ENCRYPTED, "another one", "RSA_PRIVATE_KEY: must be"),
        (pem_of(rsa_key(2048)), "needless", "RSA_PRIVATE_PASSWORD: RSA_PRIVATE_KEY isn't"),
    ],
)
def test_wrong_passphrase_stops_the_start(pem: str, passphrase: str, named: str) -> None:
    settings = Settings(
        database_url="sqlite://", rsa_private_key=pem, rsa_private_password=passphrase
    )
    with pytest.raises(SettingsError) as error:
        connect(settings)
    assert named in str(error.value)
    assert passphrase == "" or passphrase not in str(error.value)


def broken_pems() -> dict[str, str]:
    good = pem_of(rsa_key(2048))
    return {
        "too short": pem_of(rsa_key(1024)),
        "of another kind": pem_of(ec.generate_private_key(ec.SECP256R1())),
        "with a passphrase": ENCRYPTED,
        "public": public_pem(),
        "cut off": good[: len(good) // 2],
        "no text of a key": "-----BEGIN PRIVATE KEY-----\nhello\n-----END PRIVATE KEY-----",
    }


@cases("name", list(broken_pems()))
def test_unusable_configured_key_stops_the_start(name: str) -> None:
    pem = broken_pems()[name]
    with pytest.raises(SettingsError) as error:
        connect(Settings(database_url="sqlite://", rsa_private_key=pem))
    assert "RSA_PRIVATE_KEY: " in str(error.value)
    assert not [line for line in pem.splitlines() if line in str(error.value)]
    assert error.value.__cause__ is None
