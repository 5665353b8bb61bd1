"""Who is calling: one frozen value, made in one place, handed to every use case."""

from dataclasses import dataclass
from enum import StrEnum

from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.authorization.scopes import ScopeGrant
from app.domain.values.errors import TokenFault


class ActorKind(StrEnum):
    USER = "user"
    APP = "app"
    OPERATOR = "operator"
    WORKER = "worker"
    ANONYMOUS = "anonymous"


class SessionOrigin(StrEnum):
    """How a session began; refreshing never changes it, and derived tokens inherit it."""

    PASSWORD = "password"
    OIDC = "oidc"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class ProviderToken:
    """What names a provider's own access token that a caller sent.

    ``issued`` is the latest moment at which it can have been issued (Unix seconds), ``version``
    that of the providers' settings by which it was good.
    """

    identity_id: int
    issuer: str
    subject: str
    issued: float
    version: int


@dataclass(frozen=True, slots=True)
class Actor:
    """The caller of a use case.

    ``name`` is a person's email or an app's name, for the audit trail. ``permissions`` are the
    effective ones, after groups, login mode and intersection. ``fault`` tells what is wrong with a
    credential that was sent and is worth nothing; such a caller is anonymous. ``app_id`` beside
    ``user_id`` is a dashboard extension acting for a user. ``token_limit`` is what an app token
    was limited to when it was made, ``None`` for no limit. ``grant`` is what a provider granted,
    where it rules; there is no ``session_id`` behind a provider's own token. ``previewed_by`` is
    whoever is shown what an app would be told: it has the app's rights, and not the app's secrets.
    ``proof_is_old``: the person at the console proved some time ago who they are, and has to again
    before a use case that asks for it. One of ``session_id``, ``app_token_id`` and
    ``provider_token`` names the credential of a request; an actor without any was not made from a
    request.
    """

    kind: ActorKind
    user_id: int | None = None
    app_id: int | None = None
    session_id: int | None = None
    name: str = ""
    is_staff: bool = False
    origin: SessionOrigin = SessionOrigin.NONE
    permissions: frozenset[Permission] = frozenset()
    token_limit: frozenset[Permission] | None = None
    grant: ScopeGrant | None = None
    address: str | None = None
    user_agent: str = ""
    issuer: str = ""
    fault: TokenFault | None = None
    previewed_by: "Actor | None" = None
    app_token_id: int | None = None
    proof_is_old: bool = False
    provider_token: ProviderToken | None = None

    @property
    def viewer(self) -> "Actor":
        """Who gets to see the answer: the caller, or whoever tries what an app would be told."""
        return self.previewed_by or self

    def holds(self, permission: Permission) -> bool:
        return permission in self.permissions

    @property
    def is_user(self) -> bool:
        return self.kind is ActorKind.USER

    @property
    def is_account_owner(self) -> bool:
        """Whether the caller is a signed-in person, not an extension that acts for one."""
        return self.is_user and self.app_id is None

    @property
    def is_app(self) -> bool:
        return self.kind is ActorKind.APP

    @property
    def is_trusted(self) -> bool:
        """Whoever holds the shell of the installation, or the installation itself."""
        return self.kind in (ActorKind.OPERATOR, ActorKind.WORKER)


OPERATOR = Actor(ActorKind.OPERATOR, permissions=ALL_PERMISSIONS)
"""Whoever holds the shell: may do what every permission together allows."""

WORKER = Actor(ActorKind.WORKER, permissions=ALL_PERMISSIONS)
"""The installation at its background work."""


def anonymous(
    *,
    address: str | None = None,
    user_agent: str = "",
    issuer: str = "",
    fault: TokenFault | None = None,
) -> Actor:
    """A caller without a credential, or (``fault``) with a broken one."""
    return Actor(
        ActorKind.ANONYMOUS,
        address=address,
        user_agent=user_agent,
        issuer=issuer,
        fault=fault,
    )
