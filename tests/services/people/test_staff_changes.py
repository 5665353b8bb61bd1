"""The staff, changed and removed: never by anybody beyond what they hold."""

import pytest

from app import models
from app.domain.accounts.users import User
from app.domain.authorization.actor import OPERATOR, Actor, ActorKind
from app.domain.authorization.permissions import ALL_PERMISSIONS
from app.domain.mails.mail import MailKind
from app.domain.values.errors import PermissionDenied, Refused
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.identity.identify import identify
from app.services.people.staff import (
    NewStaff,
    StaffChanges,
    create_staff,
    delete_staff,
    update_staff,
)
from app.services.people.users import Details
from tests.builders.audit import trail
from tests.builders.outbox import events, mails
from tests.builders.people import (
    actor_of,
    make_group,
    make_staff,
    make_user,
    sessions_of,
    sign_in,
    visit,
)
from tests.fixtures.cases import cases
from tests.services.error_codes import codes
from tests.services.staff_helpers import ORDERS, PAGES, STAFF, gid, groups


def change(ports: Ports, actor: Actor, key: int, **details: object) -> User:
    return update_staff(
        ports,
        actor,
        gid(key),
        StaffChanges(Details(**details)),  # type: ignore[arg-type]
    )


def test_change_of_details_is_audited_and_mailed_to_the_old_email(
    ports: Ports, boss: Actor
) -> None:
    bob = make_staff(ports, "bob@example.com")
    user = change(ports, boss, bob, first_name="Bob", email="Bobby@example.com")
    assert (user.first_name, user.email) == ("Bob", "bobby@example.com")
    [mail] = mails(ports)
    assert (mail.kind, mail.recipient) == (MailKind.EMAIL_CHANGED, "bob@example.com")
    assert [event.type for event in events(ports)] == ["STAFF_UPDATED"]
    [row] = trail(ports, "staff.update")
    assert row.before == {"first_name": "", "email": "bob@example.com"}
    assert row.after == {"first_name": "Bob", "email": "bobby@example.com"}


def test_unchanged_values_are_neither_audited_nor_published(ports: Ports, boss: Actor) -> None:
    bob = make_staff(ports, "bob@example.com")
    change(ports, boss, bob, first_name="", email="BOB@example.com", is_active=True)
    assert events(ports) == []
    assert trail(ports, "staff.update") == []


def test_invalid_details_are_refused(ports: Ports, boss: Actor) -> None:
    bob = make_staff(ports, "bob@example.com")

    @cases(
        ("details", "expected"),
        [
            ({"email": None}, ("email", "REQUIRED")),
            ({"email": "x"}, ("email", "INVALID")),
            ({"email": "boss@example.com"}, ("email", "UNIQUE")),
            ({"first_name": "a\r\nb"}, ("firstName", "INVALID")),
            ({"last_name": "x" * 257}, ("lastName", "INVALID")),
            ({"is_active": None}, ("isActive", "INVALID")),
        ],
    )
    def check(details: dict[str, object], expected: tuple[str, str]) -> None:
        with pytest.raises(Refused) as refused:
            change(ports, boss, bob, **details)
        assert codes(refused) == [expected]

    check()


def test_groups_are_added_and_removed(ports: Ports, boss: Actor) -> None:
    support, care = make_group(ports, "Support", ORDERS), make_group(ports, "Care")
    bob = make_user(ports, "bob@example.com", is_staff=True, groups=[support])
    changes = StaffChanges(add_groups=groups(care), remove_groups=groups(support))
    user = update_staff(ports, boss, gid(bob), changes)
    assert [group.name for group in user.groups] == ["Care"]
    [row] = trail(ports, "staff.update")
    assert (row.before, row.after) == ({"groups": [support]}, {"groups": [care]})
    update_staff(ports, boss, gid(bob), changes)
    assert len(trail(ports, "staff.update")) == 1


@pytest.mark.both_databases
def test_group_is_not_added_and_removed_at_once(ports: Ports, boss: Actor) -> None:
    support = make_group(ports, "Support", ORDERS)
    bob = make_staff(ports, "bob@example.com")
    changes = StaffChanges(add_groups=groups(support), remove_groups=groups(support))
    with pytest.raises(Refused) as refused:
        update_staff(ports, boss, gid(bob), changes)
    assert codes(refused) == [(None, "DUPLICATED_INPUT_ITEM")]
    assert refused.value.problems[0].groups == groups(support)


def test_direct_permission_is_granted_and_removed_again(ports: Ports, boss: Actor) -> None:
    support = make_group(ports, "Support", ORDERS)
    bob = make_user(ports, "bob@example.com", is_staff=True, groups=[support])
    grant = StaffChanges(add_permissions=frozenset({STAFF, ORDERS}))
    assert update_staff(ports, boss, gid(bob), grant).permissions == {STAFF, ORDERS}
    withdrawal = StaffChanges(remove_permissions=frozenset({STAFF, ORDERS}))
    assert update_staff(ports, boss, gid(bob), withdrawal).permissions == {ORDERS}
    granted, removed = sorted(trail(ports, "staff.update"), key=lambda row: row.id)
    both = {"permissions": ["MANAGE_ORDERS", "MANAGE_STAFF"]}
    assert (granted.before, granted.after) == ({"permissions": []}, both)
    assert (removed.before, removed.after) == (both, {"permissions": []})
    assert [event.type for event in events(ports)] == ["STAFF_UPDATED"] * 2
    update_staff(ports, boss, gid(bob), withdrawal)
    assert len(trail(ports, "staff.update")) == 2


def test_direct_permissions_beyond_the_caller_are_refused(ports: Ports, boss: Actor) -> None:
    bob = make_staff(ports, "bob@example.com", ORDERS)

    @cases(
        ("changes", "expected"),
        [
            (
                StaffChanges(add_permissions=frozenset({PAGES})),
                ("addPermissions", "OUT_OF_SCOPE_PERMISSION"),
            ),
            (
                StaffChanges(remove_permissions=frozenset({PAGES})),
                ("removePermissions", "OUT_OF_SCOPE_PERMISSION"),
            ),
            (
                StaffChanges(
                    add_permissions=frozenset({ORDERS}), remove_permissions=frozenset({ORDERS})
                ),
                ("permissions", "DUPLICATED_INPUT_ITEM"),
            ),
        ],
    )
    def check(changes: StaffChanges, expected: tuple[str, str]) -> None:
        with pytest.raises(Refused) as refused:
            update_staff(ports, boss, gid(bob), changes)
        assert codes(refused) == [expected]
        assert actor_of(ports, bob).permissions == {ORDERS}

    check()


def test_last_direct_manager_of_a_permission_keeps_it(ports: Ports) -> None:
    only = make_staff(ports, "only@example.com", STAFF, ORDERS)
    changes = StaffChanges(remove_permissions=frozenset({STAFF}))
    with pytest.raises(Refused) as refused:
        update_staff(ports, actor_of(ports, only), gid(only), changes)
    assert codes(refused) == [("removePermissions", "LEFT_NOT_MANAGEABLE_PERMISSION")]
    assert actor_of(ports, only).permissions == {STAFF, ORDERS}


def test_deactivated_user_is_signed_out_immediately(ports: Ports, boss: Actor) -> None:
    bob = make_staff(ports, "bob@example.com")
    pair = sign_in(ports, bob)
    assert not change(ports, boss, bob, is_active=False).is_active
    assert sessions_of(ports, bob) == []
    assert identify(ports, visit(pair.access)).actor.fault is not None
    assert change(ports, boss, bob, is_active=True).is_active


def test_staff_cannot_deactivate_or_delete_themselves(ports: Ports, boss: Actor) -> None:
    key = boss.user_id or 0
    with pytest.raises(Refused) as refused:
        change(ports, boss, key, is_active=False)
    assert codes(refused) == [("isActive", "DEACTIVATE_OWN_ACCOUNT")]
    with pytest.raises(Refused) as refused:
        delete_staff(ports, boss, gid(key))
    assert codes(refused) == [("id", "DELETE_OWN_ACCOUNT")]
    assert change(ports, boss, key, first_name="Bo").first_name == "Bo"


def test_more_privileged_users_cannot_be_managed(ports: Ports, boss: Actor) -> None:
    above = make_staff(ports, "above@example.com", PAGES)
    with pytest.raises(Refused) as refused:
        change(ports, boss, above, first_name="x")
    assert codes(refused) == [("id", "OUT_OF_SCOPE_USER")]
    assert refused.value.problems[0].users == (gid(above),)
    with pytest.raises(Refused) as refused:
        delete_staff(ports, boss, gid(above))
    assert codes(refused) == [("id", "OUT_OF_SCOPE_USER")]


def test_superuser_is_changed_only_with_all_permissions_and_never_removed(
    ports: Ports, boss: Actor
) -> None:
    root = make_user(ports, "root@example.com", is_superuser=True)
    equal = actor_of(ports, make_user(ports, "equal@example.com", is_superuser=True))
    with pytest.raises(Refused) as refused:
        change(ports, boss, root, first_name="x")
    assert codes(refused) == [("id", "OUT_OF_SCOPE_USER")]
    assert change(ports, equal, root, first_name="x", is_active=True).first_name == "x"
    with pytest.raises(Refused) as refused:
        change(ports, equal, root, is_active=False)
    assert codes(refused) == [("isActive", "DEACTIVATE_SUPERUSER_ACCOUNT")]
    with pytest.raises(Refused) as refused:
        delete_staff(ports, equal, gid(root))
    assert codes(refused) == [("id", "DELETE_SUPERUSER_ACCOUNT")]


def test_deletion_removes_the_user_and_publishes_a_snapshot(ports: Ports, boss: Actor) -> None:
    support = make_group(ports, "Support", ORDERS)
    bob = make_user(ports, "bob@example.com", is_staff=True, groups=[support], first_name="Bob")
    pair = sign_in(ports, bob)
    assert delete_staff(ports, boss, gid(bob)).email == "bob@example.com"
    assert identify(ports, visit(pair.access)).actor.fault is not None
    with ports.database.reading() as session:
        assert session.get(models.User, bob) is None
    [event] = events(ports)
    assert (event.type, event.subject_id) == ("STAFF_DELETED", bob)
    snapshot = event.data["snapshot"]
    assert isinstance(snapshot, dict)
    assert (snapshot["email"], snapshot["first_name"]) == ("bob@example.com", "Bob")
    [row] = trail(ports, "staff.delete")
    assert row.before == {"permissions": ["MANAGE_ORDERS"], "groups": [support]}


def test_customers_cannot_be_changed_as_staff(ports: Ports, boss: Actor) -> None:
    ann = make_user(ports, "ann@example.com")
    with pytest.raises(Refused) as refused:
        change(ports, boss, ann, first_name="x")
    assert codes(refused) == [("id", "NOT_FOUND")]
    with pytest.raises(Refused) as refused:
        delete_staff(ports, boss, gid(ann))
    assert codes(refused) == [("id", "DELETE_NON_STAFF_USER")]


@cases("strange", ["garbage", to_global_id("User", 4711), to_global_id("App", 1)])
def test_unknown_person_is_not_found(ports: Ports, boss: Actor, strange: str) -> None:
    with pytest.raises(Refused) as refused:
        update_staff(ports, boss, strange, StaffChanges())
    assert codes(refused) == [("id", "NOT_FOUND")]
    with pytest.raises(Refused) as refused:
        delete_staff(ports, boss, strange)
    assert codes(refused) == [("id", "NOT_FOUND")]


def test_app_cannot_manage_staff(ports: Ports) -> None:
    app = Actor(ActorKind.APP, app_id=1, permissions=ALL_PERMISSIONS)
    with pytest.raises(PermissionDenied):
        create_staff(ports, app, NewStaff("eve@example.com"))
    with pytest.raises(PermissionDenied):
        update_staff(ports, app, gid(1), StaffChanges())
    with pytest.raises(PermissionDenied):
        delete_staff(ports, app, gid(1))


def test_staff_require_manage_staff(ports: Ports) -> None:
    others = ALL_PERMISSIONS - {STAFF}
    actor = actor_of(ports, make_staff(ports, "bob@example.com", *others))
    with pytest.raises(PermissionDenied) as denied:
        delete_staff(ports, actor, gid(1))
    assert denied.value.required == (STAFF,)


def test_operator_can_remove_anyone(ports: Ports) -> None:
    root = make_user(ports, "root@example.com", is_superuser=True)
    delete_staff(ports, OPERATOR, gid(root))
    with ports.database.reading() as session:
        assert session.get(models.User, root) is None
