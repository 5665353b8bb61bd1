"""Refreshing a session that began at a provider: there first, then here."""

from dataclasses import replace
from urllib.parse import parse_qsl

import pytest
from sqlalchemy import update

from app import models
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import Refused
from app.ports import Ports
from app.services.identity.identify import identify
from app.services.sign_in.tokens import TokenPair, refresh_token
from app.services.single_sign_on.provider_sessions import refresh_external_session
from tests.builders.people import NOBODY, make_user, visit
from tests.builders.people import sign_in as sign_in_here
from tests.builders.providers import set_up
from tests.fakes.clock import FakeClock
from tests.servers.http import Reply
from tests.servers.own_provider import AUDIENCE, OwnProvider
from tests.services.provider_logins import PLUGIN, sign_in


def refresh(ports: Ports, token: str | None, plugin: str = PLUGIN) -> TokenPair:
    tokens = refresh_external_session(ports, NOBODY, plugin_id=plugin, token=token)
    assert tokens is not None
    return tokens


def codes(ports: Ports, token: str | None, plugin: str = PLUGIN) -> list[tuple[str | None, str]]:
    with pytest.raises(Refused) as refused:
        refresh(ports, token, plugin)
    return [(problem.field, problem.code) for problem in refused.value.problems]


def sent(provider: OwnProvider) -> list[dict[str, str]]:
    """The forms of the refreshes that the provider got."""
    forms = (dict(parse_qsl(call.body.decode())) for call in provider.server.calls("/token"))
    return [form for form in forms if form["grant_type"] == "refresh_token"]


def is_in(ports: Ports, tokens: TokenPair) -> bool:
    return identify(ports, visit(tokens.access)).actor.is_user


def test_each_refresh_uses_the_previous_refresh_token(ports: Ports, provider: OwnProvider) -> None:
    tokens = sign_in(ports, provider)
    provider.grant("the first", refresh_token="the second")
    provider.grant("the second", refresh_token="the third")

    for _ in range(2):
        refreshed = refresh(ports, tokens.refresh)
        assert refreshed.refresh != tokens.refresh
        assert is_in(ports, refreshed)
        tokens = refreshed

    assert [form["refresh_token"] for form in sent(provider)] == ["the first", "the second"]
    assert all("scope" not in form for form in sent(provider))


def test_access_token_refreshes_nothing(ports: Ports, provider: OwnProvider) -> None:
    tokens = sign_in(ports, provider)
    provider.grant("the first", refresh_token="the second")
    assert codes(ports, tokens.access) == [("refreshToken", "JWT_INVALID_TOKEN")]
    assert sent(provider) == []
    assert is_in(ports, refresh(ports, tokens.refresh))


def test_same_refresh_token_is_used_when_the_provider_does_not_rotate(
    ports: Ports, provider: OwnProvider
) -> None:
    tokens = sign_in(ports, provider)
    for _ in range(2):
        provider.grant("the first")
        refresh(ports, tokens.refresh)
    assert [form["refresh_token"] for form in sent(provider)] == ["the first", "the first"]


def test_session_ended_by_the_provider_is_ended(ports: Ports, provider: OwnProvider) -> None:
    tokens = sign_in(ports, provider)
    assert codes(ports, tokens.refresh) == [("refreshToken", "JWT_INVALID_TOKEN")]
    assert not is_in(ports, tokens)
    assert codes(ports, tokens.refresh) == [(None, "JWT_INVALID_TOKEN")]


def test_unreachable_provider_ends_no_session(
    ports: Ports, provider: OwnProvider, clock: FakeClock
) -> None:
    tokens = sign_in(ports, provider)
    works = provider.server.routes["/token"]
    for reply in (Reply(503), Reply(200, b"<html>"), Reply(302)):
        provider.server.answer("/token", reply)
        assert codes(ports, tokens.refresh) == [(None, "INVALID")], reply
        assert is_in(ports, tokens), reply
        clock.pass_(seconds=10)

    provider.server.routes["/token"] = works
    provider.grant("the first")
    assert is_in(ports, refresh(ports, tokens.refresh))


def test_wrong_client_secret_ends_no_session(ports: Ports, provider: OwnProvider) -> None:
    tokens = sign_in(ports, provider)
    set_up(ports, provider, client_secret="mistyped")
    assert codes(ports, tokens.refresh) == [(None, "INVALID")]
    assert is_in(ports, tokens)


def test_concurrent_refreshes_use_the_provider_token_once(
    ports: Ports, provider: OwnProvider, clock: FakeClock
) -> None:
    tokens = sign_in(ports, provider)
    inner: list[TokenPair] = []

    def meanwhile(received: object) -> Reply:
        provider.server.routes["/token"] = provider.answer_token
        inner.append(refresh(ports, tokens.refresh))
        return provider.answer_token(provider.server.received[-1])

    provider.grant("the first", refresh_token="the second")
    provider.server.routes["/token"] = meanwhile
    outer = refresh(ports, tokens.refresh)

    assert len(sent(provider)) == 1
    assert is_in(ports, outer)
    assert is_in(ports, inner[0])


def test_killed_refresh_blocks_only_briefly(
    ports: Ports, provider: OwnProvider, clock: FakeClock
) -> None:
    tokens = sign_in(ports, provider)
    with ports.database.transaction() as session:
        session.execute(update(models.Session).values(refreshing_until=clock.now()))
    provider.grant("the first")
    assert refresh(ports, tokens.refresh).refresh != tokens.refresh


def test_refresh_never_adds_permissions(ports: Ports, provider: OwnProvider) -> None:
    set_up(ports, provider, audience=AUDIENCE, use_oauth_scope_permissions="true")
    tokens = sign_in(ports, provider, scope="latchkey:manage_products latchkey:manage_orders")
    for scope, expected in (
        (None, {Permission.MANAGE_PRODUCTS, Permission.MANAGE_ORDERS}),
        ("latchkey:manage_products latchkey:manage_users", {Permission.MANAGE_PRODUCTS}),
        ("openid", set()),
    ):
        provider.grant("the first", **({} if scope is None else {"scope": scope}))
        refreshed = refresh(ports, tokens.refresh)
        assert refreshed.user.permissions == expected
        assert identify(ports, visit(refreshed.access)).actor.permissions == expected


@pytest.mark.parametrize(
    "claims", [{"sub": "root"}, {"iss": "https://evil.example"}, {"aud": "another"}]
)
def test_refresh_for_another_person_ends_the_session(
    ports: Ports, provider: OwnProvider, claims: dict[str, object]
) -> None:
    tokens = sign_in(ports, provider)
    id_claims = {**provider.id_claims("", nonce=...), **claims}
    provider.grant("the first", id_token=provider.sign(id_claims))
    assert codes(ports, tokens.refresh) == [("refreshToken", "JWT_INVALID_TOKEN")]
    assert not is_in(ports, tokens)


def test_session_is_refreshed_at_its_own_provider_alone(
    ports: Ports, provider: OwnProvider, other_provider: OwnProvider
) -> None:
    set_up(ports, other_provider, "other")
    tokens = sign_in(ports, provider)
    other = "other.authentication.openidconnect"
    wrong = [("refreshToken", "JWT_INVALID_TOKEN")]
    assert codes(ports, tokens.refresh, other) == wrong
    assert codes(ports, sign_in_here(ports, make_user(ports)).refresh) == wrong
    assert codes(ports, tokens.access) == wrong


def test_provider_whose_sessions_are_not_refreshed_refreshes_none(
    ports: Ports, provider: OwnProvider
) -> None:
    tokens = sign_in(ports, provider)
    set_up(ports, provider, enable_refresh_token="false")
    assert codes(ports, tokens.refresh) == [("refreshToken", "JWT_INVALID_TOKEN")]
    assert sent(provider) == []
    set_up(ports, provider, enable_refresh_token="true")
    provider.grant("the first", refresh_token="the second")
    assert is_in(ports, refresh(ports, tokens.refresh))


def test_missing_and_unreadable_tokens_are_distinguished(
    ports: Ports, provider: OwnProvider
) -> None:
    assert codes(ports, None) == [("refreshToken", "JWT_MISSING_TOKEN")]
    assert codes(ports, "garbage") == [("refreshToken", "JWT_DECODE_ERROR")]
    assert refresh_external_session(ports, NOBODY, plugin_id="no.such", token="x") is None


def test_single_use_token_is_used_once_at_the_provider(
    ports: Ports, provider: OwnProvider, clock: FakeClock
) -> None:
    strict = replace(
        ports, configuration=replace(ports.configuration, single_use_refresh_tokens=True)
    )
    tokens = sign_in(strict, provider)
    provider.grant("the first")
    second = refresh(strict, tokens.refresh)
    another_tab = refresh(strict, tokens.refresh)
    assert another_tab.refresh == second.refresh
    assert len(sent(provider)) == 1
    clock.pass_(minutes=1)
    assert codes(strict, tokens.refresh) == [(None, "JWT_INVALID_TOKEN")]
    assert not is_in(strict, second)
    assert len(sent(provider)) == 1


def test_token_refresh_does_not_call_the_provider(ports: Ports, provider: OwnProvider) -> None:
    tokens = sign_in(ports, provider)
    assert refresh_token(ports, NOBODY, token=tokens.refresh).access
    assert sent(provider) == []
