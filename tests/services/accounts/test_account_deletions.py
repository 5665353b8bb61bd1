"""Customers who leave."""

from dataclasses import replace

import pytest

from app.domain.accounts.email_links import LinkPurpose
from app.domain.authorization.actor import Actor, ActorKind, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import MailKind
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.errors import PermissionDenied, Refused, TokenFault
from app.ports import Ports
from app.services.accounts.account_details import delete_account, request_account_deletion
from app.services.identity.identify import identify
from app.services.sign_in.password_login import create_token
from tests.builders.audit import trail
from tests.builders.links import link_for
from tests.builders.outbox import events, mails, token_in
from tests.builders.people import (
    NOBODY,
    PASSWORD,
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
from tests.fakes.encryption import FailingEncryption

SHOP = "http://localhost:3000/leave"
WORTHLESS = [("token", "INVALID")]


def asking(ports: Ports, actor: Actor, url: str = SHOP) -> list[tuple[str | None, str]]:
    with pytest.raises(Refused) as refused:
        request_account_deletion(ports, actor, redirect_url=url)
    return [(problem.field, problem.code) for problem in refused.value.problems]


def deleting(ports: Ports, actor: Actor, token: str) -> list[tuple[str | None, str]]:
    with pytest.raises(Refused) as refused:
        delete_account(ports, actor, token=token)
    return [(problem.field, problem.code) for problem in refused.value.problems]


def test_customer_deletes_their_account_by_a_mailed_link(ports: Ports) -> None:
    user_id = make_user(ports, first_name="Ann")
    other = sign_in(ports, user_id)
    actor = actor_of(ports, user_id)
    request_account_deletion(ports, actor, redirect_url=SHOP)
    (mail,) = mails(ports)
    assert (mail.kind, mail.recipient) == (
        MailKind.ACCOUNT_DELETION_REQUEST,
        "customer@example.com",
    )
    assert mail.values == {
        "link": f"{SHOP}?token={token_in(mail)}",
        "lifetime": "1 hour",
        "lifetime_seconds": "3600",
    }
    gone = delete_account(ports, actor, token=token_in(mail))
    assert (gone.id, gone.email, gone.first_name) == (user_id, "customer@example.com", "Ann")
    assert sessions_of(ports, user_id) == []
    assert identify(ports, visit(other.access)).actor.fault is TokenFault.INVALID
    with pytest.raises(Refused):
        create_token(ports, NOBODY, email="customer@example.com", password=PASSWORD)


def test_events_carry_the_accounts_snapshot(ports: Ports) -> None:
    user_id = make_user(ports, first_name="Ann")
    token = link_for(ports, user_id, LinkPurpose.DELETE_ACCOUNT)
    delete_account(ports, actor_of(ports, user_id), token=token)
    left, deleted = events(ports)
    assert (left.type, deleted.type) == ("ACCOUNT_DELETED", "CUSTOMER_DELETED")
    snapshot = left.data["snapshot"]
    assert isinstance(snapshot, dict)
    assert deleted.data["snapshot"] == snapshot
    assert snapshot["email"] == "customer@example.com"
    assert snapshot["first_name"] == "Ann"
    assert snapshot["date_joined"] == "2026-03-01T12:00:00+00:00"
    assert "password" not in repr(snapshot)
    (row,) = trail(ports, "account.delete")
    assert (row.subject_id, row.before["email"]) == (str(user_id), "customer@example.com")


def test_staff_cannot_delete_their_own_account(ports: Ports) -> None:
    staff = make_staff(ports, "staff@example.com", Permission.MANAGE_STAFF)
    for mode in (PasswordLoginMode.ENABLED, PasswordLoginMode.CUSTOMERS_ONLY):
        set_mode(ports, mode)
        actor = actor_of(ports, staff)
        assert asking(ports, actor) == [(None, "DELETE_STAFF_ACCOUNT")]
        assert deleting(ports, actor, "bad") == [(None, "DELETE_STAFF_ACCOUNT")]
    assert mails(ports) == []


def test_user_promoted_meanwhile_is_kept(ports: Ports) -> None:
    user_id = make_user(ports)
    actor = actor_of(ports, user_id)
    token = link_for(ports, user_id, LinkPurpose.DELETE_ACCOUNT)
    change_user(ports, user_id, is_staff=True)
    assert deleting(ports, actor, token) == [(None, "DELETE_STAFF_ACCOUNT")]


def test_a_link_works_for_an_hour(ports: Ports, clock: FakeClock) -> None:
    user_id = make_user(ports)
    actor = actor_of(ports, user_id)
    token = link_for(ports, user_id, LinkPurpose.DELETE_ACCOUNT)
    clock.pass_(minutes=60)
    assert deleting(ports, actor, token) == WORTHLESS


def test_link_of_another_purpose_deletes_no_account(ports: Ports) -> None:
    user_id = make_user(ports)
    actor = actor_of(ports, user_id)
    for purpose in (
        LinkPurpose.SET_PASSWORD,
        LinkPurpose.CONFIRM_ACCOUNT,
        LinkPurpose.CHANGE_EMAIL,
    ):
        token = link_for(ports, user_id, purpose, "new@example.com")
        assert deleting(ports, actor, token) == WORTHLESS, purpose


def test_another_users_link_deletes_no_account(ports: Ports) -> None:
    user_id = make_user(ports)
    other = make_user(ports, "other@example.com")
    token = link_for(ports, user_id, LinkPurpose.DELETE_ACCOUNT)
    assert deleting(ports, actor_of(ports, other), token) == WORTHLESS
    assert delete_account(ports, actor_of(ports, user_id), token=token).id == user_id


def test_link_is_invalid_after_an_account_change(ports: Ports) -> None:
    changes: tuple[dict[str, object], ...] = (
        {"password_hash": "fake$1$x"},
        {"is_active": False},
        {"email": "x@example.com"},
    )
    for number, change in enumerate(changes):
        user_id = make_user(ports, f"{number}@example.com")
        actor = actor_of(ports, user_id)
        token = link_for(ports, user_id, LinkPurpose.DELETE_ACCOUNT)
        change_user(ports, user_id, **change)
        assert deleting(ports, actor, token) == WORTHLESS, change


def test_sso_user_can_delete_their_account(ports: Ports) -> None:
    user_id = make_user(ports, password=None)
    actor = actor_of(ports, user_id, SessionOrigin.OIDC)
    request_account_deletion(ports, actor, redirect_url=SHOP)
    assert delete_account(ports, actor, token=token_in(mails(ports)[0])).id == user_id


@pytest.mark.parametrize(("url", "code"), [("", "REQUIRED"), ("https://evil.example", "INVALID")])
def test_mailed_links_lead_to_allowed_hosts_only(ports: Ports, url: str, code: str) -> None:
    assert asking(ports, actor_of(ports, make_user(ports)), url) == [("redirectUrl", code)]


def test_apps_and_anonymous_callers_cannot_delete_an_account(ports: Ports) -> None:
    app = Actor(ActorKind.APP, app_id=3, permissions=frozenset(Permission))
    extension = replace(actor_of(ports, make_user(ports)), app_id=3)
    for actor in (NOBODY, app, extension):
        with pytest.raises(PermissionDenied):
            request_account_deletion(ports, actor, redirect_url=SHOP)
        with pytest.raises(PermissionDenied):
            delete_account(ports, actor, token="x")


def test_failed_request_stores_nothing(ports: Ports) -> None:
    actor = actor_of(ports, make_user(ports))
    with pytest.raises(ArithmeticError):
        request_account_deletion(
            replace(ports, encryption=FailingEncryption()), actor, redirect_url=SHOP
        )
    assert (mails(ports), trail(ports, "account.deletion_request")) == ([], [])
