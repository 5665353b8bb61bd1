"""Keys with known private parts, to search for them where they must not be."""

from typing_extensions import override

from app.ports.keys import KeyPair
from tests.fakes.keys import SECRET, ReadyKeyStore


class KnownKeyStore(ReadyKeyStore):
    """Counts the keys that it makes; ``private_key`` has their private parts."""

    def __init__(self, first: int = 0, secret: str = SECRET, configured: str = "") -> None:
        super().__init__(first, secret, configured)
        self.made = 0

    @override
    def generate(self) -> KeyPair:
        self.made += 1
        return super().generate()
