"""The declarations of who can call each use case, and their register."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TypeVar

from app.domain.authorization.actor import Actor, ClientGrant
from app.domain.authorization.permissions import Caller, Permission
from app.domain.values.text import Sentence

Function = TypeVar("Function", bound=Callable[..., object])


class Rule(StrEnum):
    """The kinds of callers that a use case accepts."""

    PUBLIC = "public"
    ACCOUNT_OWNER = "account owner"
    STAFF = "staff"
    APPS = "apps"
    STAFF_AND_APPS = "staff and apps"
    PERMISSION = "permission"
    PERMISSION_USERS_ONLY = "permission, users only"
    USERS_OR_PERMISSION = "users, or permission"
    INTERNAL = "internal"
    BUILDING_BLOCK = "building block of use cases"


_KINDS: Mapping[Rule, tuple[Caller, ...]] = MappingProxyType(
    {
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
class FreshProof:
    """When staff at the console must reauthenticate before a use case.

    ``when`` gets the use case's arguments and returns which of ``acts`` it would be, "" for none;
    ``condition`` says the same in words.
    """

    acts: Mapping[str, Sentence]
    condition: str
    when: Callable[..., str]


@dataclass(frozen=True, slots=True)
class Declaration:
    """One use case in the access register; any one of ``permissions`` is enough.

    ``acts_as_caller``: what it writes depends on the caller's rights, which are checked again
    before each commit. ``proof``: the console asks staff to prove again who they are.
    ``reads_replica``: it finds or counts in the replica in requests whose lists may be late.
    ``scopes`` are those with which an OAuth client of a third party can call it.
    """

    name: str
    rule: Rule
    permissions: tuple[Permission, ...] = ()
    acts_as_caller: bool = True
    proof: FreshProof | None = None
    reads_replica: bool = False
    scopes: tuple[str, ...] = ()

    @property
    def required(self) -> tuple[str, ...]:
        """The permissions or kinds of caller that a refused caller lacks."""
        if self.rule is Rule.USERS_OR_PERMISSION:
            return (Caller.USER, *self.permissions)
        return _KINDS.get(self.rule, self.permissions)

    def admits(self, actor: Actor) -> bool:
        if actor.is_trusted or self.rule is Rule.PUBLIC:
            return True
        if self.rule in (Rule.INTERNAL, Rule.BUILDING_BLOCK):
            return False
        if actor.is_third_party:
            is_for_people = self.rule is Rule.PERMISSION_USERS_ONLY
            is_permitted = not is_for_people and self._admits_permissions(actor)
            return is_permitted or self.is_covered_by(actor.client)
        if self.rule in _KINDS:
            is_kind = any(_IS[kind](actor) for kind in _KINDS[self.rule])
            return is_kind and (self.rule is not Rule.ACCOUNT_OWNER or actor.is_account_owner)
        if self.rule is Rule.PERMISSION_USERS_ONLY and not actor.is_user:
            return False
        is_person_enough = self.rule is Rule.USERS_OR_PERMISSION and actor.is_user
        return is_person_enough or self._admits_permissions(actor)

    def is_covered_by(self, client: ClientGrant | None) -> bool:
        """Whether a third party's scopes name it."""
        return client is not None and bool(self.scopes) and client.covers(*self.scopes)

    def _admits_permissions(self, actor: Actor) -> bool:
        return any(actor.holds(permission) for permission in self.permissions)


_REGISTER: dict[str, Declaration] = {}
REGISTER: Mapping[str, Declaration] = MappingProxyType(_REGISTER)
"""Every use case by ``module.function`` below ``app.services``."""


def register(declaration: Declaration) -> None:
    """Add ``declaration`` to the register; raise ``TypeError`` if it has another rule there.

    The rule that is registered last would decide about the callers of a use case.
    """
    known = _REGISTER.get(declaration.name)
    if known is not None and known.rule is not declaration.rule:
        raise TypeError(f"{declaration.name} is declared as {known.rule} and {declaration.rule}.")
    _REGISTER[declaration.name] = declaration


def name_of(use_case: Callable[..., object]) -> str:
    return f"{use_case.__module__.partition('.services.')[2]}.{use_case.__qualname__}"


def building_block(function: Function) -> Function:
    """Declare a building block of use cases, which checks no caller itself."""
    register(Declaration(name_of(function), Rule.BUILDING_BLOCK))
    return function
