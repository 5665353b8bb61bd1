"""Encryption that fails, to interrupt a change at its last step."""

from app.ports.keys import Encryption


class FailingEncryption:
    """Fails on every encryption."""

    def encrypt(self, purpose: str, text: str) -> str:
        raise ArithmeticError

    def decrypt(self, purpose: str, encrypted: str) -> str:
        raise ArithmeticError

    def reseal(self, purpose: str, encrypted: str) -> str | None:
        raise ArithmeticError

    def has_former_keys(self) -> bool:
        return False

    def fingerprint(self, purpose: str, text: str) -> str:
        raise ArithmeticError

    def known_fingerprints(self, purpose: str, text: str) -> tuple[str, ...]:
        raise ArithmeticError


class BrokenAtFirst:
    """Fails once, then encrypts with ``encryption``."""

    def __init__(self, encryption: Encryption) -> None:
        self._encryption = encryption
        self._is_broken = True

    def encrypt(self, purpose: str, text: str) -> str:
        if self._is_broken:
            self._is_broken = False
            raise ArithmeticError
        return self._encryption.encrypt(purpose, text)

    def decrypt(self, purpose: str, encrypted: str) -> str:
        return self._encryption.decrypt(purpose, encrypted)

    def reseal(self, purpose: str, encrypted: str) -> str | None:
        return self._encryption.reseal(purpose, encrypted)

    def has_former_keys(self) -> bool:
        return self._encryption.has_former_keys()

    def fingerprint(self, purpose: str, text: str) -> str:
        return self._encryption.fingerprint(purpose, text)

    def known_fingerprints(self, purpose: str, text: str) -> tuple[str, ...]:
        return self._encryption.known_fingerprints(purpose, text)
