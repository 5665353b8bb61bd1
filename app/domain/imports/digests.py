"""Digests of rows: whether one has changed at the source, or was edited here."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256

LENGTH = 32


def digest_of(state: Mapping[str, object]) -> str:
    """Return the first 128 bits of the SHA-256 of ``state``, in hex.

    Its values are texts, numbers, switches, moments, and lists and objects of these.
    """
    written = json.dumps(state, sort_keys=True, separators=(",", ":"), default=_moment)
    return digest_of_text(written)


def digest_of_text(text: str) -> str:
    """Return the first 128 bits of the SHA-256 of ``text``, in hex."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:LENGTH]


def _moment(value: object) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    raise TypeError(f"A {type(value).__name__} can't be in a digest.")
