"""Pending sign-ins at providers: what is needed at their end, stored until then."""

import hashlib
import json
from dataclasses import dataclass, field
from datetime import timedelta

from sqlalchemy import delete

from app.domain.keys import PENDING_SIGN_IN
from app.domain.single_sign_on.providers import Provider
from app.domain.values.errors import Problem, Refused
from app.models import OidcStateRecord
from app.ports import Ports
from app.services.authorization.register import part

LIFETIME = timedelta(minutes=10)
"""For how long somebody may be at the provider's login."""

_LENGTH = 43
"""Letters and digits of each secret: 256 bits; RFC 7636, 4.1, asks for 43 characters at least."""

_WORTHLESS = Problem(
    "INVALID", "This sign-in has expired, was already used or wasn't started here.", "state"
)


@dataclass(frozen=True, slots=True)
class StartedSignIn:
    """A sign-in, and its secrets: the ``state`` that names it, the nonce, the PKCE verifier."""

    redirect_uri: str
    state: str = field(repr=False)
    nonce: str = field(repr=False)
    verifier: str = field(repr=False)


@part
def store_sign_in(ports: Ports, provider: Provider, redirect_uri: str) -> StartedSignIn:
    """A new sign-in at ``provider`` that ends at ``redirect_uri``, stored."""
    state, nonce, verifier = (ports.randomness.token(_LENGTH) for _ in range(3))
    settings = provider.trust_version
    secrets = json.dumps({"nonce": nonce, "verifier": verifier, "settings": settings})
    with ports.database.transaction() as session:
        session.add(
            OidcStateRecord(
                digest=_digest(state),
                provider_id=provider.id,
                redirect_uri=redirect_uri,
                sealed=ports.encryption.encrypt(PENDING_SIGN_IN, secrets),
                expires_at=ports.clock.now() + LIFETIME,
            )
        )
    return StartedSignIn(redirect_uri, state, nonce, verifier)


@part
def take_sign_in(ports: Ports, provider: Provider, state: str) -> StartedSignIn:
    """Delete and return the pending sign-in of ``state``, which works once.

    Refuses INVALID on ``state`` for one that is unknown, used, too old, or of another provider, or
    of other settings: a code goes only to the token URL for which its sign-in began.
    """
    record = OidcStateRecord
    take = (
        delete(record)
        .where(record.digest == _digest(state))
        .returning(record.provider_id, record.redirect_uri, record.sealed, record.expires_at)
    )
    with ports.database.transaction() as session:
        row = session.execute(take).one_or_none()
    if row is None or row.expires_at <= ports.clock.now() or row.provider_id != provider.id:
        raise Refused(_WORTHLESS)
    secrets = json.loads(ports.encryption.decrypt(PENDING_SIGN_IN, row.sealed))
    if secrets.get("settings", provider.trust_version) != provider.trust_version:
        raise Refused(_WORTHLESS)
    return StartedSignIn(row.redirect_uri, state, secrets["nonce"], secrets["verifier"])


def _digest(state: str) -> str:
    return hashlib.sha256(state.encode("utf-8", "surrogatepass")).hexdigest()
