"""Where somebody else is signed in, and a link for them to set a new password."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from app.domain.authorization.actor import OPERATOR, Actor
from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import MailKind
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.errors import PermissionDenied, Refused, TokenFault
from app.ports import Ports
from app.services.accounts.password_resets import send_reset_link
from app.services.identity.identify import identify
from app.services.people import user_status
from app.services.people.user_status import end_user_session, show_person
from tests.builders.audit import trail
from tests.builders.outbox import mails, token_in
from tests.builders.people import (
    ADDRESS,
    NOBODY,
    actor_of,
    change_user,
    make_staff,
    make_user,
    sessions_of,
    sign_in,
    visit,
)
from tests.builders.shop import set_mode
from tests.fakes.clock import FakeClock

STAFF, USERS, APPS = (Permission.MANAGE_STAFF, Permission.MANAGE_USERS, Permission.MANAGE_APPS)
SHOP = "http://localhost:3000/reset"


@pytest.fixture
def support(ports: Ports) -> Actor:
    """Somebody who manages customers, and nobody else."""
    return actor_of(ports, make_staff(ports, "support@example.com", USERS))


def codes(refused: pytest.ExceptionInfo[Refused]) -> list[tuple[str | None, str]]:
    return [(problem.field, problem.code) for problem in refused.value.problems]


def test_customer_managers_list_customers_sessions(
    ports: Ports, support: Actor, clock: FakeClock
) -> None:
    customer = make_user(ports)
    sign_in(ports, customer, caller=replace(NOBODY, user_agent="curl/8.5"))
    clock.pass_(minutes=1)
    sign_in(ports, customer)
    newer, older = show_person(ports, support, customer).sessions
    assert (older.device, older.address, older.is_current) == ("curl 8.5", ADDRESS, False)
    assert newer.last_used_at == clock.now()
    clock.pass_(hours=31 * 24)
    assert show_person(ports, support, customer).sessions == ()


def test_of_many_sessions_the_newest_are_shown_and_all_are_counted(
    ports: Ports, support: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_status, "LISTED_SESSIONS", 2)
    customer = make_user(ports)
    for _ in range(3):
        sign_in(ports, customer)
    sign_in(ports, make_user(ports, "other@example.com"))
    person = show_person(ports, support, customer)
    newest = [session.id for session in sessions_of(ports, customer)][1:]
    assert sorted(session.id for session in person.sessions) == newest
    assert person.session_count == 3


@pytest.mark.both_databases
def test_ended_session_is_invalid_immediately(
    ports: Ports, second_process: Ports, support: Actor
) -> None:
    customer = make_user(ports)
    ended, kept = sign_in(ports, customer), sign_in(ports, customer)
    assert identify(second_process, visit(ended.access)).actor.is_user
    session = sessions_of(ports, customer)[0]
    end_user_session(ports, support, customer, session.id)
    assert identify(second_process, visit(ended.access)).actor.fault is TokenFault.INVALID
    assert identify(second_process, visit(kept.access)).actor.is_user
    (row,) = trail(ports, "session.end")
    assert (row.actor_user_id, row.subject_id, row.before) == (
        support.user_id,
        str(customer),
        {"session": session.id},
    )


def test_session_of_another_person_is_not_found(ports: Ports, support: Actor) -> None:
    customer, other = make_user(ports), make_user(ports, "other@example.com")
    sign_in(ports, other)
    (session,) = sessions_of(ports, other)
    with pytest.raises(Refused) as refused:
        end_user_session(ports, support, customer, session.id)
    assert codes(refused) == [("id", "NOT_FOUND")]
    assert sessions_of(ports, other)
    assert trail(ports, "session.end") == []


def test_staff_sessions_require_manage_staff(ports: Ports, support: Actor) -> None:
    member = make_staff(ports, "tom@example.com")
    sign_in(ports, member)
    (session,) = sessions_of(ports, member)
    for actor in (support, NOBODY):
        with pytest.raises(PermissionDenied):
            show_person(ports, actor, member)
        with pytest.raises(PermissionDenied):
            end_user_session(ports, actor, member, session.id)
        with pytest.raises(PermissionDenied):
            send_reset_link(ports, actor, member, redirect_url=SHOP)
    manager = actor_of(ports, make_staff(ports, "manager@example.com", STAFF))
    end_user_session(ports, manager, member, session.id)
    assert sessions_of(ports, member) == []


def test_session_of_a_more_privileged_user_cannot_be_ended(ports: Ports) -> None:
    manager = actor_of(ports, make_staff(ports, "manager@example.com", STAFF))
    mightier = make_staff(ports, "more@example.com", STAFF, APPS)
    sign_in(ports, mightier)
    (session,) = sessions_of(ports, mightier)
    assert show_person(ports, manager, mightier).sessions
    attempts: tuple[Callable[[], object], ...] = (
        lambda: end_user_session(ports, manager, mightier, session.id),
        lambda: send_reset_link(ports, manager, mightier, redirect_url=SHOP),
    )
    for attempt in attempts:
        with pytest.raises(Refused) as refused:
            attempt()
        assert codes(refused) == [("id", "OUT_OF_SCOPE_USER")]


def test_unknown_user_is_not_found(ports: Ports) -> None:
    for attempt in (
        lambda: show_person(ports, OPERATOR, 99),
        lambda: end_user_session(ports, OPERATOR, 99, 1),
        lambda: send_reset_link(ports, OPERATOR, 99, redirect_url=SHOP),
    ):
        with pytest.raises(Refused) as refused:
            attempt()
        assert codes(refused) == [("id", "NOT_FOUND")]


def test_customer_is_sent_a_link_to_set_a_new_password(ports: Ports, support: Actor) -> None:
    customer = make_user(ports, "anna@example.com")
    send_reset_link(ports, support, customer, redirect_url=SHOP)
    (mail,) = mails(ports)
    assert (mail.kind, mail.recipient) == (MailKind.PASSWORD_RESET, "anna@example.com")
    assert mail.values["link"] == f"{SHOP}?email=anna%40example.com&token={token_in(mail)}"
    (row,) = trail(ports, "password.reset_link")
    assert (row.actor_user_id, row.subject_id) == (support.user_id, str(customer))


def test_link_is_sent_once_per_quarter_of_an_hour(
    ports: Ports, support: Actor, clock: FakeClock
) -> None:
    customer = make_user(ports)
    send_reset_link(ports, support, customer, redirect_url=SHOP)
    clock.pass_(minutes=14)
    with pytest.raises(Refused, match="15 minutes") as refused:
        send_reset_link(ports, support, customer, redirect_url=SHOP)
    assert codes(refused) == [("id", "PASSWORD_RESET_ALREADY_REQUESTED")]
    clock.pass_(minutes=1)
    send_reset_link(ports, support, customer, redirect_url=SHOP)
    assert len(mails(ports)) == 2


def test_unusable_link_is_not_sent(ports: Ports, support: Actor) -> None:
    customer = make_user(ports)
    with pytest.raises(Refused) as refused:
        send_reset_link(ports, support, customer, redirect_url="https://evil.example/")
    assert codes(refused) == [("redirectUrl", "INVALID")]
    change_user(ports, customer, is_active=False)
    with pytest.raises(Refused) as refused:
        send_reset_link(ports, support, customer, redirect_url=SHOP)
    assert codes(refused) == [("id", "INACTIVE")]
    set_mode(ports, PasswordLoginMode.DISABLED)
    with pytest.raises(Refused) as refused:
        send_reset_link(ports, support, customer, redirect_url=SHOP)
    assert codes(refused) == [(None, "DISABLED_AUTHENTICATION_METHOD")]
    assert mails(ports) == []
