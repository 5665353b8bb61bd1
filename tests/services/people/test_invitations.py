"""Invitations that are sent again, and links to copy."""

from collections.abc import Callable

import pytest

from app.domain.authorization.actor import OPERATOR, Actor
from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import MailKind
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.errors import PermissionDenied, Refused
from app.ports import Ports
from app.services.accounts.password_changes import set_password
from app.services.people.staff import NewStaff, create_staff
from app.services.people.users import create_invitation_link, resend_invitation
from tests.builders.audit import trail
from tests.builders.outbox import mails, token_in
from tests.builders.people import actor_of, change_user, make_staff, make_user
from tests.builders.shop import set_mode
from tests.fakes.clock import FakeClock

SHOP = "http://localhost:3000/reset"
EMAIL = "sofia@example.com"
APPS, STAFF = Permission.MANAGE_APPS, Permission.MANAGE_STAFF
NEW = "a heron walks at dawn"


@pytest.fixture
def manager(ports: Ports) -> Actor:
    return actor_of(ports, make_staff(ports, "manager@example.com", STAFF))


@pytest.fixture
def invited(ports: Ports) -> int:
    return create_staff(ports, OPERATOR, NewStaff(EMAIL, redirect_url=SHOP)).id


def test_invitation_is_sent_again_with_a_new_link(
    ports: Ports, manager: Actor, invited: int
) -> None:
    resend_invitation(ports, manager, invited, SHOP)
    first, second = mails(ports)
    assert second.kind is MailKind.STAFF_INVITATION
    assert second.values["inviter"] == "manager@example.com"
    with pytest.raises(Refused):
        set_password(ports, OPERATOR, email=EMAIL, password=NEW, token=token_in(first))
    set_password(ports, OPERATOR, email=EMAIL, password=NEW, token=token_in(second))
    (row,) = trail(ports, "staff.invite")
    assert (row.actor_user_id, row.subject_id) == (manager.user_id, str(invited))


def test_link_can_be_copied_and_replaces_the_mailed_one(
    ports: Ports, manager: Actor, invited: int
) -> None:
    link = create_invitation_link(ports, manager, invited, SHOP)
    (mail,) = mails(ports)
    start = f"{SHOP}?email=sofia%40example.com&token="
    assert link.startswith(start)
    with pytest.raises(Refused):
        set_password(ports, OPERATOR, email=EMAIL, password=NEW, token=token_in(mail))
    set_password(ports, OPERATOR, email=EMAIL, password=NEW, token=link.removeprefix(start))
    (row,) = trail(ports, "staff.invite_link")
    assert link.removeprefix(start) not in str(row.after)


def test_invitation_is_sent_once_per_quarter_of_an_hour(
    ports: Ports, manager: Actor, invited: int, clock: FakeClock
) -> None:
    resend_invitation(ports, manager, invited, SHOP)
    with pytest.raises(Refused, match="15 minutes"):
        resend_invitation(ports, manager, invited, SHOP)
    clock.pass_(minutes=15)
    resend_invitation(ports, manager, invited, SHOP)
    assert len(mails(ports)) == 3


@pytest.mark.parametrize("use_case", [resend_invitation, create_invitation_link])
def test_only_invited_staff_get_a_link(
    ports: Ports, manager: Actor, invited: int, use_case: Callable[..., object]
) -> None:
    change_user(ports, invited, is_active=False)
    customer = make_user(ports, "anna@example.com")
    member = make_staff(ports, "tom@example.com")
    mightier = make_staff(ports, "more@example.com", STAFF, APPS)
    change_user(ports, mightier, password_hash=None)
    everything = actor_of(ports, make_user(ports, "root@example.com", is_superuser=True))
    for actor, key, code in (
        (manager, 999, "NOT_FOUND"),
        (manager, invited, "INACTIVE"),
        (manager, member, "INVALID"),
        (manager, mightier, "OUT_OF_SCOPE_USER"),
        (everything, customer, "INVALID"),
    ):
        with pytest.raises(Refused) as refused:
            use_case(ports, actor, key, SHOP)
        assert [problem.code for problem in refused.value.problems] == [code]
    with pytest.raises(Refused, match="ALLOWED_CLIENT_HOSTS"):
        use_case(ports, manager, invited, "https://evil.example/")
    with pytest.raises(PermissionDenied):
        use_case(ports, actor_of(ports, member), invited, SHOP)
    assert len(mails(ports)) == 1


@pytest.mark.parametrize("use_case", [resend_invitation, create_invitation_link])
def test_no_link_is_made_while_passwords_are_off(
    ports: Ports, manager: Actor, invited: int, use_case: Callable[..., object]
) -> None:
    set_mode(ports, PasswordLoginMode.DISABLED)
    with pytest.raises(Refused) as refused:
        use_case(ports, manager, invited, SHOP)
    assert refused.value.problems[0].code == "DISABLED_AUTHENTICATION_METHOD"
