"""The hosted pages as people use them, one story after the other."""

from flask import Flask
from sqlalchemy import select

from app import models
from app.domain.authorization.actor import WORKER
from app.domain.mails.mail import MailKind
from app.ports import Ports
from app.services.accounts.password_resets import answer_reset_requests
from tests.builders.outbox import mails
from tests.builders.people import PASSWORD, make_user, sessions_of, user_as_stored
from tests.builders.second_factors import one_time_code
from tests.builders.shop import configure_shop
from tests.console.staff_client import Page
from tests.fakes.clock import FakeClock
from tests.hosted.customer_browser import ANN, browser
from tests.services.sign_in.second_factors import make_protected

NEW_PASSWORD = "a long new passphrase 42"


def link_path(ports: Ports, kind: MailKind) -> str:
    link = mails(ports, kind)[-1].values["link"]
    return link[link.index("/account/") :]


def registered(ports: Ports, email: str) -> list[tuple[models.User, bool]]:
    """Return the accounts with that email, each with whether it has a password."""
    with ports.database.reading() as session:
        users = session.scalars(select(models.User).where(models.User.email == email)).all()
        return [(user, user.password_hash is not None) for user in users]


def test_person_registers_confirms_and_signs_in(app: Flask, shop: Ports) -> None:
    here = browser(app)
    sent = here.send("/account/register", name="Ann Lee", email=ANN, password=PASSWORD)
    assert (sent.status, "Check your email" in sent.text) == (200, True)
    path = link_path(shop, MailKind.ACCOUNT_CONFIRMATION)
    assert here.open(path).leads_to == "/account/confirm"
    assert "confirmed" in here.send("/account/confirm").text
    assert here.sign_in().leads_to == "/account/"
    page = here.open("/account/")
    assert "Ann Lee" in page.text
    assert ANN in page.text


def test_person_registers_without_a_password(app: Flask, shop: Ports) -> None:
    here = browser(app)
    form = {"name": "Ann Marie Lee", "email": ANN, "password": ""}
    assert here.send("/account/register?ui_locales=de", **form).leads_to == "/account/sign-in/code"
    answer_reset_requests(shop, WORKER)
    sent = mails(shop, MailKind.SIGN_IN_CODE)[-1]
    assert sent.recipient == ANN
    with shop.database.reading() as session:
        assert session.scalars(select(models.OutboxMail.language_code)).all() == ["DE"]
    page = here.open("/account/sign-in/code?ui_locales=en").text
    assert f"If {ANN} can be used here, a six-digit code is on its way." in page
    assert here.send("/account/sign-in/code", code=sent.values["code"]).leads_to == "/account/"
    [(user, has_password)] = registered(shop, ANN)
    assert (user.first_name, user.last_name, user.language_code) == ("Ann", "Marie Lee", "DE")
    assert (user.is_confirmed, user.is_staff, has_password) == (True, False, False)
    # Who has an account signs in to it, whatever name they enter.
    again = browser(app)
    again.send("/account/register", name="Somebody", email=ANN, password="")
    answer_reset_requests(shop, WORKER)
    code = mails(shop, MailKind.SIGN_IN_CODE)[-1].values["code"]
    assert again.send("/account/sign-in/code", code=code).leads_to == "/account/"
    assert [user.first_name for user, _ in registered(shop, ANN)] == ["Ann"]


def test_registration_says_that_an_email_confirms_only_where_one_is_sent(
    app: Flask, shop: Ports
) -> None:
    sentence = "We'll send you an email to confirm that it's yours."
    assert sentence in browser(app).open("/account/register").text
    configure_shop(shop, enable_account_confirmation_by_email=False)
    assert "We'll send you" not in browser(app).open("/account/register").text


def test_code_that_registers_is_sent_again(app: Flask, shop: Ports, clock: FakeClock) -> None:
    here = browser(app)
    # A code to sign in that was just sent to the same email makes no account.
    here.send("/account/sign-in", email=ANN, method="code")
    here.send("/account/register", name="Ann", email=ANN)
    clock.pass_(seconds=30)
    here.send("/account/sign-in/code", resend="1")
    answer_reset_requests(shop, WORKER)
    sent = mails(shop, MailKind.SIGN_IN_CODE)
    assert len(sent) == 2
    assert here.send("/account/sign-in/code", code=sent[-1].values["code"]).leads_to == "/account/"
    assert [user.first_name for user, _ in registered(shop, ANN)] == ["Ann"]


def test_code_registers_with_the_name_that_was_entered_last(app: Flask, shop: Ports) -> None:
    """The control: the same form sent again sends no other code, which would end the first."""
    here = browser(app)
    for name in ("An", "Ann", "Ann"):
        here.send("/account/register", name=name, email=ANN)
    answer_reset_requests(shop, WORKER)
    sent = mails(shop, MailKind.SIGN_IN_CODE)
    assert len(sent) == 2
    assert here.send("/account/sign-in/code", code=sent[-1].values["code"]).leads_to == "/account/"
    assert [user.first_name for user, _ in registered(shop, ANN)] == ["Ann"]


def test_registration_without_a_password_says_what_is_wrong(app: Flask, shop: Ports) -> None:
    here = browser(app)
    for form, message in (
        ({"name": "Ann", "email": "ann"}, "valid email"),
        ({"name": "A\u0007nn", "email": ANN}, "Name"),
    ):
        refused = here.send("/account/register", **form)
        assert (refused.status, message in refused.text) == (422, True), refused.text
    configure_shop(shop, hosted_password_login=False)
    assert "Password" not in here.open("/account/register").text
    assert "Create account" in here.open("/account/sign-in").text
    here.send("/account/register", name="Ann", email=ANN, password=PASSWORD)
    answer_reset_requests(shop, WORKER)
    assert registered(shop, ANN) == []
    assert mails(shop, MailKind.SIGN_IN_CODE)[-1].recipient == ANN
    configure_shop(shop, hosted_password_login=True, email_code_login=False)
    assert here.send("/account/register", name="Bob", email="bob@example.com").status == 422


def test_forgotten_password_is_replaced(app: Flask, shop: Ports) -> None:
    make_user(shop, ANN)
    here = browser(app)
    for email in (ANN, "nobody@example.com"):
        sent = here.send("/account/forgotten", email=email)
        assert sent.text.replace(email, "") == here.send(
            "/account/forgotten", email=email
        ).text.replace(email, "")
    answer_reset_requests(shop, WORKER)
    path = link_path(shop, MailKind.PASSWORD_RESET)
    assert here.open(path).leads_to == "/account/new-password"
    assert here.send("/account/new-password", password="short").status == 422
    assert here.send("/account/new-password", password=NEW_PASSWORD).leads_to == "/account/"
    assert here.is_signed_in()
    assert browser(app).sign_in(password=PASSWORD).status == 422
    assert browser(app).open(path).leads_to == "/account/new-password"


def test_code_by_email_signs_in(app: Flask, shop: Ports) -> None:
    make_user(shop, ANN)
    here = browser(app)
    assert here.send("/account/sign-in", email=ANN, method="code").leads_to.startswith(
        "/account/sign-in/code"
    )
    answer_reset_requests(shop, WORKER)
    code = mails(shop, MailKind.SIGN_IN_CODE)[-1].values["code"]
    assert here.send("/account/sign-in/code", code=code).leads_to == "/account/"
    assert here.is_signed_in()


def test_second_factor_is_asked_for(app: Flask, shop: Ports) -> None:
    ann = make_protected(shop, ANN)
    here = browser(app)
    assert here.sign_in(target="/account/name").leads_to.startswith("/account/sign-in/factor")
    assert not here.is_signed_in()
    path = "/account/sign-in/factor?next=/account/name"
    assert here.send(path, code="000000").status == 422
    shop.throttle.unblock("127.0.0.1")
    entered = here.send(path, code=one_time_code(shop, ann.secret))
    assert entered.leads_to == "/account/name"
    assert here.is_signed_in()


def test_page_says_from_when_a_code_can_be_sent_again(
    app: Flask, shop: Ports, clock: FakeClock
) -> None:
    make_user(shop, ANN)
    here, path = browser(app), "/account/sign-in/code"
    here.send("/account/sign-in", email=ANN, method="code")
    assert "You can resend in 30 seconds." in here.open(path).text
    clock.pass_(seconds=29)
    # A second code would make the first worthless; the first still works.
    for entered in ({"resend": "1"}, {"email": ANN, "method": "code"}):
        form = path if "resend" in entered else "/account/sign-in"
        assert here.send(form, **entered).leads_to == path
    assert "You can resend in 1 second." in here.send(path, code="x").text
    answer_reset_requests(shop, WORKER)
    assert len(mails(shop, MailKind.SIGN_IN_CODE)) == 1
    clock.pass_(seconds=1)
    assert "You can resend" not in here.open(path).text
    assert here.send(path, resend="1").leads_to == path
    answer_reset_requests(shop, WORKER)
    assert len(mails(shop, MailKind.SIGN_IN_CODE)) == 2
    # Another email doesn't wait.
    make_user(shop, "bob@example.com")
    here.send("/account/sign-in", email="bob@example.com", method="code")
    answer_reset_requests(shop, WORKER)
    sent = mails(shop, MailKind.SIGN_IN_CODE)[-1]
    assert sent.recipient == "bob@example.com"
    shop.throttle.unblock("127.0.0.1")
    assert here.send(path, code=sent.values["code"]).leads_to == "/account/"


def test_second_click_ends_where_the_first_led(app: Flask, shop: Ports) -> None:
    make_user(shop, ANN)
    bob = make_protected(shop, "bob@example.com")
    here, again = browser(app), "/account/sign-in/password?next=/account/name"
    for filled in here.send_twice("/account/sign-in", email=ANN, method="password"):
        assert filled.leads_to == "/account/sign-in/password"
    for filled in here.send_twice(again, password=PASSWORD):
        assert filled.leads_to == "/account/name"
    assert here.is_signed_in()
    here = browser(app)
    for filled in here.send_twice("/account/sign-in", email=ANN, method="code"):
        assert filled.leads_to == "/account/sign-in/code"
    answer_reset_requests(shop, WORKER)
    code = mails(shop, MailKind.SIGN_IN_CODE)[-1].values["code"]
    for filled in here.send_twice("/account/sign-in/code", code=code):
        assert filled.leads_to == "/account/"
    assert here.is_signed_in()
    here = browser(app)
    here.send("/account/sign-in", email="bob@example.com", method="code")
    answer_reset_requests(shop, WORKER)
    code = mails(shop, MailKind.SIGN_IN_CODE)[-1].values["code"]
    for filled in here.send_twice("/account/sign-in/code", code=code):
        assert filled.leads_to == "/account/sign-in/factor"
    digits = one_time_code(shop, bob.secret)
    for filled in here.send_twice("/account/sign-in/factor", code=digits):
        assert filled.leads_to == "/account/"
    assert here.is_signed_in()
    # The control: who isn't signed in gets the page of a form that is too old.
    assert Page(browser(app).client.post(again, data={"csrf_token": "x"})).status == 400


def test_second_click_on_register_is_answered_alike(app: Flask, shop: Ports) -> None:
    for is_confirmed in (True, False):
        configure_shop(shop, enable_account_confirmation_by_email=is_confirmed)
        filled = {"name": "Ann", "email": f"{is_confirmed}@example.com", "password": PASSWORD}
        first, second = browser(app).send_twice("/account/register", **filled)
        assert (first.status, second.status) == (200, 200), is_confirmed
        assert first.text == second.text


def test_form_whose_answer_was_lost_is_answered_again(
    app: Flask, shop: Ports, clock: FakeClock
) -> None:
    """The browser gave up and sends it again with the cookie of before: nothing happens twice."""
    key, bob = make_user(shop, ANN), make_protected(shop, "bob@example.com")
    here = browser(app)
    here.send("/account/sign-in", email=ANN, method="password")
    lost = here.send_without_answer("/account/sign-in/password", password=PASSWORD)
    assert (lost.leads_to, here.is_signed_in()) == ("/account/", True)
    assert len(sessions_of(shop, key)) == 1

    sent = here.send_without_answer("/account/email", email="lee@example.com", password=PASSWORD)
    assert sent.leads_to == "/account/"
    assert len(mails(shop, MailKind.EMAIL_CHANGE_REQUEST)) == 1
    here.open(link_path(shop, MailKind.EMAIL_CHANGE_REQUEST))
    assert here.send_without_answer("/account/email/confirm").leads_to == "/account/"
    assert "Email changed to lee@example.com" in here.open("/account/").text
    assert (
        here.send_without_answer("/account/sign-out", "/account/").leads_to == "/account/sign-in"
    )
    assert not here.is_signed_in()

    here = browser(app)
    here.send("/account/sign-in", email="bob@example.com", method="code")
    answer_reset_requests(shop, WORKER)
    code = mails(shop, MailKind.SIGN_IN_CODE)[-1].values["code"]
    lost = here.send_without_answer("/account/sign-in/code", code=code)
    assert lost.leads_to == "/account/sign-in/factor"
    digits = one_time_code(shop, bob.secret)
    lost = here.send_without_answer("/account/sign-in/factor", code=digits)
    assert (lost.leads_to, here.is_signed_in()) == ("/account/", True)

    here = browser(app)
    new = {"name": "Cy", "email": "cy@example.com", "password": PASSWORD}
    assert "Check your email" in here.send_without_answer("/account/register", **new).text
    here.open(link_path(shop, MailKind.ACCOUNT_CONFIRMATION))
    assert "confirmed" in here.send_without_answer("/account/confirm").text

    # Controls: a refused form is another attempt, and after a minute so is any other.
    here.send("/account/sign-in", email="cy@example.com", method="password")
    for password, cookies in ((PASSWORD + "x", here.cookies()), (PASSWORD, {})):
        clock.pass_(seconds=61)
        filled = here.fill("/account/sign-in/password", password=password)
        first = Page(here.client.post("/account/sign-in/password", data=filled))
        clock.pass_(seconds=61)
        for name, value in cookies.items():
            here.client.set_cookie(name, value)
        again = Page(here.client.post("/account/sign-in/password", data=filled))
        assert (first.status, again.status) == ((422, 422) if cookies else (303, 400))


def test_form_of_another_tab_says_who_is_signed_in(app: Flask, shop: Ports) -> None:
    """Only the form that signed in is a second click; no other counts as sent."""
    make_user(shop, ANN)
    make_user(shop, "bob@example.com")
    here = browser(app)
    here.send("/account/forgotten", email="bob@example.com")
    answer_reset_requests(shop, WORKER)
    here.open(link_path(shop, MailKind.PASSWORD_RESET))
    chosen = here.fill("/account/new-password", password=NEW_PASSWORD)
    here.send("/account/sign-in", email=ANN, method="password")
    path = "/account/sign-in/password"
    right = here.fill(path, password=PASSWORD)
    assert Page(here.client.post(path, data=right)).leads_to == "/account/"
    for stale, fields in (
        ("/account/new-password", chosen),
        (path, {**right, "password": "another one"}),
        (f"{path}?again=1", right),
        ("/account/sign-in/code", right),
    ):
        answer = Page(here.client.post(stale, data=fields))
        assert answer.status == 400, stale
        assert f"You're signed in as {ANN}" in answer.text, stale
        assert "nothing was changed" in answer.text, stale
    assert browser(app).sign_in("bob@example.com").leads_to == "/account/"
    # Control: the second click itself.
    assert Page(here.client.post(path, data=right)).leads_to == "/account/"


def test_account_page_changes_name_password_sessions_and_language(app: Flask, shop: Ports) -> None:
    key = make_user(shop, ANN)
    here, phone = browser(app), browser(app)
    here.sign_in()
    phone.sign_in()
    here.send("/account/name", first_name="Ann", last_name="Lee")
    assert user_as_stored(shop, key).last_name == "Lee"
    changed = here.send("/account/password", old_password=PASSWORD, new_password=NEW_PASSWORD)
    assert changed.leads_to == "/account/"
    assert here.is_signed_in()
    assert not phone.is_signed_in()
    phone.sign_in(password=NEW_PASSWORD)
    here.send("/account/sessions/end-others", shown_at="/account/")
    assert not phone.is_signed_in()
    here.send("/account/language", shown_at="/account/", language="de")
    assert user_as_stored(shop, key).language_code == "DE"
    assert 'lang="de"' in here.open("/account/").html
    here.send("/account/sign-out", shown_at="/account/")
    assert not here.is_signed_in()


def test_email_changes_by_a_link_to_the_new_one(app: Flask, shop: Ports) -> None:
    key, new = make_user(shop, ANN), "ann.lee@example.com"
    here = browser(app)
    here.sign_in()
    wrong = here.send("/account/email", email=new, password="not mine")
    assert (wrong.status, new in wrong.html) == (422, True)
    assert mails(shop, MailKind.EMAIL_CHANGE_REQUEST) == []
    assert here.send("/account/email", email=new, password=PASSWORD).leads_to == "/account/"
    assert f"Open the link we sent to {new}" in here.open("/account/").text
    path = link_path(shop, MailKind.EMAIL_CHANGE_REQUEST)
    # Programs that read mail open links: that changes nothing, and shows nothing.
    assert browser(app).open(path).leads_to == "/account/email/confirm"
    stranger = browser(app)
    make_user(shop, "bob@example.com")
    stranger.sign_in("bob@example.com")
    stranger.open(path)
    assert new not in stranger.open("/account/email/confirm").text
    stranger.open(path)
    assert stranger.send("/account/email/confirm").status == 422
    assert user_as_stored(shop, key).email == ANN
    assert here.open(path).leads_to == "/account/email/confirm"
    shown = here.open("/account/email/confirm")
    assert (shown.status, f"from {ANN} to {new}" in shown.text) == (200, True)
    assert here.send("/account/email/confirm").leads_to == "/account/"
    assert user_as_stored(shop, key).email == new
    here.open(path)
    assert here.send("/account/email/confirm").status == 422, "a link works once"


def test_changes_of_email_are_limited(app: Flask, shop: Ports) -> None:
    make_user(shop, ANN)
    here = browser(app)
    here.sign_in()
    form = {"email": "not an email", "password": PASSWORD}
    statuses = [here.send("/account/email", **form).status for _ in range(21)]
    assert statuses == [422] * 20 + [429]


def test_only_what_is_offered_is_shown_and_works(app: Flask, shop: Ports) -> None:
    make_user(shop, ANN)
    page = browser(app).open("/account/sign-in").text
    assert "Email me a code" in page
    assert "Enter password" in page
    configure_shop(shop, email_code_login=False)
    assert "Email me a code" not in browser(app).open("/account/sign-in").text
    configure_shop(shop, hosted_password_login=False)
    assert "Enter password" not in browser(app).open("/account/sign-in").text
    for name in ("register", "forgotten", "new-password", "nowhere"):
        missing = browser(app).open(f"/account/{name}")
        assert missing.status == 404
        assert "Go to your account" in missing.text
    configure_shop(shop, hosted_pages=False)
    for path in ("/account/sign-in", "/account/", "/account/look.css", "/account/nowhere"):
        missing = browser(app).open(path)
        assert missing.status == 404
        assert "Go to your account" not in missing.text


def test_arabic_pages_run_from_right_to_left(app: Flask, shop: Ports) -> None:
    page = browser(app).open("/account/sign-in?ui_locales=ar").html
    assert '<html lang="ar" dir="rtl">' in page


def test_shop_is_shown_with_its_accent_and_legal_line(app: Flask, shop: Ports) -> None:
    configure_shop(shop, name="<Kiln>", accent_color="#9c4a2c", mail_legal_line="Kiln Ltd & Co")
    page = browser(app).open("/account/sign-in").html
    assert "&lt;Kiln&gt;" in page
    assert "Kiln Ltd &amp; Co" in page
    assert "#9c4a2c" in browser(app).open("/account/look.css").html
