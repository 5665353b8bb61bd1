"""The ring of signing keys: next, active, retired."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class KeyState(StrEnum):
    """``next`` is published and does not sign yet; ``retired`` is published and signs no more."""

    NEXT = "next"
    ACTIVE = "active"
    RETIRED = "retired"


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A published key: RFC 7517 members ``n`` and ``e``, ``kid`` by RFC 7638."""

    kid: str
    n: str
    e: str


@dataclass(frozen=True, slots=True)
class SigningKey:
    """What may be told of a key of the ring; ``verifies_until`` is set when it is retired."""

    kid: str
    state: KeyState
    published_at: datetime
    activated_at: datetime | None
    retired_at: datetime | None
    verifies_until: datetime | None


@dataclass(frozen=True, slots=True)
class Ring:
    """The ring at one version: the keys that verify by ``kid``, and which one signs."""

    version: int
    active_kid: str
    published: Mapping[str, PublicKey]
