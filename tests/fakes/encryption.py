"""Sealing that fails, as the last step of a change may."""

from app.ports.encryption import Sealing


class BrokenSealing:
    """Seals nothing."""

    def seal(self, purpose: str, text: str) -> str:
        raise ArithmeticError

    def unseal(self, purpose: str, sealed: str) -> str:
        raise ArithmeticError


class BrokenAtFirst:
    """Fails once, then seals as ``sealing`` does."""

    def __init__(self, sealing: Sealing) -> None:
        self._sealing = sealing
        self._is_broken = True

    def seal(self, purpose: str, text: str) -> str:
        if self._is_broken:
            self._is_broken = False
            raise ArithmeticError
        return self._sealing.seal(purpose, text)

    def unseal(self, purpose: str, sealed: str) -> str:
        return self._sealing.unseal(purpose, sealed)
