"""Notes about people, for those who manage them, and the IDs that other systems have for them."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from app.domain.accounts.users import User
from app.domain.authorization.actor import OPERATOR, Actor
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import PermissionDenied, Refused
from app.domain.values.ids import to_global_id
from app.domain.values.inputs import ABSENT
from app.ports import Ports
from app.services.people.customers import (
    NewCustomer,
    create_customer,
    delete_customer,
    update_customer,
)
from app.services.people.directory import external_references_of_users, notes_of_users, show_user
from app.services.people.staff import NewStaff, StaffChanges, create_staff, update_staff
from app.services.people.user_status import show_person
from app.services.people.users import Details
from tests.builders.audit import trail
from tests.builders.people import NOBODY, actor_of, make_staff, make_user
from tests.fakes.interrupted_database import InterruptedDatabase
from tests.fixtures.cases import cases
from tests.services.error_codes import codes

NOTE = "Calls on Mondays.\nPrefers tea ☕"
ERP = "erp-0042"


@pytest.fixture
def clerk(ports: Ports) -> Actor:
    """Someone who manages customers."""
    return actor_of(ports, make_staff(ports, "clerk@example.com", Permission.MANAGE_USERS))


def change(ports: Ports, actor: Actor, key: int, details: Details) -> User:
    return update_customer(ports, actor, to_global_id("User", key), details)


def read(ports: Ports, actor: Actor, user: User) -> tuple[str, str]:
    note = notes_of_users(ports, actor, [user])[user.id]
    return note, external_references_of_users(ports, actor, [user])[user.id]


def test_customer_is_created_and_changed_with_note_and_reference(
    ports: Ports, clerk: Actor
) -> None:
    new = NewCustomer("ann@example.com", note=NOTE, external_reference=ERP)
    ann = create_customer(ports, clerk, new)
    assert read(ports, clerk, ann) == (NOTE, ERP)

    change(ports, clerk, ann.id, Details(first_name="Ann"))
    assert read(ports, clerk, ann) == (NOTE, ERP)
    change(ports, clerk, ann.id, Details(note="Moved", external_reference="crm-1"))
    assert read(ports, clerk, ann) == ("Moved", "crm-1")
    change(ports, clerk, ann.id, Details(note=None, external_reference=""))
    assert read(ports, clerk, ann) == ("", "")


def test_audit_log_has_the_reference_but_not_the_note(ports: Ports, clerk: Actor) -> None:
    ann = create_customer(ports, clerk, NewCustomer("ann@example.com", note=NOTE))
    change(ports, clerk, ann.id, Details(note="Moved", external_reference=ERP))
    change(ports, clerk, ann.id, Details(note="Moved", external_reference=ERP))

    assert trail(ports, "user.create")[-1].after["has_note"]
    (changed,) = trail(ports, "customer.update")
    assert changed.after == {"has_note": True, "external_reference": ERP}


def test_customer_is_found_by_reference(ports: Ports, clerk: Actor) -> None:
    ann = create_customer(ports, clerk, NewCustomer("ann@example.com", external_reference=ERP))
    make_user(ports, "without@example.com")

    found = show_user(ports, clerk, external_reference=ERP)
    assert found is not None
    assert found.id == ann.id
    for unknown in ("erp-0043", "", "\0", "\ud8a0"):
        assert show_user(ports, clerk, external_reference=unknown) is None
    with pytest.raises(Refused) as refused:
        show_user(ports, clerk, email="ann@example.com", external_reference=ERP)
    assert codes(refused) == [("id", "GRAPHQL_ERROR")]

    renamed = update_customer(ports, clerk, None, Details("Ann"), external_reference=ERP)
    assert (renamed.id, renamed.first_name) == (ann.id, "Ann")
    assert delete_customer(ports, clerk, None, ERP).id == ann.id
    for name in ("", ERP):
        with pytest.raises(Refused) as refused:
            delete_customer(ports, clerk, None, name)
        assert codes(refused) == [("externalReference", "NOT_FOUND")]
    with pytest.raises(Refused) as refused:
        delete_customer(ports, clerk, to_global_id("User", ann.id), ERP)
    assert codes(refused) == [("id", "GRAPHQL_ERROR")]


def test_refused_deletion_names_the_reference(ports: Ports, clerk: Actor) -> None:
    make_staff(ports, "boss@example.com")
    boss = show_user(ports, OPERATOR, email="boss@example.com")
    assert boss is not None
    details = Details(external_reference=ERP)
    update_staff(ports, OPERATOR, to_global_id("User", boss.id), StaffChanges(details))
    with pytest.raises(Refused) as refused:
        delete_customer(ports, clerk, None, ERP)
    assert codes(refused) == [("externalReference", "DELETE_STAFF_ACCOUNT")]


def test_staff_are_not_changed_by_reference(ports: Ports, clerk: Actor) -> None:
    make_staff(ports, "boss@example.com")
    boss = show_user(ports, OPERATOR, email="boss@example.com")
    assert boss is not None
    details = Details(external_reference=ERP)
    update_staff(ports, OPERATOR, to_global_id("User", boss.id), StaffChanges(details))
    with pytest.raises(Refused) as refused:
        update_customer(ports, clerk, None, Details("X"), external_reference=ERP)
    # As for a reference that nobody has.
    assert codes(refused) == [("externalReference", "NOT_FOUND")]
    assert show_user(ports, clerk, external_reference=ERP) is None


def test_invalid_text_is_refused(ports: Ports, clerk: Actor) -> None:
    key = make_user(ports)

    @cases(
        ("details", "field"),
        [
            (Details(note="x" * 10_001), "note"),
            (Details(note="a\0b"), "note"),
            (Details(external_reference="x" * 251), "externalReference"),
            (Details(external_reference="two\nlines"), "externalReference"),
        ],
    )
    def check(details: Details, field: str) -> None:
        with pytest.raises(Refused) as refused:
            change(ports, clerk, key, details)
        assert codes(refused) == [(field, "INVALID")]
        new = NewCustomer(
            "new@example.com",
            note="" if details.note is ABSENT else str(details.note),
            external_reference=details.wanted_reference,
        )
        with pytest.raises(Refused) as refused:
            create_customer(ports, clerk, new)
        assert codes(refused) == [(field, "INVALID")]

    check()


def test_reference_is_unique(ports: Ports, clerk: Actor) -> None:
    create_customer(ports, clerk, NewCustomer("ann@example.com", external_reference=ERP))
    key = make_user(ports)
    with pytest.raises(Refused) as refused:
        change(ports, clerk, key, Details(external_reference=ERP))
    assert codes(refused) == [("externalReference", "UNIQUE")]
    with pytest.raises(Refused) as refused:
        create_customer(ports, clerk, NewCustomer("b@example.com", external_reference=ERP))
    assert codes(refused) == [("externalReference", "UNIQUE")]


@pytest.mark.both_databases
def test_reference_that_is_taken_at_the_same_time_is_refused(ports: Ports) -> None:
    keys = [make_user(ports, f"{number}@example.com") for number in range(4)]

    def take(key: int) -> str:
        try:
            change(ports, OPERATOR, key, Details(external_reference=ERP))
        except Refused as refused:
            return refused.problems[0].code
        return "taken"

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(take, keys)) == ["UNIQUE"] * 3 + ["taken"]


def test_reference_that_was_taken_before_the_commit_is_refused(ports: Ports) -> None:
    first, second = (make_user(ports, f"{number}@example.com") for number in range(2))
    database = InterruptedDatabase(ports.database)
    database.before[1] = lambda: change(ports, OPERATOR, first, Details(external_reference=ERP))
    with pytest.raises(Refused) as refused:
        change(
            replace(ports, database=database), OPERATOR, second, Details(external_reference=ERP)
        )
    assert codes(refused) == [("externalReference", "UNIQUE")]


def test_note_is_for_those_who_manage_the_person(ports: Ports, clerk: Actor) -> None:
    ann = create_customer(ports, clerk, NewCustomer("ann@example.com", note=NOTE))
    herself = actor_of(ports, ann.id)
    orders = actor_of(ports, make_staff(ports, "o@example.com", Permission.MANAGE_ORDERS))
    for actor in (NOBODY, herself, orders):
        with pytest.raises(PermissionDenied):
            notes_of_users(ports, actor, [ann])
    colleague = show_user(ports, OPERATOR, email="clerk@example.com")
    assert colleague is not None
    with pytest.raises(PermissionDenied):
        notes_of_users(ports, clerk, [colleague])
    for actor in (herself, orders):
        assert external_references_of_users(ports, actor, [ann]) == {ann.id: ""}
    with pytest.raises(PermissionDenied):
        external_references_of_users(ports, NOBODY, [ann])


def test_staff_have_notes(ports: Ports) -> None:
    make_user(ports, "promoted@example.com")
    manager = actor_of(ports, make_staff(ports, "m@example.com", Permission.MANAGE_STAFF))
    for email in ("new@example.com", "promoted@example.com"):
        member = create_staff(ports, manager, NewStaff(email, note=NOTE))
        assert notes_of_users(ports, manager, [member]) == {member.id: NOTE}
        changes = StaffChanges(Details(note="Left"))
        update_staff(ports, manager, to_global_id("User", member.id), changes)
        assert show_person(ports, manager, member.id).note == "Left"
