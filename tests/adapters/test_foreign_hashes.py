"""Passwords are compared with the hashes that other systems made of them."""

import hashlib
from base64 import b64encode
from typing import Literal

import bcrypt
import pytest
from argon2 import PasswordHasher, extract_parameters
from typing_extensions import override

from app.adapters.keys.passwords import Argon2Hasher, matches_foreign_hash
from app.domain.passwords.imported_hashes import (
    KIBIBYTES,
    LANES,
    ROUNDS,
    HashFormat,
    Pbkdf2Hash,
    classify,
    parse_hash,
)
from tests.fixtures.cases import cases
from tests.fixtures.foreign_hashes import FOREIGN, ForeignHash

CHEAP = PasswordHasher(1, 8, 1)
DEAR = 0.265
"""In seconds; of each format there is a hash that takes less."""

KEY = b64encode(bytes(32)).decode()


@pytest.fixture(scope="module")
def hasher() -> Argon2Hasher:
    return Argon2Hasher(CHEAP)


@cases("foreign", [one for one in FOREIGN if parse_hash(one.hash).seconds < DEAR])
@pytest.mark.first
def test_only_the_correct_password_matches(hasher: Argon2Hasher, foreign: ForeignHash) -> None:
    assert hasher.verify_sign_in(foreign.hash, foreign.password)
    assert not hasher.verify_sign_in(foreign.hash, foreign.password + ".")
    assert hasher.needs_rehash(foreign.hash)


@cases("foreign", [one for one in FOREIGN if parse_hash(one.hash).seconds >= DEAR])
@pytest.mark.thorough
def test_only_the_correct_password_matches_a_dear_hash(
    hasher: Argon2Hasher, foreign: ForeignHash
) -> None:
    """In make test quicker hashes of the same formats show it."""
    assert hasher.verify_sign_in(foreign.hash, foreign.password)
    assert not hasher.verify_sign_in(foreign.hash, foreign.password + ".")
    assert hasher.needs_rehash(foreign.hash)


def test_bcrypt_reads_72_bytes_of_a_password(hasher: Argon2Hasher) -> None:
    """So does what made the hash; refusing longer ones would shut their owners out."""
    long = "a" * 80
    stored = f"bcrypt${bcrypt.hashpw(long[:72].encode(), bcrypt.gensalt(4)).decode()}"
    assert hasher.verify(stored, long)
    assert hasher.verify(stored, long[:72] + "another end")
    assert not hasher.verify(stored, long[:71])


def test_bcrypt_of_the_sha256_reads_the_whole_password(hasher: Argon2Hasher) -> None:
    long = "a" * 80
    digest = hashlib.sha256(long.encode()).hexdigest().encode()
    stored = f"bcrypt_sha256${bcrypt.hashpw(digest, bcrypt.gensalt(4)).decode()}"
    assert hasher.verify(stored, long)
    assert not hasher.verify(stored, long[:79] + "b")


def test_password_with_a_null_byte_is_compared_whole(hasher: Argon2Hasher) -> None:
    stored = bcrypt.hashpw(b"before", bcrypt.gensalt(4)).decode()
    assert not hasher.verify(stored, "before\0after")
    assert not hasher.verify(stored, "before\0")
    assert hasher.verify(stored, "before")


@cases("lone", ["\ud83d", "a\udc00"])
def test_lone_surrogate_is_an_incorrect_password(hasher: Argon2Hasher, lone: str) -> None:
    cheap = [one.hash for one in FOREIGN if parse_hash(one.hash).seconds < 0.05]
    assert cheap
    for stored in cheap:
        assert not hasher.verify(stored, lone)


@cases(
    "stored",
    [
        f"pbkdf2_sha256$999999999$salt${KEY}",
        "bcrypt$$2b$31$eb2MzVWKauGjRS7/rQNTOepdM75UBalZBDh2Gwt9C9xbFI8AVddq6",
        f"scrypt$1073741824$salt$8$1${b64encode(bytes(64)).decode()}",
        "$argon2id$v=19$m=67108864,t=1,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
        "$argon2id$v=19$m=8,t=999999999,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
        f"firebase_scrypt$1073741824$8$c2FsdA==${KEY}",
        "md5$aSalt$5f4dcc3b5aa765d61d8327deb882cf99",
        "!unusable",
        "",
    ],
)
def test_hash_beyond_the_limits_is_not_computed(stored: str) -> None:
    """Someone who can write to the database can't occupy a core by it."""
    computed: list[object] = []

    class CountingHasher(PasswordHasher):
        @override
        def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:
            computed.append(extract_parameters(str(hash)))
            return super().verify(hash, password)

    def counting(found: HashFormat, password: bytes) -> bool:
        computed.append(found)
        return matches_foreign_hash(found, password)

    own = CountingHasher(1, 8, 1)
    hasher = Argon2Hasher(own, matches_foreign=counting)
    assert not hasher.verify_sign_in(stored, "password", 0)
    # The hash of nobody's password, as for an account without one.
    assert computed == [extract_parameters(own.hash(""))]
    assert hasher.needs_rehash(stored)


@cases(
    "stored",
    [
        None,
        "ours",
        f"pbkdf2_sha256$1000$salt${KEY}",
        f"pbkdf2_sha256$20000$salt${KEY}",
        "pbkdf2_sha256$broken",
    ],
)
def test_refusals_cost_the_same_for_every_kind_of_hash(stored: str | None) -> None:
    """An imported hash takes its own time: all others take that much longer to be refused."""
    ours, iterations = [], []

    class CountingHasher(PasswordHasher):
        @override
        def verify(self, hash: str | bytes, password: str | bytes) -> Literal[True]:
            ours.append(extract_parameters(str(hash)))
            return super().verify(hash, password)

    def counting(found: HashFormat, password: bytes) -> bool:
        assert isinstance(found, Pbkdf2Hash)
        iterations.append(found.iterations)
        return matches_foreign_hash(found, password)

    hasher = Argon2Hasher(CountingHasher(1, 8, 1), matches_foreign=counting)
    most = parse_hash(f"pbkdf2_sha256$20000$salt${KEY}").seconds
    if stored == "ours":
        stored = hasher.hash("another password")

    assert not hasher.verify_sign_in(stored, "wrong", most)

    assert len(ours) == 1
    assert sum(iterations) == 20_000


def test_classified_hash_of_our_own_needs_no_rehash() -> None:
    ours = Argon2Hasher(PasswordHasher(ROUNDS, KIBIBYTES, LANES))
    stored = ours.hash("correct horse")
    assert classify(stored).state == "REPLACED"
    assert not ours.needs_rehash(stored)


def test_parts_of_a_hash_do_not_show_its_key() -> None:
    for foreign in FOREIGN:
        assert foreign.hash.split("$")[-1] not in repr(parse_hash(foreign.hash))
