"""A slow page that was asked for before a link in an email was opened, and answers after it."""

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from flask import Flask

from app.domain.authorization.actor import WORKER
from app.domain.mails.mail import MailKind
from app.ports import Ports
from app.services.accounts.password_resets import answer_reset_requests
from tests.builders.outbox import mails
from tests.builders.people import PASSWORD, make_staff, make_user
from tests.fakes.clock import FakeClock
from tests.hosted.customer_browser import ANN, Browser, browser

NEW_PASSWORD = "a long new passphrase 42"
STAFF = "staff@example.com"


NEW = {"password": NEW_PASSWORD}


@dataclass(frozen=True, slots=True)
class Link:
    """A link that was mailed, its page with the form, and a page that is slow meanwhile."""

    kind: MailKind
    form: str
    slow: str
    fields: dict[str, str] = field(default_factory=dict)
    name: str = "link"


def forgotten(app: Flask, shop: Ports) -> tuple[Browser, Link]:
    make_user(shop, ANN)
    browser(app).send("/account/forgotten", email=ANN)
    answer_reset_requests(shop, WORKER)
    link = Link(MailKind.PASSWORD_RESET, "/account/new-password", "/account/sign-in", NEW)
    return browser(app), link


def registered(app: Flask, shop: Ports) -> tuple[Browser, Link]:
    browser(app).send("/account/register", name="Ann", email=ANN, password=PASSWORD)
    return browser(app), Link(
        MailKind.ACCOUNT_CONFIRMATION, "/account/confirm", "/account/sign-in"
    )


def new_email(app: Flask, shop: Ports) -> tuple[Browser, Link]:
    make_user(shop, ANN)
    here = browser(app)
    here.sign_in()
    here.send("/account/email", email="lee@example.com", password=PASSWORD)
    return here, Link(MailKind.EMAIL_CHANGE_REQUEST, "/account/email/confirm", "/account/")


def staff_forgotten(app: Flask, shop: Ports) -> tuple[Browser, Link]:
    make_staff(shop, STAFF)
    browser(app).send("/console/forgotten", email=STAFF)
    answer_reset_requests(shop, WORKER)
    link = Link(MailKind.PASSWORD_RESET, "/console/new-password", "/console/sign-in", NEW)
    return browser(app), link


def staff_at_desk(app: Flask, shop: Ports) -> Browser:
    make_staff(shop, STAFF)
    here = browser(app)
    here.send("/console/sign-in", email=STAFF, password=PASSWORD)
    return here


def staff_not_me(app: Flask, shop: Ports) -> tuple[Browser, Link]:
    here, changed = staff_at_desk(app, shop), {"new_password": NEW_PASSWORD}
    own = "/console/account/"
    here.send(f"{own}password", own, old_password=PASSWORD, **changed)
    form = "/console/not-me/account"
    return here, Link(MailKind.PASSWORD_CHANGED, form, "/console/keyboard", name="not_me")


def staff_new_email(app: Flask, shop: Ports) -> tuple[Browser, Link]:
    here, own = staff_at_desk(app, shop), "/console/account/"
    here.send(f"{own}email", own, new_email="new@example.com", password=PASSWORD)
    return here, Link(MailKind.EMAIL_CHANGE_REQUEST, f"{own}new-email", "/console/keyboard")


@pytest.mark.parametrize(
    "mailed",
    [forgotten, registered, new_email, staff_forgotten, staff_not_me, staff_new_email],
    ids=lambda mailed: mailed.__name__,
)
def test_late_answer_of_another_page_leaves_the_link(
    app: Flask,
    shop: Ports,
    clock: FakeClock,
    mailed: Callable[[Flask, Ports], tuple[Browser, Link]],
) -> None:
    here, link = mailed(app, shop)
    clock.pass_(seconds=61)
    before = browser(app)
    before.take(here.cookies())
    before.open(link.slow)
    assert before.cookies() != here.cookies(), "the slow page sets no cookie"
    path = mails(shop, link.kind)[-1].values[link.name].removeprefix("http://localhost:8000")
    assert here.open(path).leads_to == link.form
    here.take(before.cookies())
    done = here.send(link.form, **link.fields)
    assert done.status == 303 or "is confirmed" in done.text, done.text
