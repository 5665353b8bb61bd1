"""The caller of a use case, and which permissions they can grant: only those that they hold.

An ``Actor`` is created in one place (``app.services.identity``) and passed to every use case.
Grants: contract, "Staff and permissions".
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from typing import Self

from app.domain.authorization.permissions import (
    ALL_PERMISSIONS,
    Permission,
    ScopeGrant,
    held_everywhere,
    known_permissions,
)
from app.domain.values.errors import Problem, TokenFault
from app.domain.values.ids import to_global_id
from app.domain.values.text import Sentence
from app.domain.values.unchanging import unchanging

PROOF_LASTS = timedelta(minutes=5)
"""How long a proof of identity counts as fresh."""


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
    """A provider's own access token that a caller sent.

    ``issued`` is the latest possible time of issue (Unix seconds), ``version`` that of the
    providers' settings under which it was verified, ``waiting_changes`` what waited for
    confirmation then.
    """

    identity_id: int
    issuer: str
    subject: str
    issued: float
    version: int
    waiting_changes: str = ""


@dataclass(frozen=True, slots=True)
class AppClient:
    """A provider's client that acts as an app it is linked to.

    ``link_id`` is the link's key, which names exactly this provider, issuer, client and subject.
    ``version`` is that of the providers' settings under which its token was verified.
    """

    link_id: int
    provider_id: int
    issuer: str
    client_id: str
    subject: str
    version: int


@dataclass(frozen=True, slots=True)
class ClientGrant:
    """What a person let an OAuth client do in their name.

    ``scopes`` are those of OpenID Connect, and ``staff``; ``permissions`` are the scopes that
    name one.
    """

    client_id: int
    is_first_party: bool
    scopes: frozenset[str] = frozenset()
    permissions: frozenset[Permission] = frozenset()

    @property
    def words(self) -> frozenset[str]:
        """The scopes as they are stored."""
        return self.scopes | {*map(str, self.permissions)}

    def covers(self, *scopes: str) -> bool:
        return self.scopes.issuperset(scopes)

    def within(self, words: Collection[str]) -> Self:
        """Return as much of the grant as ``words`` name, as they are stored."""
        permissions = self.permissions & known_permissions(words)
        return replace(self, scopes=self.scopes & frozenset(words), permissions=permissions)

    @property
    def is_for_staff(self) -> bool:
        """Whether the person's role as staff counts."""
        return STAFF_SCOPE in self.scopes or bool(self.permissions)


STAFF_SCOPE = "staff"


def read_client_grant(client_id: int, scope: str, *, is_first_party: bool) -> ClientGrant:
    """Return what a client was granted whose stored scopes are ``scope``."""
    words = frozenset(scope.split())
    permissions = known_permissions(words)
    return ClientGrant(client_id, is_first_party, words - {*map(str, Permission)}, permissions)


@unchanging
class Actor:
    """The caller of a use case.

    ``name`` is a person's email or an app's name, for the audit log. ``permissions`` are the
    effective ones, after groups, login mode and intersection. ``channel_ids`` are the channels
    in which they hold, ``None`` for all channels. ``amr`` are the authentication
    methods of a session that used a second factor or passkey. ``fault`` is what is wrong with a
    credential; such a caller is anonymous. ``app_id`` with ``user_id`` is a dashboard extension
    acting for a user. ``token_limit`` is an app token's limit, ``None`` for no limit. ``grant`` is
    what a provider granted, if it rules permissions; a provider's own token has no ``session_id``.
    ``previewed_by`` is the caller of a dry run: it has the app's permissions, but not its secrets.
    ``proof_is_old``: the person at the console must reauthenticate before a use case that requires
    it. ``client`` is the OAuth client that acts for a person, with what they granted. One of
    ``session_id``, ``app_token_id``, ``provider_token`` and ``app_client`` names the
    credential of a request; an actor without any doesn't come from a request. ``used`` collects
    the permissions that an app needed, for its activity.
    """

    kind: ActorKind
    user_id: int | None = None
    app_id: int | None = None
    session_id: int | None = None
    name: str = ""
    is_staff: bool = False
    origin: SessionOrigin = SessionOrigin.NONE
    amr: tuple[str, ...] = ()
    permissions: frozenset[Permission] = frozenset()
    channel_ids: frozenset[int] | None = None
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
    app_client: AppClient | None = None
    client: ClientGrant | None = None
    used: set[Permission] | None = field(default=None, compare=False, repr=False)

    @property
    def viewer(self) -> "Actor":
        """Return who sees the result: the caller, or the person previewing an app's payload."""
        return self.previewed_by or self

    def holds(self, permission: Permission) -> bool:
        is_held = permission in self.permissions
        if is_held and self.used is not None:
            self.used.add(permission)
        return is_held

    @property
    def held_everywhere(self) -> frozenset[Permission]:
        """The permissions that hold in all channels: what the caller can give to apps."""
        return held_everywhere(self.permissions, self.channel_ids)

    def reaches_channel(self, channel_id: int) -> bool:
        """Whether the permissions, and those of the viewer of a preview, hold in that channel."""
        return all(
            one.channel_ids is None or channel_id in one.channel_ids for one in (self, self.viewer)
        )

    @property
    def reaches_all_channels(self) -> bool:
        """Whether the permissions, and those of the viewer of a preview, hold everywhere."""
        return self.channel_ids is None and self.viewer.channel_ids is None

    @property
    def is_user(self) -> bool:
        return self.kind is ActorKind.USER

    @property
    def is_account_owner(self) -> bool:
        """Whether the caller is a signed-in person.

        Not an extension or a third party that acts for one.
        """
        return self.is_user and self.app_id is None and not self.is_third_party

    @property
    def is_third_party(self) -> bool:
        """Whether the caller is an OAuth client of a third party that acts for a person."""
        return self.client is not None and not self.client.is_first_party

    @property
    def is_app(self) -> bool:
        return self.kind is ActorKind.APP

    @property
    def is_trusted(self) -> bool:
        """Whether the caller is the operator or the installation itself."""
        return self.kind in (ActorKind.OPERATOR, ActorKind.WORKER)


OPERATOR = Actor(ActorKind.OPERATOR, permissions=ALL_PERMISSIONS)
"""A server administrator on the command line, who can do everything."""

WORKER = Actor(ActorKind.WORKER, permissions=ALL_PERMISSIONS)
"""The installation at its background work."""


def anonymous(
    *,
    address: str | None = None,
    user_agent: str = "",
    issuer: str = "",
    fault: TokenFault | None = None,
) -> Actor:
    """Return a caller without a credential, or (``fault``) with a broken one."""
    return Actor(
        ActorKind.ANONYMOUS, address=address, user_agent=user_agent, issuer=issuer, fault=fault
    )


def describe_actor(actor: Actor | None) -> dict[str, str]:
    """Return kind and ID of the caller, without name or email."""
    if actor is None:
        return {}
    described = {"caller_kind": actor.kind.value}
    if actor.user_id is not None:
        described["caller"] = f"User:{actor.user_id}"
    elif actor.app_id is not None:
        described["caller"] = f"App:{actor.app_id}"
    if actor.kind is ActorKind.USER and actor.app_id is not None:
        described["via_app"] = f"App:{actor.app_id}"
    return described


def grant_problem(
    actor: Actor, permissions: Iterable[Permission], field: str = "permissions"
) -> Problem | None:
    """Return why ``actor`` can't grant ``permissions``, or ``None``."""
    message = "You can't add permission that you don't have: {beyond}."
    return _out_of_scope(_not_held(actor, permissions), message, field)


def _out_of_scope(beyond: tuple[str, ...], message: Sentence, field: str) -> Problem | None:
    if not beyond:
        return None
    values = {"beyond": ", ".join(beyond)}
    code = "OUT_OF_SCOPE_PERMISSION"
    return Problem(code, message, field, permissions=beyond, values=values)


def app_grant_problem(
    actor: Actor, permissions: frozenset[Permission], field: str = "permissions"
) -> Problem | None:
    """Return why ``actor`` can't grant ``permissions`` to an app, or ``None``.

    Apps act in all channels, so ``actor`` must hold them there.
    """
    beyond = tuple(sorted(permissions - actor.held_everywhere))
    if not beyond or not is_manageable(actor, permissions):
        return grant_problem(actor, permissions, field)
    message = "Apps act in all channels, and you don't have these permissions there: {beyond}."
    return _out_of_scope(beyond, message, field)


def withdrawal_problem(
    actor: Actor, permissions: Iterable[Permission], field: str
) -> Problem | None:
    """Return why ``actor`` can't revoke ``permissions``, or ``None``."""
    message = "You can't remove permission that you don't have: {beyond}."
    return _out_of_scope(_not_held(actor, permissions), message, field)


def manage_problem(actor: Actor, permissions: Iterable[Permission]) -> Problem | None:
    """Return why ``actor`` may not manage a group that gives ``permissions``, or ``None``."""
    message = "You can't manage a group with permissions you don't have: {beyond}."
    return _out_of_scope(_not_held(actor, permissions), message, "id")


def reaches_channels(actor: Actor, channel_ids: frozenset[int] | None) -> bool:
    """Whether ``actor`` has access to these channels; ``None`` stands for all of them."""
    own = actor.channel_ids
    return own is None or (channel_ids is not None and channel_ids <= own)


def channel_problem(
    actor: Actor, channel_ids: frozenset[int] | None, field: str = "id"
) -> Problem | None:
    """Return why ``actor`` can't manage a group with access to these channels, or ``None``."""
    if reaches_channels(actor, channel_ids):
        return None
    beyond = (channel_ids or frozenset()) - (actor.channel_ids or frozenset())
    return Problem(
        "OUT_OF_SCOPE_CHANNEL",
        "You can't manage a group with access to channels that you don't have access to.",
        field,
        channels=tuple(to_global_id("Channel", key) for key in sorted(beyond)),
    )


def is_manageable(actor: Actor, permissions: Iterable[Permission]) -> bool:
    """Whether ``actor`` can manage a user or group that holds ``permissions``."""
    return not _not_held(actor, permissions)


def manages_app(actor: Actor, permissions: frozenset[Permission]) -> bool:
    """Whether ``actor`` can manage an app that holds ``permissions``: in all channels."""
    return permissions <= actor.held_everywhere


def holds_all_permissions(actor: Actor) -> bool:
    """Whether ``actor`` holds everything everywhere: a superuser, or the operator."""
    return actor.held_everywhere >= ALL_PERMISSIONS


def _not_held(actor: Actor, permissions: Iterable[Permission]) -> tuple[str, ...]:
    return tuple(sorted(permission.value for permission in set(permissions) - actor.permissions))
