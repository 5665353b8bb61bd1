"""Contract, what parts 1 and 2 say about changing, resetting and setting a password."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from app.domain.shop.settings import PasswordLoginMode
from tests.builders.people import PASSWORD
from tests.spec.client import Client
from tests.spec.documents import (
    CHANGE_PASSWORD,
    LOGIN,
    ME_QUERY,
    REFRESH,
    REQUEST_RESET,
    SET_PASSWORD,
)
from tests.spec.recorded_shop import RecordedShop
from tests.spec.replay import NEW_PASSWORD, WRONG_PASSWORD

pytestmark = pytest.mark.xdist_group("spec")

CUSTOMER = "customer@example.com"
REDIRECT = "http://localhost:3000/reset?shop=1"
WEAK = {
    "1234": "PASSWORD_TOO_SHORT",
    "password1": "PASSWORD_TOO_COMMON",
    "customer@example.com": "PASSWORD_TOO_SIMILAR",
    "73920584617": "PASSWORD_ENTIRELY_NUMERIC",
}
Problem = tuple[str | None, str]


def _set(
    client: Client, email: str, password: str, token: str
) -> tuple[list[Problem], str | None]:
    """What was wrong, and the access token."""
    response = client.run(SET_PASSWORD, email=email, password=password, token=token)
    payload = response.data["setPassword"]
    problems = [(error["field"], error["code"]) for error in payload["errors"]]
    return problems, payload["token"]


def _change(client: Client, token: str, old: str | None, new: str) -> list[Problem]:
    payload = client.run(CHANGE_PASSWORD, token, old=old, new=new).data["passwordChange"]
    return [(error["field"], error["code"]) for error in payload["errors"]]


def _request(client: Client, email: str, redirect: str = REDIRECT) -> list[Problem]:
    response = client.run(REQUEST_RESET, email=email, redirectUrl=redirect)
    errors = response.data["requestPasswordReset"]["errors"]
    return [(error["field"], error["code"]) for error in errors]


def _can_log_in(client: Client, password: str) -> bool:
    payload = client.run(LOGIN, email=CUSTOMER, password=password).data["tokenCreate"]
    return bool(payload["token"])


def test_set_password_signs_in_and_ends_every_earlier_session(
    client: Client, shop: RecordedShop
) -> None:
    before = shop.session("customer")
    problems, access = _set(client, CUSTOMER, NEW_PASSWORD, shop.reset_link("customer"))
    assert problems == []
    assert client.run(ME_QUERY, access).data["me"] == {"email": CUSTOMER}
    assert client.run(ME_QUERY, before.access).code == "InvalidTokenError"
    refused = client.run(REFRESH, token=before.refresh).data["tokenRefresh"]
    assert refused["errors"][0]["code"] == "JWT_INVALID_TOKEN"
    assert not _can_log_in(client, PASSWORD)
    client = Client(client.server, client.http)
    assert _can_log_in(client, NEW_PASSWORD)


def test_invalid_used_and_foreign_tokens_and_unknown_email_get_the_same_refusal(
    client: Client, shop: RecordedShop
) -> None:
    token = shop.reset_link("customer")
    expected: tuple[list[Problem], None] = ([("token", "INVALID")], None)
    assert _set(client, CUSTOMER, NEW_PASSWORD, "bad") == expected
    assert _set(client, "customer2@example.com", NEW_PASSWORD, token) == expected
    assert _set(client, "nobody@example.com", NEW_PASSWORD, token) == expected
    assert _set(client, CUSTOMER, NEW_PASSWORD, shop.access("customer")) == expected
    assert _set(client, CUSTOMER, NEW_PASSWORD, token)[0] == []
    assert _set(client, CUSTOMER, f"{NEW_PASSWORD} again", token) == expected


@pytest.mark.parametrize("password", WEAK)
def test_weak_password_is_refused_with_a_reason(
    client: Client, shop: RecordedShop, password: str
) -> None:
    token = shop.reset_link("customer")
    problems, access = _set(client, CUSTOMER, password, token)
    assert ("password", WEAK[password]) in problems
    assert access is None
    assert ("newPassword", WEAK[password]) in _change(
        client, shop.access("customer"), PASSWORD, password
    )
    assert _set(client, CUSTOMER, NEW_PASSWORD, token)[0] == []


@pytest.mark.parametrize("old", [WRONG_PASSWORD, "", None])
def test_wrong_or_missing_old_password_is_refused(
    client: Client, shop: RecordedShop, old: str | None
) -> None:
    expected = [("oldPassword", "INVALID_CREDENTIALS")]
    assert _change(client, shop.access("customer"), old, NEW_PASSWORD) == expected


def test_password_change_ends_all_other_sessions(client: Client, shop: RecordedShop) -> None:
    mine, other = shop.sign_in("customer"), shop.sign_in("customer")
    assert _change(client, mine.access, PASSWORD, NEW_PASSWORD) == []
    assert client.run(ME_QUERY, mine.access).data["me"] == {"email": CUSTOMER}
    assert client.run(REFRESH, token=mine.refresh).data["tokenRefresh"]["errors"] == []
    assert client.run(ME_QUERY, other.access).code == "InvalidTokenError"
    assert _can_log_in(client, NEW_PASSWORD)


def test_password_is_stored_exactly_as_typed(client: Client, shop: RecordedShop) -> None:
    odd = "  Ünïcödé 密码 with spaces at both ends and " + "x" * 100 + "  "
    assert _change(client, shop.access("customer"), PASSWORD, odd) == []
    assert _can_log_in(client, odd)
    for other in (odd.strip(), odd.lower()):
        assert not _can_log_in(Client(client.server, client.http), other)


def test_reset_response_does_not_reveal_existing_emails(
    client: Client, shop: RecordedShop
) -> None:
    for name in ("customer", "nobody", "inactive", "sso", "manager"):
        assert _request(client, f"{name}@example.com") == []
    assert _request(client, CUSTOMER) == []
    recipients = sorted(letter.recipient for letter in shop.work())
    assert recipients == ["customer@example.com", "manager@example.com", "sso@example.com"]


def test_mailed_link_is_the_redirect_url_with_email_and_token_added(
    client: Client, shop: RecordedShop
) -> None:
    _request(client, CUSTOMER)
    (letter,) = shop.work()
    found = re.search(r"http://localhost:3000/reset\S+", letter.text)
    assert found is not None
    query = parse_qs(urlsplit(found[0]).query)
    assert (query["shop"], query["email"]) == (["1"], [CUSTOMER])
    assert _set(client, CUSTOMER, NEW_PASSWORD, query["token"][0])[0] == []


def test_one_link_per_user_is_made_in_fifteen_minutes(client: Client, shop: RecordedShop) -> None:
    for _ in range(3):
        _request(client, CUSTOMER)
    assert len(shop.work()) == 1
    _request(client, CUSTOMER)
    assert shop.work() == []
    _request(client, "customer2@example.com")
    assert len(shop.work()) == 1


@pytest.mark.parametrize(
    "url", ["https://evil.example/reset", "//evil.example", "javascript:alert(1)", "reset", ""]
)
def test_link_leads_to_allowed_hosts_only(client: Client, shop: RecordedShop, url: str) -> None:
    ((field, code),) = _request(client, CUSTOMER, url)
    assert field == "redirectUrl"
    assert code in ("INVALID", "REQUIRED")
    assert shop.work() == []


def test_disabled_blocks_all_three_before_checking_the_caller(
    client: Client, shop: RecordedShop
) -> None:
    token = shop.reset_link("customer")
    shop.set_switches(PasswordLoginMode.DISABLED)
    expected = "DISABLED_AUTHENTICATION_METHOD"
    assert [code for _, code in _set(client, CUSTOMER, NEW_PASSWORD, token)[0]] == [expected]
    assert [code for _, code in _request(client, CUSTOMER)] == [expected]
    for credential in (None, shop.app_token("PRODUCTS"), "garbage"):
        variables = {"old": PASSWORD, "new": NEW_PASSWORD}
        payload = client.run(CHANGE_PASSWORD, credential, **variables).data["passwordChange"]
        assert [error["code"] for error in payload["errors"]] == [expected]
    assert shop.work() == []
    shop.set_switches()
    assert _can_log_in(client, PASSWORD)


def test_reset_gives_an_sso_user_a_password_and_both_methods_work(
    client: Client, shop: RecordedShop
) -> None:
    token = shop.reset_link("sso")
    assert _set(client, "sso@example.com", NEW_PASSWORD, token)[0] == []
    payload = client.run(LOGIN, email="sso@example.com", password=NEW_PASSWORD).data
    assert payload["tokenCreate"]["errors"] == []
