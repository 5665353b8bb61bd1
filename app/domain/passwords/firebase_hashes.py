"""Password hashes of Firebase, as ``firebase auth:export`` writes them, in a format of ours.

Firebase derives a key from password and salt with scrypt, and encrypts the project's signer key
with it (AES-256 in counter mode): the result is the hash. Counter mode adds a stream to the signer
key that depends on the derived key only. Subtracting the signer key leaves the stream, which is
what we store. So the signer key isn't needed after the import and isn't stored.
"""

import binascii
from base64 import b64decode, b64encode
from dataclasses import dataclass, field

from app.domain.passwords.hash_formats import FIREBASE_BYTES, UnusableHash

_MAX_EXPONENT = 30


@dataclass(frozen=True, slots=True)
class FirebaseParameters:
    """The project's "Password hash parameters", as Firebase's console shows them."""

    signer_key: str = field(repr=False)
    salt_separator: str
    rounds: int
    mem_cost: int


def firebase_hash(password_hash: str, salt: str, parameters: FirebaseParameters) -> str:
    """Return a user's hash as it is stored, for ``classify``; raise ``UnusableHash``."""
    hashed, key = _decoded(password_hash), _decoded(parameters.signer_key)
    if len(hashed) != len(key) or len(key) < FIREBASE_BYTES:
        raise UnusableHash(
            "PASSWORD_MALFORMED", "The password hash doesn't fit the signer key of the project."
        )
    if not 0 < parameters.mem_cost <= _MAX_EXPONENT:
        raise UnusableHash("PASSWORD_MALFORMED", "The memory cost of the project is out of range.")
    stream = bytes(one ^ other for one, other in zip(hashed, key, strict=True))[:FIREBASE_BYTES]
    whole_salt = _decoded(salt) + _decoded(parameters.salt_separator)
    return "$".join(
        (
            "firebase_scrypt",
            str(2**parameters.mem_cost),
            str(parameters.rounds),
            b64encode(whole_salt).decode(),
            b64encode(stream).decode(),
        )
    )


def _decoded(text: str) -> bytes:
    """Decode base64, in the alphabet for URLs too, which some of Firebase's exports use."""
    try:
        standard = text.translate(str.maketrans("-_", "+/")).rstrip("=")
        return b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise UnusableHash(
            "PASSWORD_MALFORMED", "The password hash or its salt isn't valid base64."
        ) from None
