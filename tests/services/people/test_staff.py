"""The staff: whoever joins it, made anew or a customer before."""

import pytest
from sqlalchemy import func, select, update

from app import models
from app.domain.authorization.actor import OPERATOR, Actor
from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import MailKind
from app.domain.values.errors import Refused
from app.ports import Ports
from app.services.accounts.password_changes import set_password
from app.services.identity.identify import identify
from app.services.people.staff import NewStaff, StaffChanges, create_staff, update_staff
from tests.builders.audit import trail
from tests.builders.outbox import events, mails, token_in
from tests.builders.people import (
    NOBODY,
    PASSWORD,
    make_group,
    make_staff,
    make_user,
    sign_in,
    user_as_stored,
    visit,
)
from tests.services.error_codes import codes
from tests.services.staff_helpers import ORDERS, PAGES, REDIRECT, gid, groups

SETTINGS = Permission.MANAGE_SETTINGS


def test_new_staff_member_with_groups_is_audited_and_published(ports: Ports, boss: Actor) -> None:
    support = make_group(ports, "Support", ORDERS)
    new = NewStaff(" Eve@Example.com", "Eve", "Lee", groups=groups(support, support))
    eve = create_staff(ports, boss, new)
    assert (eve.email, eve.first_name, eve.last_name) == ("eve@example.com", "Eve", "Lee")
    assert (eve.is_staff, eve.is_active, eve.is_confirmed) == (True, True, True)
    assert eve.permissions == {ORDERS}
    assert user_as_stored(ports, eve.id).password_hash is None
    [event] = events(ports)
    assert (event.type, event.subject_id) == ("STAFF_CREATED", eve.id)
    assert event.principal == ("User", boss.user_id)
    [row] = trail(ports, "user.create")
    assert (row.actor_name, row.subject_name) == ("boss@example.com", "eve@example.com")
    assert row.after["groups"] == [support]
    assert mails(ports) == []


def test_an_invitation_leads_to_the_first_password(ports: Ports, boss: Actor) -> None:
    eve = create_staff(ports, boss, NewStaff("eve@example.com", redirect_url=REDIRECT))
    [mail] = mails(ports)
    assert (mail.kind, mail.recipient) == (MailKind.STAFF_INVITATION, "eve@example.com")
    assert mail.values["inviter"] == "boss@example.com"
    assert mail.values["lifetime"] == "7 days"
    assert mail.values["link"].startswith(f"{REDIRECT}?email=eve%40example.com&token=")
    created, requested = events(ports)
    assert (created.type, requested.type) == ("STAFF_CREATED", "STAFF_SET_PASSWORD_REQUESTED")
    assert requested.token == token_in(mail)
    pair = set_password(
        ports, NOBODY, email="eve@example.com", token=token_in(mail), password=PASSWORD
    )
    assert pair.user.id == eve.id
    assert ports.passwords.verify(user_as_stored(ports, eve.id).password_hash, PASSWORD)


def test_inactive_new_user_is_not_invited(ports: Ports, boss: Actor) -> None:
    new = NewStaff("eve@example.com", is_active=False, redirect_url=REDIRECT)
    assert not create_staff(ports, boss, new).is_active
    assert mails(ports) == []


def test_all_problems_of_a_new_staff_member_are_reported(ports: Ports, boss: Actor) -> None:
    with pytest.raises(Refused) as refused:
        create_staff(ports, boss, NewStaff("x", "a\nb", redirect_url="https://evil.example/"))
    assert codes(refused) == [
        ("email", "INVALID"),
        ("firstName", "INVALID"),
        ("redirectUrl", "INVALID"),
    ]


def test_email_of_a_staff_member_is_refused(ports: Ports, boss: Actor) -> None:
    with pytest.raises(Refused) as refused:
        create_staff(ports, boss, NewStaff("BOSS@example.com"))
    assert codes(refused) == [("email", "UNIQUE")]
    with pytest.raises(Refused) as refused:
        create_staff(ports, boss, NewStaff(""))
    assert codes(refused) == [("email", "REQUIRED")]


def test_promoted_customer_keeps_the_password_and_signs_in_again(
    ports: Ports, boss: Actor
) -> None:
    ann = make_user(ports, "ann@example.com", first_name="Ann", last_name="Lee")
    pair = sign_in(ports, ann)
    support = make_group(ports, "Support", ORDERS)
    new = NewStaff("ann@example.com", first_name="Anna", groups=groups(support))
    user = create_staff(ports, boss, new)
    assert (user.id, user.is_staff) == (ann, True)
    assert user.permissions == {ORDERS}
    assert (user.first_name, user.last_name) == ("Anna", "Lee")
    assert identify(ports, visit(pair.access)).actor.fault is not None
    assert user_as_stored(ports, ann).password_hash is not None
    assert [event.type for event in events(ports)] == ["STAFF_CREATED"]
    [row] = trail(ports, "staff.promote")
    assert (row.before["is_staff"], row.after["is_staff"]) == (False, True)
    assert mails(ports) == []


def test_former_member_who_would_hold_more_than_the_caller_is_not_promoted(
    ports: Ports, boss: Actor
) -> None:
    """What is left of their rights counts again, if somebody has only taken their role by hand."""
    settings = make_group(ports, "Settings", SETTINGS)
    make_user(ports, "super@example.com", is_superuser=True)
    make_user(ports, "direct@example.com", is_staff=True, permissions=[SETTINGS])
    make_user(ports, "member@example.com", is_staff=True, groups=[settings])
    make_user(ports, "packer@example.com", is_staff=True, permissions=[ORDERS])
    with ports.database.transaction() as session:
        others = models.User.email != "boss@example.com"
        session.execute(update(models.User).where(others).values(is_staff=False))
    for email in ("super@example.com", "direct@example.com", "member@example.com"):
        with pytest.raises(Refused) as refused:
            create_staff(ports, boss, NewStaff(email))
        assert codes(refused) == [("id", "OUT_OF_SCOPE_USER")], email
    assert create_staff(ports, boss, NewStaff("packer@example.com")).permissions == {ORDERS}
    assert create_staff(ports, OPERATOR, NewStaff("direct@example.com")).permissions == {SETTINGS}


def test_password_of_an_unconfirmed_account_is_dropped(ports: Ports, boss: Actor) -> None:
    squatter = make_user(ports, "eve@example.com", is_confirmed=False)
    create_staff(ports, boss, NewStaff("eve@example.com", redirect_url=REDIRECT))
    assert user_as_stored(ports, squatter).password_hash is None
    [mail] = mails(ports)
    assert mail.kind is MailKind.STAFF_INVITATION


def test_deactivated_customer_stays_inactive_when_promoted(ports: Ports, boss: Actor) -> None:
    make_user(ports, "ann@example.com", is_active=False)
    make_user(ports, "bea@example.com", is_active=False)
    assert not create_staff(ports, boss, NewStaff("ann@example.com")).is_active
    assert create_staff(ports, boss, NewStaff("bea@example.com", is_active=True)).is_active


def test_staff_cannot_be_added_to_groups_beyond_the_callers_permissions(
    ports: Ports, boss: Actor
) -> None:
    within, beyond = make_group(ports, "Support", ORDERS), make_group(ports, "Editors", PAGES)
    bob = make_staff(ports, "bob@example.com")
    both = groups(within, beyond)
    with pytest.raises(Refused) as refused:
        create_staff(ports, boss, NewStaff("eve@example.com", groups=both))
    assert codes(refused) == [("addGroups", "OUT_OF_SCOPE_GROUP")]
    assert refused.value.problems[0].groups == groups(beyond)
    for changes, field in (
        (StaffChanges(add_groups=both), "addGroups"),
        (StaffChanges(remove_groups=both), "removeGroups"),
    ):
        with pytest.raises(Refused) as refused:
            update_staff(ports, boss, gid(bob), changes)
        assert codes(refused) == [(field, "OUT_OF_SCOPE_GROUP")]
    with ports.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(models.User)) == 2


def test_unknown_group_is_not_found(ports: Ports, boss: Actor) -> None:
    strange = ("garbage", gid(1), *groups(4711), "é")
    with pytest.raises(Refused) as refused:
        create_staff(ports, boss, NewStaff("eve@example.com", groups=strange))
    assert {problem.code for problem in refused.value.problems} == {"NOT_FOUND"}
    named = {name for problem in refused.value.problems for name in problem.groups}
    assert named == set(strange)
