"""May they? The declarations that stand above every use case, and the register they fill."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import wraps
from types import MappingProxyType
from typing import Concatenate, ParamSpec, TypeVar

from app.domain.actor import Actor
from app.domain.errors import PermissionDenied, TokenRejected
from app.domain.permissions import Caller, Permission
from app.ports import Ports

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Function = TypeVar("Function", bound=Callable[..., object])
UseCase = Callable[Concatenate[Ports, Actor, Arguments], Result]


class Rule(StrEnum):
    """Who may call a use case."""

    PUBLIC = "public"
    USERS = "users"
    ACCOUNT_OWNER = "account owner"
    STAFF = "staff"
    APPS = "apps"
    STAFF_AND_APPS = "staff and apps"
    PERMISSION = "permission"
    PERMISSION_USERS_ONLY = "permission, users only"
    USERS_OR_PERMISSION = "users, or permission"
    INTERNAL = "internal"
    PART = "part of use cases"


_KINDS: Mapping[Rule, tuple[Caller, ...]] = MappingProxyType(
    {
        Rule.USERS: (Caller.USER,),
        Rule.ACCOUNT_OWNER: (Caller.USER,),
        Rule.STAFF: (Caller.STAFF,),
        Rule.APPS: (Caller.APP,),
        Rule.STAFF_AND_APPS: (Caller.STAFF, Caller.APP),
    }
)
"""The rules that ask for a kind of caller, any one of these."""

_IS: Mapping[Caller, Callable[[Actor], bool]] = MappingProxyType(
    {
        Caller.USER: lambda actor: actor.is_user,
        Caller.STAFF: lambda actor: actor.is_user and actor.is_staff,
        Caller.APP: lambda actor: actor.is_app,
    }
)


@dataclass(frozen=True, slots=True)
class Declaration:
    """One use case in the access register; any one of ``permissions`` is enough."""

    name: str
    rule: Rule
    permissions: tuple[Permission, ...] = ()

    @property
    def required(self) -> tuple[str, ...]:
        """What a refused caller is told that it needs."""
        if self.rule is Rule.USERS_OR_PERMISSION:
            return (Caller.USER, *self.permissions)
        return _KINDS.get(self.rule, self.permissions)

    def admits(self, actor: Actor) -> bool:
        if actor.is_trusted or self.rule is Rule.PUBLIC:
            return True
        if self.rule in (Rule.INTERNAL, Rule.PART):
            return False
        if self.rule in _KINDS:
            is_kind = any(_IS[kind](actor) for kind in _KINDS[self.rule])
            return is_kind and (self.rule is not Rule.ACCOUNT_OWNER or actor.is_account_owner)
        if self.rule is Rule.PERMISSION_USERS_ONLY and not actor.is_user:
            return False
        if self.rule is Rule.USERS_OR_PERMISSION and actor.is_user:
            return True
        return any(permission in actor.permissions for permission in self.permissions)


_REGISTER: dict[str, Declaration] = {}
REGISTER: Mapping[str, Declaration] = MappingProxyType(_REGISTER)
"""Every use case by ``module.function`` below ``app.services``."""


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
    return _REGISTER[_name(use_case)].admits(actor)


def _declare(
    rule: Rule, *permissions: Permission
) -> Callable[[UseCase[Arguments, Result]], UseCase[Arguments, Result]]:
    def decorate(use_case: UseCase[Arguments, Result]) -> UseCase[Arguments, Result]:
        declaration = Declaration(_name(use_case), rule, permissions)
        _REGISTER[declaration.name] = declaration

        @wraps(use_case)
        def checked(
            ports: Ports,
            actor: Actor,
            /,
            *args: Arguments.args,
            **kwargs: Arguments.kwargs,
        ) -> Result:
            check(declaration, actor)
            return use_case(ports, actor, *args, **kwargs)

        return checked

    return decorate


def public(use_case: UseCase[Arguments, Result]) -> UseCase[Arguments, Result]:
    """Anyone may call it."""
    return _declare(Rule.PUBLIC)(use_case)


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


def part(function: Function) -> Function:
    """Declare what use cases are made of, or what comes before one: it checks nobody itself."""
    name = _name(function)
    _REGISTER[name] = Declaration(name, Rule.PART)
    return function


def requires(
    *permissions: Permission,
) -> Callable[[UseCase[Arguments, Result]], UseCase[Arguments, Result]]:
    """Whoever holds one of ``permissions`` may call it, person or app."""
    return _declare(Rule.PERMISSION, *permissions)


def requires_person(
    *permissions: Permission,
) -> Callable[[UseCase[Arguments, Result]], UseCase[Arguments, Result]]:
    """A person who holds one of ``permissions`` may call it; an app never, whatever it holds."""
    return _declare(Rule.PERMISSION_USERS_ONLY, *permissions)


def users_or(
    *permissions: Permission,
) -> Callable[[UseCase[Arguments, Result]], UseCase[Arguments, Result]]:
    """Any signed-in person may call it, for what is their own, and whoever holds one of these."""
    return _declare(Rule.USERS_OR_PERMISSION, *permissions)


def _name(use_case: Callable[..., object]) -> str:
    return f"{use_case.__module__.removeprefix('app.services.')}.{use_case.__qualname__}"
