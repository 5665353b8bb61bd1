"""Codes of other instances: nothing is sent, or believed, beside the instance itself."""

from typing import Any

import pytest

from app.domain.values.errors import PermissionDenied
from app.domain.values.installation import Fault
from app.ports.instance import Profile
from app.remote.device_login import begin_device_login, finish_device_login
from tests.fixtures.cases import cases
from tests.remote.fake_instance import URL, Instance, answering, raw

BASE = "https://shop.example.com"
OFFER: dict[str, Any] = {
    "issuer": BASE,
    "device_authorization_endpoint": f"{BASE}/oauth/device_authorization",
    "token_endpoint": f"{BASE}/oauth/token",
}
CODES: dict[str, Any] = {
    "device_code": "d" * 43,
    "user_code": "WDJB-MJHT",
    "verification_uri": f"{BASE}/console/device",
    "expires_in": 600,
    "interval": 5,
}
TOKENS = {"access_token": "access", "refresh_token": "lkrt_x"}
PENDING = answering({"error": "authorization_pending"}, 400)


def test_login_waits_as_it_is_told() -> None:
    shop = Instance(
        answering(OFFER),
        answering(CODES),
        PENDING,
        answering({"error": "slow_down"}, 400),
        answering(TOKENS),
        answering({"data": {"me": {"email": "ann@example.com"}}}),
    )
    begun = begin_device_login(shop, URL)
    assert begun is not None
    assert begun.device_code not in repr(begun)
    waited: list[float] = []
    profile = finish_device_login(shop, begun, waited.append)
    assert profile == Profile(URL, "access", "lkrt_x", "ann@example.com")
    assert waited == [5, 5, 10]


def test_code_that_expires_ends_the_wait() -> None:
    shop = Instance(answering(OFFER), answering({**CODES, "expires_in": 12}), PENDING)
    begun = begin_device_login(shop, URL)
    assert begun is not None
    with pytest.raises(PermissionDenied, match="expired"):
        finish_device_login(shop, begun, lambda _seconds: None)


def test_instance_does_not_keep_the_command_waiting() -> None:
    for sent, read in (
        ({"expires_in": 1e300, "interval": 1e300}, (1800, 60)),
        ({"expires_in": 10**400, "interval": 0}, (1800, 1)),
        ({"expires_in": -5, "interval": -1}, (-5, 1)),
        ({"expires_in": 600, "interval": 0.001}, (600, 1)),
        ({"expires_in": 600}, (600, 5)),
        ({"expires_in": float("nan")}, None),
        ({"expires_in": float("inf")}, None),
        ({"interval": float("nan")}, None),
        ({"expires_in": "600"}, None),
        ({"expires_in": True}, None),
        ({"interval": None}, None),
        ({"expires_in": None}, None),
    ):
        codes = {**CODES, **sent}
        if len(sent) == 1 and "expires_in" in sent:
            del codes["interval"]
        shop = Instance(answering(OFFER), answering(codes))
        if read is None:
            with pytest.raises(Fault, match="isn't a number of seconds"):
                begin_device_login(shop, URL)
        else:
            begun = begin_device_login(shop, URL)
            assert begun is not None
            assert (begun.expires_in, begun.interval) == read, sent


@cases(
    "answer",
    [
        answering({"detail": "none"}, 404),
        raw(200, b"<html>", "text/html"),
        answering({**OFFER, "issuer": "https://elsewhere.example"}),
        answering({**OFFER, "token_endpoint": "https://elsewhere.example/token"}),
        answering({**OFFER, "token_endpoint": f"{BASE}.elsewhere.example/token"}),
        answering({**OFFER, "token_endpoint": f"{BASE}@elsewhere.example/token"}),
        answering({name: OFFER[name] for name in OFFER if "device" not in name}),
    ],
)
def test_offer_of_another_place_is_none(answer: Any) -> None:
    shop = Instance(answer, answering(CODES))
    assert begin_device_login(shop, URL) is None
    assert len(shop.requests) == 1


def test_page_of_another_shop_is_refused() -> None:
    elsewhere = answering(
        {**CODES, "verification_uri": "https://other.example.com/console/device"}
    )
    assert begin_device_login(Instance(answering(OFFER), elsewhere), URL) is None
    assert begin_device_login(Instance(answering(OFFER), answering(CODES)), URL) is not None
