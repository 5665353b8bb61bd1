"""Signing out at a client's request, over HTTP (OpenID Connect RP-Initiated Logout 1.0)."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import jwt
import pytest

from app.domain.authorization.actor import OPERATOR
from app.domain.oauth import LOGOUT_EVENT, LOGOUT_TOKEN_TYPE
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.keys import ring
from app.services.oauth.clients import ClientChange, update_client
from app.services.oauth.consents import allow_client
from tests.builders.oauth import Registered, make_client
from tests.builders.people import make_user
from tests.fakes.clock import FakeClock
from tests.oauth.pages import Provider, provider_of

BYE = "https://forum.example.com/bye?from=shop"


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    return sqlite_url


@pytest.fixture
def provider(ports: Ports) -> Iterator[Provider]:
    with provider_of(ports) as running:
        yield running


@pytest.fixture
def forum(ports: Ports) -> Registered:
    return make_client(ports, is_first_party=True, post_logout_redirect_uris=(BYE,))


def tokens_of(provider: Provider, client: Registered, scope: str = "openid") -> dict[str, Any]:
    tokens: dict[str, Any] = provider.exchange(client, provider.code(client, scope=scope)).json()
    return tokens


def ask(provider: Provider, **values: str) -> Any:
    return provider.get(f"/oauth/logout?{urlencode(values)}")


def is_signed_in(provider: Provider) -> bool:
    return provider.pages.person is not None


def test_client_with_an_id_token_of_the_sign_in_signs_the_person_out(
    ports: Ports, provider: Provider, forum: Registered, clock: FakeClock
) -> None:
    provider.pages.sign_in(make_user(ports))
    tokens = tokens_of(provider, forum, "openid offline_access")
    clock.pass_(hours=2)  # an ID token that has expired is good enough
    back = {"post_logout_redirect_uri": BYE, "state": "a&b"}
    answer = ask(provider, id_token_hint=tokens["id_token"], **back)
    assert answer.status_code == 303
    assert answer.headers["Location"] == f"{BYE}&state=a%26b"
    assert not is_signed_in(provider)
    # Offline access outlives the sign-in.
    assert provider.refresh(forum, tokens["refresh_token"]).status_code == 200
    # There is no one to ask any more.
    assert ask(provider, client_id=forum.id, post_logout_redirect_uri=BYE).status_code == 303
    assert ask(provider).text == "signed out"


def test_access_ends_with_the_sign_in(ports: Ports, provider: Provider, forum: Registered) -> None:
    provider.pages.sign_in(make_user(ports))
    tokens = tokens_of(provider, forum)
    assert provider.userinfo(tokens["access_token"]).status_code == 200
    ask(provider, id_token_hint=tokens["id_token"])
    assert provider.userinfo(tokens["access_token"]).status_code == 401


def test_person_is_asked_unless_the_client_proves_itself(
    ports: Ports, provider: Provider, forum: Registered
) -> None:
    user, other = make_user(ports), make_user(ports, "other@example.com")
    board = make_client(ports, "Board", is_first_party=True)
    provider.pages.sign_in(user)
    earlier = tokens_of(provider, forum)["id_token"]
    provider.pages.sign_in(other)
    others = tokens_of(provider, forum)["id_token"]
    provider.pages.sign_in(user)
    own = tokens_of(provider, forum)["id_token"]
    boards = tokens_of(provider, board)["id_token"]
    back = {"client_id": forum.id, "post_logout_redirect_uri": BYE}
    for values in (
        {},
        back,
        {"id_token_hint": earlier},  # of another sign-in of the same person
        {"id_token_hint": others},  # another person
        {"state": "x", "logout_hint": "customer@example.com"},
    ):
        assert ask(provider, **values).text == "Sign out?", values
    [*_, (logout, _)] = provider.pages.logouts
    assert (logout.client, logout.redirect_uri) == (None, "")
    action = provider.pages.logouts[1][1]
    assert is_signed_in(provider)
    assert provider.post(action).headers["Location"] == BYE
    assert not is_signed_in(provider)
    for hint in (own, boards):
        provider.pages.sign_in(user)
        assert ask(provider, id_token_hint=hint).text == "Sign out?", "that sign-in has ended"


def test_client_with_subjects_of_its_own_signs_the_person_out(
    ports: Ports, provider: Provider
) -> None:
    user, hints = make_user(ports), []
    client = make_client(ports, is_pairwise=True)
    for _ in range(2):
        provider.pages.sign_in(user)
        assert provider.pages.person is not None
        allow_client(ports, provider.pages.person.actor, client.client, {"openid"})
        hints.append(tokens_of(provider, client)["id_token"])
        claims = jwt.decode(hints[-1], options={"verify_signature": False})
        assert claims["sub"] == client.client.subject_of(user) != to_global_id("User", user)
    earlier, own = hints
    assert ask(provider, id_token_hint=earlier).text == "Sign out?"
    assert ask(provider, id_token_hint=own).text == "signed out"
    assert not is_signed_in(provider)


def test_no_one_is_led_to_what_is_not_registered(
    ports: Ports, provider: Provider, forum: Registered
) -> None:
    board = make_client(ports, "Board", is_first_party=True)
    provider.pages.sign_in(make_user(ports))
    tokens = tokens_of(provider, forum)
    hint = tokens["id_token"]
    head, payload, signature = hint.split(".")
    requests: dict[str, dict[str, str]] = {
        "another host": {"post_logout_redirect_uri": "https://evil.example/"},
        "a query more": {"post_logout_redirect_uri": f"{BYE}&x=1"},
        "a query less": {"post_logout_redirect_uri": BYE.partition("?")[0]},
        "another case": {"post_logout_redirect_uri": BYE.upper()},
        "a fragment": {"post_logout_redirect_uri": f"{BYE}#x"},
        "userinfo": {"post_logout_redirect_uri": BYE.replace("//", "//x@")},
        "of another client": {"client_id": board.id},
        "an access token": {"id_token_hint": tokens["access_token"]},
        "a changed token": {"id_token_hint": f"{head}.{payload[:-2]}AA.{signature}"},
        "no token": {"id_token_hint": "x"},
        "unknown client": {"id_token_hint": "", "client_id": "x"},
        "nobody": {"id_token_hint": ""},
        "a NUL": {"state": "\0"},
    }
    good = {"id_token_hint": hint, "post_logout_redirect_uri": BYE}
    for name, changes in requests.items():
        values = {key: value for key, value in {**good, **changes}.items() if value}
        answer = ask(provider, **values)
        assert (answer.status_code, answer.headers.get("Location")) == (400, None), name
        refused = provider.post(f"/oauth/logout/confirm?{urlencode(values)}")
        assert refused.status_code == 400, name
    twice = [*good.items(), ("post_logout_redirect_uri", "https://evil.example/")]
    assert provider.get(f"/oauth/logout?{urlencode(twice)}").status_code == 400
    assert is_signed_in(provider)
    led_on = provider.post("/oauth/logout", good)
    assert led_on.headers["Location"] == f"/oauth/logout?{urlencode(good)}"
    assert provider.get(led_on.headers["Location"]).headers["Location"] == BYE


def test_disabled_client_signs_no_one_out(
    ports: Ports, provider: Provider, forum: Registered
) -> None:
    provider.pages.sign_in(make_user(ports))
    hint = tokens_of(provider, forum)["id_token"]
    update_client(ports, OPERATOR, forum.id, ClientChange(is_active=False))
    answer = ask(provider, id_token_hint=hint, post_logout_redirect_uri=BYE)
    assert answer.status_code == 400
    assert ask(provider, id_token_hint=hint).text == "Sign out?"
    assert is_signed_in(provider)
    update_client(ports, OPERATOR, forum.id, ClientChange(is_active=True))
    assert ask(provider, id_token_hint=hint).text == "signed out"


def test_only_an_id_token_speaks_for_the_sign_in(
    ports: Ports, provider: Provider, forum: Registered
) -> None:
    """Neither a logout token with the same issuer, audience and session, nor an access token."""
    provider.pages.sign_in(make_user(ports))
    tokens = tokens_of(provider, forum)
    claims = jwt.decode(tokens["id_token"], options={"verify_signature": False})
    logout = {**claims, "events": {LOGOUT_EVENT: {}}}
    signed = ports.keys.sign(ring(ports).signer, logout, LOGOUT_TOKEN_TYPE)
    for hint in (signed, tokens["access_token"], f"{tokens['id_token']}x"):
        assert ask(provider, id_token_hint=hint).status_code == 400
        assert is_signed_in(provider)
    ask(provider, id_token_hint=tokens["id_token"])
    assert not is_signed_in(provider)
