"""The form of an app's token: what it is known by, what is stored of it, what may be shown."""

import hashlib
import re
import string
import zlib

PREFIX = "lkapp_"
"""What secret scanners look for."""

RANDOM_LENGTH = 37
"""Letters and digits that nobody can guess: 220 bits."""

_CHECKSUM_LENGTH = 6
_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
_FOREIGN_FORM = re.compile(r"[0-9A-Za-z._~+/-]{4,255}={0,2}")
_FORM = re.compile(rf"{PREFIX}([0-9A-Za-z]{{{RANDOM_LENGTH}}})([0-9A-Za-z]{{{_CHECKSUM_LENGTH}}})")


def make_app_token(random: str) -> str:
    """The token around ``random``, which is ``RANDOM_LENGTH`` random letters and digits."""
    token = f"{PREFIX}{random}{_checksum(random)}"
    if not is_app_token(token):
        raise ValueError(f"an app token needs {RANDOM_LENGTH} random letters and digits")
    return token


def is_app_token(text: str) -> bool:
    """Whether ``text`` has the form of an app token, its checksum included.

    Scanners can recognize such tokens in logs and repositories without asking us.
    """
    match = _FORM.fullmatch(text)
    return match is not None and _checksum(match[1]) == match[2]


def has_foreign_form(text: str) -> bool:
    """Whether ``text`` can be an app token of another installation: a bearer token (RFC 6750).

    Signed tokens and whatever begins as our own tokens do can't.
    """
    is_signed = text.count(".") == 2  # noqa: PLR2004 - header, claims, signature
    return not is_signed and not text.startswith(PREFIX) and bool(_FOREIGN_FORM.fullmatch(text))


def digest_of(token: str) -> str:
    """Return the stored form: SHA-256 in hex, without salt for 220 random bits."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def last_four(token: str) -> str:
    """Return the end of a token, which distinguishes it for people."""
    return token[-4:]


def _checksum(random: str) -> str:
    number = zlib.crc32(random.encode("utf-8", "surrogatepass"))
    digits = ""
    for _ in range(_CHECKSUM_LENGTH):
        number, digit = divmod(number, len(_ALPHABET))
        digits = _ALPHABET[digit] + digits
    return digits
