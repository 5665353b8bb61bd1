"""AES-GCM under a key that HKDF derives from ``SECRET_KEY``."""

import base64
import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from app.ports.encryption import DecryptionError

_NONCE = 12
_VERSION = "v1."
_INFO = b"latchkey sealed values v1"


class AesEncryption:
    """Encrypts texts; the purpose is authenticated, so that values can't be exchanged."""

    def __init__(self, secret_key: str) -> None:
        kdf = HKDF(algorithm=hashes.SHA256(), length=32, salt=None, info=_INFO)
        # An environment may hold bytes that are no UTF-8; they are taken as they are.
        self._cipher = AESGCM(kdf.derive(secret_key.encode("utf-8", "surrogateescape")))

    def encrypt(self, purpose: str, text: str) -> str:
        nonce = secrets.token_bytes(_NONCE)
        box = nonce + self._cipher.encrypt(nonce, text.encode(), purpose.encode())
        return _VERSION + base64.b64encode(box).decode()

    def decrypt(self, purpose: str, encrypted: str) -> str:
        try:
            box = base64.b64decode(encrypted.removeprefix(_VERSION), validate=True)
            return self._cipher.decrypt(box[:_NONCE], box[_NONCE:], purpose.encode()).decode()
        except (InvalidTag, ValueError):
            raise DecryptionError(purpose) from None
