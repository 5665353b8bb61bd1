"""Keys with known private parts, to search for them where they must not be."""

from functools import cache
from itertools import count

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from typing_extensions import override

from app.adapters.keys.signing_keys import RsaKeyStore
from app.ports.keys import KeyPair
from tests.fakes.keys import SECRET


class KnownKeyStore(RsaKeyStore):
    """Works like the real store; ``generate`` returns known 2048-bit keys in turn."""

    def __init__(self, first: int = 0, secret: str = SECRET) -> None:
        super().__init__(secret)
        self._secret = secret
        self._places = count(first)
        self.made = 0

    @override
    def generate(self) -> KeyPair:
        self.made += 1
        return _pair(next(self._places), self._secret)


@cache
def private_key(_place: int) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


def pem(key: rsa.RSAPrivateKey) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


@cache
def _pair(place: int, secret: str) -> KeyPair:
    pair = RsaKeyStore(secret, pem(private_key(place))).fixed()
    assert pair is not None
    return pair
