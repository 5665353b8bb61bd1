"""A shop to try things on: people, groups and an app, made by the same use cases as real ones."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from sqlalchemy import or_, select

from app.domain.actor import Actor
from app.domain.errors import Refused
from app.domain.permissions import ALL_PERMISSIONS, Permission
from app.models import AppRecord, UserRecord
from app.ports import Ports
from app.services.access import internal
from app.services.apps import NewApp, create_app
from app.services.groups import NewGroup, create_group, find_groups
from app.services.users import NewUser, create_user

_PASSWORD_LENGTH = 16
_APP = "Demo warehouse"
_GROUPS = {
    "Full Access": ALL_PERMISSIONS,
    "Shop managers": frozenset(
        {
            Permission.MANAGE_APPS,
            Permission.MANAGE_DISCOUNTS,
            Permission.MANAGE_ORDERS,
            Permission.MANAGE_PRODUCTS,
            Permission.MANAGE_SETTINGS,
            Permission.MANAGE_USERS,
        }
    ),
    "Customer support": frozenset({Permission.MANAGE_ORDERS, Permission.MANAGE_USERS}),
}


@dataclass(frozen=True, slots=True)
class _Person:
    role: str
    email: str
    name: str
    group: str = ""
    is_superuser: bool = False
    signs_in: bool = True


_PEOPLE = (
    _Person("superuser", "admin@example.com", "Ada Okafor", "Full Access", is_superuser=True),
    _Person("manager", "manager@example.com", "Mateo Silva", "Shop managers"),
    _Person("support", "support@example.com", "Sun-hi Park", "Customer support"),
    _Person("customer", "customer@example.com", "Clara Lindqvist"),
    _Person("customer", "amara.diallo@example.com", "Amara Diallo", signs_in=False),
    _Person("customer", "joao.ferreira@example.com", "João Ferreira", signs_in=False),
    _Person("customer", "li.wei@example.com", "Li Wei", signs_in=False),
    _Person("customer", "noor.haddad@example.com", "Noor Haddad", signs_in=False),
    _Person("customer", "o.brien@example.com", "Siobhán O'Brien", signs_in=False),
)


@dataclass(frozen=True, slots=True)
class SignIn:
    """Somebody, or an app, that has just been made; ``secret`` is told now and never again."""

    role: str
    name: str
    secret: str = field(repr=False)


@internal
def fill_shop(ports: Ports, actor: Actor, tell: Callable[[SignIn], None]) -> None:
    """Make whatever of the demo shop is missing; ``tell`` gets each new sign-in once it is made.

    Safe to repeat, also after an interruption: nobody who exists is changed, and no password is
    told twice.
    """
    for name, permissions in _GROUPS.items():
        with _unless_there():
            create_group(ports, actor, NewGroup(name, permissions))
    for person in _PEOPLE:
        with _unless_there():
            _add(ports, actor, person, tell)
    if not _has_app(ports):
        new = NewApp(_APP, frozenset({Permission.MANAGE_ORDERS, Permission.MANAGE_PRODUCTS}))
        tell(SignIn("app", _APP, create_app(ports, actor, new).token.secret))


@internal
def is_in_use(ports: Ports, actor: Actor) -> bool:
    """Whether the demo shop was filled to its end, or the shop is somebody's own.

    Demo people alone, none of whom has ever signed in, are what an interruption has left.
    """
    demo = [person.email for person in _PEOPLE]
    stranger = or_(UserRecord.email.not_in(demo), UserRecord.last_login.is_not(None))
    with ports.database.reading() as session:
        if session.scalar(select(UserRecord.id).where(stranger).limit(1)) is not None:
            return True
        return session.scalar(select(AppRecord.id).limit(1)) is not None


def _add(ports: Ports, actor: Actor, person: _Person, tell: Callable[[SignIn], None]) -> None:
    first, _, last = person.name.partition(" ")
    password = ports.randomness.token(_PASSWORD_LENGTH) if person.signs_in else None
    groups = find_groups(ports, actor, [person.group]) if person.group else ()
    new = NewUser(
        email=person.email,
        first_name=first,
        last_name=last,
        is_staff=bool(groups),
        is_superuser=person.is_superuser,
        groups=frozenset(group.id for group in groups),
        password=password,
    )
    create_user(ports, actor, new)
    if password is not None:
        tell(SignIn(person.role, person.email, password))


def _has_app(ports: Ports) -> bool:
    with ports.database.reading() as session:
        return session.scalar(select(AppRecord.id).where(AppRecord.name == _APP)) is not None


@contextmanager
def _unless_there() -> Iterator[None]:
    try:
        yield
    except Refused as refused:
        if [problem.code for problem in refused.problems] != ["UNIQUE"]:
            raise
