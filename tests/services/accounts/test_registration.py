"""Accounts that people make themselves: new or not, the answer and the work are the same."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest
from sqlalchemy import func, select

from app import models
from app.domain.mails.mail import MailKind
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.errors import Refused
from app.ports import Ports
from app.services.accounts.email_changes import confirm_account
from app.services.accounts.registration import NewAccount, register_account, send_confirmation
from app.services.sign_in.password_login import create_token
from tests.builders.audit import trail
from tests.builders.outbox import events, mails, token_in
from tests.builders.people import (
    NOBODY,
    PASSWORD,
    actor_of,
    make_user,
    sessions_of,
    user_as_stored,
)
from tests.builders.shop import configure_shop, set_mode
from tests.fakes.clock import FakeClock
from tests.fakes.encryption import FailingEncryption
from tests.fakes.passwords import FakeHasher
from tests.fixtures.cases import cases
from tests.fixtures.ports import fake_ports

SHOP = "http://localhost:3000/confirm?lang=de"
ANN = NewAccount("ann@example.com", PASSWORD, "Ann", "Lee", SHOP)


def register(ports: Ports, new: NewAccount = ANN) -> bool:
    return register_account(ports, NOBODY, new).needs_confirmation


def codes(ports: Ports, new: NewAccount) -> list[tuple[str | None, str]]:
    with pytest.raises(Refused) as refused:
        register(ports, new)
    return [(problem.field, problem.code) for problem in refused.value.problems]


def people(ports: Ports) -> list[models.User]:
    with ports.database.reading() as session:
        return list(session.scalars(select(models.User)))


def test_new_account_requires_confirmation(ports: Ports) -> None:
    assert register(ports) is True
    (user,) = people(ports)
    assert (user.email, user.first_name, user.last_name) == ("ann@example.com", "Ann", "Lee")
    assert (user.is_active, user.is_confirmed, user.is_staff) == (True, False, False)
    assert sessions_of(ports, user.id) == []
    with pytest.raises(Refused):
        create_token(ports, NOBODY, email="ann@example.com", password=PASSWORD)


def test_mailed_link_confirms_the_account(ports: Ports) -> None:
    register(ports)
    (mail,) = mails(ports)
    assert (mail.kind, mail.recipient) == (MailKind.ACCOUNT_CONFIRMATION, "ann@example.com")
    assert mail.values == {
        "link": f"{SHOP}&email=ann%40example.com&token={token_in(mail)}",
        "lifetime": "3 days",
        "lifetime_seconds": "259200",
    }
    user = confirm_account(ports, NOBODY, email="ann@example.com", token=token_in(mail))
    assert user.is_confirmed
    assert create_token(ports, NOBODY, email="ann@example.com", password=PASSWORD).access


def test_changes_are_published_and_audited(ports: Ports) -> None:
    register(ports)
    (user,) = people(ports)
    created, requested = events(ports)
    assert (created.type, created.subject_id) == ("CUSTOMER_CREATED", user.id)
    assert (requested.type, requested.subject_id) == ("ACCOUNT_CONFIRMATION_REQUESTED", user.id)
    assert requested.data["redirect_url"] == SHOP
    assert requested.token == token_in(mails(ports)[0])
    assert [row.subject_id for row in trail(ports, "account.register")] == [str(user.id)]


def test_customer_can_sign_in_without_required_confirmation(ports: Ports) -> None:
    configure_shop(ports, enable_account_confirmation_by_email=False)
    assert register(ports, replace(ANN, redirect_url="")) is False
    assert [event.type for event in events(ports)] == ["CUSTOMER_CREATED"]
    assert mails(ports) == []
    pair = create_token(ports, NOBODY, email="ann@example.com", password=PASSWORD)
    assert not pair.user.is_confirmed


def test_unconfirmed_customer_can_sign_in_where_allowed(ports: Ports) -> None:
    configure_shop(ports, allow_login_without_confirmation=True)
    assert register(ports) is True
    assert create_token(ports, NOBODY, email="ann@example.com", password=PASSWORD).access


def test_registering_works_in_every_login_mode(ports: Ports) -> None:
    for count, mode in enumerate(PasswordLoginMode, start=1):
        set_mode(ports, mode)
        assert register(ports, replace(ANN, email=f"{mode}@example.com".lower())) is True
        assert len(people(ports)) == count


def test_emails_of_every_script_are_normalized(ports: Ports) -> None:
    emails = {
        " Ann@Example.COM ": "ann@example.com",
        "jörg@bücher.example": "jörg@bücher.example",
        "Jo\u0308ran@Bücher.example": "jöran@bücher.example",
        "用户@例子.example": "用户@例子.example",
        "o'neil+shop@example.co.uk": "o'neil+shop@example.co.uk",
    }
    for typed in emails:
        register(ports, replace(ANN, email=typed))
    assert {user.email for user in people(ports)} == {*emails.values()}
    assert [mail.recipient for mail in mails(ports)] == [*emails.values()]


@cases(
    ("email", "code"),
    [
        ("", "REQUIRED"),
        ("nobody", "INVALID"),
        ("ann@", "INVALID"),
        ("@example.com", "INVALID"),
        ("ann@example", "INVALID"),
        ("ann@@example.com", "INVALID"),
        ("ann lee@example.com", "INVALID"),
        ("ann@example.com\r\nBcc: bob@example.com", "INVALID"),
        ("ann\0@example.com", "INVALID"),
        ("ann@-example.com", "INVALID"),
        ("a" * 65 + "@example.com", "INVALID"),
        ("ann@" + "x." * 130 + "com", "INVALID"),
    ],
)
def test_invalid_email_is_refused(ports: Ports, email: str, code: str) -> None:
    assert codes(ports, replace(ANN, email=email)) == [("email", code)]
    assert people(ports) == []


@cases("name", ["a\r\nBcc: b@example.com", "a\x00b", "a\u2028b", "x" * 257])
def test_name_must_be_one_line(ports: Ports, name: str) -> None:
    assert codes(ports, replace(ANN, first_name=name)) == [("firstName", "INVALID")]
    assert codes(ports, replace(ANN, last_name=name)) == [("lastName", "INVALID")]


def test_long_and_empty_names_of_every_script_are_accepted(ports: Ports) -> None:
    register(ports, replace(ANN, first_name="", last_name="長" * 256))
    assert [(user.first_name, user.last_name) for user in people(ports)] == [("", "長" * 256)]


def test_weak_password_is_refused_for_every_email(ports: Ports) -> None:
    weak = {
        "123": "PASSWORD_TOO_SHORT",
        "sunshine1": "PASSWORD_TOO_COMMON",
        "ann@example.com": "PASSWORD_TOO_SIMILAR",
        "8203461957": "PASSWORD_ENTIRELY_NUMERIC",
    }
    for make_known in (lambda: None, lambda: make_user(ports, "ann@example.com")):
        make_known()
        for password, code in weak.items():
            assert codes(ports, replace(ANN, password=password)) == [("password", code)]


@cases(
    ("url", "code"), [("", "REQUIRED"), ("https://evil.example/", "INVALID"), ("/x", "INVALID")]
)
def test_confirmation_url_must_lead_to_an_allowed_host(ports: Ports, url: str, code: str) -> None:
    assert codes(ports, replace(ANN, redirect_url=url)) == [("redirectUrl", code)]


@pytest.mark.both_databases
def test_all_problems_are_reported_at_once(ports: Ports) -> None:
    assert codes(ports, NewAccount("x", "123", "\n", "\n", "/")) == [
        ("email", "INVALID"),
        ("password", "PASSWORD_TOO_SHORT"),
        ("firstName", "INVALID"),
        ("lastName", "INVALID"),
        ("redirectUrl", "INVALID"),
    ]


def test_registered_email_gets_the_same_response_and_a_notice(ports: Ports) -> None:
    user_id = make_user(ports, "ann@example.com", password="the real owner's words")
    before = user_as_stored(ports, user_id)
    assert register(ports) is True
    (mail,) = mails(ports)
    assert (mail.kind, mail.recipient, mail.values) == (
        MailKind.ACCOUNT_EXISTS,
        "ann@example.com",
        {},
    )
    after = user_as_stored(ports, user_id)
    assert (after.password_hash, after.first_name) == (before.password_hash, before.first_name)
    assert (len(people(ports)), events(ports), trail(ports, "account.register")) == (1, [], [])


def test_registration_mails_per_user_are_limited(ports: Ports, clock: FakeClock) -> None:
    make_user(ports, "ann@example.com")
    for _ in range(3):
        register(ports)
    assert len(mails(ports)) == 1
    clock.pass_(minutes=15)
    register(ports)
    assert len(mails(ports)) == 2


def test_inactive_account_is_neither_notified_nor_activated(ports: Ports) -> None:
    user_id = make_user(ports, "ann@example.com", is_active=False)
    assert register(ports) is True
    assert (mails(ports), user_as_stored(ports, user_id).is_active) == ([], False)


def test_unconfirmed_customer_can_request_another_mail(ports: Ports, clock: FakeClock) -> None:
    register(ports)
    register(ports)
    assert len(mails(ports)) == 1
    clock.pass_(minutes=15)
    register(ports)
    first, second = mails(ports)
    assert second.kind is MailKind.ACCOUNT_CONFIRMATION
    with pytest.raises(Refused):
        confirm_account(ports, NOBODY, email="ann@example.com", token=token_in(first))
    assert confirm_account(
        ports, NOBODY, email="ann@example.com", token=token_in(second)
    ).is_confirmed


def test_unconfirmed_customer_can_have_another_link_sent(ports: Ports, clock: FakeClock) -> None:
    configure_shop(ports, allow_login_without_confirmation=True)
    own = actor_of(ports, make_user(ports, "ann@example.com", is_confirmed=False))
    for url in ("", "https://elsewhere.example.org/"):
        with pytest.raises(Refused) as refused:
            send_confirmation(ports, own, url)
        assert [(each.code, each.field) for each in refused.value.problems] == [
            ("INVALID", "redirectUrl")
        ]
    send_confirmation(ports, own, SHOP)
    with pytest.raises(Refused) as refused:
        send_confirmation(ports, own, SHOP)
    assert refused.value.problems[0].code == "CONFIRMATION_ALREADY_REQUESTED"
    clock.pass_(minutes=16)
    send_confirmation(ports, own, SHOP)
    assert [event.type for event in events(ports)] == ["ACCOUNT_CONFIRMATION_REQUESTED"] * 2
    confirm_account(ports, NOBODY, email="ann@example.com", token=token_in(mails(ports)[-1]))
    with pytest.raises(Refused) as refused:
        send_confirmation(ports, own, SHOP)
    assert refused.value.problems[0].code == "ACCOUNT_CONFIRMED"


def test_no_link_is_sent_where_accounts_need_no_confirmation(ports: Ports) -> None:
    configure_shop(ports, enable_account_confirmation_by_email=False)
    own = actor_of(ports, make_user(ports, is_confirmed=False))
    with pytest.raises(Refused) as refused:
        send_confirmation(ports, own, SHOP)
    assert refused.value.problems[0].code == "INVALID"
    assert mails(ports) == []


def test_stranger_registration_is_never_mailed_for_confirmation(
    ports: Ports, clock: FakeClock
) -> None:
    """The stranger's password stays without a use; the owner is told to set one of their own."""
    register(ports, replace(ANN, password="what a stranger chose"))
    clock.pass_(hours=1)
    register(ports)
    kinds = [mail.kind for mail in mails(ports)]
    assert kinds == [MailKind.ACCOUNT_CONFIRMATION, MailKind.ACCOUNT_EXISTS]


def test_registration_work_is_equal_for_every_email(ports: Ports, hasher: FakeHasher) -> None:
    make_user(ports, "known@example.com")
    make_user(ports, "sso@example.com", password=None)
    make_user(ports, "inactive@example.com", is_active=False)
    spent = set()
    for name in ("unknown", "known", "sso", "inactive"):
        before = hasher.verifications, hasher.hashes
        register(ports, replace(ANN, email=f"{name}@example.com"))
        spent.add((hasher.verifications - before[0], hasher.hashes - before[1]))
    assert spent == {(1, 1)}


@pytest.mark.both_databases
def test_concurrent_registrations_create_one_account(
    ports: Ports, database_url: str, clock: FakeClock
) -> None:
    others = [fake_ports(database_url, clock) for _ in range(4)]
    start = Barrier(len(others), timeout=60)

    def work(other: Ports) -> Callable[[], bool]:
        def run() -> bool:
            start.wait()
            return register(other)

        return run

    with ThreadPoolExecutor(len(others)) as pool:
        answers = [future.result(180) for future in [pool.submit(work(other)) for other in others]]
    assert answers == [True] * len(others)
    with ports.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(models.User)) == 1
    assert [event.type for event in events(ports)].count("CUSTOMER_CREATED") == 1
    assert len(mails(ports)) == 1


def test_failed_registration_stores_nothing(ports: Ports) -> None:
    with pytest.raises(ArithmeticError):
        register(replace(ports, encryption=FailingEncryption()))
    assert (people(ports), mails(ports), events(ports)) == ([], [], [])
    assert trail(ports, "account.register") == []
