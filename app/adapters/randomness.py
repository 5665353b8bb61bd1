"""The system's source of randomness."""

import secrets
import string

_ALPHABET = string.ascii_letters + string.digits


class SystemRandomness:
    """Randomness from the operating system."""

    def token(self, length: int) -> str:
        return "".join(secrets.choice(_ALPHABET) for _ in range(length))

    def secret(self, size: int) -> bytes:
        return secrets.token_bytes(size)
