"""Sealing that fails, as the last step of a change may."""


class BrokenSealing:
    """Seals nothing."""

    def seal(self, purpose: str, text: str) -> str:
        raise ArithmeticError

    def unseal(self, purpose: str, sealed: str) -> str:
        raise ArithmeticError
