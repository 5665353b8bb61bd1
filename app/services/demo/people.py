"""The demo shop's staff and customers."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

from sqlalchemy import String, cast, select
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.addresses import AddressDetails, AddressKind, checked_address
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.values.errors import Refused
from app.ports import Ports
from app.services.accounts.stored_addresses import make_default, store_address
from app.services.authorization.register import building_block
from app.services.demo.timeline import DAY, MAKER, Happening, Past
from app.services.people.groups import NewGroup, create_group, find_groups
from app.services.people.users import NewUser, create_user

OPENED = 60 * DAY
"""When the shop was opened."""

MANAGER, SUPPORT, EDITOR = "manager@example.com", "support@example.com", "ivo.horvat@example.com"

GROUPS = {
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
    "Catalogue": frozenset({Permission.MANAGE_PRODUCTS}),
    "Packing table": frozenset({Permission.MANAGE_ORDERS}),
}


@dataclass(frozen=True, slots=True)
class Person:
    """A demo person; one with a ``role`` gets a password, shown with it.

    ``last_seen`` and ``joined`` are in hours ago; ``subject`` is theirs at the staff's identity
    provider.
    """

    email: str
    name: str
    joined: float
    role: str = ""
    group: str = ""
    is_superuser: bool = False
    is_active: bool = True
    last_seen: float | None = None
    subject: str = ""


STAFF = (
    Person("admin@example.com", "Ada Okafor", OPENED, "superuser", "Full Access", True),  # noqa: FBT003
    Person(MANAGER, "Mateo Silva", OPENED - 1, "manager", "Shop managers", subject="m.silva"),
    Person(SUPPORT, "Sun-hi Park", OPENED - 2, "support", "Customer support", subject="s.park"),
    Person(EDITOR, "Ivo Horvat", OPENED - 3, group="Catalogue", last_seen=5.2, subject="i.horvat"),
    Person(
        "nadia.rahman@example.com",
        "Nadia Rahman",
        48 * DAY,
        group="Packing table",
        last_seen=1.4,
        subject="n.rahman",
    ),
    Person(
        "tomasz.wojcik@example.com",
        "Tomasz Wójcik",
        31 * DAY,
        group="Packing table",
        last_seen=20.5,
    ),
    Person(
        "ingrid.solberg@example.com",
        "Ingrid Solberg",
        17 * DAY,
        group="Customer support",
        last_seen=70.0,
        subject="i.solberg",
    ),
    Person(
        "henrik.aalto@example.com",
        "Henrik Aalto",
        OPENED - 4,
        group="Shop managers",
        is_active=False,
        last_seen=26 * DAY,
    ),
)

_BUYERS = (
    ("amara.diallo", "Amara Diallo"),
    ("joao.ferreira", "João Ferreira"),
    ("li.wei", "Li Wei"),
    ("noor.haddad", "Noor Haddad"),
    ("o.brien", "Siobhán O'Brien"),
    ("elif.sahin", "Elif Şahin"),
    ("mikkel.sorensen", "Mikkel Sørensen"),
    ("priya.raman", "Priya Raman"),
    ("lucia.navarro", "Lucía Navarro"),
    ("kofi.boateng", "Kofi Boateng"),
    ("hana.novotna", "Hana Novotná"),
    ("emile.laurent", "Émile Laurent"),
    ("yuki.tanaka", "Yuki Tanaka"),
    ("zanele.dube", "Zanele Dube"),
    ("piet.devries", "Piet de Vries"),
    ("k.lis", "Katarzyna Lis"),
    ("omar.benali", "Omar Benali"),
    ("freya.lindholm", "Freya Lindholm"),
    ("diego.paredes", "Diego Paredes"),
    ("mei-ling.chen", "Mei-Ling Chen"),
    ("anton.berger", "Anton Berger"),
    ("rosa.conti", "Rosa Conti"),
    ("tariq.aziz", "Tariq Aziz"),
    ("linnea.ek", "Linnea Ek"),
    ("marek.dvorak", "Marek Dvořák"),
    ("ayesha.malik", "Ayesha Malik"),
    ("jonas.keller", "Jonas Keller"),
    ("thandi.nkosi", "Thandi Nkosi"),
    ("beatriz.lopes", "Beatriz Lopes"),
)


_HOMES = {
    "customer@example.com": AddressDetails(
        street_address_1="Kajgatan 8", postal_code="211 12", city="MALMÖ", country="SE"
    ),
    "anton.berger@example.com": AddressDetails(
        street_address_1="Lindengasse 12", postal_code="1070", city="Wien", country="AT"
    ),
    "rosa.conti@example.com": AddressDetails(
        street_address_1="Via Garibaldi 3",
        postal_code="16124",
        city="Genova",
        country="IT",
        country_area="GE",
    ),
    "jonas.keller@example.com": AddressDetails(
        street_address_1="Hafenstraße 21", postal_code="20459", city="Hamburg", country="DE"
    ),
}
"""Addresses of some customers, their default for everything."""


def _customers() -> Iterator[Person]:
    yield Person("customer@example.com", "Clara Lindqvist", OPENED - 5, "customer")
    for place, (local, name) in enumerate(_BUYERS):
        # One a day or two at first, and more of them lately.
        joined = 2.5 + 1.55 * (len(_BUYERS) - 1 - place) ** 2
        last_seen = joined * (0.1 + place % 4 / 5)
        yield Person(f"{local}@example.com", name, joined, last_seen=last_seen)


CUSTOMERS = tuple(_customers())
PEOPLE = STAFF + CUSTOMERS


@building_block
def people_happenings() -> Iterator[Happening]:
    """The groups are made, and people come."""
    for name in GROUPS:
        yield Happening(OPENED + 1, partial(_add_group, name))
    for person in PEOPLE:
        yield Happening(person.joined, partial(_add, person))


@building_block
def customer(past: Past, email: str) -> Actor | None:
    """Return the customer of that address, if it is one of the demo's own."""
    with past.ports.database.reading() as session:
        found = made_for_demo(session, [email]).get(email)
    return None if found is None else past.person(found, email)


@building_block
def made_for_demo(session: Session, addresses: Collection[str]) -> Mapping[str, int]:
    """Return the keys of the demo's people by email; no one else is changed."""
    query = (
        select(models.User.email, models.User.id)
        .join(models.AuditEntry, models.AuditEntry.subject_id == cast(models.User.id, String))
        .where(
            models.User.email.in_(addresses),
            models.AuditEntry.action == "user.create",
            models.AuditEntry.subject_type == "User",
            models.AuditEntry.actor_name == MAKER.name,
        )
    )
    return {row.email: row.id for row in session.execute(query)}


def _add_group(name: str, past: Past) -> None:
    with _unless_exists():
        create_group(past.at(OPENED + 1), MAKER, NewGroup(name, GROUPS[name]))


def _add(person: Person, past: Past) -> None:
    first, _, last = person.name.partition(" ")
    ports = past.at(person.joined)
    groups = find_groups(ports, MAKER, [person.group]) if person.group else ()
    new = NewUser(
        email=person.email,
        first_name=first,
        last_name=last,
        is_staff=bool(groups),
        is_superuser=person.is_superuser,
        groups=frozenset(group.id for group in groups),
        is_active=person.is_active,
    )
    with _unless_exists():
        user = create_user(ports, MAKER, new)
        if person.email in _HOMES:
            _add_home(ports, user)


def _add_home(ports: Ports, user: User) -> None:
    """Give a new customer an address, as if it had always been there."""
    names = {"first_name": user.first_name, "last_name": user.last_name}
    details = checked_address(replace(_HOMES[user.email], **names))
    with ports.database.transaction() as session:
        stored = store_address(ports, MAKER, session, user.id, details, validation_skipped=False)
        for kind in AddressKind:
            make_default(session, stored, kind)


@contextmanager
def _unless_exists() -> Iterator[None]:
    try:
        yield
    except Refused as refused:
        if [problem.code for problem in refused.problems] != ["UNIQUE"]:
            raise
