"""The demo identity provider's signing key, derived from the installation's secret."""

from collections.abc import Mapping
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from jwt.algorithms import ECAlgorithm

_ALGORITHM = "ES256"
_KEY_ID = "demo"
_PURPOSE = b"demo identity provider's signing key"
_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""Of the curve P-256 (FIPS 186-5)."""

_UNCHECKED = {"verify_exp": False, "verify_aud": False, "verify_iat": False, "verify_nbf": False}
"""The caller compares times with its own clock."""


class DerivedProviderKey:
    """A key on P-256: nothing is stored, and all processes with the secret have the same."""

    def __init__(self, secret_key: str) -> None:
        # Sixteen bytes more than the order has, so that the remainder shows no bias.
        derived = HKDF(SHA256(), 48, None, _PURPOSE).derive(secret_key.encode())
        number = int.from_bytes(derived) % (_ORDER - 1) + 1
        self._key = ec.derive_private_key(number, ec.SECP256R1())

    def public_key(self) -> Mapping[str, str]:
        members = ECAlgorithm.to_jwk(self._key.public_key(), as_dict=True)
        return {**members, "kid": _KEY_ID, "alg": _ALGORITHM, "use": "sig"}

    def sign(self, kind: str, claims: Mapping[str, object]) -> str:
        headers = {"kid": _KEY_ID, "typ": kind}
        return jwt.encode(dict(claims), self._key, _ALGORITHM, headers)

    def read(self, kind: str, token: str) -> Mapping[str, object] | None:
        options: Any = _UNCHECKED
        try:
            found = jwt.decode_complete(
                token, self._key.public_key(), [_ALGORITHM], options=options
            )
        except jwt.InvalidTokenError:
            return None
        claims: Mapping[str, object] = found["payload"]
        return claims if found["header"].get("typ") == kind else None
