"""Real keys that are made once per process, and shorter than an installation's.

Generating 3072 bits takes half a second, and their signatures five times as long as with 2048.
"""

from functools import cache
from itertools import count

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from typing_extensions import override

from app.adapters.keys.signing_keys import RsaKeyStore
from app.ports.keys import KeyPair

SECRET = "a secret that only the tests have, long enough"


class ReadyKeyStore(RsaKeyStore):
    """Signs and verifies like the real store; ``generate`` returns the same few keys in turn.

    Every database of a test gets them in the same order, each key once per store.
    """

    def __init__(self, first: int = 0) -> None:
        super().__init__(SECRET, "")
        self._places = count(first)

    @override
    def generate(self) -> KeyPair:
        return _pair(next(self._places))


@cache
def _pair(_place: int) -> KeyPair:
    private = rsa.generate_private_key(65537, 2048)
    pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    pair = RsaKeyStore(SECRET, pem).fixed()
    assert pair is not None
    return pair
