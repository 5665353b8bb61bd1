"""A mail server that repeats what it was sent puts no link or password into the mail log."""

import json
from dataclasses import replace

import pytest
from flask import Flask

from app.adapters.mail.mailer import SmtpMailer
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import MailKind
from app.ports import Ports
from app.services.accounts.password_resets import send_reset_link
from app.services.accounts.registration import NewAccount, register_account
from app.services.imports.exports import export_person
from app.services.mails.sending import send_due_mail
from app.services.people.staff import NewStaff, create_staff
from tests.builders.mails import stored_mails
from tests.builders.outbox import mails, token_in
from tests.builders.people import make_staff, make_user
from tests.commands.shell import run
from tests.console.staff_client import ConsoleClient
from tests.fixtures.kept_application import AppOn
from tests.fixtures.one_of_each import InTurn
from tests.servers.smtp import smtp_server

SHOP = "http://localhost:3000/links"
PASSWORD = "gr0ve-lamp-41"
"""Of the mail server: too short to look like a token."""

KIM = "a heron walks at dawn"
FORMS = (
    "554 5.7.1 Blocked: {link}",
    "450 4.7.1 Wait <{recipient}> {token}",
    '550-5.7.1 href=3D"{link}"\r\n550 5.7.1 token={token};',
    "554 5.7.1 {password} is wrong, {password}",
    "554 https://mx.example.com/why?m={token}&to={recipient}",
)


def unbroken(page: str) -> str:
    """Return ``page`` without the places where lines can be broken."""
    return page.replace("<wbr>", "")


def signed_in(ports: Ports, app: Flask) -> ConsoleClient:
    """Someone who manages staff and customers, at the console."""
    email = "support@example.com"
    make_staff(ports, email, Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
    console = ConsoleClient(app.test_client(), ports)
    assert console.sign_in(email).status == 303
    return console


@pytest.fixture
def links(ports: Ports) -> list[tuple[str, str, str]]:
    """The recipient, the link and the token of emails of each kind that has a link."""
    clara = make_user(ports, "clara@example.com")
    send_reset_link(ports, OPERATOR, clara, redirect_url=SHOP)
    create_staff(ports, OPERATOR, NewStaff("sofia@example.com", redirect_url=SHOP))
    new = NewAccount("kim@example.com", KIM, redirect_url=SHOP)
    register_account(ports, OPERATOR, new)
    found = mails(
        ports, MailKind.PASSWORD_RESET, MailKind.STAFF_INVITATION, MailKind.ACCOUNT_CONFIRMATION
    )
    assert len(found) == 3
    return [(mail.recipient, mail.values["link"], token_in(mail)) for mail in found]


def test_answer_of_the_mail_server_leaks_nothing(
    ports: Ports, app_on: AppOn, links: list[tuple[str, str, str]], in_turn: InTurn
) -> None:
    with smtp_server(login=("shop", PASSWORD)) as (mailbox, host):
        url = f"smtp://shop:{PASSWORD}@{host}"
        posting = replace(ports, mailer=SmtpMailer(url, "noreply@example.com"))
        answers = [
            (step, form)
            for step in ("refusal", "stranger")
            for form in in_turn(FORMS, (len(FORMS) + 1) // 2)
        ]
        for number, (step, form) in enumerate(answers):
            recipient = f"{number}@example.com"
            send_reset_link(ports, OPERATOR, make_user(ports, recipient), redirect_url=SHOP)
            (mail,) = [mail for mail in mails(ports) if mail.recipient == recipient]
            link, token = mail.values["link"], token_in(mail)
            links.append((recipient, link, token))
            answer = form.format(recipient=recipient, link=link, token=token, password=PASSWORD)
            mailbox.refusal = mailbox.stranger = ""
            setattr(mailbox, step, answer)
            assert send_due_mail(posting, WORKER) == 0
        assert mailbox.messages == []
    errors = [mail.last_error for mail in stored_mails(ports)]
    assert len(errors) == len(links)
    assert all(error[:15] == "The mail server" for error in errors), "the answer is recorded"
    console = signed_in(ports, app_on(ports))
    shown = [
        *errors,
        *(console.open(f"/console/emails/log/{mail.id}").html for mail in stored_mails(ports)),
        console.open("/console/emails/log/").html,
        console.open("/console/emails/log/export.csv").html,
        console.open("/console/customers/1").html,
        console.open("/console/audit/export.json").html,
        run(ports, "mail", "list", "--json").stdout,
        json.dumps(export_person(ports, OPERATOR, "clara@example.com"), default=str),
    ]
    for text in map(unbroken, shown):
        for _, link, token in links:
            assert token not in text
            assert link not in text
            assert "links?" not in text
        assert PASSWORD not in text
    assert all("@" not in error for error in errors)


def test_links_of_waiting_emails_are_in_no_page(
    ports: Ports, app_on: AppOn, links: list[tuple[str, str, str]]
) -> None:
    console = signed_in(ports, app_on(ports))
    for path in (
        "/console/emails/log/",
        "/console/emails/log/export.csv",
        "/console/emails/log/1",
    ):
        text = unbroken(console.open(path).html)
        assert "clara@example.com" in text
        assert SHOP not in text
        assert all(token not in text for _, _, token in links)
    pages = [mail.redirect_url for mail in stored_mails(ports)]
    assert all(token not in page for page in pages for _, _, token in links)
