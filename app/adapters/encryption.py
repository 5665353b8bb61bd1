"""AES-GCM and HMAC under keys that HKDF derives from ``SECRET_KEY``."""

import base64
import hashlib
import hmac
import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from app.ports.encryption import DecryptionError

_NONCE = 12
_VERSION = "v1."
_INFO = b"latchkey sealed values v1"
_FINGERPRINTS = b"latchkey fingerprints v1"


class AesEncryption:
    """Encrypts texts; the purpose is authenticated, so that values can't be exchanged."""

    def __init__(self, secret_key: str) -> None:
        self._cipher = AESGCM(_derive(secret_key, _INFO))
        self._fingerprint_key = _derive(secret_key, _FINGERPRINTS)

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

    def fingerprint(self, purpose: str, text: str) -> str:
        message = f"{purpose}\0{text}".encode("utf-8", "surrogatepass")
        return hmac.new(self._fingerprint_key, message, hashlib.sha256).hexdigest()


def _derive(secret_key: str, info: bytes) -> bytes:
    kdf = HKDF(algorithm=hashes.SHA256(), length=32, salt=None, info=info)
    # An environment may hold bytes that are no UTF-8; they are taken as they are.
    return kdf.derive(secret_key.encode("utf-8", "surrogateescape"))
