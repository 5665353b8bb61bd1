"""Discovering a provider, and trying whether it works."""

import pytest

from app.domain.authorization.actor import OPERATOR
from app.domain.values.errors import Refused
from app.domain.values.installation import CheckState
from app.ports import Ports
from app.services.identity.providers import known_providers
from app.services.single_sign_on.provider_checks import check_provider, discover_provider
from app.services.single_sign_on.provider_settings import ProviderUpdate, save_provider
from tests.builders.people import make_user
from tests.builders.provider_records import link_identity, make_provider, open_sso_session
from tests.builders.providers import set_up
from tests.fixtures.cases import cases
from tests.servers.http import Received, Reply
from tests.servers.own_provider import CONFIGURATION, OwnProvider, as_json


def states(ports: Ports) -> dict[str, CheckState]:
    return {
        finding.subject: finding.state for finding in check_provider(ports, OPERATOR, "default")
    }


def test_discovery_fills_the_urls_and_keeps_the_rest(
    ports: Ports, other_provider: OwnProvider
) -> None:
    other_provider.describe()
    found = discover_provider(ports, OPERATOR, "acme", f"{other_provider.url}/")
    assert found.issuer == other_provider.url
    assert found.json_web_key_set_url == f"{other_provider.url}/keys"
    assert found.oauth_logout_url == f"{other_provider.url}/logout"
    assert (found.client_id, found.active) == ("", False)


def test_optional_provider_settings_can_be_missing(
    ports: Ports, other_provider: OwnProvider
) -> None:
    other_provider.describe(
        userinfo_endpoint=..., end_session_endpoint=..., code_challenge_methods_supported=...
    )
    assert discover_provider(ports, OPERATOR, "default", other_provider.url).user_info_url == ""


@cases(
    "changes",
    [
        {"issuer": "https://evil.example"},
        {"issuer": ...},
        {"issuer": ["x"]},
        {"token_endpoint": ...},
        {"jwks_uri": "no address"},
        {"jwks_uri": 5},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"response_types_supported": ["id_token"]},
        {"code_challenge_methods_supported": ["plain"]},
        {"token_endpoint_auth_methods_supported": ["private_key_jwt"]},
        {"id_token_signing_alg_values_supported": ["HS256", "none"]},
        {"id_token_signing_alg_values_supported": "RS256"},
    ],
)
def test_unusable_discovery_document_changes_nothing(
    ports: Ports, other_provider: OwnProvider, changes: dict[str, object]
) -> None:
    other_provider.describe(**changes)
    with pytest.raises(Refused) as refused:
        discover_provider(ports, OPERATOR, "default", other_provider.url)
    assert {(problem.field, problem.code) for problem in refused.value.problems} == {
        ("issuer", "INVALID")
    }
    assert known_providers(ports)[0].issuer == ""


@cases("reply", [Reply(404), Reply(200, b"<html>"), Reply(302)])
def test_missing_discovery_document_is_reported(
    ports: Ports, other_provider: OwnProvider, reply: Reply
) -> None:
    other_provider.server.answer(CONFIGURATION, reply)
    with pytest.raises(Refused):
        discover_provider(ports, OPERATOR, "default", other_provider.url)


def test_working_provider_passes_every_check(ports: Ports, provider: OwnProvider) -> None:
    provider.describe()
    for page in ("/authorize", "/logout"):
        provider.server.answer(page, Reply(400))
    found = states(ports)
    assert len(found) == 7
    assert set(found.values()) == {CheckState.FINE}


def test_each_failed_check_has_its_remedy(ports: Ports, provider: OwnProvider) -> None:
    provider.describe(userinfo_endpoint=f"{provider.url}/elsewhere")
    set_up(ports, provider, client_secret="mistyped")
    provider.server.answer("/keys", as_json({"keys": []}))
    provider.server.answer("/userinfo", as_json({"sub": "anybody"}))
    provider.server.answer("/authorize", Reply(500))
    provider.server.answer("/logout", Reply(200))
    assert states(ports) == {
        "active": CheckState.FINE,
        "issuer": CheckState.WARNING,
        "json_web_key_set_url": CheckState.FAILED,
        "user_info_url": CheckState.FAILED,
        "oauth_token_url": CheckState.FAILED,
        "oauth_authorization_url": CheckState.WARNING,
        "oauth_logout_url": CheckState.FINE,
    }
    wrong = [
        finding
        for finding in check_provider(ports, OPERATOR, "default")
        if finding.state != CheckState.FINE
    ]
    assert all(finding.remedy for finding in wrong)


def test_ineffective_scopes_are_a_warning(ports: Ports, provider: OwnProvider) -> None:
    set_up(ports, provider, use_oauth_scope_permissions="true")
    assert states(ports)["audience"] is CheckState.WARNING


def test_provider_without_refresh_tokens_is_a_warning(ports: Ports, provider: OwnProvider) -> None:
    assert "enable_refresh_token" not in states(ports)

    set_up(ports, provider, enable_refresh_token="false")

    assert states(ports)["enable_refresh_token"] is CheckState.WARNING


def test_provider_that_issues_no_refresh_tokens_is_a_warning(
    ports: Ports, provider: OwnProvider
) -> None:
    make_provider(ports, "other", issuer="https://other.invalid")
    person = make_user(ports)
    link_identity(ports, person)
    open_sso_session(ports, person, "other")
    open_sso_session(ports, person, in_console=True)
    open_sso_session(ports, person, refresh_token="theirs")
    assert "enable_refresh_token" not in states(ports)

    open_sso_session(ports, person)

    [finding] = [
        finding
        for finding in check_provider(ports, OPERATOR, "default")
        if finding.subject == "enable_refresh_token"
    ]
    assert finding.state is CheckState.WARNING
    assert finding.message.startswith(
        "Open sessions for which the provider issued no refresh token: 1."
    )


def test_unknown_provider_is_not_found(ports: Ports) -> None:
    with pytest.raises(Refused) as refused:
        check_provider(ports, OPERATOR, "nobody")
    assert [(problem.field, problem.code) for problem in refused.value.problems] == [
        ("provider", "NOT_FOUND")
    ]


def test_provider_that_is_not_set_up_fails_and_a_disabled_one_warns(
    ports: Ports, provider: OwnProvider
) -> None:
    provider.describe()
    save_provider(ports, OPERATOR, "default", ProviderUpdate({}, active=False))
    assert states(ports)["active"] is CheckState.WARNING
    save_provider(ports, OPERATOR, "new", ProviderUpdate({"client_id": "shop"}))
    [finding] = check_provider(ports, OPERATOR, "new")
    assert (finding.state, finding.remedy) == (CheckState.FAILED, "flask oidc discover ISSUER")


@cases("suffix", ["", "?p=sign_in", "\n"])
def test_whole_discovery_url_is_read_as_its_issuer(
    ports: Ports, other_provider: OwnProvider, suffix: str
) -> None:
    other_provider.describe()
    url = f" {other_provider.url}{CONFIGURATION}{suffix}"
    assert discover_provider(ports, OPERATOR, "acme", url).issuer == other_provider.url


def test_whole_discovery_url_of_another_issuer_is_refused(
    ports: Ports, other_provider: OwnProvider
) -> None:
    other_provider.describe(issuer="https://evil.example")
    with pytest.raises(Refused) as refused:
        discover_provider(ports, OPERATOR, "acme", f"{other_provider.url}{CONFIGURATION}")
    assert str(refused.value) == "The configuration is for another issuer: 'https://evil.example'."


def test_members_of_a_discovery_document_that_are_null_count_as_missing(
    ports: Ports, other_provider: OwnProvider
) -> None:
    other_provider.describe(
        userinfo_endpoint=None,
        response_types_supported=None,
        code_challenge_methods_supported=None,
        token_endpoint_auth_methods_supported=None,
        id_token_signing_alg_values_supported=None,
    )
    assert discover_provider(ports, OPERATOR, "acme", other_provider.url).user_info_url == ""


def test_byte_order_mark_of_a_discovery_document_is_skipped(
    ports: Ports, other_provider: OwnProvider
) -> None:
    other_provider.describe()
    answer = other_provider.server.routes[CONFIGURATION]
    reply = answer(Received("GET", CONFIGURATION, {}, b""))
    other_provider.server.answer(CONFIGURATION, Reply(200, b"\xef\xbb\xbf" + reply.body))
    assert discover_provider(ports, OPERATOR, "acme", other_provider.url).issuer
