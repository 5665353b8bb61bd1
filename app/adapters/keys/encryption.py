"""AES-GCM and HMAC under keys that HKDF derives from ``SECRET_KEY`` and its former values."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence
from contextlib import suppress

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from app.ports.keys import DecryptionError

_NONCE = 12
_VERSION = "v1."
_INFO = b"latchkey sealed values v1"
_FINGERPRINTS = b"latchkey fingerprints v1"


class AesEncryption:
    """Encrypts texts; the purpose is authenticated, so that values can't be exchanged.

    ``former_keys`` decrypt what ``secret_key`` doesn't. ``removable`` are those of them that were
    set and can be removed again: without it, all.
    """

    def __init__(
        self,
        secret_key: str,
        former_keys: Sequence[str] = (),
        *,
        removable: Sequence[str] | None = None,
    ) -> None:
        keys = [secret_key, *(key for key in former_keys if key != secret_key)]
        self._cipher, *self._former_ciphers = [AESGCM(_derive(key, _INFO)) for key in keys]
        former = former_keys if removable is None else removable
        self._has_former_keys = any(key != secret_key for key in former)
        self._fingerprint_keys = [_derive(key, _FINGERPRINTS) for key in keys]

    def encrypt(self, purpose: str, text: str) -> str:
        nonce = secrets.token_bytes(_NONCE)
        box = nonce + self._cipher.encrypt(nonce, text.encode(), purpose.encode())
        return _VERSION + base64.b64encode(box).decode()

    def decrypt(self, purpose: str, encrypted: str) -> str:
        text = _open([self._cipher, *self._former_ciphers], purpose, encrypted)
        if text is None:
            raise DecryptionError(purpose)
        return text

    def reseal(self, purpose: str, encrypted: str) -> str | None:
        if _open([self._cipher], purpose, encrypted) is not None:
            return None
        return self.encrypt(purpose, self.decrypt(purpose, encrypted))

    def has_former_keys(self) -> bool:
        return self._has_former_keys

    def fingerprint(self, purpose: str, text: str) -> str:
        return self.known_fingerprints(purpose, text)[0]

    def known_fingerprints(self, purpose: str, text: str) -> tuple[str, ...]:
        message = f"{purpose}\0{text}".encode("utf-8", "surrogatepass")
        return tuple(
            hmac.new(key, message, hashlib.sha256).hexdigest() for key in self._fingerprint_keys
        )


def _open(ciphers: Sequence[AESGCM], purpose: str, encrypted: str) -> str | None:
    try:
        box = base64.b64decode(encrypted.removeprefix(_VERSION), validate=True)
    except ValueError:
        return None
    for cipher in ciphers:
        with suppress(InvalidTag, ValueError):
            return cipher.decrypt(box[:_NONCE], box[_NONCE:], purpose.encode()).decode()
    return None


def _derive(secret_key: str, info: bytes) -> bytes:
    kdf = HKDF(algorithm=hashes.SHA256(), length=32, salt=None, info=info)
    # An environment may hold bytes that are no UTF-8; they are taken as they are.
    return kdf.derive(secret_key.encode("utf-8", "surrogateescape"))
