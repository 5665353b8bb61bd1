"""Confirming an account by the link of a mail."""

import pytest

from app.domain.accounts.email_links import LinkPurpose
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.errors import Refused
from app.ports import Ports
from app.services.accounts.email_changes import confirm_account
from app.services.sign_in.password_login import create_token
from tests.builders.audit import trail
from tests.builders.links import link_for
from tests.builders.outbox import events, mails
from tests.builders.people import NOBODY, PASSWORD, change_user, make_user, sessions_of, sign_in
from tests.builders.shop import set_mode
from tests.fakes.clock import FakeClock

EMAIL = "customer@example.com"
WORTHLESS = [("token", "INVALID")]


def waiting(ports: Ports) -> tuple[int, str]:
    """Somebody who waits for their confirmation, and its token."""
    user_id = make_user(ports, is_confirmed=False)
    return user_id, link_for(ports, user_id, LinkPurpose.CONFIRM_ACCOUNT)


def codes(ports: Ports, token: str, email: str = EMAIL) -> list[tuple[str | None, str]]:
    with pytest.raises(Refused) as refused:
        confirm_account(ports, NOBODY, email=email, token=token)
    return [(problem.field, problem.code) for problem in refused.value.problems]


def test_confirmed_account_can_sign_in(ports: Ports) -> None:
    user_id, token = waiting(ports)
    user = confirm_account(ports, NOBODY, email="Customer@example.com", token=token)
    assert (user.id, user.is_confirmed) == (user_id, True)
    assert sessions_of(ports, user_id) == []
    assert create_token(ports, NOBODY, email=EMAIL, password=PASSWORD).access


def test_change_is_published_and_audited(ports: Ports) -> None:
    user_id, token = waiting(ports)
    confirm_account(ports, NOBODY, email=EMAIL, token=token)
    (event,) = events(ports)
    assert (event.type, event.subject_id) == ("ACCOUNT_CONFIRMED", user_id)
    (row,) = trail(ports, "account.confirm")
    assert (row.before, row.after) == ({"is_confirmed": False}, {"is_confirmed": True})
    assert mails(ports) == []


def test_confirmation_keeps_password_and_sessions(ports: Ports) -> None:
    user_id, token = waiting(ports)
    sign_in(ports, user_id)
    confirm_account(ports, NOBODY, email=EMAIL, token=token)
    assert len(sessions_of(ports, user_id)) == 1
    assert mails(ports) == []
    assert create_token(ports, NOBODY, email=EMAIL, password=PASSWORD).access


def test_confirmation_works_in_every_login_mode_without_a_session(ports: Ports) -> None:
    user_id, token = waiting(ports)
    set_mode(ports, PasswordLoginMode.DISABLED)
    assert confirm_account(ports, NOBODY, email=EMAIL, token=token).is_confirmed
    assert sessions_of(ports, user_id) == []


def test_a_link_works_once(ports: Ports) -> None:
    _, token = waiting(ports)
    confirm_account(ports, NOBODY, email=EMAIL, token=token)
    assert codes(ports, token) == WORTHLESS


def test_link_works_for_three_days(ports: Ports, clock: FakeClock) -> None:
    user_id, token = waiting(ports)
    clock.pass_(hours=72)
    assert codes(ports, token) == WORTHLESS
    token = link_for(ports, user_id, LinkPurpose.CONFIRM_ACCOUNT)
    clock.pass_(hours=71)
    assert confirm_account(ports, NOBODY, email=EMAIL, token=token).is_confirmed


def test_another_users_and_unknown_emails_get_the_same_refusal(ports: Ports) -> None:
    _, token = waiting(ports)
    make_user(ports, "other@example.com", is_confirmed=False)
    assert codes(ports, token, "other@example.com") == WORTHLESS
    assert codes(ports, token, "unknown@example.com") == WORTHLESS
    assert codes(ports, "bad", EMAIL) == WORTHLESS


def test_link_of_another_purpose_confirms_no_account(ports: Ports) -> None:
    user_id, _ = waiting(ports)
    for purpose in (LinkPurpose.SET_PASSWORD, LinkPurpose.INVITATION, LinkPurpose.NOTICE):
        assert codes(ports, link_for(ports, user_id, purpose)) == WORTHLESS, purpose


@pytest.mark.parametrize("change", [{"is_active": False}, {"email": "new@example.com"}])
def test_link_is_invalid_after_an_account_change(ports: Ports, change: dict[str, object]) -> None:
    user_id, token = waiting(ports)
    change_user(ports, user_id, **change)
    assert codes(ports, token, str(change.get("email", EMAIL))) == WORTHLESS
