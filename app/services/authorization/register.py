"""The decorators that declare who can call a use case, and the checks behind them.

Before a use case commits, the rights of its caller are read again.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from sqlalchemy import Select, event
from sqlalchemy.orm import Session

from app.domain.authorization.actor import Actor, anonymous, reaches_channels
from app.domain.authorization.permissions import Caller, Permission, in_order
from app.domain.shop.settings import rejects_password_sessions
from app.domain.values.errors import PermissionDenied, ProofRequired, TokenFault, TokenRejected
from app.domain.values.pages import Page, with_items
from app.domain.values.text import Sentence
from app.ports import Database, NamedRow, Ports, ReadSession, Subject
from app.ports.database import SubjectKind, account
from app.services.authorization.declarations import (
    REGISTER,
    Declaration,
    FreshProof,
    Rule,
    building_block,
    name_of,
    register,
)
from app.services.authorization.session_rights import (
    LiveSession,
    effective_user,
    find_session_again,
)
from app.services.authorization.shop_state import Lookup
from app.services.authorization.token_rights import (
    FoundApp,
    find_app_again,
    find_extension_again,
    find_linked_app,
    find_provider_session_again,
)


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


@building_block
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


@building_block
def require_current_rights(ports: Ports, actor: Actor) -> None:
    """Raise unless the caller still holds everything that ``actor`` has.

    ``TokenRejected`` INVALID if the credential is no longer valid, ``PermissionDenied`` with the
    lost permissions: use cases rely on those of ``actor``.
    """
    current = _current(ports, actor)
    if actor.is_staff and not current.is_staff:
        raise PermissionDenied(Caller.STAFF)
    lost = actor.permissions - current.permissions
    if lost:
        raise PermissionDenied(*in_order(lost))
    if not reaches_channels(current, actor.channel_ids):
        raise PermissionDenied(message="You no longer have access to a channel.")


@building_block
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
    named = actor.session_id, actor.app_token_id, actor.provider_token, actor.app_client
    return named != (None, None, None, None)


def _current(ports: Ports, actor: Actor) -> Actor:
    """Return ``actor`` with the role, the permissions and the channels of this moment."""
    if actor.is_app:
        app = _find_app(ports, actor)
        if app is None or app.app_id != actor.app_id:
            raise TokenRejected(TokenFault.INVALID)
        return replace(actor, is_staff=False, permissions=app.granted)
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
    return replace(
        actor, is_staff=user.is_staff, permissions=user.permissions, channel_ids=user.channel_ids
    )


def _find_app(ports: Ports, actor: Actor) -> FoundApp | None:
    if actor.app_client is not None:
        return find_linked_app(ports, actor.app_client).found
    if actor.app_token_id is None:
        return None
    return find_app_again(ports, actor.app_token_id).found


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


__all__ = ["REGISTER", "Declaration", "Rule", "building_block"]
"""What is declared in ``declarations`` and imported from here."""

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
UseCase = Callable[Concatenate[Ports, Actor, Arguments], Result]


class HasKey(Protocol):
    """An item of a list, found again by its key."""

    @property
    def id(self) -> int: ...


Item = TypeVar("Item", bound=HasKey)
ReadByKey = Callable[[Ports, Actor, Collection[int]], Collection[Item]]
"""Returns those of the items with these keys that the caller sees now."""


def check(declaration: Declaration, actor: Actor) -> None:
    """Raise ``PermissionDenied`` or ``TokenRejected`` unless ``actor`` can call.

    A broken credential is named as such wherever an identity is needed (contract, "Credentials,
    precisely", 5): ``TokenRejected`` before ``PermissionDenied``.
    """
    if declaration.admits(actor):
        return
    if actor.fault is not None:
        raise TokenRejected(actor.fault)
    raise PermissionDenied(*declaration.required)


def can_call(actor: Actor, use_case: Callable[..., object]) -> bool:
    """Return whether ``actor`` can call ``use_case``; edges ask before they show a button."""
    return REGISTER[name_of(use_case)].admits(actor)


def needs_proof(ports: Ports, actor: Actor, use_case: Callable[..., object], *args: object) -> str:
    """Return for which act ``use_case``, called so, would raise ``ProofRequired``; "" for none."""
    name = name_of(use_case)
    proof = REGISTER[name].proof
    act = proof.when(ports, actor, *args) if proof is not None and actor.proof_is_old else ""
    return act and f"{name}:{act}"


def act_sentence(act: str) -> str:
    """Return what ``act`` of ``ProofRequired`` is, in English; "" for no act."""
    name, _, which = act.partition(":")
    declaration = REGISTER.get(name)
    proof = None if declaration is None else declaration.proof
    return "" if proof is None else proof.acts.get(which, "")


def _declare(
    rule: Rule, *permissions: Permission, acts_as_caller: bool = True
) -> Callable[[UseCase[Arguments, Result]], UseCase[Arguments, Result]]:
    def decorate(use_case: UseCase[Arguments, Result]) -> UseCase[Arguments, Result]:
        declaration = Declaration(name_of(use_case), rule, permissions, acts_as_caller)
        register(declaration)

        @wraps(use_case)
        def checked(
            ports: Ports, actor: Actor, /, *args: Arguments.args, **kwargs: Arguments.kwargs
        ) -> Result:
            current = REGISTER[declaration.name]
            check(current, actor)
            if declaration.acts_as_caller:
                given = acting_for(ports, actor, own_account=rule is Rule.ACCOUNT_OWNER)
            else:
                given = signing_in(ports)
            return use_case(given, _actor_for(current, actor), *args, **kwargs)

        return checked

    return decorate


def _actor_for(declaration: Declaration, actor: Actor) -> Actor:
    """Return who calls a use case: one for anyone doesn't know the person of a third party.

    So third parties don't act for their person there, nor see what is theirs, unless its scopes
    are granted.
    """
    if declaration.rule is not Rule.PUBLIC or not actor.is_third_party:
        return actor
    if declaration.is_covered_by(actor.client):
        return actor
    return anonymous(address=actor.address, user_agent=actor.user_agent, issuer=actor.issuer)


def public(use_case: UseCase[Arguments, Result]) -> UseCase[Arguments, Result]:
    """Let anyone call it."""
    return _declare(Rule.PUBLIC)(use_case)


_ONLY = "it"
"""The act of a use case that declares a single one."""


def fresh_proof(
    acts: Sentence | Mapping[str, Sentence],
    condition: str = "always",
    when: Callable[..., bool | str] = lambda *_args, **_options: True,
) -> Callable[[UseCase[Arguments, Result]], UseCase[Arguments, Result]]:
    """Make staff at the console reauthenticate; used above another declaration.

    ``acts`` says before what. Raises ``ProofRequired`` while the actor's ``proof_is_old`` and
    ``when`` accepts the arguments of the use case; of several acts, it returns which one it is.
    ``condition`` describes it on the access page.
    """

    def which(ports: Ports, actor: Actor, *args: Any, **kwargs: Any) -> str:
        found = when(ports, actor, *args, **kwargs)
        return found if isinstance(found, str) else _ONLY if found else ""

    proof = FreshProof({_ONLY: acts} if isinstance(acts, str) else acts, condition, which)

    def decorate(use_case: UseCase[Arguments, Result]) -> UseCase[Arguments, Result]:
        declaration = replace(REGISTER[name_of(use_case)], proof=proof)
        register(declaration)

        @wraps(use_case)
        def proven(
            ports: Ports, actor: Actor, /, *args: Arguments.args, **kwargs: Arguments.kwargs
        ) -> Result:
            if actor.proof_is_old:
                check(declaration, actor)
                act = which(ports, actor, *args, **kwargs)
                if act:
                    raise ProofRequired(f"{declaration.name}:{act}")
            return use_case(ports, actor, *args, **kwargs)

        return proven

    return decorate


def clients_with(
    *scopes: str,
) -> Callable[[UseCase[Arguments, Result]], UseCase[Arguments, Result]]:
    """Let an OAuth client of a third party read with these scopes what belongs to its person.

    Used above another declaration, never for anything that changes something.
    """

    def decorate(use_case: UseCase[Arguments, Result]) -> UseCase[Arguments, Result]:
        register(replace(REGISTER[name_of(use_case)], scopes=scopes))
        return use_case

    return decorate


def lists_from_replica(
    read_by_key: ReadByKey[Item],
) -> Callable[[UseCase[Arguments, Page[Item]]], UseCase[Arguments, Page[Item]]]:
    """Find a list's page in the replica where a request tolerates its lag.

    Used above another declaration. The replica decides which items are on the page, never what is
    in them or who sees them: each is read again by ``read_by_key`` from the primary. If the caller
    doesn't see one of them there, the whole page comes from the primary.
    """

    def decorate(use_case: UseCase[Arguments, Page[Item]]) -> UseCase[Arguments, Page[Item]]:
        register(replace(REGISTER[name_of(use_case)], reads_replica=True))

        @wraps(use_case)
        def listing(
            ports: Ports, actor: Actor, /, *args: Arguments.args, **kwargs: Arguments.kwargs
        ) -> Page[Item]:
            if ports.lagging_database is None:
                return use_case(ports, actor, *args, **kwargs)
            late = replace(ports, database=ports.lagging_database)
            page = use_case(late, actor, *args, **kwargs)
            if not page.items:
                return page
            keys = [item.id for item in page.items]
            current = {item.id: item for item in read_by_key(ports, actor, keys)}
            if not current.keys() >= set(keys):
                return use_case(ports, actor, *args, **kwargs)
            return with_items(page, (current[key] for key in keys))

        return listing

    return decorate


def counts_on_replica(use_case: UseCase[Arguments, Result]) -> UseCase[Arguments, Result]:
    """Read figures from the replica where a request tolerates its lag.

    Used above another declaration. For what returns numbers by time or kind, and nothing of an
    object.
    """
    register(replace(REGISTER[name_of(use_case)], reads_replica=True))

    @wraps(use_case)
    def counting(
        ports: Ports, actor: Actor, /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        if ports.lagging_database is not None:
            ports = replace(ports, database=ports.lagging_database)
        return use_case(ports, actor, *args, **kwargs)

    return counting


def input_decides(use_case: UseCase[Arguments, Result]) -> UseCase[Arguments, Result]:
    """Anyone can call it; the caller's own permissions don't count.

    The input decides: a password, a token, a mailed link. Its writes are kept even if the session
    of the request's header ended meanwhile, and have a share of a server's transactions for
    themselves.
    """
    return _declare(Rule.PUBLIC, acts_as_caller=False)(use_case)


def account_owner_only(use_case: UseCase[Arguments, Result]) -> UseCase[Arguments, Result]:
    """Any signed-in person can call it for their own account; no app or extension can."""
    return _declare(Rule.ACCOUNT_OWNER)(use_case)


def staff_only(use_case: UseCase[Arguments, Result]) -> UseCase[Arguments, Result]:
    """Let any signed-in staff member call it, and no app."""
    return _declare(Rule.STAFF)(use_case)


def apps_only(use_case: UseCase[Arguments, Result]) -> UseCase[Arguments, Result]:
    """Let any app call it, and no person."""
    return _declare(Rule.APPS)(use_case)


def staff_and_apps(use_case: UseCase[Arguments, Result]) -> UseCase[Arguments, Result]:
    """Let any signed-in staff member and any app call it."""
    return _declare(Rule.STAFF_AND_APPS)(use_case)


def internal(use_case: UseCase[Arguments, Result]) -> UseCase[Arguments, Result]:
    """Let only the operator at the shell and the installation's own work call it."""
    return _declare(Rule.INTERNAL)(use_case)


def requires(
    *permissions: Permission,
) -> Callable[[UseCase[Arguments, Result]], UseCase[Arguments, Result]]:
    """Anyone with one of ``permissions`` can call it, person or app."""
    return _declare(Rule.PERMISSION, *permissions)


def requires_person(
    *permissions: Permission,
) -> Callable[[UseCase[Arguments, Result]], UseCase[Arguments, Result]]:
    """A person who holds one of ``permissions`` can call it; no app or third party ever can."""
    return _declare(Rule.PERMISSION_USERS_ONLY, *permissions)


def users_or(
    *permissions: Permission,
) -> Callable[[UseCase[Arguments, Result]], UseCase[Arguments, Result]]:
    """Any signed-in person can call it for what is theirs, and holders of ``permissions``."""
    return _declare(Rule.USERS_OR_PERMISSION, *permissions)


@building_block
def after_commit(session: Session, act: Callable[[], object]) -> None:
    """Call ``act`` after the commit of ``session``; it must be quick and raise nothing."""

    def run(_session: Session) -> None:
        act()

    event.listen(session, "after_commit", run, once=True)
