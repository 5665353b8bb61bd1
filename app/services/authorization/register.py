"""The decorators that declare who can call a use case, and the checks behind them."""

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import wraps
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import PermissionDenied, ProofRequired, TokenRejected
from app.domain.values.pages import Page, with_items
from app.ports import Ports
from app.services.authorization.current_rights import acting_for, signing_in
from app.services.authorization.declarations import (
    REGISTER,
    Declaration,
    FreshProof,
    Rule,
    name_of,
    part,
    register,
)

__all__ = [
    "REGISTER",
    "Arguments",
    "Declaration",
    "Result",
    "Rule",
    "UseCase",
    "account_owner_only",
    "apps_only",
    "check",
    "counts_on_replica",
    "fresh_proof",
    "input_decides",
    "internal",
    "lists_from_replica",
    "may",
    "needs_proof",
    "part",
    "public",
    "requires",
    "requires_person",
    "staff_and_apps",
    "staff_only",
    "users_only",
    "users_or",
]

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
    """Let ``actor`` pass or raise.

    A broken credential is named as such wherever an identity is needed (contract, "Credentials,
    precisely", 5): ``TokenRejected`` before ``PermissionDenied``.
    """
    if declaration.admits(actor):
        return
    if actor.fault is not None:
        raise TokenRejected(actor.fault)
    raise PermissionDenied(*declaration.required)


def may(actor: Actor, use_case: Callable[..., object]) -> bool:
    """Whether ``actor`` may call ``use_case``: what an edge asks before it shows a button."""
    return REGISTER[name_of(use_case)].admits(actor)


def needs_proof(
    ports: Ports, actor: Actor, use_case: Callable[..., object], *args: object
) -> bool:
    """Whether ``use_case``, called so, would raise ``ProofRequired``: to ask before."""
    proof = REGISTER[name_of(use_case)].proof
    return proof is not None and actor.proof_is_old and proof.when(ports, actor, *args)


def _declare(
    rule: Rule, *permissions: Permission, acts_as_caller: bool = True
) -> Callable[[UseCase[Arguments, Result]], UseCase[Arguments, Result]]:
    def decorate(use_case: UseCase[Arguments, Result]) -> UseCase[Arguments, Result]:
        declaration = Declaration(name_of(use_case), rule, permissions, acts_as_caller)
        register(declaration)

        @wraps(use_case)
        def checked(
            ports: Ports,
            actor: Actor,
            /,
            *args: Arguments.args,
            **kwargs: Arguments.kwargs,
        ) -> Result:
            check(declaration, actor)
            if declaration.acts_as_caller:
                given = acting_for(ports, actor, own_account=rule is Rule.ACCOUNT_OWNER)
            else:
                given = signing_in(ports)
            return use_case(given, actor, *args, **kwargs)

        return checked

    return decorate


def public(use_case: UseCase[Arguments, Result]) -> UseCase[Arguments, Result]:
    """Anyone may call it."""
    return _declare(Rule.PUBLIC)(use_case)


def fresh_proof(
    condition: str, when: Callable[Concatenate[Ports, Actor, Arguments], bool]
) -> Callable[[UseCase[Arguments, Result]], UseCase[Arguments, Result]]:
    """Make staff at the console reauthenticate; used above another declaration.

    Raises ``ProofRequired`` while the actor's ``proof_is_old`` and ``when`` accepts the arguments;
    ``condition`` describes it on the access page.
    """

    def decorate(use_case: UseCase[Arguments, Result]) -> UseCase[Arguments, Result]:
        declaration = replace(REGISTER[name_of(use_case)], proof=FreshProof(condition, when))
        register(declaration)

        @wraps(use_case)
        def proven(
            ports: Ports,
            actor: Actor,
            /,
            *args: Arguments.args,
            **kwargs: Arguments.kwargs,
        ) -> Result:
            if actor.proof_is_old:
                check(declaration, actor)
                if when(ports, actor, *args, **kwargs):
                    raise ProofRequired
            return use_case(ports, actor, *args, **kwargs)

        return proven

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
            ports: Ports,
            actor: Actor,
            /,
            *args: Arguments.args,
            **kwargs: Arguments.kwargs,
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
        ports: Ports,
        actor: Actor,
        /,
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
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


def users_only(use_case: UseCase[Arguments, Result]) -> UseCase[Arguments, Result]:
    """Any signed-in person can call it, and any extension that acts for one; apps can't.

    For nothing that concerns the person's own account: that is ``account_owner_only``.
    """
    return _declare(Rule.USERS)(use_case)


def account_owner_only(use_case: UseCase[Arguments, Result]) -> UseCase[Arguments, Result]:
    """Any signed-in person can call it for their own account; no app or extension can."""
    return _declare(Rule.ACCOUNT_OWNER)(use_case)


def staff_only(use_case: UseCase[Arguments, Result]) -> UseCase[Arguments, Result]:
    """Any signed-in member of the staff may call it; apps may not."""
    return _declare(Rule.STAFF)(use_case)


def apps_only(use_case: UseCase[Arguments, Result]) -> UseCase[Arguments, Result]:
    """Any app may call it; people may not."""
    return _declare(Rule.APPS)(use_case)


def staff_and_apps(use_case: UseCase[Arguments, Result]) -> UseCase[Arguments, Result]:
    """Any signed-in member of the staff may call it, and any app."""
    return _declare(Rule.STAFF_AND_APPS)(use_case)


def internal(use_case: UseCase[Arguments, Result]) -> UseCase[Arguments, Result]:
    """Only the operator at the shell and the installation's own work may call it."""
    return _declare(Rule.INTERNAL)(use_case)


def requires(
    *permissions: Permission,
) -> Callable[[UseCase[Arguments, Result]], UseCase[Arguments, Result]]:
    """Anyone with one of ``permissions`` can call it, person or app."""
    return _declare(Rule.PERMISSION, *permissions)


def requires_person(
    *permissions: Permission,
) -> Callable[[UseCase[Arguments, Result]], UseCase[Arguments, Result]]:
    """A person who holds one of ``permissions`` may call it; an app never, whatever it holds."""
    return _declare(Rule.PERMISSION_USERS_ONLY, *permissions)


def users_or(
    *permissions: Permission,
) -> Callable[[UseCase[Arguments, Result]], UseCase[Arguments, Result]]:
    """Any signed-in person can call it for what is theirs, and holders of ``permissions``."""
    return _declare(Rule.USERS_OR_PERMISSION, *permissions)
