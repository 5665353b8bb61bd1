"""Passwords compared with hashes that other systems made."""

import hashlib
import hmac
from functools import singledispatch

import bcrypt
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from app.domain.passwords.imported_hashes import (
    BcryptHash,
    HashFormat,
    Pbkdf2Hash,
    ScryptHash,
)

_BCRYPT_BYTES = 72
"""bcrypt reads no more of a password; what made the hash ignored the rest, as others do."""


@singledispatch
def matches(stored: HashFormat, password: bytes) -> bool:
    """Whether the hash is of that password; the time doesn't depend on how much of it is right."""
    raise TypeError(type(stored))


@matches.register
def _matches_pbkdf2(stored: Pbkdf2Hash, password: bytes) -> bool:
    key = hashlib.pbkdf2_hmac(stored.digest, password, stored.salt, stored.iterations)
    return hmac.compare_digest(key, stored.key)


@matches.register
def _matches_bcrypt(stored: BcryptHash, password: bytes) -> bool:
    if stored.hashed_first:
        password = hashlib.sha256(password).hexdigest().encode()
    return bcrypt.checkpw(password[:_BCRYPT_BYTES], stored.modular.encode())


@matches.register
def _matches_scrypt(stored: ScryptHash, password: bytes) -> bool:
    key = hashlib.scrypt(
        password,
        salt=stored.salt,
        n=stored.cost,
        r=stored.block_size,
        p=stored.lanes,
        maxmem=_memory(stored),
        dklen=64,
    )
    if stored.is_firebase:
        key = _stream(key[:32], len(stored.key))
    return hmac.compare_digest(key, stored.key)


def _memory(stored: ScryptHash) -> int:
    """Return what OpenSSL takes for scrypt, in bytes: the blocks, and two for each lane."""
    return 128 * stored.block_size * (stored.cost + stored.lanes + 2)


def _stream(key: bytes, length: int) -> bytes:
    """Return the first bytes that AES-256 in counter mode adds to a text, counting from 0."""
    return Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor().update(bytes(length))
