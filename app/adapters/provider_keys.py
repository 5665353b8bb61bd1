"""Key sets of providers, and the signatures that their keys verify (PyJWT's algorithms)."""

from collections.abc import Mapping, Sequence
from typing import Any

import jwt
from cryptography.exceptions import UnsupportedAlgorithm
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from app.domain.sign_in.jws import read_members
from app.domain.single_sign_on.provider_jws import ForeignToken, read_foreign_token
from app.domain.single_sign_on.provider_tokens import ALGORITHMS, SignedToken
from app.domain.values.errors import TokenFault, TokenRejected
from app.ports.identity_provider import ProviderKey

_MAX_KEYS = 100
_RSA_BITS = range(2048, 8193)
"""Shorter ones can be broken, and longer ones are there to keep us busy."""

_CURVES = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}
_READERS: Mapping[str, Any] = {"RSA": RSAAlgorithm, "EC": ECAlgorithm, "OKP": OKPAlgorithm}
_ALGORITHMS = {name: jwt.get_algorithm_by_name(name) for name in ALGORITHMS}


def read_keys(key_set: Mapping[str, object]) -> tuple[ProviderKey, ...]:
    """The keys of a JSON Web Key Set that verify signatures; what is none of them is left out."""
    entries = key_set.get("keys")
    if not isinstance(entries, list):
        return ()
    keys = (_read_key(entry) for entry in entries[:_MAX_KEYS] if isinstance(entry, dict))
    return tuple(key for key in keys if key is not None)


def verify_signature(keys: Sequence[ProviderKey], token: str) -> SignedToken:
    """``token`` after its signature; raises ``TokenRejected`` (``ports.identity_provider``)."""
    read = read_foreign_token(token, ALGORITHMS)
    algorithm: Any = _ALGORITHMS[read.algorithm]
    for key in keys:
        if _fits(key, read) and algorithm.verify(read.signing_input, key.key, read.signature):
            return SignedToken(read.header, read_members(read.payload))
    raise TokenRejected(TokenFault.SIGNATURE)


def _fits(key: ProviderKey, token: ForeignToken) -> bool:
    """A key is for one kind of algorithm, and for the name that the token gives, if it has one."""
    if key.algorithm not in ("", token.algorithm):
        return False
    if token.algorithm == "EdDSA":
        fitting = key.kind in ("Ed25519", "Ed448")
    else:
        fitting = key.kind == _CURVES.get(token.algorithm, "RSA")
    return fitting and (token.kid is None or key.kid in (None, token.kid))


def _read_key(entry: dict[str, Any]) -> ProviderKey | None:
    kind = str(entry.get("kty"))
    operations = entry.get("key_ops")
    # A private key that somebody published is a key that everybody can sign with.
    if kind not in _READERS or "d" in entry or entry.get("use", "sig") != "sig":
        return None
    if isinstance(operations, list) and "verify" not in operations:
        return None
    try:
        key = _READERS[kind].from_jwk(entry)
    except (jwt.PyJWTError, UnsupportedAlgorithm, ValueError, TypeError, AttributeError):
        return None
    if kind == "RSA" and key.key_size not in _RSA_BITS:
        return None
    kid, algorithm = entry.get("kid"), entry.get("alg", "")
    return ProviderKey(
        kid=kid if isinstance(kid, str) else None,
        kind="RSA" if kind == "RSA" else str(entry.get("crv")),
        algorithm=algorithm if isinstance(algorithm, str) else "none",
        key=key,
    )
