"""Passkeys: what a browser answers, and what someone makes of that."""

import json
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import cbor2
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from hypothesis import given
from hypothesis import strategies as st

from app.adapters.keys.second_factors import MAX_ANSWER, WebAuthnPasskeys
from app.domain.urls.web_urls import RelyingParty
from app.ports.second_factors import (
    KnownPasskey,
    NewPasskey,
    PasskeyOwner,
    PasskeyRefused,
    PasskeyUse,
)
from tests.builders.passkeys import (
    ORIGIN,
    SYNCABLE,
    USER_PRESENT,
    USER_VERIFIED,
    VERIFIED,
    PrivateKey,
    SoftwareAuthenticator,
    decoded,
    encoded,
)
from tests.fakes.keys import private_key
from tests.fixtures.cases import cases

PASSKEYS = WebAuthnPasskeys()
PARTY = RelyingParty("localhost", (ORIGIN, "https://admin.localhost"))
CHALLENGE, OTHER_CHALLENGE = "c" * 64, "d" * 64
OWNER = PasskeyOwner("h" * 64, "ann@example.com", "Ann Lee")


def creation(challenge: str = CHALLENGE) -> str:
    return PASSKEYS.creation_options(PARTY, "Shop", challenge, OWNER, ())


def request(challenge: str = CHALLENGE) -> str:
    return PASSKEYS.request_options(PARTY, challenge, ())


def create(authenticator: SoftwareAuthenticator) -> NewPasskey:
    return PASSKEYS.verify_creation(PARTY, CHALLENGE, authenticator.create(creation()))


def use(authenticator: SoftwareAuthenticator, made: NewPasskey) -> PasskeyUse:
    answer = authenticator.get(request())
    return PASSKEYS.verify_use(PARTY, CHALLENGE, made.public_key, answer)


@cases(
    "key",
    [
        ec.generate_private_key(ec.SECP256R1()),
        ed25519.Ed25519PrivateKey.generate(),
        private_key(0),
    ],
)
def test_passkey_is_created_and_used(key: PrivateKey) -> None:
    authenticator = SoftwareAuthenticator(key)
    made = create(authenticator)
    assert made.credential_id == encoded(authenticator.credential_id)
    assert decoded(made.public_key) == cbor2.dumps(authenticator.public_key())
    assert (made.sign_count, made.is_synced, made.transports) == (1, False, ("usb",))
    assert use(authenticator, made) == PasskeyUse(sign_count=2, is_synced=False)


def test_synced_passkey_is_recognized() -> None:
    authenticator = SoftwareAuthenticator(flags=VERIFIED | SYNCABLE)
    made = create(authenticator)
    assert made.is_synced
    assert use(authenticator, made).is_synced


def test_page_of_another_allowed_origin_is_accepted() -> None:
    authenticator = SoftwareAuthenticator(origin="https://admin.localhost")
    assert use(authenticator, create(authenticator)).sign_count == 2


def test_creation_options_require_verification_and_a_discoverable_passkey() -> None:
    known = KnownPasskey("AAAA", ("usb", "unknown"))
    text = PASSKEYS.creation_options(PARTY, "Shop", CHALLENGE, OWNER, [known])
    options = json.loads(text)
    chosen = options["authenticatorSelection"]
    assert options["rp"] == {"name": "Shop", "id": "localhost"}
    assert options["user"] == {"id": OWNER.handle, "name": OWNER.name, "displayName": "Ann Lee"}
    assert options["challenge"] == CHALLENGE
    assert (chosen["residentKey"], chosen["userVerification"]) == ("required", "required")
    assert options["attestation"] == "none"
    assert options["excludeCredentials"] == [
        {"id": "AAAA", "type": "public-key", "transports": ["usb"]}
    ]


def test_request_options_name_the_allowed_passkeys_alone() -> None:
    named = json.loads(PASSKEYS.request_options(PARTY, CHALLENGE, [KnownPasskey("AAAA")]))
    assert [allowed["id"] for allowed in named["allowCredentials"]] == ["AAAA"]
    assert (named["rpId"], named["userVerification"]) == ("localhost", "required")
    assert json.loads(request())["allowCredentials"] == []


WRONG: dict[str, Callable[[SoftwareAuthenticator], None]] = {
    "foreign origin": lambda key: setattr(key, "origin", "https://localhost.example"),
    "origin with another port": lambda key: setattr(key, "origin", "http://localhost:8001"),
    "origin with a path": lambda key: setattr(key, "origin", f"{ORIGIN}/"),
    "foreign RP ID": lambda key: setattr(key, "rp_id", "localhost.example"),
    "person not verified": lambda key: setattr(key, "flags", USER_PRESENT),
    "person not present": lambda key: setattr(key, "flags", USER_VERIFIED),
    "frame of another site": lambda key: setattr(key, "cross_origin", True),
    "frame, not a boolean": lambda key: setattr(key, "cross_origin", "yes"),
    "backed up but not to be backed up": lambda key: setattr(key, "flags", VERIFIED | 16),
}


@cases("wrong", WRONG)
def test_wrong_creation_is_refused(wrong: str) -> None:
    authenticator = SoftwareAuthenticator()
    WRONG[wrong](authenticator)
    with pytest.raises(PasskeyRefused):
        create(authenticator)


@cases("wrong", WRONG)
def test_wrong_use_is_refused(wrong: str) -> None:
    authenticator = SoftwareAuthenticator()
    made = create(authenticator)
    assert use(authenticator, made).sign_count == 2
    WRONG[wrong](authenticator)
    with pytest.raises(PasskeyRefused):
        use(authenticator, made)


def test_answer_to_another_challenge_is_refused() -> None:
    authenticator = SoftwareAuthenticator()
    made = create(authenticator)
    with pytest.raises(PasskeyRefused):
        PASSKEYS.verify_creation(PARTY, CHALLENGE, authenticator.create(creation(OTHER_CHALLENGE)))
    with pytest.raises(PasskeyRefused):
        PASSKEYS.verify_use(
            PARTY, CHALLENGE, made.public_key, authenticator.get(request(OTHER_CHALLENGE))
        )


def test_one_ceremony_does_not_stand_in_for_the_other() -> None:
    authenticator = SoftwareAuthenticator()
    made = create(authenticator)
    with pytest.raises(PasskeyRefused):
        create(replace(authenticator, client_type="webauthn.get"))
    with pytest.raises(PasskeyRefused):
        use(replace(authenticator, client_type="webauthn.create"), made)


def test_signature_of_another_key_is_refused() -> None:
    authenticator = SoftwareAuthenticator()
    made = create(authenticator)
    thief = SoftwareAuthenticator(credential_id=authenticator.credential_id)
    with pytest.raises(PasskeyRefused):
        use(thief, made)


def test_changed_counter_breaks_the_signature() -> None:
    authenticator = SoftwareAuthenticator()
    made = create(authenticator)
    answer = json.loads(authenticator.get(request()))
    data = bytearray(decoded(answer["response"]["authenticatorData"]))
    data[-1] += 1
    answer["response"]["authenticatorData"] = encoded(bytes(data))
    with pytest.raises(PasskeyRefused, match="signature"):
        PASSKEYS.verify_use(PARTY, CHALLENGE, made.public_key, json.dumps(answer))


def test_weak_algorithm_is_refused() -> None:
    authenticator = SoftwareAuthenticator(ec.generate_private_key(ec.SECP256R1()))
    key = {**authenticator.public_key(), 3: -65535}  # RSA with SHA-1
    authenticator.public_key = lambda: key  # type: ignore[method-assign]
    with pytest.raises(PasskeyRefused):
        create(authenticator)


@cases(
    "public_key",
    [
        {1: 2, 3: -7, -1: 1, -2: bytes(32), -3: bytes(32)},
        {1: 3, 3: -257, -1: b"\x03", -2: b"\x01\x00\x01"},
    ],
)
def test_key_that_could_never_sign_in_is_refused(public_key: dict[int, Any]) -> None:
    authenticator = SoftwareAuthenticator()
    assert create(authenticator).public_key
    authenticator.public_key = lambda: public_key  # type: ignore[method-assign]
    with pytest.raises(PasskeyRefused):
        create(authenticator)


def test_too_long_credential_id_is_refused() -> None:
    assert len(create(SoftwareAuthenticator(credential_id=b"i" * 1023)).credential_id) == 1364
    with pytest.raises(PasskeyRefused):
        create(SoftwareAuthenticator(credential_id=b"i" * 1024))


def test_claim_names_the_passkey_and_its_account() -> None:
    authenticator = SoftwareAuthenticator(user_handle=OWNER.handle)
    claim = PASSKEYS.read_claim(authenticator.get(request()))
    assert claim.credential_id == encoded(authenticator.credential_id)
    assert claim.user_handle == OWNER.handle
    authenticator.user_handle = ""
    assert PASSKEYS.read_claim(authenticator.get(request())).user_handle == ""


def refuse_everywhere(answer: str) -> None:
    made = create(SoftwareAuthenticator())
    with pytest.raises(PasskeyRefused):
        PASSKEYS.verify_creation(PARTY, CHALLENGE, answer)
    with pytest.raises(PasskeyRefused):
        PASSKEYS.verify_use(PARTY, CHALLENGE, made.public_key, answer)


@cases(
    "answer",
    [
        "",
        "null",
        "[]",
        "{}",
        '"text"',
        "\ud800",
        "[" * 12_000,
        '{"id":' * 2_000,
        "1" * 10_000,
        '{"id": "AAAA", "rawId": "AAAA", "type": "public-key", "response": []}',
        '{"id": "AAAA", "rawId": "AAAA", "type": "public-key", "response": {}}',
        '{"id": 1, "rawId": [], "type": {}, "response": {"clientDataJSON": {}}}',
        " " * (MAX_ANSWER + 1),
    ],
)
def test_malformed_answer_is_refused(answer: str) -> None:
    refuse_everywhere(answer)
    with pytest.raises(PasskeyRefused):
        PASSKEYS.read_claim(answer if "id" not in answer or "}" not in answer else "{}")


@given(
    path=st.integers(0, 20),
    value=st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.text(max_size=8),
        st.binary(max_size=64).map(lambda data: urlsafe_b64encode(data).decode()),
        st.lists(st.none(), max_size=2),
        st.dictionaries(st.text(max_size=3), st.none(), max_size=2),
    ),
)
def test_answer_with_any_other_part_is_refused_or_still_right(path: int, value: object) -> None:
    authenticator = SoftwareAuthenticator()
    made = create(authenticator)
    for check, answer in (
        (
            lambda text: PASSKEYS.verify_creation(PARTY, CHALLENGE, text),
            authenticator.create(creation()),
        ),
        (
            lambda text: PASSKEYS.verify_use(PARTY, CHALLENGE, made.public_key, text),
            authenticator.get(request()),
        ),
    ):
        changed = replace_part(json.loads(answer), path, value)
        try:
            check(changed)
        except PasskeyRefused:
            continue


def replace_part(answer: dict[str, Any], number: int, value: object) -> str:
    """Return the answer with one of its parts replaced."""
    parts = [(answer, name) for name in answer]
    parts += [(answer["response"], name) for name in answer["response"]]
    where, name = parts[number % len(parts)]
    where[name] = value
    return json.dumps(answer)
