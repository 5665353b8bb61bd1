"""Asking for a new password: one answer for every address, one link in a quarter of an hour."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest
from sqlalchemy import func, select

from app import models
from app.domain.authorization.actor import WORKER, Actor, ActorKind
from app.domain.mails.mail import MailKind
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.errors import PermissionDenied, Refused, TokenFault
from app.ports import Ports
from app.services.accounts.password_resets import answer_reset_requests, request_password_reset
from app.services.mails.sending import send_due_mail
from tests.builders.audit import trail
from tests.builders.outbox import events, mails, token_in
from tests.builders.people import (
    ADDRESS,
    ISSUER,
    NOBODY,
    change_user,
    make_staff,
    make_user,
    user_as_stored,
)
from tests.builders.shop import set_mode
from tests.fakes.clock import FakeClock
from tests.fakes.encryption import BrokenAtFirst, FailingEncryption
from tests.fixtures.cases import cases
from tests.fixtures.ports import fake_ports

SHOP = "http://localhost:3000/reset?lang=de#/form"


def ask(ports: Ports, email: str, redirect_url: str = SHOP, actor: Actor = NOBODY) -> None:
    request_password_reset(ports, actor, email=email, redirect_url=redirect_url)


def answer(ports: Ports) -> int:
    return answer_reset_requests(ports, WORKER)


def links(ports: Ports) -> int:
    with ports.database.reading() as session:
        return session.scalar(select(func.count()).select_from(models.AccountLink)) or 0


def waiting(ports: Ports) -> int:
    with ports.database.reading() as session:
        return session.scalar(select(func.count()).select_from(models.ResetRequest)) or 0


def test_customer_gets_a_link_by_mail(ports: Ports) -> None:
    make_user(ports, "jörg@bücher.example")
    ask(ports, "jörg@bücher.example")
    assert answer(ports) == 1
    (mail,) = mails(ports)
    assert (mail.kind, mail.recipient) == (MailKind.PASSWORD_RESET, "jörg@bücher.example")
    assert mail.values["lifetime"] == "1 hour"
    assert mail.values["link"] == (
        "http://localhost:3000/reset?lang=de"
        f"&email=j%C3%B6rg%40b%C3%BCcher.example&token={token_in(mail)}#/form"
    )
    assert len(token_in(mail)) >= 32


def test_mailed_token_is_never_stored_in_plain_text(ports: Ports) -> None:
    make_user(ports)
    ask(ports, "customer@example.com")
    answer(ports)
    token = token_in(mails(ports)[0])
    with ports.database.reading() as session:
        link = session.scalars(select(models.AccountLink)).one()
        assert token not in (link.digest, link.state)
    (event,) = events(ports)
    assert event.token == token
    assert token not in repr(event.data)


@pytest.mark.parametrize(
    ("is_staff", "type_"),
    [(False, "ACCOUNT_SET_PASSWORD_REQUESTED"), (True, "STAFF_SET_PASSWORD_REQUESTED")],
)
def test_event_has_requester_and_redirect_url(ports: Ports, is_staff: bool, type_: str) -> None:
    user_id = make_user(ports, is_staff=is_staff)
    app = Actor(ActorKind.APP, app_id=9, name="storefront", address=ADDRESS, issuer=ISSUER)
    ask(ports, "customer@example.com", actor=app)
    answer(ports)
    (event,) = events(ports)
    assert (event.type, event.subject_id) == (type_, user_id)
    assert event.principal == ("App", 9)
    assert event.data["redirect_url"] == SHOP
    (row,) = trail(ports, "password.reset_link")
    assert (row.actor_name, row.address, row.subject_id) == ("storefront", ADDRESS, str(user_id))


@pytest.mark.parametrize("typed", [" Customer@Example.COM ", "CUSTOMER@example.com"])
def test_email_is_found_in_any_spelling(ports: Ports, typed: str) -> None:
    make_user(ports)
    ask(ports, typed)
    answer(ports)
    assert [mail.recipient for mail in mails(ports)] == ["customer@example.com"]


def test_sso_user_can_get_a_password(ports: Ports) -> None:
    make_user(ports, password=None)
    ask(ports, "customer@example.com")
    answer(ports)
    assert len(mails(ports)) == 1


def test_request_writes_the_same_for_every_email(ports: Ports) -> None:
    """Nothing is looked up, so there is nothing that could take longer or answer otherwise."""
    make_user(ports, "known@example.com")
    make_user(ports, "inactive@example.com", is_active=False)
    locked = make_user(ports, "locked@example.com")
    change_user(ports, locked, reset_requested_at=ports.clock.now())
    for email in ("known", "unknown", "inactive", "locked"):
        ask(ports, f"{email}@example.com")
    with ports.database.reading() as session:
        rows = session.scalars(select(models.ResetRequest)).all()
    assert len({(row.redirect_url, repr(row.caller), row.created_at) for row in rows}) == 1
    assert len(rows) == 4
    assert (mails(ports), events(ports), links(ports)) == ([], [], 0)


@pytest.mark.parametrize("email", ["unknown@example.com", "inactive@example.com"])
def test_unusable_links_are_not_sent(ports: Ports, email: str) -> None:
    make_user(ports, "inactive@example.com", is_active=False)
    ask(ports, email)
    assert answer(ports) == 1
    assert (waiting(ports), links(ports), mails(ports), events(ports)) == (0, 0, [], [])


@cases(
    "email", ["", "nobody", "@", "a@b", "a\r\nBcc: b@example.com", "a\0@example.com", "x" * 300]
)
def test_invalid_email_is_answered_like_a_valid_one(ports: Ports, email: str) -> None:
    ask(ports, email)
    assert answer(ports) == 0


def test_user_gets_one_link_per_quarter_of_an_hour(ports: Ports, clock: FakeClock) -> None:
    user_id = make_user(ports)
    for _ in range(3):
        ask(ports, "customer@example.com")
    assert answer(ports) == 3
    clock.pass_(minutes=14, seconds=59)
    ask(ports, "customer@example.com")
    answer(ports)
    assert len(mails(ports)) == links(ports) == 1
    clock.pass_(seconds=1)
    ask(ports, "customer@example.com")
    answer(ports)
    assert len(mails(ports)) == 2
    assert user_as_stored(ports, user_id).reset_requested_at == clock.now()


def test_reset_lock_time_is_a_setting(ports: Ports) -> None:
    make_user(ports)
    configuration = replace(ports.configuration, reset_password_lock_time=0)
    unlocked = replace(ports, configuration=configuration)
    for _ in range(2):
        ask(unlocked, "customer@example.com")
    answer(unlocked)
    assert len(mails(ports)) == 2


def test_new_link_replaces_the_previous_one(ports: Ports, clock: FakeClock) -> None:
    make_user(ports)
    for _ in range(2):
        ask(ports, "customer@example.com")
        answer(ports)
        clock.pass_(minutes=16)
    assert (links(ports), len(mails(ports))) == (1, 2)


def test_foreign_host_is_refused_for_every_email(ports: Ports) -> None:
    make_user(ports)

    @cases("url", ["https://evil.example/", "javascript:alert(1)", "/reset"])
    def check(url: str) -> None:
        for email in ("customer@example.com", "unknown@example.com", "no address"):
            with pytest.raises(Refused) as refused:
                ask(ports, email, url)
            (problem,) = refused.value.problems
            assert (problem.field, problem.code) == ("redirectUrl", "INVALID")
        assert waiting(ports) == 0

    check()


def test_production_allows_only_listed_redirect_hosts(ports: Ports) -> None:
    configuration = replace(
        ports.configuration, development=False, allowed_client_hosts=("shop.example.com",)
    )
    production = replace(ports, configuration=configuration)
    ask(production, "customer@example.com", "https://shop.example.com/reset")
    with pytest.raises(Refused):
        ask(production, "customer@example.com")


def test_disabled_mode_is_refused_first(ports: Ports) -> None:
    set_mode(ports, PasswordLoginMode.DISABLED)
    for actor in (NOBODY, replace(NOBODY, fault=TokenFault.INVALID)):
        with pytest.raises(Refused) as refused:
            ask(ports, "customer@example.com", "https://evil.example/", actor)
        (problem,) = refused.value.problems
        assert (problem.field, problem.code) == (None, "DISABLED_AUTHENTICATION_METHOD")


def test_no_link_is_created_after_passwords_were_disabled(ports: Ports) -> None:
    make_user(ports)
    ask(ports, "customer@example.com")
    set_mode(ports, PasswordLoginMode.DISABLED)
    assert answer(ports) == 1
    assert (mails(ports), links(ports)) == ([], 0)


def test_due_mail_is_sent_in_the_same_round(ports: Ports) -> None:
    make_staff(ports)
    ask(ports, "staff@example.com")
    sent = replace(ports, mailer=_Silent())
    assert send_due_mail(sent, WORKER) == 1


def test_only_internal_callers_process_reset_requests(ports: Ports) -> None:
    with pytest.raises(PermissionDenied):
        answer_reset_requests(ports, NOBODY)


@pytest.mark.both_databases
def test_concurrent_workers_create_one_link(
    ports: Ports, database_url: str, clock: FakeClock
) -> None:
    make_user(ports)
    for _ in range(6):
        ask(ports, "customer@example.com")
    others = [fake_ports(database_url, clock, first_key=number) for number in (10, 20, 30)]

    def work(other: Ports) -> Callable[[Barrier], None]:
        def run(start: Barrier) -> None:
            start.wait()
            while answer(other):
                pass

        return run

    start = Barrier(len(others), timeout=60)
    with ThreadPoolExecutor(len(others)) as pool:
        for done in [pool.submit(work(other), start) for other in others]:
            done.result(180)
    assert (len(mails(ports)), len(events(ports)), links(ports), waiting(ports)) == (1, 1, 1, 0)


def test_failed_link_is_created_by_the_next_attempt(ports: Ports) -> None:
    make_user(ports)
    ask(ports, "customer@example.com")
    with pytest.raises(ArithmeticError):
        answer(replace(ports, encryption=FailingEncryption()))
    assert (len(mails(ports)), len(events(ports)), links(ports), waiting(ports)) == (0, 0, 0, 1)
    answer(ports)
    assert (len(mails(ports)), len(events(ports)), links(ports), waiting(ports)) == (1, 1, 1, 0)


def test_failing_reset_request_delays_no_other(ports: Ports) -> None:
    for email in ("ann@example.com", "ben@example.com", "cem@example.com"):
        make_user(ports, email)
        ask(ports, email)
    with pytest.raises(ArithmeticError):
        answer(replace(ports, encryption=BrokenAtFirst(ports.encryption)))
    assert (len(mails(ports)), waiting(ports)) == (2, 1)
    answer(ports)
    assert (len(mails(ports)), waiting(ports)) == (3, 0)


class _Silent:
    """Takes every letter over and keeps none."""

    def send(self, rendered: object) -> None:
        assert rendered

    def check(self) -> bool:
        return False
