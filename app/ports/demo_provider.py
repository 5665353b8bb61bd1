"""The signatures of the demo shop's identity provider."""

from collections.abc import Mapping
from typing import Protocol


class DemoProviderKey(Protocol):
    """A signing key of the demo provider alone, the same in every process of an installation."""

    def public_key(self) -> Mapping[str, str]:
        """Return the public part as an entry of a key set (RFC 7517)."""

    def sign(self, kind: str, claims: Mapping[str, object]) -> str:
        """Return a token of that ``typ`` with exactly these claims."""

    def read(self, kind: str, token: str) -> Mapping[str, object] | None:
        """Return the claims of a token that ``sign`` made for ``kind``; ``None`` for any other."""
