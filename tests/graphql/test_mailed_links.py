"""The ways that lead through somebody's mailbox, with a real mail server in between."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from email.message import EmailMessage
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from app.adapters.mail.mailer import SmtpMailer
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.shop.settings import ShopUpdate
from app.ports import Ports
from app.services.mails.sending import send_due_mail
from app.services.shop.settings import update_shop
from tests.builders.people import PASSWORD, make_user, sign_in
from tests.fakes.clock import FakeClock
from tests.graphql.shop_client import ApiClient
from tests.servers.free_ports import free_port
from tests.servers.smtp import Mailbox, smtp_server

NEW = "nine lazy Störche by the sea"
PAGE = "http://localhost:3000/account?lang=de#/form"
ERRORS = "errors { field code }"
REGISTER = f"mutation ($i: AccountRegisterInput!) {{ accountRegister(input: $i) {{ {ERRORS} }} }}"
CONFIRM = f"""
mutation ($e: String!, $t: String!) {{ confirmAccount(email: $e, token: $t) {{ {ERRORS} }} }}"""
LOGIN = f"""
mutation ($e: String, $p: String) {{
  tokenCreate(email: $e, password: $p) {{ token refreshToken user {{ email }} {ERRORS} }}
}}"""
RESET = f"""
mutation ($e: String!, $u: String!) {{
  requestPasswordReset(email: $e, redirectUrl: $u) {{ {ERRORS} }}
}}"""
SET = f"""
mutation ($e: String!, $p: String!, $t: String!) {{
  setPassword(email: $e, password: $p, token: $t) {{ token user {{ email }} {ERRORS} }}
}}"""
INVALID_TOKEN = [{"field": "token", "code": "INVALID"}]


@dataclass(frozen=True)
class Office:
    """The shop, its worker and the mail server."""

    api: ApiClient
    ports: Ports
    mailbox: Mailbox

    def delivered(self) -> list[EmailMessage]:
        """What arrives when the worker has sent what is due."""
        before = len(self.mailbox.messages)
        send_due_mail(self.ports, WORKER)
        return self.mailbox.messages[before:]


@contextmanager
def office(ports: Ports) -> Iterator[Office]:
    update_shop(ports, OPERATOR, ShopUpdate(name="Töpferei, Köln"))
    with smtp_server() as (mailbox, host):
        posting = replace(ports, mailer=SmtpMailer(f"smtp://{host}", "noreply@shop.example.com"))
        yield Office(ApiClient(posting), posting, mailbox)


def link_in(message: EmailMessage) -> str:
    """The one address that a mail leads to, the same in both of its parts."""
    parts = [message.get_body((form,)) for form in ("plain", "html")]
    texts = [unescape(part.get_content()) for part in parts if part is not None]
    found = {link for text in texts for link in re.findall(r'http://localhost[^\s"<]+', text)}
    assert len(texts) == 2
    link = str(found.pop())
    assert not found
    assert link.startswith("http://localhost:3000/account?lang=de&")
    assert link.endswith("#/form")
    return link


def named_in(link: str) -> dict[str, str]:
    """What the client's page reads from its own address."""
    return {name: value for name, [value] in parse_qs(urlsplit(link).query).items()}


def set_password(office: Office, link: str, password: str = NEW) -> Any:
    parameters = named_in(link)
    return office.api.run(SET, e=parameters["email"], p=password, t=parameters["token"])


@pytest.mark.one_of("email")
@pytest.mark.parametrize("email", ["ann@example.com", "jörg@töpferei.example", "用户@例子.广告"])
def test_password_is_reset_by_the_mailed_link(ports: Ports, email: str) -> None:
    before = sign_in(ports, make_user(ports, email))
    with office(ports) as shop:
        shop.api.run(RESET, e=email, u=PAGE)
        [mail] = shop.delivered()
        assert mail["From"].addresses[0].domain == "shop.example.com"
        link = link_in(mail)
        assert named_in(link)["email"] == email
        signed_in = set_password(shop, link)
        assert (signed_in["user"], signed_in["errors"]) == ({"email": email}, [])
        assert shop.api.run("{ me { email } }", signed_in["token"]) == {"email": email}
        assert shop.api.code("{ me { email } }", before.access) == "InvalidTokenError"
        assert shop.api.run(LOGIN, e=email, p=NEW)["errors"] == []
        assert set_password(shop, link, f"{NEW} again")["errors"] == INVALID_TOKEN
        [notice] = shop.delivered()
        assert shop.mailbox.recipients[0] == shop.mailbox.recipients[1]
        assert "password" in notice["Subject"]


def test_expired_link_is_refused(ports: Ports, clock: FakeClock) -> None:
    make_user(ports, "ann@example.com")
    make_user(ports, "bob@example.com")
    with office(ports) as shop:
        for email in ("ann@example.com", "bob@example.com"):
            shop.api.run(RESET, e=email, u=PAGE)
        anns, bobs = sorted(map(link_in, shop.delivered()))
        swapped = named_in(anns)["token"]
        refused = shop.api.run(SET, e=named_in(bobs)["email"], p=NEW, t=swapped)
        assert refused["errors"] == INVALID_TOKEN
        clock.pass_(minutes=59)
        assert set_password(shop, anns)["errors"] == []
        clock.pass_(minutes=2)
        assert set_password(shop, bobs)["errors"] == INVALID_TOKEN


@pytest.mark.one_of("email")
@pytest.mark.parametrize("email", ["jörg@töpferei.example", "用户@例子.广告"])
def test_internationalised_email_registers_confirms_and_signs_in(ports: Ports, email: str) -> None:
    with office(ports) as shop:
        new = {"email": email, "password": PASSWORD, "redirectUrl": PAGE, "firstName": "Jörg"}
        assert shop.api.run(REGISTER, i=new)["errors"] == []
        refused = shop.api.run(LOGIN, e=email, p=PASSWORD)
        assert [error["code"] for error in refused["errors"]] == ["ACCOUNT_NOT_CONFIRMED"]
        [mail] = shop.delivered()
        parameters = named_in(link_in(mail))
        assert shop.api.run(CONFIRM, e=parameters["email"], t=parameters["token"])["errors"] == []
        for spelling in (email, email.upper()):
            signed_in = shop.api.run(LOGIN, e=spelling, p=PASSWORD)
            assert signed_in["user"] == {"email": email}


@pytest.mark.first
def test_unreachable_mail_server_delays_mail_without_loss(ports: Ports, clock: FakeClock) -> None:
    people = [f"{name}@example.com" for name in ("ann", "bob", "cid")]
    for email in people:
        make_user(ports, email)
    port = free_port()
    mailer = SmtpMailer(f"smtp://127.0.0.1:{port}", "noreply@shop.example.com")
    posting = replace(ports, mailer=mailer)
    api = ApiClient(posting)
    for email in people:
        assert api.run(RESET, e=email, u=PAGE)["errors"] == []
    for _ in range(3):
        assert send_due_mail(posting, WORKER) == 0
        clock.pass_(minutes=15)
    with smtp_server(port=port) as (mailbox, _host):
        mailbox.stranger = "450 Greylisted, try again"
        assert send_due_mail(posting, WORKER) == 0
        clock.pass_(hours=3)
        mailbox.stranger = ""
        assert send_due_mail(posting, WORKER) == len(people)
        assert send_due_mail(posting, WORKER) == 0
    assert sorted(mailbox.recipients) == people
