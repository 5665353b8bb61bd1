"""The rights of a caller at the moment something is written."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace

from sqlalchemy import Select
from sqlalchemy.orm import Session

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Caller, Permission, in_order
from app.domain.shop.settings import rejects_password_sessions
from app.domain.values.errors import PermissionDenied, TokenFault, TokenRejected
from app.ports import Database, NamedRow, Ports, ReadSession, Subject
from app.ports.database import SubjectKind, account
from app.services.authorization.app_rights import find_app_again, find_extension_again
from app.services.authorization.declarations import part
from app.services.authorization.live_sessions import (
    LiveSession,
    effective_user,
    find_session_again,
)
from app.services.authorization.provider_rights import find_provider_session_again
from app.services.authorization.shop_state import Lookup


class _WrappedDatabase:
    """A database whose transactions are changed on their way."""

    def __init__(self, inner: Database) -> None:
        self._inner = inner

    @contextmanager
    def reading(self) -> Iterator[ReadSession]:
        with self._inner.reading() as session:
            yield session

    def read(
        self, statement: Select[*tuple[object, ...]], parameters: Mapping[str, object]
    ) -> Sequence[NamedRow]:
        return self._inner.read(statement, parameters)

    @property
    def in_transaction(self) -> bool:
        return self._inner.in_transaction

    def close(self) -> None:
        self._inner.close()


class SignInDatabase(_WrappedDatabase):
    """A database for what opens sessions: its transactions have a share of their own."""

    def transaction(
        self, *subjects: Subject, signs_in: bool = True
    ) -> AbstractContextManager[Session]:
        return self._inner.transaction(*subjects, signs_in=signs_in)


class RightsCheckedDatabase(_WrappedDatabase):
    """A database on behalf of one caller: commits only what they can still do.

    Reads the caller again as the last thing before each commit, in a statement that sees committed
    data and not this transaction's own changes of the caller. So an earlier revocation wins, also
    one committed while the transaction waited for a lock. On SQLite nothing can commit meanwhile;
    on PostgreSQL only the commit itself follows the check. The caller's rows aren't locked: two
    people who revoke each other's permissions would deadlock.
    """

    def __init__(self, ports: Ports, actor: Actor, *, own_account: bool = False) -> None:
        super().__init__(ports.database)
        self._ports = ports
        self._subjects = _subjects_of(actor, own_account=own_account)
        self.actor = actor

    @contextmanager
    def transaction(self, *subjects: Subject, signs_in: bool = False) -> Iterator[Session]:
        with self._inner.transaction(*self._subjects, *subjects, signs_in=signs_in) as session:
            yield session
            session.flush()
            require_current_rights(self._ports, self.actor)


@part
def acting_for(ports: Ports, actor: Actor, *, own_account: bool = False) -> Ports:
    """Return the ports of a use case that ``actor`` calls, or those of the one that calls it.

    ``own_account``: what it changes is the caller's own account.
    Nothing can be revoked from anonymous callers, the operator and the worker.
    """
    if not _has_credential(actor):
        return ports
    database = ports.database
    if isinstance(database, RightsCheckedDatabase) and database.actor is actor:
        return ports
    return replace(ports, database=RightsCheckedDatabase(ports, actor, own_account=own_account))


@part
def require_current_rights(ports: Ports, actor: Actor) -> None:
    """Raise unless the caller still holds everything that ``actor`` has.

    ``TokenRejected`` INVALID if the credential is no longer valid, ``PermissionDenied`` with the
    lost permissions: use cases rely on those of ``actor``.
    """
    is_staff, permissions = _current(ports, actor)
    if actor.is_staff and not is_staff:
        raise PermissionDenied(Caller.STAFF)
    lost = actor.permissions - permissions
    if lost:
        raise PermissionDenied(*in_order(lost))


@part
def signing_in(ports: Ports) -> Ports:
    """Return the ports of a use case whose input decides: a password, a token, a mailed link."""
    if isinstance(ports.database, SignInDatabase):
        return ports
    return replace(ports, database=SignInDatabase(ports.database))


def _subjects_of(actor: Actor, *, own_account: bool) -> tuple[Subject, ...]:
    """Return what a caller's transactions queue for.

    A customer changes little but their own account. Staff and apps change what they manage, a few
    things at once.
    """
    own = account(actor.user_id or 0)
    if actor.is_user and not actor.is_staff:
        return (own,)
    caller = Subject(SubjectKind.CALLER, f"{actor.user_id or ''}/{actor.app_id or ''}")
    return (caller, own) if own_account else (caller,)


def _has_credential(actor: Actor) -> bool:
    named = actor.session_id, actor.app_token_id, actor.provider_token
    return any(value is not None for value in named)


def _current(ports: Ports, actor: Actor) -> tuple[bool, frozenset[Permission]]:
    """Return whether the caller is staff, and their permissions."""
    if actor.app_token_id is not None:
        app = find_app_again(ports, actor.app_token_id).found
        if app is None or app.app_id != actor.app_id:
            raise TokenRejected(TokenFault.INVALID)
        return False, app.granted
    person = _find_person(ports, actor)
    switches, found = person.shop_state.switches, person.found
    mode = switches.password_login_mode
    if (
        found is None
        or found.user.id != actor.user_id
        or rejects_password_sessions(mode, found.origin)
    ):
        raise TokenRejected(TokenFault.INVALID)
    user = effective_user(found, switches)
    return user.is_staff, user.permissions


def _find_person(ports: Ports, actor: Actor) -> Lookup[LiveSession | None]:
    user_id = actor.user_id or 0
    if actor.session_id is None:
        token = actor.provider_token
        if token is None:
            raise TokenRejected(TokenFault.INVALID)
        bearer = find_provider_session_again(ports, token, actor.grant, actor.amr)
        is_current = bearer.shop_state.providers_version == token.version
        return bearer if is_current else Lookup(bearer.shop_state, None)
    if actor.app_id is None:
        return find_session_again(ports, actor.session_id, user_id)
    return find_extension_again(ports, actor.session_id, user_id, actor.app_id)
