"""Second factors: passkeys by py_webauthn, one-time codes by pyotp with QR codes by segno."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any, TypeVar

import pyotp
import segno
from webauthn import (
    generate_authentication_options,
    generate_registration_options,
    options_to_json,
    verify_authentication_response,
    verify_registration_response,
)
from webauthn.helpers import (
    base64url_to_bytes,
    bytes_to_base64url,
    decode_credential_public_key,
    decoded_public_key_to_cryptography,
)
from webauthn.helpers.cose import COSEAlgorithmIdentifier
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    AuthenticatorTransport,
    CredentialDeviceType,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from app.domain.second_factors import DIGITS, PERIOD
from app.domain.urls.web_urls import RelyingParty
from app.ports import second_factors

MAX_ANSWER = 16 * 1024
"""Characters of an answer; that of the largest RSA key has a third."""

_MAX_ID = 1023
"""Bytes of a passkey's ID (WebAuthn, section 7.1)."""

_TIMEOUT = 5 * 60 * 1000
_ALGORITHMS = [
    COSEAlgorithmIdentifier.ECDSA_SHA_256,
    COSEAlgorithmIdentifier.EDDSA,
    COSEAlgorithmIdentifier.RSASSA_PKCS1_v1_5_SHA_256,
]
"""One of them is made by every authenticator (WebAuthn, section 5.4)."""

_BASE64URL = re.compile("[A-Za-z0-9_-]*")
_TRANSPORTS = {transport.value: transport for transport in AuthenticatorTransport}
Checked = TypeVar("Checked")


class WebAuthnPasskeys:
    def creation_options(
        self,
        party: RelyingParty,
        party_name: str,
        challenge: str,
        owner: second_factors.PasskeyOwner,
        existing: Sequence[second_factors.KnownPasskey],
    ) -> str:
        options = generate_registration_options(
            rp_id=party.id,
            rp_name=party_name,
            user_id=base64url_to_bytes(owner.handle),
            user_name=owner.name,
            user_display_name=owner.display_name,
            challenge=base64url_to_bytes(challenge),
            timeout=_TIMEOUT,
            authenticator_selection=AuthenticatorSelectionCriteria(
                resident_key=ResidentKeyRequirement.REQUIRED,
                user_verification=UserVerificationRequirement.REQUIRED,
            ),
            exclude_credentials=_descriptors(existing),
            supported_pub_key_algs=_ALGORITHMS,
        )
        return options_to_json(options)

    def verify_creation(
        self, party: RelyingParty, challenge: str, answer: str
    ) -> second_factors.NewPasskey:
        return _checked(lambda: _verify_creation(party, challenge, answer))

    def request_options(
        self, party: RelyingParty, challenge: str, allowed: Sequence[second_factors.KnownPasskey]
    ) -> str:
        options = generate_authentication_options(
            rp_id=party.id,
            challenge=base64url_to_bytes(challenge),
            timeout=_TIMEOUT,
            allow_credentials=_descriptors(allowed),
            user_verification=UserVerificationRequirement.REQUIRED,
        )
        return options_to_json(options)

    def read_claim(self, answer: str) -> second_factors.ClaimedPasskey:
        return _checked(lambda: _read_claim(answer))

    def verify_use(
        self, party: RelyingParty, challenge: str, public_key: str, answer: str
    ) -> second_factors.PasskeyUse:
        return _checked(lambda: _verify_use(party, challenge, public_key, answer))


def _checked(check: Callable[[], Checked]) -> Checked:
    try:
        return check()
    except second_factors.PasskeyRefused:
        raise
    except Exception as trouble:
        # Decoders of JSON, base64, CBOR and keys trip in many ways over what was made to.
        raise second_factors.PasskeyRefused(f"{type(trouble).__name__}: {trouble}") from trouble


def _verify_creation(
    party: RelyingParty, challenge: str, answer: str
) -> second_factors.NewPasskey:
    parsed = _parse(answer)
    made = verify_registration_response(
        credential=parsed,
        expected_challenge=base64url_to_bytes(challenge),
        expected_rp_id=party.id,
        expected_origin=list(party.origins),
        require_user_verification=True,
        supported_pub_key_algs=_ALGORITHMS,
    )
    _require_own_page(parsed)
    # A key that can't be read would be found out at the next sign-in: too late for its owner.
    decoded_public_key_to_cryptography(decode_credential_public_key(made.credential_public_key))
    if len(made.credential_id) > _MAX_ID:
        raise second_factors.PasskeyRefused(f"ID is longer than {_MAX_ID} bytes")
    named = parsed["response"].get("transports")
    transports = named if isinstance(named, list) else []
    return second_factors.NewPasskey(
        credential_id=bytes_to_base64url(made.credential_id),
        public_key=bytes_to_base64url(made.credential_public_key),
        sign_count=made.sign_count,
        is_synced=made.credential_device_type is CredentialDeviceType.MULTI_DEVICE,
        transports=tuple(name for name in _TRANSPORTS if name in transports),
        aaguid=made.aaguid,
    )


def _verify_use(
    party: RelyingParty, challenge: str, public_key: str, answer: str
) -> second_factors.PasskeyUse:
    parsed = _parse(answer)
    used = verify_authentication_response(
        credential=parsed,
        expected_challenge=base64url_to_bytes(challenge),
        expected_rp_id=party.id,
        expected_origin=list(party.origins),
        credential_public_key=base64url_to_bytes(public_key),
        # The library compares counters before it verifies the signature: anyone could pretend
        # that a passkey was cloned. The caller compares them.
        credential_current_sign_count=0,
        require_user_verification=True,
    )
    _require_own_page(parsed)
    return second_factors.PasskeyUse(
        used.new_sign_count, used.credential_device_type is CredentialDeviceType.MULTI_DEVICE
    )


def _read_claim(answer: str) -> second_factors.ClaimedPasskey:
    parsed = _parse(answer)
    credential_id, handle = parsed["id"], parsed["response"].get("userHandle") or ""
    if not _BASE64URL.fullmatch(credential_id) or not _BASE64URL.fullmatch(handle):
        raise second_factors.PasskeyRefused("ID or user handle isn't base64url")
    return second_factors.ClaimedPasskey(credential_id, handle)


def _parse(answer: str) -> dict[str, Any]:
    if len(answer) > MAX_ANSWER:
        raise second_factors.PasskeyRefused(f"longer than {MAX_ANSWER} characters")
    parsed = json.loads(answer)
    if not isinstance(parsed, dict):
        raise second_factors.PasskeyRefused("not an object")
    return parsed


def _require_own_page(parsed: dict[str, Any]) -> None:
    """Refuse an answer given in a frame of another site; the library doesn't look at it."""
    client_data = json.loads(base64url_to_bytes(parsed["response"]["clientDataJSON"]))
    if client_data.get("crossOrigin", False) is not False:
        raise second_factors.PasskeyRefused("answered in a frame of another site")


def _descriptors(
    passkeys: Sequence[second_factors.KnownPasskey],
) -> list[PublicKeyCredentialDescriptor]:
    return [
        PublicKeyCredentialDescriptor(
            id=base64url_to_bytes(passkey.credential_id),
            transports=[_TRANSPORTS[name] for name in passkey.transports if name in _TRANSPORTS],
        )
        for passkey in passkeys
    ]


_MAX_LABEL = 60
"""Characters of the shop's name and of the email in a QR code, which holds 2331 bytes.

Each character can take twelve, and the name is in it twice.
"""

_QUIET_ZONE = 4
"""Modules around a QR code that stay white (ISO/IEC 18004)."""


class PyotpAuthenticatorApps:
    """Codes by pyotp; QR codes at error level M, of which 15% can be unreadable."""

    def code_at(self, secret: str, step: int) -> str:
        return pyotp.HOTP(secret, digits=DIGITS).at(step)

    def setup_uri(self, secret: str, account: str, issuer: str) -> str:
        totp = pyotp.TOTP(secret, digits=DIGITS, interval=PERIOD)
        return totp.provisioning_uri(name=_short(account), issuer_name=_short(issuer))

    def qr_code(self, text: str) -> second_factors.QrCode:
        code = segno.make_qr(text, error="m")
        return second_factors.QrCode(
            len(code.matrix) + 2 * _QUIET_ZONE, "".join(_bars(code.matrix))
        )


def _short(label: str) -> str:
    return label if len(label) <= _MAX_LABEL else f"{label[: _MAX_LABEL - 1]}…"


def _bars(matrix: tuple[bytearray, ...]) -> Iterator[str]:
    """Return each run of black modules in a row as a rectangle."""
    for y, row in enumerate(matrix, _QUIET_ZONE):
        x = _QUIET_ZONE
        for is_black, run in groupby(row):
            width = len(list(run))
            if is_black:
                yield f"M{x} {y}h{width}v1h-{width}z"
            x += width
