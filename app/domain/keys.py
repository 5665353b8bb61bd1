"""The ring of signing keys (next, active, retired), and the purposes of stored secrets.

One rule decides which key signs and which ones verify. A secret that is encrypted for one purpose
can't be decrypted for another.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

CACHE_TIME = timedelta(minutes=5)
"""How long verifiers can cache the key set: the ``max-age`` it is served with.

A key signs only after it has been published for as long, so that every verifier knows it.
"""


class KeyState(StrEnum):
    """``next`` is published and does not sign yet; ``retired`` is published and signs no more.

    ``withdrawn`` is never published again and verifies nothing: its private part has leaked.
    """

    NEXT = "next"
    ACTIVE = "active"
    RETIRED = "retired"
    WITHDRAWN = "withdrawn"


KEY_ID = re.compile(r"[A-Za-z0-9_-]{43}")
"""The form of a ``kid``: a SHA-256 in base64url (RFC 7638)."""


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A published key: RFC 7517 members ``n`` and ``e``, ``kid`` by RFC 7638."""

    kid: str
    n: str
    e: str


def read_key_set(members: Mapping[str, object]) -> Mapping[str, PublicKey]:
    """Return the RSA keys of a JSON Web Key Set by their ``kid``, ignoring other entries.

    Raises ``ValueError`` when it is no key set at all.
    """
    entries = members.get("keys")
    if not isinstance(entries, list):
        raise ValueError("has no member keys")  # noqa: TRY004 - other people's text, no argument
    found = {}
    for entry in entries:
        if isinstance(entry, dict) and entry.get("kty") == "RSA":
            kid, n, e = (entry.get(name) for name in ("kid", "n", "e"))
            if isinstance(kid, str) and isinstance(n, str) and isinstance(e, str):
                found[kid] = PublicKey(kid, n, e)
    return found


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A key of the ring; ``verifies_until`` is set once it is retired or withdrawn.

    The key of ``RSA_PRIVATE_KEY`` has no times: when it came into use isn't recorded.
    """

    kid: str
    state: KeyState
    published_at: datetime | None
    activated_at: datetime | None
    retired_at: datetime | None
    verifies_until: datetime | None


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """What withdrawing ``kids`` does.

    ``sessions`` end: their refresh tokens were signed with one of the keys. ``unknown`` are no
    keys of the ring. ``configured`` is the one in ``RSA_PRIVATE_KEY``, "" if it isn't among them.
    """

    kids: tuple[str, ...]
    sessions: int
    unknown: tuple[str, ...] = ()
    configured: str = ""


@dataclass(frozen=True, slots=True)
class Ring:
    """The ring at one version: the keys that verify by ``kid``, and which one signs."""

    version: int
    active_kid: str
    published: Mapping[str, PublicKey]


FORM_ANSWER = "answer to a submitted form"
FORM_FIELDS = "fields of a submitted form"
FORM_SECRET = "secret of a submitted form"
EMAIL_CODE = "code by email"
OUTBOX_EVENT = "outbox event"
OUTBOX_MAIL = "outbox mail"
PENDING_SIGN_IN = "sign-in at an identity provider"
PROVIDER_SECRET = "identity provider's client secret"
WEBHOOK_HEADER = "webhook header"
WEBHOOK_PAYLOAD = "webhook payload"
WEBHOOK_SECRET = "webhook secret"


def authenticator_app_purpose(user_id: int | str) -> str:
    """Return the purpose of an authenticator app's secret, which works for its user alone."""
    return f"authenticator app of user {user_id}"


def signing_key_purpose(kid: str) -> str:
    """Return the purpose of a private key, which can't be stored under another key's name."""
    return f"signing key {kid}"


def refresh_token_purpose(session_token: str) -> str:
    """Return the purpose of a provider's refresh token, which works for its own session alone."""
    return f"provider's refresh token of session {session_token}"
