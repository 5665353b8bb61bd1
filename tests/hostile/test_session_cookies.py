"""Attacks on the cookies of pages: taken for each other, and left in the browser by another."""

from http.cookies import SimpleCookie

from flask import Flask, session

from app.ports import Ports
from tests.builders.people import PASSWORD, make_staff, make_user
from tests.fixtures.cases import cases
from tests.hosted.conftest import app, shop
from tests.hosted.customer_browser import ANN, Browser, browser

__all__ = ["app", "shop"]

STAFF = "sam@example.com"
LINK = "email=ann%40example.com&token=secret"
COOKIES = {
    "latchkey": ("/console/", "user"),
    "latchkey-waiting": ("/console/", "waiting:email_link"),
    "latchkey-account": ("/account/", "user"),
    "latchkey-account-waiting": ("/account/", "waiting:email_link"),
}
"""The path and a key of each cookie; some keys are the same for both kinds of pages."""

PLACES = [
    ("/account/new-password", "latchkey-account-waiting"),
    ("/console/set-password", "latchkey-waiting"),
]


def signed(app: Flask, name: str) -> str:
    """Return a cookie as the application sets it."""
    path, key = COOKIES[name]
    with app.test_request_context(path):
        session[key] = "planted"
        answer = app.make_response("")
        app.session_interface.save_session(app, session, answer)
    return SimpleCookie(answer.headers["Set-Cookie"])[name].value


def test_cookie_counts_under_its_own_name_alone(app: Flask) -> None:
    values = {name: signed(app, name) for name in COOKIES}
    for name, (path, _) in COOKIES.items():
        for other, value in values.items():
            with app.test_request_context(path, headers={"Cookie": f"{name}={value}"}):
                read = dict(session)
            assert bool(read) is (name == other), (name, other, read)


@cases(("path", "name"), PLACES)
def test_opened_link_is_kept_for_this_browser_session_and_from_scripts(
    app: Flask, path: str, name: str
) -> None:
    answer = app.test_client().get(f"{path}?{LINK}")
    [cookie] = answer.headers.getlist("Set-Cookie")
    _, *attributes = cookie.split("; ")
    assert cookie.startswith(f"{name}=")
    assert sorted(attributes) == ["HttpOnly", "Path=/", "SameSite=Lax"]
    assert "Cookie" in answer.headers["Vary"]


def opened(here: Browser, path: str, name: str) -> bool:
    """Open the link, and return whether the browser has kept it."""
    here.open(f"{path}?{LINK}")
    return name in here.cookies()


def test_next_person_gets_no_link_that_was_opened_before(app: Flask, shop: Ports) -> None:
    make_user(shop, ANN)
    make_staff(shop, STAFF)
    here, (at_home, at_desk) = browser(app), PLACES
    assert opened(here, *at_home)
    here.sign_in()
    assert list(here.cookies()) == ["latchkey-account"]
    assert opened(here, *at_home)
    here.send("/account/sign-out", shown_at="/account/")
    assert list(here.cookies()) == ["latchkey-account"]
    assert opened(here, *at_desk)
    here.send("/console/sign-in", email=STAFF, password=PASSWORD)
    assert at_desk[1] not in here.cookies()
    assert opened(here, *at_desk)
    here.send("/console/sign-out", shown_at="/console/account/")
    assert at_desk[1] not in here.cookies()
