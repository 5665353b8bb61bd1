"""The page "This wasn't me": from the mail to a new password."""

import logging
from collections.abc import Callable
from dataclasses import replace

import pytest

from app import models
from app.domain.accounts.email_links import LinkPurpose
from app.domain.mails.mail import MailKind
from app.domain.shop.settings import PasswordLoginMode
from app.ports import Ports
from app.services.accounts.email_changes import confirm_email_change
from app.services.outbox.security_notices import notify
from tests.builders.links import link_for
from tests.builders.outbox import mails
from tests.builders.passkeys import SoftwareAuthenticator, make_passkey
from tests.builders.people import (
    NOBODY,
    PASSWORD,
    actor_of,
    make_staff,
    make_user,
    sign_in,
    user_as_stored,
)
from tests.builders.shop import set_mode
from tests.console.staff_client import ConsoleClient, Page
from tests.fixtures.cases import cases

NEW = "a long and rather new sentence"
STAFF = "staff@example.com"
FIREFOX = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0"


def mailed_link(
    ports: Ports, user_id: int, kind: MailKind = MailKind.PASSWORD_CHANGED, **values: str
) -> str:
    """Mail a notice; return the path of its link."""
    actor = replace(NOBODY, user_agent=FIREFOX)
    with ports.database.transaction() as session:
        notify(ports, actor, session, user_id, kind, values)
    return path_in(mails(ports)[-1].values["not_me"])


def path_in(link: str) -> str:
    return link.removeprefix("http://localhost:8000")


def press(console: ConsoleClient, link: str) -> Page:
    """Open the link and press the button; return the page that follows."""
    shown = console.follow(console.open(link))
    assert shown.status == 200
    sent = console.send("/console/not-me/account")
    assert (sent.status, sent.leads_to) == (303, "/console/not-me/done")
    return console.follow(sent)


def test_link_leads_to_a_new_password(anonymous_console: ConsoleClient, shop: Ports) -> None:
    user_id = make_staff(shop, STAFF)
    sign_in(shop, user_id)
    link = mailed_link(shop, user_id)
    shown = anonymous_console.follow(anonymous_console.open(link))
    circumstances = "1 Mar 2026, 12:00:00 UTC · Firefox on Windows · 203.0.113.7"
    for part in ("The password was changed.", STAFF, circumstances):
        assert part in shown.text
    done = press(anonymous_console, link)
    assert "All sessions ended, and the password was removed." in done.text
    assert user_as_stored(shop, user_id).password_hash is None
    assert "/console/new-password" in done.html
    assert anonymous_console.send("/console/new-password", {"password": NEW}).status == 303
    assert anonymous_console.open("/console/").status == 200


def test_page_is_in_the_browsers_language(anonymous_console: ConsoleClient, shop: Ports) -> None:
    user_id = make_staff(shop, STAFF)
    sign_in(shop, user_id)
    anonymous_console.open(mailed_link(shop, user_id))
    headers = {"Accept-Language": "de"}
    shown = anonymous_console.client.get("/console/not-me/account", headers=headers).text
    for part in (
        "Das Passwort wurde geändert.",
        "1. März 2026, 12:00:00 UTC · Firefox unter Windows · 203.0.113.7",
    ):
        assert part in shown


def test_opening_the_link_changes_nothing(anonymous_console: ConsoleClient, shop: Ports) -> None:
    user_id = make_staff(shop, STAFF)
    sign_in(shop, user_id)
    link = mailed_link(shop, user_id)
    before = user_as_stored(shop, user_id).password_hash
    for _ in range(3):
        led = anonymous_console.open(link)
        assert anonymous_console.follow(led).status == 200
        assert anonymous_console.client.head(link).status_code == 303
    with shop.database.reading() as session:
        assert session.query(models.Session).count() == 1
    assert user_as_stored(shop, user_id).password_hash == before
    press(anonymous_console, link)


def test_form_needs_its_csrf_token(anonymous_console: ConsoleClient, shop: Ports) -> None:
    user_id = make_staff(shop, STAFF)
    anonymous_console.open(mailed_link(shop, user_id))
    refused = anonymous_console.client.post("/console/not-me/account")
    assert refused.status_code == 400
    assert user_as_stored(shop, user_id).password_hash is not None


def test_link_works_once(anonymous_console: ConsoleClient, shop: Ports) -> None:
    link = mailed_link(shop, make_staff(shop, STAFF))
    press(anonymous_console, link)
    page = anonymous_console.follow(anonymous_console.open(link))
    assert (page.status, "This link doesn't work" in page.text) == (404, True)
    assert "/console/forgotten" in page.html


@cases("link", ["", "?token=", "?token=wrong", "?token=%00", "/?token=wrong"])
def test_invalid_link_changes_nothing(anonymous_console: ConsoleClient, link: str) -> None:
    page = anonymous_console.follow(anonymous_console.open(f"/console/not-me{link}"))
    assert (page.status, "This link doesn't work" in page.text) == (404, True)
    sent = anonymous_console.send("/console/not-me/account", seen_at="/console/sign-in")
    assert sent.status == 404


def test_done_page_without_a_report_leads_to_the_sign_in(anonymous_console: ConsoleClient) -> None:
    assert anonymous_console.open("/console/not-me/done").leads_to == "/console/sign-in"


def test_restored_email_is_named(anonymous_console: ConsoleClient, shop: Ports) -> None:
    user_id = make_user(shop, "old@example.com")
    token = link_for(shop, user_id, LinkPurpose.CHANGE_EMAIL, "new@example.com")
    confirm_email_change(shop, actor_of(shop, user_id), token=token)
    link = path_in(mails(shop, MailKind.EMAIL_CHANGED)[-1].values["not_me"])
    shown = anonymous_console.follow(anonymous_console.open(link))
    assert "The email was changed from old@example.com to new@example.com." in shown.text
    assert "The email becomes old@example.com again." in shown.text
    assert "Your email is old@example.com again." in press(anonymous_console, link).text
    assert user_as_stored(shop, user_id).email == "old@example.com"


@pytest.mark.parametrize(
    ("mode", "password"),
    [(PasswordLoginMode.DISABLED, PASSWORD), (PasswordLoginMode.ENABLED, None)],
)
def test_no_password_is_offered_where_none_can_be_used(
    anonymous_console: ConsoleClient, shop: Ports, mode: PasswordLoginMode, password: str | None
) -> None:
    set_mode(shop, mode)
    user_id = make_user(shop, STAFF, is_staff=True, password=password)
    done = press(anonymous_console, mailed_link(shop, user_id))
    assert "You sign in with an identity provider." in done.text
    assert "/console/new-password" not in done.html


def test_signed_in_person_can_use_the_link_too(
    staff_console: Callable[..., ConsoleClient], shop: Ports
) -> None:
    console = staff_console()
    user_id = make_user(shop, "colleague@example.com")
    done = press(console, mailed_link(shop, user_id))
    assert "colleague@example.com" in done.text
    assert console.open("/console/").status == 200


WITHOUT_LINK = (MailKind.ACCOUNT_SECURED, MailKind.SECOND_FACTORS_RESET)


def test_every_notice_is_in_words(anonymous_console: ConsoleClient, shop: Ports) -> None:
    values = {
        "factor": "A key",
        "left": "3",
        "provider": "Northlight ID",
        "old_email": "o@x.example",
        "new_email": "n@x.example",
    }
    staff = make_staff(shop, STAFF)
    for kind in MailKind:
        if kind not in WITHOUT_LINK:
            link = mailed_link(shop, staff, kind, **values)
            page = anonymous_console.follow(anonymous_console.open(link))
            assert (page.status, "{" in page.text) == (200, False), kind


def test_factors_that_stop_are_named_before_and_after(
    anonymous_console: ConsoleClient, shop: Ports
) -> None:
    user_id = make_staff(shop, STAFF)
    make_passkey(shop, user_id, SoftwareAuthenticator(), "<Laptop>")
    link = mailed_link(shop, user_id, MailKind.SECOND_FACTOR_ADDED, factor="A key")
    shown = anonymous_console.follow(anonymous_console.open(link))
    assert 'Passkey "<Laptop>" stops working.' in shown.text
    done = press(anonymous_console, link)
    for words in ('Passkey "<Laptop>"', "ask a staff manager to reset your second factors"):
        assert words in done.text


def test_secret_is_in_no_page_header_or_log(
    anonymous_console: ConsoleClient, shop: Ports, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    link = mailed_link(shop, make_staff(shop, STAFF))
    token = link.partition("token=")[2]
    led = anonymous_console.open(link)
    shown = anonymous_console.follow(led)
    done = press(anonymous_console, link)
    for page in (led, shown, done):
        headers = page.response.headers
        assert token not in page.html + str(headers.get("Location", ""))
        assert headers["Referrer-Policy"] == "same-origin"
        assert headers["X-Frame-Options"] == "DENY"
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        assert headers["Cache-Control"] == "no-store"
    assert token not in caplog.text
