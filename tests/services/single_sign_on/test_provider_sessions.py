"""Sessions that began at a provider: verified, and ended from here or from there."""

import pytest

from app.domain.authorization.permissions import Permission
from app.domain.values.errors import Refused, TokenRejected
from app.ports import Ports
from app.ports.http import CallFailed
from app.services.identity.identify import identify
from app.services.single_sign_on.provider_sessions import (
    end_sessions_by_provider,
    log_out_external,
    verify_external_token,
)
from tests.builders.people import NOBODY, make_staff, visit
from tests.builders.people import sign_in as sign_in_here
from tests.builders.providers import set_up
from tests.fakes.clock import FakeClock
from tests.servers.http import Reply
from tests.servers.own_provider import LOGOUT_EVENT, OwnProvider, rsa_key
from tests.services.provider_bearers import who
from tests.services.provider_logins import PLUGIN, sign_in

OTHER = "other.authentication.openidconnect"


def is_in(ports: Ports, access: str) -> bool:
    return identify(ports, visit(access)).actor.is_user


def end(
    ports: Ports, provider: OwnProvider, plugin: str = PLUGIN, /, **claims: object
) -> int | None:
    token = provider.sign(provider.logout_claims(**claims), typ="logout+jwt")
    return end_sessions_by_provider(ports, NOBODY, plugin_id=plugin, token=token)


def test_token_is_valid_at_the_provider_where_its_session_began(
    ports: Ports, provider: OwnProvider, other_provider: OwnProvider
) -> None:
    set_up(ports, other_provider, "other")
    make_staff(ports, "alice@sso.example", Permission.MANAGE_ORDERS)
    tokens = sign_in(ports, provider)

    verified = verify_external_token(ports, NOBODY, plugin_id=PLUGIN, token=tokens.access)

    assert verified is not None
    assert verified.user.permissions == {Permission.MANAGE_ORDERS}
    here = sign_in_here(ports, tokens.user.id).access
    for plugin, token in (
        (OTHER, tokens.access),
        ("no.such.plugin", tokens.access),
        (PLUGIN, here),
        (PLUGIN, tokens.refresh),
        (PLUGIN, provider.access_token()),
        (PLUGIN, "garbage"),
        (PLUGIN, None),
    ):
        assert verify_external_token(ports, NOBODY, plugin_id=plugin, token=token) is None


def test_logout_url_has_every_value_and_the_headers_session_ends(
    ports: Ports, provider: OwnProvider
) -> None:
    one, other = sign_in(ports, provider), sign_in(ports, provider)
    actor = identify(ports, visit(one.access)).actor
    values = {"returnTo": "http://localhost:3000/bye", "x": "1", "url": "ü &"}

    url = log_out_external(ports, actor, plugin_id=PLUGIN, values=values)

    assert url == (
        f"{provider.url}/logout?returnTo=http%3A%2F%2Flocalhost%3A3000%2Fbye&x=1&url=%C3%BC%20%26"
    )
    assert not is_in(ports, one.access)
    assert is_in(ports, other.access)


def test_logout_without_a_session_or_logout_url_succeeds(
    ports: Ports, provider: OwnProvider
) -> None:
    bare = log_out_external(ports, NOBODY, plugin_id=PLUGIN, values={})
    assert bare == f"{provider.url}/logout"
    bearer = who(ports, provider.access_token()).actor
    assert log_out_external(ports, bearer, plugin_id=PLUGIN, values={}) == bare
    set_up(ports, provider, oauth_logout_url=None)
    assert log_out_external(ports, NOBODY, plugin_id=PLUGIN, values={}) is None
    assert log_out_external(ports, NOBODY, plugin_id="no.such", values={}) is None


def test_logout_leads_to_allowed_hosts_for_every_redirect_parameter(
    ports: Ports, provider: OwnProvider
) -> None:
    tokens = sign_in(ports, provider)
    actor = identify(ports, visit(tokens.access)).actor
    for value in (
        "https://evil.example",
        "//evil.example",
        "\\\\evil.example",
        " https://evil.example",
        "\ud800",
    ):
        for name in ("returnTo", "post_logout_redirect_uri", "redirect_uri", "logout_uri"):
            with pytest.raises(Refused) as refused:
                log_out_external(ports, actor, plugin_id=PLUGIN, values={name: value})
            assert [problem.code for problem in refused.value.problems] == ["INVALID"], value
    assert is_in(ports, tokens.access)


def test_provider_ends_one_session_by_sid(ports: Ports, provider: OwnProvider) -> None:
    ended = sign_in(ports, provider)
    other = sign_in(ports, provider, "bob")

    assert end(ports, provider, sid="session-of-alice") == 1

    assert not is_in(ports, ended.access)
    assert is_in(ports, other.access)
    assert end(ports, provider, sid="session-of-alice") == 0


def test_provider_ends_all_sessions_and_tokens_of_a_subject(
    ports: Ports, provider: OwnProvider, clock: FakeClock
) -> None:
    sessions = [sign_in(ports, provider) for _ in range(2)]
    other = sign_in(ports, provider, "bob")
    bearer, bobs = provider.access_token(), provider.access_token("bob")
    assert who(ports, bearer).actor.is_user
    clock.pass_(seconds=5)

    assert end(ports, provider, sub="alice") == 2

    assert not any(is_in(ports, session.access) for session in sessions)
    assert not who(ports, bearer).actor.is_user
    assert is_in(ports, other.access)
    assert who(ports, bobs).actor.is_user


def test_late_or_repeated_logout_keeps_newer_sessions(
    ports: Ports, provider: OwnProvider, clock: FakeClock
) -> None:
    sign_in(ports, provider)
    token = provider.sign(provider.logout_claims(sub="alice"), typ="logout+jwt")
    clock.pass_(minutes=1)
    since = sign_in(ports, provider)

    for expected in (1, 0):
        ended = end_sessions_by_provider(ports, NOBODY, plugin_id=PLUGIN, token=token)
        assert ended == expected
    assert is_in(ports, since.access)


def test_provider_ends_only_its_own_sessions(
    ports: Ports, provider: OwnProvider, other_provider: OwnProvider
) -> None:
    set_up(ports, other_provider, "other")
    tokens = sign_in(ports, provider)
    assert end(ports, other_provider, OTHER, sub="alice") == 0
    assert end(ports, other_provider, OTHER, sid="session-of-alice") == 0
    assert end(ports, provider, "no.such.plugin", sub="alice") is None
    assert is_in(ports, tokens.access)


HOSTILE: dict[str, dict[str, object]] = {
    "another issuer": {"iss": "https://evil.example"},
    "another client": {"aud": "another"},
    "no event": {"events": ...},
    "another event": {"events": {"http://example.com/event": {}}},
    "an event that is no object": {"events": {LOGOUT_EVENT: True}},
    "a nonce": {"nonce": "x"},
    "expired": {"exp": 1},
    "no expiry": {"exp": ...},
    "no time of issue": {"iat": ...},
    "too old": {"iat": 1_000_000_000},
    "of the future": {"iat": 4_102_444_800},
    "nobody": {"sub": ...},
    "a subject that is a number": {"sub": 5},
    "a session that is a list": {"sid": ["x"]},
}


def test_untrustworthy_logout_token_ends_no_session(ports: Ports, provider: OwnProvider) -> None:
    tokens = sign_in(ports, provider)
    for name, claims in HOSTILE.items():
        try:
            end(ports, provider, **{"sub": "alice", **claims})
            pytest.fail(f"accepted with {name}")
        except TokenRejected:
            assert is_in(ports, tokens.access), name


def test_other_token_types_and_keys_end_no_session(ports: Ports, provider: OwnProvider) -> None:
    tokens = sign_in(ports, provider)
    forged = provider.sign(provider.logout_claims(sub="alice"), rsa_key(1))
    as_access = provider.sign(provider.logout_claims(sub="alice"), typ="at+jwt")
    id_token = provider.sign(provider.id_claims("x"))
    for token in ("", "garbage", forged, as_access, id_token, provider.access_token()):
        with pytest.raises(TokenRejected):
            end_sessions_by_provider(ports, NOBODY, plugin_id=PLUGIN, token=token)
    assert is_in(ports, tokens.access)


def test_missing_provider_keys_are_distinguished_from_a_bad_token(
    ports: Ports, provider: OwnProvider
) -> None:
    provider.server.answer("/keys", Reply(503))
    with pytest.raises(CallFailed):
        end(ports, provider, sub="alice")
