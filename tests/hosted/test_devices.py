"""People let in devices at the hosted pages, and see who asks before they decide."""

import pytest
from flask import Flask

from app.domain.authorization.actor import OPERATOR
from app.domain.oauth import COMMAND_LINE, OAuthClient
from app.ports import Ports
from app.services.oauth.clients import ClientChange, update_client
from app.services.oauth.devices import DeviceCodes, begin_device, find_device
from app.services.oauth.grants import find_client
from tests.builders.oauth import make_client
from tests.builders.people import NOBODY, make_user
from tests.builders.shop import close_storefront
from tests.fakes.clock import FakeClock
from tests.hosted.customer_browser import ANN, Browser, browser

PAGE = "/oauth/device"


@pytest.fixture
def kiosk(shop: Ports) -> OAuthClient:
    make_user(shop, ANN)
    return make_client(shop, "Kiosk", allows_devices=True).client


@pytest.fixture
def here(app: Flask, kiosk: OAuthClient) -> Browser:
    opened = browser(app)
    opened.sign_in()
    return opened


def begin(shop: Ports, client: OAuthClient) -> DeviceCodes:
    return begin_device(shop, NOBODY, client, client.scopes)


def decision(shop: Ports, codes: DeviceCodes) -> bool | None:
    found = find_device(shop, NOBODY, codes.device_code)
    assert found is not None
    return found.is_allowed


def test_person_sees_who_asks_before_they_decide(
    app: Flask, shop: Ports, kiosk: OAuthClient, here: Browser
) -> None:
    codes = begin(shop, kiosk)
    stranger = browser(app).open(f"{PAGE}?user_code={codes.user_code}")
    assert stranger.leads_to.startswith("/account/sign-in?next=%2Foauth%2Fdevice%3Fuser_code")
    asked = here.open(f"{PAGE}?user_code={codes.user_code}")
    assert "Did someone send you this code?" in asked.text
    assert codes.user_code in asked.html
    # The link alone decides nothing, and shows no program yet.
    assert "Kiosk" not in asked.text
    shown = here.send(PAGE, user_code=codes.user_code.lower())
    for words in (
        "Let Kiosk sign in as you?",
        "Kiosk isn't part of",
        "203.0.113.7",
        "See your email",
    ):
        assert words in shown.text, words
    assert f"{codes.user_code[:4]}-{codes.user_code[4:]}" in shown.text
    assert decision(shop, codes) is None
    # What was shown is allowed alone: the page comes again after a change.
    allow = {"user_code": codes.user_code, "decision": "allow"}
    update_client(shop, OPERATOR, kiosk.client_id, ClientChange(name="Bank"))
    for proof in ({}, {"proof": shown.proof}):
        shown = here.send(PAGE, **allow, **proof)
        assert "Let Bank sign in as you?" in shown.text
    assert decision(shop, codes) is None
    done = here.send(PAGE, **allow, proof=shown.proof)
    assert "Device connected" in done.text
    assert decision(shop, codes) is True
    other = begin(shop, kiosk)
    assert "Device refused" in here.send(PAGE, user_code=other.user_code, decision="deny").text
    assert decision(shop, other) is False


def test_wrong_code_is_asked_for_again(
    shop: Ports, kiosk: OAuthClient, here: Browser, clock: FakeClock
) -> None:
    codes = begin(shop, kiosk)
    clock.pass_(minutes=10)
    for code in ("", "WDJB-MJHT", codes.user_code, "\0" * 3, "\u017f" * 8, "x" * 9000):
        for choice in ("", "allow", "deny"):
            answer = here.send(PAGE, user_code=code, decision=choice)
            assert answer.status == 422, (code, choice)
            assert "This code is unknown" in answer.text or "Too many" in answer.text


def test_forms_of_other_sites_and_closed_shops_decide_nothing(
    app: Flask, shop: Ports, kiosk: OAuthClient, here: Browser
) -> None:
    codes = begin(shop, kiosk)
    forged = {"user_code": codes.user_code, "decision": "allow"}
    assert here.client.post(PAGE, data=forged).status_code == 400
    assert decision(shop, codes) is None
    page = here.open(PAGE).response.headers
    assert "frame-ancestors 'none'" in page["Content-Security-Policy"]
    staff = find_client(shop, NOBODY, COMMAND_LINE)
    assert staff is not None
    answer = here.send(PAGE, user_code=begin(shop, staff).user_code)
    assert "Enter its code in the console" in answer.text
    close_storefront(shop)
    assert here.client.post(PAGE, data=forged).status_code == 503
    assert decision(shop, codes) is None
