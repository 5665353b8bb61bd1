"""An authenticator in software: passkeys as a browser and a security key make and use them."""

import hashlib
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from secrets import token_bytes
from typing import Any

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from sqlalchemy import select

from app import models
from app.ports import Ports

ORIGIN = "http://localhost:8000"
"""The page of ``people.ISSUER``."""

USER_PRESENT, USER_VERIFIED, SYNCABLE, ATTESTED = 1, 4, 8, 64
VERIFIED = USER_PRESENT | USER_VERIFIED

PrivateKey = ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey | rsa.RSAPrivateKey


def encoded(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")


def decoded(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def new_key() -> PrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


@dataclass
class SoftwareAuthenticator:
    """A security key with one passkey; its fields are what an attacker could change."""

    key: PrivateKey = field(default_factory=new_key)
    credential_id: bytes = field(default_factory=lambda: token_bytes(32))
    user_handle: str = ""
    sign_count: int = 1
    step: int = 1
    flags: int = VERIFIED
    origin: str = ORIGIN
    rp_id: str | None = None
    cross_origin: bool | None = False
    client_type: str | None = None

    def create(self, options: str) -> str:
        """Answer the options of `navigator.credentials.create()`."""
        asked = json.loads(options)
        self.user_handle = asked["user"]["id"]
        rp_id = self.rp_id or asked["rp"]["id"]
        made = bytes(16) + len(self.credential_id).to_bytes(2, "big") + self.credential_id
        data = self._data(rp_id, ATTESTED) + made + cbor2.dumps(self.public_key())
        attestation = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})
        client_data = self._client_data("webauthn.create", asked["challenge"])
        return self._answer(
            {
                "clientDataJSON": encoded(client_data),
                "attestationObject": encoded(attestation),
                "transports": ["usb", "something-new"],
            }
        )

    def get(self, options: str) -> str:
        """Answer the options of `navigator.credentials.get()`."""
        asked = json.loads(options)
        self.sign_count += self.step
        data = self._data(self.rp_id or asked["rpId"])
        client_data = self._client_data("webauthn.get", asked["challenge"])
        signature = self._sign(data + hashlib.sha256(client_data).digest())
        response = {
            "clientDataJSON": encoded(client_data),
            "authenticatorData": encoded(data),
            "signature": encoded(signature),
        }
        if self.user_handle:
            response["userHandle"] = self.user_handle
        return self._answer(response)

    def public_key(self) -> dict[int, Any]:
        """The public key in COSE (RFC 9053)."""
        public = self.key.public_key()
        if isinstance(public, ec.EllipticCurvePublicKey):
            point = public.public_numbers()
            x, y = (number.to_bytes(32, "big") for number in (point.x, point.y))
            return {1: 2, 3: -7, -1: 1, -2: x, -3: y}
        if isinstance(public, ed25519.Ed25519PublicKey):
            return {1: 1, 3: -8, -1: 6, -2: public.public_bytes_raw()}
        numbers = public.public_numbers()
        n, e = numbers.n.to_bytes(public.key_size // 8, "big"), numbers.e.to_bytes(3, "big")
        return {1: 3, 3: -257, -1: n, -2: e}

    def _data(self, rp_id: str, more: int = 0) -> bytes:
        counter = self.sign_count.to_bytes(4, "big")
        return hashlib.sha256(rp_id.encode()).digest() + bytes([self.flags | more]) + counter

    def _client_data(self, kind: str, challenge: str) -> bytes:
        data: dict[str, Any] = {
            "type": self.client_type or kind,
            "challenge": challenge,
            "origin": self.origin,
        }
        if self.cross_origin is not None:
            data["crossOrigin"] = self.cross_origin
        return json.dumps(data).encode()

    def _sign(self, data: bytes) -> bytes:
        if isinstance(self.key, ec.EllipticCurvePrivateKey):
            return self.key.sign(data, ec.ECDSA(SHA256()))
        if isinstance(self.key, ed25519.Ed25519PrivateKey):
            return self.key.sign(data)
        return self.key.sign(data, PKCS1v15(), SHA256())

    def _answer(self, response: dict[str, Any]) -> str:
        return json.dumps(
            {
                "id": encoded(self.credential_id),
                "rawId": encoded(self.credential_id),
                "type": "public-key",
                "clientExtensionResults": {},
                "response": response,
            }
        )


def make_passkey(
    ports: Ports, user_id: int, authenticator: SoftwareAuthenticator, name: str = "Key"
) -> int:
    """Store the passkey of ``authenticator`` as one of the user's; return the key."""
    now = ports.clock.now()
    with ports.database.transaction() as session:
        handle = session.scalar(
            select(models.Passkey.user_handle).where(models.Passkey.user_id == user_id)
        )
        authenticator.user_handle = handle or ports.randomness.token(64)
        passkey = models.Passkey(
            user_id=user_id,
            user_handle=authenticator.user_handle,
            credential_id=encoded(authenticator.credential_id),
            public_key=encoded(cbor2.dumps(authenticator.public_key())),
            sign_count=authenticator.sign_count,
            is_synced=bool(authenticator.flags & SYNCABLE),
            name=name,
            created_at=now,
        )
        session.add(passkey)
        session.flush()
        return passkey.id
