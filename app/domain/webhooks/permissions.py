"""A webhook's permissions: its app's, limited by those of a limited token that saved it."""

from dataclasses import dataclass

from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor, ActorKind
from app.domain.authorization.permissions import Permission, in_order
from app.domain.values.errors import PermissionDenied


@dataclass(frozen=True, slots=True)
class Saver:
    """The last saver of a webhook, and the permissions they held; ``None`` for no limit.

    ``kind`` is empty if unknown: the webhook is older than this record.
    """

    kind: ActorKind | None = None
    name: str = ""
    permissions: frozenset[Permission] | None = None

    @property
    def token_limit(self) -> frozenset[Permission] | None:
        """The limit of the app token that saved it; ``None`` for a token without one, or people.

        People hold all permissions of the app when they save, and what it is granted later is
        confirmed for their webhooks (``services/webhooks/permission_grants``).
        """
        return self.permissions if self.kind is ActorKind.APP else None

    def payload_permissions(self, of_app: frozenset[Permission]) -> frozenset[Permission]:
        """The permissions that the webhook's payloads are read with."""
        limit = self.token_limit
        return of_app if limit is None else of_app & limit

    def link_permissions(self, of_app: frozenset[Permission]) -> frozenset[Permission]:
        """The permissions that count for receiving a link's secret.

        The saver chose the target, so what they lacked counts too.
        """
        return of_app if self.permissions is None else of_app & self.permissions


UNKNOWN_SAVER = Saver()


def saver_of(actor: Actor) -> Saver:
    """Return ``actor`` as the saver of a webhook."""
    if actor.is_trusted:
        return Saver(actor.kind, actor.name)
    permissions = actor.token_limit if actor.is_app else actor.permissions
    return Saver(actor.kind, actor.name, permissions)


def is_within_limit(actor: Actor, saver: Saver) -> bool:
    """Whether ``actor`` gains nothing by a webhook that ``saver`` saved.

    A limited app token does by every webhook that was saved with more than its limit: it could
    read what that was sent, or have it sent elsewhere.
    """
    if actor.token_limit is None:
        return True
    return saver.token_limit is not None and saver.token_limit <= actor.token_limit


def lacking_of_app(actor: Actor, of_app: frozenset[Permission]) -> tuple[Permission, ...]:
    """Return the permissions of an app, ``of_app``, that ``actor`` lacks; none for an app.

    A webhook is sent whatever its app can read. So only people who hold all of the app's
    permissions manage its webhooks, and see what these carry and what proves them.
    """
    viewer = actor.viewer
    return () if viewer.is_app else in_order(of_app - viewer.permissions)


def require_all_of_app(actor: Actor, of_app: frozenset[Permission]) -> None:
    """Raise ``PermissionDenied`` unless ``actor`` can manage webhooks of such an app."""
    lacking = lacking_of_app(actor, of_app)
    if lacking:
        raise app_permissions_denied(lacking)


def app_permissions_denied(lacking: tuple[str, ...]) -> PermissionDenied:
    """Return the error for a person who lacks these permissions of a webhook's app."""
    names = ", ".join(lacking)
    message = f"For this app's webhooks, you need all permissions of the app. You lack: {names}"
    return PermissionDenied(*lacking, message=message, needs_all=True)


def may_receive_link(
    permissions: frozenset[Permission], needed: Permission | None, subject: User | None
) -> bool:
    """Whether a webhook with the permissions ``permissions`` can receive a link's secret.

    ``needed`` is the event's permission. ``subject`` is the link's user with all permissions; a
    deleted one holds none, and the link opens nothing. No app holds all of a superuser's
    permissions, so a superuser's link goes to no webhook.
    """
    rights = set() if subject is None else set(subject.permissions)
    if subject is not None and subject.is_staff:
        rights.add(Permission.MANAGE_STAFF)
    if needed is not None:
        rights.add(needed)
    return rights <= permissions
