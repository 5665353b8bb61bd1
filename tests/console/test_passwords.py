"""A forgotten password, from the question to the session that follows."""

from app.domain.accounts.email_links import LinkPurpose
from app.domain.authorization.actor import WORKER
from app.ports import Ports
from app.services.accounts.password_resets import answer_reset_requests
from tests.builders.links import link_for
from tests.builders.people import make_staff, make_user
from tests.console.staff_client import ConsoleClient

NEW = "a long and rather new sentence"


def test_answer_is_the_same_for_every_address(
    anonymous_console: ConsoleClient, shop: Ports
) -> None:
    make_staff(shop)
    known = anonymous_console.send("/console/forgotten", {"email": "staff@example.com"})
    unknown = anonymous_console.send("/console/forgotten", {"email": "nobody@example.com"})
    assert known.status == unknown.status == 200
    assert known.text.replace("staff@", "") == unknown.text.replace("nobody@", "")
    assert answer_reset_requests(shop, WORKER) == 2


def test_link_leads_staff_to_a_new_password_and_in(
    anonymous_console: ConsoleClient, shop: Ports
) -> None:
    token = link_for(shop, make_staff(shop), LinkPurpose.SET_PASSWORD)
    led = anonymous_console.open(f"/console/set-password?email=staff%40example.com&token={token}")
    assert led.leads_to == "/console/new-password"
    assert token not in anonymous_console.follow(led).html
    done = anonymous_console.send("/console/new-password", {"password": NEW})
    assert done.leads_to == "/console/"
    assert "Your password is set, and you are signed in." in anonymous_console.follow(done).text


def test_messages_after_signing_in_are_in_the_persons_language(
    anonymous_console: ConsoleClient, shop: Ports
) -> None:
    token = link_for(shop, make_staff(shop), LinkPurpose.SET_PASSWORD)
    console = anonymous_console
    console.client.environ_base["HTTP_ACCEPT_LANGUAGE"] = "de"
    console.open(f"/console/set-password?email=staff%40example.com&token={token}")
    home = console.follow(console.send("/console/new-password", {"password": NEW}))
    assert '<html lang="en"' in home.html
    assert "Your password is set, and you are signed in." in home.text
    assert '<span lang="de">' in home.html
    assert "Change language" in home.text or "Sprache" in home.text
    assert '<span lang="de">' not in console.open("/console/").html
    console.send("/console/account/language", {"language": "AR"})
    assert "العربية (emails only)" in console.open("/console/account/?view=preferences").text


def test_weak_password_is_refused_with_the_reason_and_the_link_stays_good(
    anonymous_console: ConsoleClient, shop: Ports
) -> None:
    token = link_for(shop, make_staff(shop), LinkPurpose.SET_PASSWORD)
    anonymous_console.open(f"/console/set-password?email=staff%40example.com&token={token}")
    assert anonymous_console.send("/console/new-password", {"password": "short"}).status == 422
    assert anonymous_console.send("/console/new-password", {"password": NEW}).status == 303


def test_invalid_link_is_refused(anonymous_console: ConsoleClient) -> None:
    anonymous_console.open("/console/set-password?email=staff%40example.com&token=wrong")
    page = anonymous_console.send("/console/new-password", {"password": NEW})
    assert page.status == 422
    assert "Send a new link" in page.text


def test_customer_sets_a_password_and_stays_outside(
    anonymous_console: ConsoleClient, shop: Ports
) -> None:
    token = link_for(shop, make_user(shop), LinkPurpose.SET_PASSWORD)
    anonymous_console.open(f"/console/set-password?email=customer%40example.com&token={token}")
    page = anonymous_console.send("/console/new-password", {"password": NEW})
    assert "Use it to sign in at" in page.text
    assert anonymous_console.open("/console/").status == 303
