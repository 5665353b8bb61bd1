"""OAuth clients and what they were granted."""

import base64
import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.domain.authorization.actor import OPERATOR, Actor, SessionOrigin
from app.domain.oauth import DEFAULT_SCOPES, OFFLINE, OAuthClient
from app.ports import Ports
from app.services.oauth.clients import ClientChange, ClientKind, create_client
from app.services.oauth.consents import allow_client
from app.services.oauth.devices import WaitingDevice, allow_device, find_waiting_device
from app.services.oauth.grants import CodeRequest, Granted, find_code, issue_code, use_code
from tests.builders.people import NOBODY, actor_of

CALLBACK = "https://forum.example.com/callback"
VERIFIER = "a-verifier-of-forty-three-characters-or-more"
CHALLENGE = (
    base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
)


@dataclass(frozen=True)
class Registered:
    """A client and its secret."""

    client: OAuthClient
    secret: str

    @property
    def id(self) -> str:
        return self.client.client_id


def make_client(
    ports: Ports,
    name: str = "Forum",
    *,
    is_public: bool = False,
    is_pairwise: bool = False,
    app_id: int | None = None,
    **settings: Any,
) -> Registered:
    """Store a client; ``settings`` are those of ``ClientChange``."""
    if app_id is None:
        scopes = DEFAULT_SCOPES | {OFFLINE}
        settings = {"redirect_uris": (CALLBACK,), "scopes": scopes, **settings}
    kind = ClientKind(is_public=is_public, app_id=app_id, is_pairwise=is_pairwise)
    new = create_client(ports, OPERATOR, ClientChange(name=name, **settings), kind)
    return Registered(new.client, new.secret)


def person_at_pages(
    ports: Ports, user_id: int, origin: SessionOrigin = SessionOrigin.PASSWORD
) -> Actor:
    """Return someone who has signed in at the hosted pages."""
    return actor_of(ports, user_id, origin)


def grant(
    ports: Ports,
    client: OAuthClient,
    user_id: int,
    scopes: frozenset[str] = DEFAULT_SCOPES,
    origin: SessionOrigin = SessionOrigin.PASSWORD,
) -> Granted:
    """Return what a client gets for a code of someone who has allowed it these scopes."""
    person = person_at_pages(ports, user_id, origin)
    code = make_code(ports, client, person, scopes)
    found = find_code(ports, NOBODY, client, code)
    assert found is not None
    granted = use_code(ports, NOBODY, client, found.id)
    assert granted is not None
    return granted


def make_code(
    ports: Ports,
    client: OAuthClient,
    person: Actor,
    scopes: frozenset[str] = DEFAULT_SCOPES,
    authenticated_at: datetime | None = None,
) -> str:
    """Return a code for ``client``, which ``person`` allows these scopes."""
    if not client.is_first_party:
        allow_client(ports, person, client, scopes)
    return issue_code(ports, person, code_request(ports, client, scopes, authenticated_at))


def code_request(
    ports: Ports,
    client: OAuthClient,
    scopes: frozenset[str] = DEFAULT_SCOPES,
    authenticated_at: datetime | None = None,
) -> CodeRequest:
    """Return what ``client`` asks for a code with."""
    return CodeRequest(
        client=client,
        redirect_uri=CALLBACK,
        scopes=scopes,
        challenge=CHALLENGE,
        authenticated_at=authenticated_at or ports.clock.now(),
    )


def let_in(ports: Ports, person: Actor, user_code: str) -> WaitingDevice:
    """Let in the device that shows ``user_code``, by someone who has just signed in."""
    shown = find_waiting_device(ports, person, user_code)
    return allow_device(ports, person, user_code, shown.proof, ports.clock.now())
