"""Sign in with identities whose issuer the source of an import didn't record."""

from datetime import timedelta

import pytest

from app import models
from app.ports import Ports
from app.services.single_sign_on.provider_sessions import end_sessions_by_provider
from tests.builders.people import NOBODY, make_user
from tests.builders.providers import identities, set_up
from tests.servers.own_provider import OwnProvider
from tests.services.provider_bearers import who
from tests.services.provider_logins import PLUGIN, begin, codes, finish, grant, sign_in

OLD_EMAIL = "alice@old.example"


def link(ports: Ports, user_id: int, issuer: str = "default|*", *, is_verified: bool) -> None:
    with ports.database.transaction() as session:
        session.add(
            models.ExternalIdentity(
                user_id=user_id,
                issuer=issuer,
                subject="alice",
                is_verified=is_verified,
                created_at=ports.clock.now() - timedelta(days=1),
            )
        )


def test_sign_in_finds_the_account_although_the_email_changed(
    ports: Ports, provider: OwnProvider
) -> None:
    set_up(ports, provider, issuer=None)
    user_id = make_user(ports, OLD_EMAIL)
    link(ports, user_id, is_verified=True)

    assert sign_in(ports, provider).user.id == user_id
    assert identities(ports) == [(f"default|{provider.url}", "alice", True)]
    assert sign_in(ports, provider).user.id == user_id
    assert who(ports, provider.access_token()).actor.user_id == user_id


def test_access_tokens_find_the_account(ports: Ports, provider: OwnProvider) -> None:
    set_up(ports, provider, issuer=None)
    user_id = make_user(ports, OLD_EMAIL)
    link(ports, user_id, is_verified=True)
    assert who(ports, provider.known("opaque", email="other@sso.example")).actor.user_id == user_id
    assert identities(ports) == [("default|", "alice", True)]


def test_own_identity_of_the_issuer_wins(ports: Ports, provider: OwnProvider) -> None:
    set_up(ports, provider, issuer=None)
    known = sign_in(ports, provider).user.id
    link(ports, make_user(ports, OLD_EMAIL), is_verified=True)
    assert sign_in(ports, provider).user.id == known


@pytest.mark.parametrize("slug", ["staff", "defaul"])
def test_other_providers_do_not_take_it_over(
    ports: Ports, provider: OwnProvider, slug: str
) -> None:
    set_up(ports, provider, issuer=None)
    link(ports, make_user(ports, OLD_EMAIL), f"{slug}|*", is_verified=True)
    assert sign_in(ports, provider).user.email == "alice@sso.example"


def test_unverified_identity_opens_no_trusted_account(ports: Ports, provider: OwnProvider) -> None:
    set_up(ports, provider, issuer=None)
    link(ports, make_user(ports, OLD_EMAIL), is_verified=False)
    parameters = begin(ports)
    grant(provider, parameters)
    assert codes(ports, parameters["state"]) == [(None, "INVALID")]
    assert identities(ports) == [("default|*", "alice", False)]


def test_configured_issuer_takes_over_the_identities(ports: Ports, provider: OwnProvider) -> None:
    set_up(ports, provider, issuer=None)
    user_id = make_user(ports, OLD_EMAIL)
    link(ports, user_id, is_verified=True)
    set_up(ports, provider)
    assert identities(ports) == [(provider.url, "alice", True)]
    parameters = begin(ports)
    grant(provider, parameters)
    assert finish(ports, parameters["state"]).user.id == user_id


def test_logout_at_the_provider_ends_tokens_that_were_not_seen_yet(
    ports: Ports, provider: OwnProvider
) -> None:
    set_up(ports, provider, issuer=None)
    link(ports, make_user(ports, OLD_EMAIL), is_verified=True)
    token = provider.access_token()
    logout = provider.sign(provider.logout_claims(sub="alice"), typ="logout+jwt")
    end_sessions_by_provider(ports, NOBODY, plugin_id=PLUGIN, token=logout)
    assert not who(ports, token).actor.is_user
