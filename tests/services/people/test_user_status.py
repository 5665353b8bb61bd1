"""Whether people may come in: deactivated, activated, signed out everywhere."""

import pytest

from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.values.errors import PermissionDenied, Refused
from app.ports import Ports
from app.services.identity.identify import identify
from app.services.people.user_status import activate_user, deactivate_user, sign_out_user
from tests.builders.audit import trail
from tests.builders.outbox import events
from tests.builders.people import (
    actor_of,
    make_staff,
    make_user,
    sessions_of,
    sign_in,
    user_as_stored,
    visit,
)

STAFF = Permission.MANAGE_STAFF
USERS = Permission.MANAGE_USERS


def codes(refused: pytest.ExceptionInfo[Refused]) -> list[tuple[str | None, str]]:
    return [(problem.field, problem.code) for problem in refused.value.problems]


def test_deactivating_a_user_ends_every_session(ports: Ports) -> None:
    ann = make_user(ports, "ann@example.com")
    tokens = [sign_in(ports, ann), sign_in(ports, ann)]
    user = deactivate_user(ports, OPERATOR, ann)
    assert not user.is_active
    assert sessions_of(ports, ann) == []
    for pair in tokens:
        assert identify(ports, visit(pair.access)).actor.fault is not None
    assert user_as_stored(ports, ann).tokens_valid_after == ports.clock.now()


def test_others_stay_signed_in(ports: Ports) -> None:
    ann, bob = make_user(ports, "ann@example.com"), make_user(ports, "bob@example.com")
    pair = sign_in(ports, bob)
    deactivate_user(ports, OPERATOR, ann)
    sign_out_user(ports, OPERATOR, ann)
    assert identify(ports, visit(pair.access)).actor.user_id == bob


def test_status_changes_are_audited_once_and_published(ports: Ports) -> None:
    bob = make_staff(ports, "bob@example.com")
    boss = actor_of(ports, make_staff(ports, "boss@example.com", STAFF))
    deactivate_user(ports, boss, bob)
    deactivate_user(ports, boss, bob)
    assert activate_user(ports, boss, bob).is_active
    [down] = trail(ports, "user.deactivate")
    [up] = trail(ports, "user.activate")
    assert (down.actor_name, down.subject_name) == ("boss@example.com", "bob@example.com")
    assert (down.before, down.after) == ({"is_active": True}, {"is_active": False})
    assert (up.before, up.after) == ({"is_active": False}, {"is_active": True})
    assert [event.type for event in events(ports)] == ["STAFF_UPDATED", "STAFF_UPDATED"]


def test_signing_out_returns_the_count_and_keeps_the_user_active(ports: Ports) -> None:
    ann = make_user(ports, "ann@example.com")
    pair = sign_in(ports, ann)
    sign_in(ports, ann)
    assert sign_out_user(ports, OPERATOR, ann) == 2
    assert sign_out_user(ports, OPERATOR, ann) == 0
    assert identify(ports, visit(pair.access)).actor.fault is not None
    assert user_as_stored(ports, ann).is_active
    assert [row.before for row in trail(ports, "user.sign_out")] == [
        {"sessions": 2},
        {"sessions": 0},
    ]


def test_users_cannot_deactivate_themselves(ports: Ports) -> None:
    key = make_staff(ports, "boss@example.com", STAFF)
    with pytest.raises(Refused) as refused:
        deactivate_user(ports, actor_of(ports, key), key)
    assert codes(refused) == [("isActive", "DEACTIVATE_OWN_ACCOUNT")]


def test_superuser_is_deactivated_by_the_operator_only(ports: Ports) -> None:
    root = make_user(ports, "root@example.com", is_superuser=True)
    other = actor_of(ports, make_user(ports, "other@example.com", is_superuser=True))
    for change, code in (
        (deactivate_user, "DEACTIVATE_SUPERUSER_ACCOUNT"),
        (activate_user, "ACTIVATE_SUPERUSER_ACCOUNT"),
    ):
        with pytest.raises(Refused) as refused:
            change(ports, other, root)
        assert codes(refused) == [("isActive", code)]
    assert not deactivate_user(ports, OPERATOR, root).is_active


def test_more_privileged_users_cannot_be_managed(ports: Ports) -> None:
    boss = actor_of(ports, make_staff(ports, "boss@example.com", STAFF))
    above = make_staff(ports, "above@example.com", STAFF, Permission.MANAGE_PAGES)
    pair = sign_in(ports, above)
    for change in (deactivate_user, activate_user, sign_out_user):
        with pytest.raises(Refused) as refused:
            change(ports, boss, above)
        assert codes(refused) == [("id", "OUT_OF_SCOPE_USER")]
    assert identify(ports, visit(pair.access)).actor.user_id == above


def test_customers_and_staff_need_their_own_permissions(ports: Ports) -> None:
    ann = make_user(ports, "ann@example.com")
    bob = make_staff(ports, "bob@example.com")
    clerk = actor_of(ports, make_staff(ports, "clerk@example.com", USERS))
    hirer = actor_of(ports, make_staff(ports, "hirer@example.com", STAFF))
    for actor, key, needed in ((clerk, bob, STAFF), (hirer, ann, USERS)):
        for change in (deactivate_user, activate_user, sign_out_user):
            with pytest.raises(PermissionDenied) as denied:
                change(ports, actor, key)
            assert denied.value.required == (needed,)
    assert not deactivate_user(ports, clerk, ann).is_active
    assert not deactivate_user(ports, hirer, bob).is_active


def test_users_cannot_be_changed_without_permission(ports: Ports) -> None:
    ann = make_user(ports, "ann@example.com")
    others = ALL_PERMISSIONS - {STAFF, USERS}
    actor = actor_of(ports, make_staff(ports, "bob@example.com", *others))
    for change in (deactivate_user, activate_user, sign_out_user):
        with pytest.raises(PermissionDenied):
            change(ports, actor, ann)


def test_unknown_user_id_is_not_found(ports: Ports) -> None:
    for change in (deactivate_user, activate_user, sign_out_user):
        with pytest.raises(Refused) as refused:
            change(ports, OPERATOR, 4711)
        assert codes(refused) == [("id", "NOT_FOUND")]
