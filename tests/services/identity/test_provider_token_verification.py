"""A provider's access token as credential: contract, "Single sign-on"."""

import pytest
from sqlalchemy import select

from app import models
from app.domain.accounts.email_links import LinkPurpose
from app.domain.authorization.actor import OPERATOR, ActorKind, SessionOrigin
from app.domain.values.errors import TokenFault
from app.ports import Ports
from app.services.accounts.email_links import make_link
from app.services.accounts.password_changes import set_password
from app.services.sign_in.sessions import deactivate_all_tokens
from app.services.single_sign_on.provider_settings import ProviderUpdate, save_provider
from tests.builders.people import ADDRESS, NOBODY, change_user, make_user
from tests.builders.providers import identities, set_up, user_called
from tests.fakes.clock import FakeClock
from tests.fixtures.statements import recorded_statements
from tests.servers.own_provider import LIFETIME, OwnProvider
from tests.services.provider_bearers import EMAIL, calls, fault, who
from tests.services.provider_logins import sign_in


def test_access_token_creates_a_customer(ports: Ports, provider: OwnProvider) -> None:
    identity = who(ports, provider.access_token())

    actor, user = identity.actor, identity.user
    assert (actor.kind, actor.origin, actor.session_id) == (
        ActorKind.USER,
        SessionOrigin.OIDC,
        None,
    )
    assert (actor.name, actor.is_staff, actor.address) == (EMAIL, False, ADDRESS)
    assert user is not None
    assert (user.first_name, user.last_name, user.is_confirmed) == ("Alice", "Sso", True)
    customer = user_called(ports, EMAIL)
    assert customer is not None
    assert customer.password_hash is None
    assert identities(ports) == [(provider.url, "alice", True)]


@pytest.mark.both_databases
def test_cached_provider_token_costs_one_statement_and_no_call(
    ports: Ports, provider: OwnProvider
) -> None:
    token = provider.access_token()
    who(ports, token)
    before = calls(ports)

    with recorded_statements() as statements:
        assert who(ports, token).actor.is_user

    assert len(statements) == 1
    assert calls(ports) == before


@pytest.mark.both_databases
def test_second_process_verifies_once_and_creates_no_duplicate(
    ports: Ports, second_process: Ports, provider: OwnProvider
) -> None:
    token = provider.access_token()
    assert who(ports, token).actor.user_id == who(second_process, token).actor.user_id
    assert len(identities(ports)) == 1


def test_cached_token_is_invalid_after_its_expiry(
    ports: Ports, provider: OwnProvider, clock: FakeClock
) -> None:
    token = provider.access_token()
    assert fault(ports, token) is None
    clock.pass_(seconds=LIFETIME - 1)
    assert fault(ports, token) is None
    clock.pass_(seconds=1)
    assert fault(ports, token) is TokenFault.EXPIRED


def test_inactive_people_cannot_sign_in(ports: Ports, provider: OwnProvider) -> None:
    token = provider.access_token()
    user_id = who(ports, token).actor.user_id
    assert user_id is not None
    change_user(ports, user_id, is_active=False)

    assert fault(ports, token) is TokenFault.INVALID
    assert fault(ports, provider.access_token(jti="another")) is TokenFault.INVALID


def test_changed_setting_applies_to_cached_tokens(
    ports: Ports, second_process: Ports, provider: OwnProvider
) -> None:
    token = provider.access_token()
    assert fault(ports, token) is None

    set_up(second_process, provider, audience="https://another.example")
    assert fault(ports, token) is TokenFault.INVALID


def test_signing_out_everywhere_ends_the_tokens_that_were_issued_before(
    ports: Ports, second_process: Ports, provider: OwnProvider, clock: FakeClock
) -> None:
    seen, unseen = provider.access_token(), provider.access_token(jti="unseen")
    actor = who(ports, seen).actor
    clock.pass_(seconds=5)
    deactivate_all_tokens(ports, actor)

    for token in (seen, unseen):
        assert fault(ports, token) is TokenFault.INVALID
        assert fault(second_process, token) is TokenFault.INVALID
    clock.pass_(seconds=1)
    assert fault(ports, provider.access_token()) is None


@pytest.mark.parametrize(
    ("offset", "is_signed_out"),
    [(-1, True), (0, True), (1, False)],
    ids=["before", "same", "after"],
)
def test_token_issued_in_the_second_of_a_sign_out_is_invalid(
    ports: Ports,
    second_process: Ports,
    provider: OwnProvider,
    clock: FakeClock,
    offset: int,
    is_signed_out: bool,
) -> None:
    """Providers tell whole seconds, rounded down: nobody knows which of the two came first."""
    actor = who(ports, provider.access_token(iat=provider.now() - 60)).actor
    second = provider.now()
    clock.pass_(seconds=0.25)
    deactivate_all_tokens(ports, actor)
    clock.pass_(seconds=0.5)
    token = provider.access_token(iat=second + offset)
    clock.pass_(seconds=5)
    for process in (ports, second_process):
        assert fault(process, token) is (TokenFault.INVALID if is_signed_out else None)


def test_new_password_ends_sessions_but_no_provider_tokens(
    ports: Ports, provider: OwnProvider, clock: FakeClock
) -> None:
    """Contract, "Sessions": a reset ends all of these; the provider's tokens are none."""
    make_user(ports, EMAIL)
    token = provider.access_token()
    assert who(ports, token).actor.user_id is not None
    ours = sign_in(ports, provider).access
    clock.pass_(seconds=5)
    with ports.database.transaction() as session:
        user = session.scalars(select(models.User).where(models.User.email == EMAIL)).one()
        link = make_link(ports, session, user, LinkPurpose.SET_PASSWORD)

    set_password(ports, NOBODY, email=EMAIL, password="a whole new sentence", token=link)

    assert fault(ports, ours) is TokenFault.INVALID
    assert fault(ports, token) is None


def test_details_are_updated_from_the_provider(ports: Ports, provider: OwnProvider) -> None:
    first = who(ports, provider.access_token()).actor.user_id
    token = provider.sign(provider.claims(jti="later"))
    provider.known(token, given_name="Alix", email="alix@sso.example")

    user = who(ports, token).user

    assert user is not None
    assert (user.id, user.first_name, user.email) == (first, "Alix", "alix@sso.example")


@pytest.mark.parametrize("claims", [{"email_verified": False}, {"email": "customer@example.com"}])
def test_unverified_or_taken_email_is_not_adopted(
    ports: Ports, provider: OwnProvider, claims: dict[str, object]
) -> None:
    make_user(ports)
    who(ports, provider.access_token())
    token = provider.sign(provider.claims(jti="later"))
    provider.known(token, **{"email": "alix@sso.example", **claims})

    user = who(ports, token).user

    assert user is not None
    assert user.email == EMAIL


def test_issuer_selects_the_provider_of_a_token(
    ports: Ports, provider: OwnProvider, other_provider: OwnProvider
) -> None:
    set_up(ports, other_provider, "other")
    one, other = provider.access_token(), other_provider.access_token("bob")
    assert who(ports, one).actor.name == EMAIL
    # Both sign with the same key here, so nothing but the issuer tells them apart.
    assert who(ports, other).actor.name == "bob@sso.example"
    assert len(other_provider.server.calls("/userinfo")) == 1
    assert len(provider.server.calls("/userinfo")) == 1


def test_without_a_configured_issuer_the_signature_decides(
    ports: Ports, provider: OwnProvider
) -> None:
    set_up(ports, provider, issuer=None)
    assert who(ports, provider.access_token()).actor.name == EMAIL
    assert identities(ports) == [(f"default|{provider.url}", "alice", True)]

    set_up(ports, provider)
    second = who(ports, provider.access_token(jti="later"))
    assert second.actor.name == EMAIL
    assert identities(ports) == [(provider.url, "alice", True)]


def test_inactive_provider_signs_no_one_in(ports: Ports, provider: OwnProvider) -> None:
    token = provider.access_token()
    assert fault(ports, token) is None
    save_provider(ports, OPERATOR, "default", ProviderUpdate({}, active=False))
    assert not who(ports, token).actor.is_user


def okta_token(provider: OwnProvider, uid: object, sub: str = "alice") -> str:
    """An access token as Okta's default server signs it: ``sub`` is the login."""
    claims = provider.claims("alice@sso.example", uid=uid, scope=..., scp=["openid"])
    return provider.known(provider.sign(claims), sub)


def test_configured_subject_claim_names_the_person(ports: Ports, provider: OwnProvider) -> None:
    set_up(ports, provider, subject_claim="uid")
    assert who(ports, okta_token(provider, "alice")).actor.name == EMAIL
    assert identities(ports) == [(provider.url, "alice", True)]
    # The same person by code, whose ID token has the ID as its subject.
    sign_in(ports, provider)
    assert len(identities(ports)) == 1


@pytest.mark.parametrize(
    ("claim", "uid", "sub"),
    [
        (None, "alice", "alice"),
        ("uid", "another", "alice"),
        ("uid", ..., "alice@sso.example"),
        ("uid", "", "alice"),
        ("uid", "alice", "root"),
    ],
    ids=["sub is configured", "another uid", "no uid", "empty uid", "user info of another"],
)
def test_subject_that_is_not_the_user_infos_is_refused(
    ports: Ports, provider: OwnProvider, claim: str | None, uid: object, sub: str
) -> None:
    set_up(ports, provider, subject_claim=claim)
    assert fault(ports, okta_token(provider, uid, sub)) is TokenFault.INVALID
    assert identities(ports) == []


def test_changed_subject_claim_applies_to_cached_tokens(
    ports: Ports, second_process: Ports, provider: OwnProvider
) -> None:
    token = provider.access_token()
    assert fault(ports, token) is None
    set_up(second_process, provider, subject_claim="uid")
    assert fault(ports, token) is TokenFault.INVALID


def test_token_without_a_subject_is_found_by_user_info(
    ports: Ports, provider: OwnProvider
) -> None:
    """Keycloak 25 without the scope ``basic``."""
    token = provider.known(provider.sign(provider.claims(sub=..., typ="Bearer")))
    assert who(ports, token).actor.name == EMAIL
    assert identities(ports) == [(provider.url, "alice", True)]
    unknown = provider.sign(provider.claims(sub=..., typ="Bearer", jti="not known"))
    assert fault(ports, unknown) is TokenFault.INVALID


def test_bearer_needs_openid_where_it_tells_its_scope(ports: Ports, provider: OwnProvider) -> None:
    assert fault(ports, provider.access_token(scope="profile email")) is TokenFault.INVALID
    assert identities(ports) == []
    assert fault(ports, provider.access_token(scope=..., scp=["profile"])) is None
    assert fault(ports, provider.access_token(scope=...)) is None


@pytest.mark.parametrize(("said", "is_linked"), [("true", True), ("false", False), ("1", False)])
def test_email_verified_as_text_links_like_its_boolean(
    ports: Ports, provider: OwnProvider, said: str, is_linked: bool
) -> None:
    """Cognito's user info."""
    user_id = make_user(ports, EMAIL)
    token = provider.access_token()
    provider.known(token, email_verified=said)
    assert (who(ports, token).actor.user_id == user_id) is is_linked
