"""A provider's bearer that is refused is in the sign-in log, with the preview's reason."""

from collections.abc import Callable

import pytest

from app.domain.authorization.actor import OPERATOR
from app.domain.sign_in.sign_in_log import SignInMethod, SignInReason, SignInRefusal
from app.domain.values.errors import TokenFault
from app.ports import Ports
from app.services.sign_in.sessions import deactivate_all_tokens
from app.services.single_sign_on.provider_checks import preview_mapping
from tests.builders.people import ADDRESS, change_user, make_user
from tests.builders.providers import set_up
from tests.fakes.clock import FakeClock
from tests.fakes.sign_in_log import FakeSignInLog
from tests.servers.http import Reply
from tests.servers.own_provider import OwnProvider, rsa_key
from tests.services.provider_bearers import EMAIL, fault, who

NAME = "OpenID Connect"
"""The default provider's."""

Bring = Callable[[Ports, OwnProvider], str]


@pytest.fixture
def log(ports: Ports) -> FakeSignInLog:
    assert isinstance(ports.sign_in_log, FakeSignInLog)
    return ports.sign_in_log


def with_claims(**changes: object) -> Bring:
    return lambda _ports, provider: provider.access_token(**changes)


def expired(_ports: Ports, provider: OwnProvider) -> str:
    return provider.access_token(exp=provider.now() - 1)


def forged(_ports: Ports, provider: OwnProvider) -> str:
    return provider.sign(provider.claims(), rsa_key(1))


def id_token(_ports: Ports, provider: OwnProvider) -> str:
    return provider.sign(provider.id_claims("n", aud="another"))


def unknown_to_the_provider(_ports: Ports, provider: OwnProvider) -> str:
    return provider.sign(provider.claims())


def of_a_provider_without_response(_ports: Ports, provider: OwnProvider) -> str:
    provider.server.answer("/userinfo", Reply(500))
    return provider.access_token()


def of_an_inactive_account(ports: Ports, provider: OwnProvider) -> str:
    change_user(ports, make_user(ports, EMAIL), is_active=False)
    return provider.access_token()


def of_an_unconfirmed_account(ports: Ports, provider: OwnProvider) -> str:
    make_user(ports, EMAIL, is_confirmed=False)
    return provider.access_token()


def with_an_unverified_email(ports: Ports, provider: OwnProvider) -> str:
    make_user(ports, EMAIL)
    token = provider.access_token()
    return provider.known(token, email_verified=False)


def opaque(_ports: Ports, _provider: OwnProvider) -> str:
    return "an-opaque-token"


REFUSED: dict[str, tuple[Bring, SignInReason, str]] = {
    "expired": (expired, SignInReason.TOKEN_EXPIRED, "The token has expired."),
    "forged": (
        forged,
        SignInReason.TOKEN_INVALID,
        "A token from the provider can't be trusted: Signature verification failed.",
    ),
    "without openid": (
        with_claims(scope="profile"),
        SignInReason.TOKEN_INVALID,
        "The token's scope doesn't contain openid. The client has to request that scope.",
    ),
    "unknown": (
        unknown_to_the_provider,
        SignInReason.TOKEN_INVALID,
        "The provider doesn't accept this token.",
    ),
    "opaque": (opaque, SignInReason.TOKEN_INVALID, "The provider doesn't accept this token."),
    "no response": (
        of_a_provider_without_response,
        SignInReason.UNAVAILABLE,
        "The provider's response couldn't be used. The user-info endpoint answered with HTTP 500.",
    ),
    "inactive": (of_an_inactive_account, SignInReason.INACTIVE, "This account is not active."),
    "unconfirmed": (
        of_an_unconfirmed_account,
        SignInReason.NOT_CONFIRMED,
        (
            "An account with this email isn't confirmed yet. Confirm it with the link in the "
            "email or reset its password, then sign in here again."
        ),
    ),
    "unverified": (
        with_an_unverified_email,
        SignInReason.SSO_NOT_LINKED,
        "An account with this email exists, but the identity provider hasn't verified your email.",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_bearer_is_logged_with_the_previews_reason(
    ports: Ports, provider: OwnProvider, log: FakeSignInLog, case: str
) -> None:
    bring, reason, detail = REFUSED[case]
    token = bring(ports, provider)
    assert fault(ports, token) is not None
    [refusal] = log.refusals
    assert (refusal.method, refusal.reason) == (SignInMethod.PROVIDER_TOKEN, reason)
    assert (refusal.detail, refusal.address, refusal.provider) == (detail, ADDRESS, NAME)
    assert preview_mapping(ports, OPERATOR, "default", token).reason == detail


def test_refused_id_token_is_logged_as_one(
    ports: Ports, provider: OwnProvider, log: FakeSignInLog
) -> None:
    assert fault(ports, id_token(ports, provider)) is TokenFault.INVALID
    assert [refusal.detail for refusal in log.refusals] == [
        "This is an ID token, not an access token."
    ]


def test_remembered_refusal_counts_each_time_for_its_address(
    ports: Ports, provider: OwnProvider, log: FakeSignInLog
) -> None:
    token = provider.access_token(scope="")
    for _ in range(3):
        fault(ports, token)
    assert len(log.refusals) == 3
    assert len(set(log.refusals)) == 1


def test_signed_out_bearer_is_logged(
    ports: Ports, provider: OwnProvider, log: FakeSignInLog, clock: FakeClock
) -> None:
    token = provider.access_token()
    actor = who(ports, token).actor
    clock.pass_(seconds=5)
    deactivate_all_tokens(ports, actor)
    assert fault(ports, token) is TokenFault.INVALID
    assert fault(ports, provider.access_token(iat=provider.now() - 60)) is TokenFault.INVALID
    first, second = log.refusals
    assert (first.reason, second.reason) == (
        SignInReason.SESSION_ENDED,
        SignInReason.TOKEN_INVALID,
    )
    assert "signed out everywhere" in first.detail
    assert second.detail == "This person has signed out everywhere since the token was issued."


def test_accepted_and_foreign_bearers_are_not_logged(
    ports: Ports, provider: OwnProvider, log: FakeSignInLog
) -> None:
    set_up(ports, provider)
    assert fault(ports, provider.access_token()) is None
    foreign = provider.sign(provider.claims(iss="https://another.example"))
    assert fault(ports, foreign) is not None
    assert log.refusals == list[SignInRefusal]()
