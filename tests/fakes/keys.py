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

    def __init__(self, first: int = 0, secret: str = SECRET, configured: str = "") -> None:
        super().__init__(secret, configured)
        self._secret = secret
        self._places = count(first)

    @override
    def generate(self) -> KeyPair:
        return _pair(next(self._places), self._secret)

    def pair_of(self, private: rsa.RSAPrivateKey) -> KeyPair:
        return self._pair(private)


@cache
def private_key(_place: int) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


def pem(key: rsa.RSAPrivateKey) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


@cache
def _pair(place: int, secret: str) -> KeyPair:
    return ReadyKeyStore(secret=secret).pair_of(private_key(place))
