"""Setting a password by the link of a mail."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest

from app import models
from app.domain.accounts.email_links import LinkPurpose
from app.domain.authorization.actor import WORKER, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import MailKind
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.errors import Refused, TokenFault
from app.ports import Ports
from app.services.accounts.email_links import make_link
from app.services.accounts.password_changes import set_password
from app.services.accounts.password_resets import answer_reset_requests, request_password_reset
from app.services.identity.identify import identify
from app.services.sign_in.password_login import create_token
from app.services.sign_in.tokens import TokenPair
from tests.builders.audit import trail
from tests.builders.outbox import events, mails, token_in
from tests.builders.people import (
    NOBODY,
    PASSWORD,
    change_user,
    make_user,
    sessions_of,
    sign_in,
    user_as_stored,
    visit,
)
from tests.builders.shop import set_mode
from tests.fakes.clock import FakeClock
from tests.fakes.encryption import FailingEncryption
from tests.fixtures.ports import fake_ports
from tests.services.accounts.test_password_changes import DisablingHasher

EMAIL = "customer@example.com"
NEW = "nine lazy Störche by the sea"


def set_(ports: Ports, token: str, email: str = EMAIL, password: str = NEW) -> TokenPair:
    return set_password(ports, NOBODY, email=email, password=password, token=token)


def codes(ports: Ports, token: str, email: str = EMAIL, password: str = NEW) -> list[object]:
    with pytest.raises(Refused) as refused:
        set_(ports, token, email, password)
    return [(problem.field, problem.code) for problem in refused.value.problems]


def link(ports: Ports, user_id: int, purpose: LinkPurpose = LinkPurpose.SET_PASSWORD) -> str:
    with ports.database.transaction() as session:
        return make_link(ports, session, session.get_one(models.User, user_id), purpose)


WORTHLESS = [("token", "INVALID")]


def test_password_is_reset_by_a_mailed_link_and_signs_in(ports: Ports) -> None:
    user_id = make_user(ports)
    request_password_reset(ports, NOBODY, email=EMAIL, redirect_url="http://localhost:3000/reset")
    answer_reset_requests(ports, WORKER)
    (mail,) = mails(ports)
    pair = set_(ports, token_in(mail))
    identity = identify(ports, visit(pair.access))
    assert (identity.actor.user_id, identity.actor.origin) == (user_id, SessionOrigin.PASSWORD)
    assert pair.user.email == EMAIL
    assert create_token(ports, NOBODY, email=EMAIL, password=NEW).refresh


def test_every_other_session_ends(ports: Ports) -> None:
    user_id = make_user(ports)
    old = sign_in(ports, user_id)
    sign_in(ports, user_id, SessionOrigin.OIDC)
    set_(ports, link(ports, user_id))
    assert len(sessions_of(ports, user_id)) == 1
    assert identify(ports, visit(old.access)).actor.fault is TokenFault.INVALID
    assert user_as_stored(ports, user_id).tokens_valid_after is None


def test_change_is_mailed_and_audited(ports: Ports) -> None:
    user_id = make_user(ports)
    sign_in(ports, user_id)
    set_(ports, link(ports, user_id))
    assert [mail.kind for mail in mails(ports)] == [MailKind.PASSWORD_CHANGED]
    (row,) = trail(ports, "password.set")
    assert (row.subject_id, row.after) == (str(user_id), {"sessions_ended": 1})
    assert events(ports) == []


def test_a_link_works_once(ports: Ports) -> None:
    token = link(ports, make_user(ports))
    set_(ports, token)
    assert codes(ports, token, password="another " + NEW) == WORTHLESS


def test_a_link_works_for_an_hour(ports: Ports, clock: FakeClock) -> None:
    user_id = make_user(ports)
    token = link(ports, user_id)
    clock.pass_(minutes=60)
    assert codes(ports, token) == WORTHLESS
    token = link(ports, user_id)
    clock.pass_(minutes=59, seconds=59)
    assert set_(ports, token).access


def test_another_users_link_and_unknown_email_get_the_same_refusal(ports: Ports) -> None:
    token = link(ports, make_user(ports))
    make_user(ports, "other@example.com")
    assert codes(ports, token, "other@example.com") == WORTHLESS
    assert codes(ports, token, "unknown@example.com") == WORTHLESS
    assert codes(ports, "bad-token") == WORTHLESS
    assert codes(ports, "") == WORTHLESS
    assert codes(ports, "\ud800 \0") == WORTHLESS
    assert set_(ports, token, "CUSTOMER@example.com").access


def test_link_of_another_purpose_sets_no_password(ports: Ports) -> None:
    user_id = make_user(ports)
    for purpose in (
        LinkPurpose.CONFIRM_ACCOUNT,
        LinkPurpose.CHANGE_EMAIL,
        LinkPurpose.DELETE_ACCOUNT,
    ):
        assert codes(ports, link(ports, user_id, purpose)) == WORTHLESS, purpose


@pytest.mark.parametrize(
    "change", [{"is_active": False}, {"email": "new@example.com"}, {"password_hash": "fake$1$x"}]
)
def test_link_is_invalid_after_an_account_change(ports: Ports, change: dict[str, object]) -> None:
    user_id = make_user(ports)
    token = link(ports, user_id)
    change_user(ports, user_id, **change)
    assert codes(ports, token, str(change.get("email", EMAIL))) == WORTHLESS


def test_weak_password_is_refused_and_the_link_stays_valid(ports: Ports) -> None:
    user_id = make_user(ports, first_name="Greta", last_name="Garbo")
    token = link(ports, user_id)
    assert codes(ports, token, password="123") == [("password", "PASSWORD_TOO_SHORT")]
    assert codes(ports, token, password="password1") == [("password", "PASSWORD_TOO_COMMON")]
    assert codes(ports, token, password="8203461957") == [
        ("password", "PASSWORD_ENTIRELY_NUMERIC")
    ]
    assert codes(ports, token, password="Greta.Garbo") == [("password", "PASSWORD_TOO_SIMILAR")]
    assert codes(ports, token, password="Latchkey shop") == [("password", "PASSWORD_TOO_SIMILAR")]
    assert set_(ports, token).access


def test_account_names_are_compared_only_with_a_valid_link(ports: Ports) -> None:
    make_user(ports, first_name="Greta", last_name="Garbo")
    assert codes(ports, "bad-token", password="Greta.Garbo") == WORTHLESS


def test_opening_the_link_confirms_the_account(ports: Ports) -> None:
    user_id = make_user(ports, is_confirmed=False)
    pair = set_(ports, link(ports, user_id))
    assert pair.user.is_confirmed
    assert [event.type for event in events(ports)] == ["ACCOUNT_CONFIRMED"]
    assert [row.after for row in trail(ports, "account.confirm")] == [{"is_confirmed": True}]


def test_first_password_sends_no_change_notice(ports: Ports, clock: FakeClock) -> None:
    user_id = make_user(ports, password=None, is_staff=True)
    token = link(ports, user_id, LinkPurpose.INVITATION)
    clock.pass_(hours=6 * 24)
    assert set_(ports, token).user.is_staff
    assert mails(ports) == []


def test_staff_session_of_a_set_password_has_no_rights_in_customers_only(ports: Ports) -> None:
    user_id = make_user(ports, is_staff=True, permissions=[Permission.MANAGE_USERS])
    set_mode(ports, PasswordLoginMode.CUSTOMERS_ONLY)
    pair = set_(ports, link(ports, user_id))
    assert (pair.user.is_staff, pair.user.permissions) == (False, frozenset())


def test_disabled_mode_is_refused_first(ports: Ports) -> None:
    token = link(ports, make_user(ports))
    set_mode(ports, PasswordLoginMode.DISABLED)
    disabled = [(None, "DISABLED_AUTHENTICATION_METHOD")]
    assert codes(ports, token) == disabled
    assert codes(ports, "bad", password="123") == disabled
    with pytest.raises(Refused):
        set_password(
            ports,
            replace(NOBODY, fault=TokenFault.INVALID),
            email=EMAIL,
            password=NEW,
            token=token,
        )


def test_mode_change_during_hashing_leaves_the_link_unused(ports: Ports) -> None:
    user_id = make_user(ports)
    token = link(ports, user_id)
    slow = replace(ports, passwords=DisablingHasher(ports))
    assert codes(slow, token) == [(None, "DISABLED_AUTHENTICATION_METHOD")]
    set_mode(ports, PasswordLoginMode.ENABLED)
    assert set_(ports, token).user.id == user_id


@pytest.mark.both_databases
def test_concurrent_uses_of_a_link_set_one_password(
    ports: Ports, database_url: str, clock: FakeClock
) -> None:
    user_id = make_user(ports)
    token = link(ports, user_id)
    others = [fake_ports(database_url, clock) for _ in range(4)]
    for other in others:
        identify(other, visit("warm up"))
    start = Barrier(len(others), timeout=60)

    def use(other: Ports, number: int) -> Callable[[], str | None]:
        def run() -> str | None:
            start.wait()
            try:
                set_(other, token, password=f"{NEW} {number}")
            except Refused as refused:
                return refused.problems[0].code
            return None

        return run

    with ThreadPoolExecutor(len(others)) as pool:
        done = [pool.submit(use(other, number)) for number, other in enumerate(others)]
        outcomes = [future.result(180) for future in done]
    assert sorted(outcomes, key=str) == ["INVALID", "INVALID", "INVALID", None]
    assert len(sessions_of(ports, user_id)) == 1
    assert len(mails(ports)) == len(trail(ports, "password.set")) == 1
    winner = outcomes.index(None)
    assert create_token(ports, NOBODY, email=EMAIL, password=f"{NEW} {winner}").access


def test_failed_change_leaves_the_link_valid(ports: Ports) -> None:
    user_id = make_user(ports)
    token = link(ports, user_id)
    sign_in(ports, user_id)
    with pytest.raises(ArithmeticError):
        set_(replace(ports, encryption=FailingEncryption()), token)
    assert len(sessions_of(ports, user_id)) == 1
    assert (mails(ports), trail(ports, "password.set")) == ([], [])
    assert create_token(ports, NOBODY, email=EMAIL, password=PASSWORD).access
    assert set_(ports, token).access
