"""Signing keys: RSA keys of the installation, the demo provider's key, and webhook signatures.

PyJWT signs and verifies. Private parts are stored encrypted; the demo provider's key is derived
from the installation's secret. Detached signatures of webhooks are checked as
receivers check them.
"""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

import jwt
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from jwt.algorithms import ECAlgorithm

from app.adapters.keys.encryption import AesEncryption
from app.domain.keys import PublicKey, signing_key_purpose
from app.domain.sign_in.jws import ALGORITHM, decode, read_members, read_token
from app.domain.values.errors import TokenFault, TokenRejected
from app.domain.values.installation import KeyUnreadable
from app.ports.keys import DecryptionError, KeyPair
from app.ports.process_cache import BoundedCache

_BITS = 3072
_MIN_KEY_BITS = 2048
_EXPONENT = 65537

_PASSPHRASE = {
    False: "RSA_PRIVATE_KEY: is encrypted; set RSA_PRIVATE_PASSWORD to its passphrase",
    True: "RSA_PRIVATE_PASSWORD: RSA_PRIVATE_KEY isn't encrypted; remove the passphrase",
}
"""By whether there is a passphrase."""

# The form of a token is read by ``domain.jws``, more strictly than by ``jwt.decode`` and in half
# the time: 44 us against 82, of which the RSA operation takes 36.
_JWS = jwt.PyJWS()
_RS256 = jwt.get_algorithm_by_name(ALGORITHM)


class RsaKeyStore:
    """Signs with key objects, of which it remembers the few in use.

    ``rsa_private_key_pem`` is the setting ``RSA_PRIVATE_KEY``, empty for a ring in the database,
    ``rsa_private_password`` the passphrase that it is encrypted with;
    raises ``ValueError`` naming the setting when it is no RSA key of at least 2048 bits.
    """

    def __init__(
        self,
        secret_key: str,
        rsa_private_key_pem: str = "",
        former_keys: Sequence[str] = (),
        rsa_private_password: str = "",
    ) -> None:
        self._encryption = AesEncryption(secret_key, former_keys)
        self._private: BoundedCache[str, rsa.RSAPrivateKey] = BoundedCache(8)
        self._public: BoundedCache[PublicKey, rsa.RSAPublicKey] = BoundedCache(64)
        self._fixed = None
        if rsa_private_key_pem:
            self._fixed = self._pair(_read_pem(rsa_private_key_pem, rsa_private_password))

    def generate(self) -> KeyPair:
        return self._pair(rsa.generate_private_key(_EXPONENT, _BITS))

    def fixed(self) -> KeyPair | None:
        return self._fixed

    def sign(self, key: KeyPair, claims: Mapping[str, object], typ: str = "JWT") -> str:
        headers = {"kid": key.public.kid, "typ": typ}
        return jwt.encode(dict(claims), self._private_of(key), ALGORITHM, headers=headers)

    def sign_detached(self, key: KeyPair, body: bytes) -> str:
        # Not a JWT: the header must not say that it is one, and names ``b64`` as critical.
        headers = {"kid": key.public.kid, "typ": None}
        return _JWS.encode(
            body, self._private_of(key), ALGORITHM, headers=headers, is_payload_detached=True
        )

    def verify(self, keys: Mapping[str, PublicKey], token: str) -> Mapping[str, object]:
        read = read_token(token)
        key = keys.get(read.kid)
        if key is None:
            raise TokenRejected(TokenFault.SIGNATURE)
        public = self._public.get(key)
        if public is None:
            public = rsa.RSAPublicNumbers(_number(key.e), _number(key.n)).public_key()
            self._public.put(key, public)
        if not _RS256.verify(read.signing_input, public, read.signature):
            raise TokenRejected(TokenFault.SIGNATURE)
        return read_members(read.payload)

    def _private_of(self, key: KeyPair) -> rsa.RSAPrivateKey:
        private = self._private.get(key.public.kid)
        if private is None:
            private = self._open(key)
            self._private.put(key.public.kid, private)
        return private

    def _pair(self, private: rsa.RSAPrivateKey) -> KeyPair:
        public = describe(private.public_key())
        pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        self._private.put(public.kid, private)
        return KeyPair(public, self._encryption.encrypt(signing_key_purpose(public.kid), pem))

    def _open(self, key: KeyPair) -> rsa.RSAPrivateKey:
        kid = key.public.kid
        try:
            pem = self._encryption.decrypt(signing_key_purpose(kid), key.encrypted)
        except DecryptionError:
            raise KeyUnreadable(kid) from None
        # Checking the primes again would take 100 ms, and the seal vouches for them.
        private = load_pem_private_key(pem.encode(), None, unsafe_skip_rsa_key_validation=True)
        return cast("rsa.RSAPrivateKey", private)


def _read_pem(pem: str, password: str) -> rsa.RSAPrivateKey:
    try:
        private = load_pem_private_key(pem.encode(), password.encode() or None)
    except TypeError:
        raise ValueError(_PASSPHRASE[bool(password)]) from None
    except (ValueError, UnsupportedAlgorithm):
        # The reason could repeat parts of the key, so it is left out.
        wrong = "RSA_PRIVATE_KEY: must be an RSA private key as PEM text"
        if password:
            wrong = f"{wrong}, encrypted with RSA_PRIVATE_PASSWORD"
        raise ValueError(wrong) from None
    if not isinstance(private, rsa.RSAPrivateKey):
        raise ValueError("RSA_PRIVATE_KEY: must be an RSA key, not one of another kind")  # noqa: TRY004 - a setting, not an argument
    if private.key_size < _MIN_KEY_BITS:
        raise ValueError(
            f"RSA_PRIVATE_KEY: has {private.key_size} bits, must have at least {_MIN_KEY_BITS}"
        )
    return private


def describe(public: rsa.RSAPublicKey) -> PublicKey:
    """Return the key as it is published, named by its thumbprint."""
    numbers = public.public_numbers()
    e, n = _text(numbers.e), _text(numbers.n)
    # RFC 7638: the required members, sorted, without white space.
    required = json.dumps({"e": e, "kty": "RSA", "n": n}, separators=(",", ":"))
    return PublicKey(_base64url(hashlib.sha256(required.encode()).digest()), n, e)


def _text(number: int) -> str:
    return _base64url(number.to_bytes((number.bit_length() + 7) // 8))


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class DetachedSignatures:
    """Checks by public keys alone; knows no secret."""

    def verify_detached(
        self, keys: Mapping[str, PublicKey], signature: str, body: bytes
    ) -> PublicKey:
        header, encoded = _parts(signature)
        members = read_members(decode(header))
        if members.get("alg") != ALGORITHM:
            raise TokenRejected(TokenFault.ALGORITHM)
        if members.get("b64") is not False or members.get("crit") != ["b64"]:
            raise TokenRejected(TokenFault.INVALID)
        key = keys.get(str(members.get("kid")))
        if key is None or not _is_signed(key, header.encode() + b"." + body, decode(encoded)):
            raise TokenRejected(TokenFault.SIGNATURE)
        return key


def _parts(signature: str) -> tuple[str, str]:
    try:
        header, body, encoded = signature.strip().split(".")
    except ValueError:
        raise TokenRejected(TokenFault.UNDECODABLE) from None
    if body or not signature.isascii():
        raise TokenRejected(TokenFault.UNDECODABLE)
    return header, encoded


def _is_signed(key: PublicKey, signed: bytes, signature: bytes) -> bool:
    try:
        numbers = rsa.RSAPublicNumbers(_number(key.e), _number(key.n))
        return _RS256.verify(signed, numbers.public_key(), signature)
    except ValueError:
        return False  # no such key can be: an even modulus, an exponent of one


def _number(text: str) -> int:
    return int.from_bytes(decode(text))


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
