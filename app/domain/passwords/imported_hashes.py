"""Password hashes that other systems made: formats, what checking costs, which are accepted.

Django's are ``algorithm$…`` (``django.contrib.auth.hashers``). Bare argon2 (PHC strings) and
bcrypt hashes are in their libraries' format.

Firebase derives a key from password and salt with scrypt, and encrypts the project's signer key
with it (AES-256 in counter mode): the result is the hash that ``firebase auth:export`` writes.
Counter mode adds a stream to the signer key that depends on the derived key only. Subtracting the
signer key leaves the stream, which is stored, in a format of Latchkey's. So the signer key isn't
needed after the import and isn't stored.
"""

import binascii
import re
from abc import abstractmethod
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import Literal, Protocol

MAX_SECONDS = 1.0
"""A hash that takes longer to check isn't accepted."""

MAX_MEBIBYTES = 128
"""Enough for Django's argon2 (100 MiB) and for scrypt as OWASP recommends it (128 MiB)."""

MAX_HASH_LENGTH = 255
"""Characters that are stored."""

_PBKDF2_SECONDS = 0.3e-6
"""Of one iteration. A core of 2026 takes two thirds of these four figures: slower ones exist."""
_BCRYPT_SECONDS = 80e-6
"""Of one of the 2**cost rounds."""
_SCRYPT_SECONDS = 0.4e-6
"""Of one block of one lane."""
_SCRYPT_ENDS = 4
"""Blocks of a lane that take as long as its PBKDF2."""
_ARGON2_SECONDS = 1.35e-3
"""Of one MiB in one round."""

_MIN_ITERATIONS = 1000
"""NIST SP 800-132, section 5.2."""

_WEAK = frozenset({"md5", "sha1", "unsalted_md5", "unsalted_sha1", "crypt"})
_DIGEST_BYTES: Mapping[str, int] = {"sha256": 32, "sha1": 20}
_SCRYPT_BYTES = 64
FIREBASE_BYTES = 32
_MAX_LANES = 16
_MEBIBYTE = 1024 * 1024

_ARGON2 = re.compile(
    r"\$argon2(?:id|i|d)(?:\$v=(?:16|19))?\$m=([1-9]\d{0,8}),t=([1-9]\d{0,8}),p=([1-9]\d{0,8})"
    r"\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{16,128}",
    re.ASCII,
)
_BCRYPT = re.compile(
    r"\$2[aby]\$(0[4-9]|[12]\d|3[01])\$[./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{31}", re.ASCII
)
"""The last character of the salt holds two bits."""
_NUMBER = re.compile(r"[1-9]\d{0,8}", re.ASCII)


class UnusableHash(ValueError):
    """A hash that no password can be checked against here; ``template`` says why, to people.

    ``code`` is stable, for programs. ``values`` are those that the template names.
    """

    def __init__(self, code: str, template: str, **values: object) -> None:
        super().__init__(code)
        self.code = code
        self.template = template
        self.values = values


class HashFormat(Protocol):
    """The parts of a hash."""

    @property
    @abstractmethod
    def seconds(self) -> float:
        """How long a check takes, at most, on a core of 2026."""

    @property
    @abstractmethod
    def mebibytes(self) -> float:
        """How much memory a check takes."""


@dataclass(frozen=True, slots=True)
class Pbkdf2Hash:
    """``pbkdf2_sha256`` and ``pbkdf2_sha1``."""

    digest: Literal["sha256", "sha1"]
    iterations: int
    salt: bytes
    key: bytes = field(repr=False)

    @property
    def seconds(self) -> float:
        return self.iterations * _PBKDF2_SECONDS

    @property
    def mebibytes(self) -> float:
        return 0


@dataclass(frozen=True, slots=True)
class Argon2Hash:
    """argon2id, argon2i and argon2d as PHC strings (RFC 9106)."""

    phc: str = field(repr=False)
    kibibytes: int
    rounds: int
    lanes: int

    @property
    def seconds(self) -> float:
        return self.mebibytes * self.rounds * _ARGON2_SECONDS

    @property
    def mebibytes(self) -> float:
        return self.kibibytes / 1024


@dataclass(frozen=True, slots=True)
class BcryptHash:
    """bcrypt; ``hashed_first`` is of the password's SHA-256 in hex, as Django's bcrypt_sha256."""

    modular: str = field(repr=False)
    cost: int
    hashed_first: bool

    @property
    def seconds(self) -> float:
        return (1 << self.cost) * _BCRYPT_SECONDS

    @property
    def mebibytes(self) -> float:
        return 0


@dataclass(frozen=True, slots=True)
class ScryptHash:
    """scrypt (RFC 7914), Firebase's too, whose ``key`` encrypts zeros with what scrypt returns."""

    cost: int
    block_size: int
    lanes: int
    salt: bytes
    key: bytes = field(repr=False)
    is_firebase: bool = False

    @property
    def seconds(self) -> float:
        # Before and after the work of a lane, PBKDF2 makes and reads its block.
        blocks = (self.cost + _SCRYPT_ENDS) * self.block_size * self.lanes
        return blocks * _SCRYPT_SECONDS

    @property
    def mebibytes(self) -> float:
        return 128 * self.block_size * (self.cost + self.lanes - 1) / _MEBIBYTE


def parse_hash(stored: str) -> HashFormat:
    """Return the parts of a hash; raise ``UnusableHash`` unless a check is affordable here."""
    if len(stored) > MAX_HASH_LENGTH:
        raise UnusableHash(
            "PASSWORD_TOO_LONG",
            "The password hash has {length} characters, more than {limit}.",
            length=len(stored),
            limit=MAX_HASH_LENGTH,
        )
    found = _read(stored)
    _require_affordable(found)
    return found


def require_strong(found: HashFormat) -> None:
    """Raise ``UnusableHash`` if the password is easily guessed from the hash."""
    if isinstance(found, Pbkdf2Hash) and found.iterations < _MIN_ITERATIONS:
        raise UnusableHash(
            "PASSWORD_WEAK",
            "The password hash has {count} iterations, fewer than {limit}.",
            count=found.iterations,
            limit=_MIN_ITERATIONS,
        )


def iterations_of(seconds: float) -> int:
    """Return how many iterations of PBKDF2 by SHA-256 take that long."""
    return round(seconds / _PBKDF2_SECONDS)


def _read(stored: str) -> HashFormat:
    if stored.startswith("$argon2"):
        return _argon2(stored)
    if stored.startswith(("$2a$", "$2b$", "$2y$")):
        return _bcrypt(stored)
    name, _, rest = stored.partition("$")
    if name in _READERS:
        return _READERS[name](rest)
    if name in _WEAK:
        raise UnusableHash(
            "PASSWORD_WEAK", "The password hash is in the weak format {format}.", format=name
        )
    raise UnusableHash("PASSWORD_UNKNOWN_FORMAT", "The format of the password hash is unknown.")


def _require_affordable(found: HashFormat) -> None:
    if found.mebibytes > MAX_MEBIBYTES:
        raise UnusableHash(
            "PASSWORD_TOO_COSTLY",
            "Checking the password would need more than {limit} MiB of memory.",
            limit=MAX_MEBIBYTES,
        )
    if found.seconds > MAX_SECONDS:
        raise UnusableHash(
            "PASSWORD_TOO_COSTLY",
            "Checking the password would take longer than {limit} s.",
            limit=f"{MAX_SECONDS:g}",
        )


def _pbkdf2(digest: Literal["sha256", "sha1"], rest: str) -> HashFormat:
    iterations, salt, key = _parts(rest, 3)
    return Pbkdf2Hash(
        digest, _number(iterations), _salt(salt), _decoded(key, _DIGEST_BYTES[digest])
    )


def _argon2(phc: str) -> HashFormat:
    found = _ARGON2.fullmatch(phc)
    if not found:
        raise _malformed()
    kibibytes, rounds, lanes = map(int, found.groups())
    if lanes > _MAX_LANES or kibibytes < 8 * lanes:
        raise _malformed()
    return Argon2Hash(phc, kibibytes, rounds, lanes)


def _bcrypt(modular: str, *, hashed_first: bool = False) -> HashFormat:
    found = _BCRYPT.fullmatch(modular)
    if not found:
        raise _malformed()
    return BcryptHash(modular, int(found[1]), hashed_first)


def _scrypt(rest: str) -> HashFormat:
    cost, salt, block_size, lanes, key = _parts(rest, 5)
    return ScryptHash(
        _scrypt_cost(cost, block_size),
        _number(block_size),
        _number(lanes),
        _salt(salt),
        _decoded(key, _SCRYPT_BYTES),
    )


def _firebase(rest: str) -> HashFormat:
    cost, block_size, salt, key = _parts(rest, 4)
    return ScryptHash(
        _scrypt_cost(cost, block_size),
        _number(block_size),
        1,
        _decoded(salt),
        _decoded(key, FIREBASE_BYTES),
        is_firebase=True,
    )


_READERS: Mapping[str, Callable[[str], HashFormat]] = {
    "pbkdf2_sha256": partial(_pbkdf2, "sha256"),
    "pbkdf2_sha1": partial(_pbkdf2, "sha1"),
    "argon2": lambda rest: _argon2(f"${rest}"),
    "bcrypt": _bcrypt,
    "bcrypt_sha256": partial(_bcrypt, hashed_first=True),
    "scrypt": _scrypt,
    "firebase_scrypt": _firebase,
}


def _parts(rest: str, count: int) -> list[str]:
    parts = rest.split("$")
    if len(parts) != count:
        raise _malformed()
    return parts


def _number(digits: str) -> int:
    if not _NUMBER.fullmatch(digits):
        raise _malformed()
    return int(digits)


def _scrypt_cost(digits: str, block_size: str) -> int:
    """Read N, a power of 2, greater than 1 and less than 2**(16 r) (RFC 7914, section 2)."""
    cost = _number(digits)
    exponent = cost.bit_length() - 1
    if cost != 1 << exponent or not 0 < exponent < 16 * _number(block_size):
        raise _malformed()
    return cost


def _salt(text: str) -> bytes:
    try:
        salt = text.encode()
    except UnicodeEncodeError:
        raise _malformed() from None
    if not salt or b"\0" in salt:
        raise _malformed()
    return salt


def _decoded(text: str, length: int | None = None) -> bytes:
    try:
        decoded = b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise _malformed() from None
    if not decoded or (length is not None and len(decoded) != length):
        raise _malformed()
    return decoded


def _malformed() -> UnusableHash:
    return UnusableHash("PASSWORD_MALFORMED", "The password hash is incomplete or damaged.")


ROUNDS, KIBIBYTES, LANES = 2, 46 * 1024, 1
"""Our argon2id: twice the rounds of the first profile of OWASP's Password Storage Cheat Sheet.

It takes 90 ms of a core.
"""

_UNUSABLE_PREFIX = "!"
"""Django's mark of an account without a password."""


class ImportedPasswordState(StrEnum):
    """What has become of the password of an imported user."""

    IMPORTED = "IMPORTED"
    """It works; the next sign-in with it replaces the hash with an argon2id hash."""
    REPLACED = "REPLACED"
    """The hash is Latchkey's: since the person signed in, or already when it was imported."""
    CHANGED = "CHANGED"
    """The person has set another password since, or it was removed."""
    MUST_RESET = "MUST_RESET"
    """It couldn't be imported: the person must set a new one."""
    NONE = "NONE"
    """The source had none, for example because the person signs in with SSO."""


@dataclass(frozen=True, slots=True)
class ImportedPassword:
    """What to store for a password, and why it must be reset if it must.

    ``password_hash`` is for ``models.User.password_hash``. ``code``, ``template`` and ``values``
    are those of a ``Finding``; empty unless the state is MUST_RESET. They hold no part of the
    hash.
    """

    state: ImportedPasswordState
    password_hash: str | None = field(default=None, repr=False)
    code: str = ""
    template: str = ""
    values: Mapping[str, object] = field(default_factory=dict, hash=False)

    @property
    def mark(self) -> str:
        """What changes when the source has another password that matters here.

        Nothing of one that must be reset, which may be easily guessed from any digest of it.
        """
        return self.password_hash or self.state.value


def classify(stored: str | None) -> ImportedPassword:
    """Return what to store for a hash of the source.

    Kept are hashes of argon2, bcrypt, scrypt, PBKDF2 (Django's formats, bare argon2 and bcrypt
    hashes, ``firebase_hash``) that can be checked in time and memory. Weak, damaged, unknown and
    costly ones must be reset. Empty ones and Django's ``!…`` are accounts without a password.
    """
    if not stored or stored.startswith(_UNUSABLE_PREFIX):
        return ImportedPassword(ImportedPasswordState.NONE)
    try:
        found = parse_hash(stored)
        require_strong(found)
    except UnusableHash as error:
        return must_reset(error)
    is_ours = (
        isinstance(found, Argon2Hash) and stored == found.phc and _has_current_parameters(found)
    )
    state = ImportedPasswordState.REPLACED if is_ours else ImportedPasswordState.IMPORTED
    return ImportedPassword(state, stored)


def must_reset(error: UnusableHash) -> ImportedPassword:
    """Return the password that can't be imported because of ``error``."""
    return ImportedPassword(
        ImportedPasswordState.MUST_RESET,
        code=error.code,
        template=error.template,
        values=error.values,
    )


def _has_current_parameters(found: Argon2Hash) -> bool:
    ours = found.phc.startswith("$argon2id$v=19$")
    return ours and (found.rounds, found.kibibytes, found.lanes) == (ROUNDS, KIBIBYTES, LANES)


_MAX_EXPONENT = 30


@dataclass(frozen=True, slots=True)
class FirebaseParameters:
    """The project's "Password hash parameters", as Firebase's console shows them."""

    signer_key: str = field(repr=False)
    salt_separator: str
    rounds: int
    mem_cost: int


def firebase_hash(password_hash: str, salt: str, parameters: FirebaseParameters) -> str:
    """Return a user's hash as it is stored, for ``classify``; raise ``UnusableHash``."""
    hashed, key = _decoded_firebase(password_hash), _decoded_firebase(parameters.signer_key)
    if len(hashed) != len(key) or len(key) < FIREBASE_BYTES:
        raise UnusableHash(
            "PASSWORD_MALFORMED", "The password hash doesn't fit the signer key of the project."
        )
    if not 0 < parameters.mem_cost <= _MAX_EXPONENT:
        raise UnusableHash("PASSWORD_MALFORMED", "The memory cost of the project is out of range.")
    stream = bytes(one ^ other for one, other in zip(hashed, key, strict=True))[:FIREBASE_BYTES]
    whole_salt = _decoded_firebase(salt) + _decoded_firebase(parameters.salt_separator)
    return "$".join(
        (
            "firebase_scrypt",
            str(2**parameters.mem_cost),
            str(parameters.rounds),
            b64encode(whole_salt).decode(),
            b64encode(stream).decode(),
        )
    )


def _decoded_firebase(text: str) -> bytes:
    """Decode base64, in the alphabet for URLs too, which some of Firebase's exports use."""
    try:
        standard = text.translate(str.maketrans("-_", "+/")).rstrip("=")
        return b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise UnusableHash(
            "PASSWORD_MALFORMED", "The password hash or its salt isn't valid base64."
        ) from None
