"""Signing in through a provider's own login: contract, "Operations"; RFC 9700; OpenID Connect."""

import base64
import hashlib
from dataclasses import replace
from urllib.parse import parse_qsl

import pytest
from sqlalchemy import select

from app import models
from app.adapters.metrics import PrometheusMetrics
from app.domain.authorization.actor import SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode
from app.domain.sign_in.sign_in_log import SignInMethod, SignInReason
from app.domain.single_sign_on.providers import ProviderError
from app.domain.values.errors import Refused
from app.ports import Ports
from app.ports.identity_provider import Client, TokenResponse
from app.ports.keys import DecryptionError
from app.ports.process_cache import CallPurpose
from app.services.identity.identify import identify
from app.services.identity.providers import find_provider
from app.services.people.customers import NewCustomer, create_customer
from app.services.single_sign_on.sign_in import ask_for_tokens, begin_sign_in, finish_sign_in
from tests.builders.audit import trail
from tests.builders.people import NOBODY, actor_of, change_user, make_staff, make_user, visit
from tests.builders.providers import identities, set_up, user_called
from tests.builders.shop import set_mode
from tests.builders.tokens import claims_in
from tests.fakes.clock import FakeClock
from tests.fakes.sign_in_log import FakeSignInLog
from tests.fixtures.cases import cases
from tests.servers.http import Received, Reply
from tests.servers.own_provider import AUDIENCE, CLIENT, OwnProvider
from tests.services.provider_logins import (
    CODE,
    PLUGIN,
    REDIRECT,
    begin,
    codes,
    finish,
    grant,
    sign_in,
)


def test_authorization_url_has_pkce_nonce_and_state(ports: Ports, provider: OwnProvider) -> None:
    parameters, second = begin(ports), begin(ports)

    assert (parameters["response_type"], parameters["client_id"]) == ("code", CLIENT)
    assert (parameters["redirect_uri"], parameters["code_challenge_method"]) == (REDIRECT, "S256")
    assert parameters["scope"] == "openid profile email offline_access"
    for name in ("state", "nonce", "code_challenge"):
        assert len(parameters[name]) >= 43
        assert parameters[name] != second[name]
    assert "audience" not in parameters


def test_provider_permissions_request_scopes_and_audience(
    ports: Ports, provider: OwnProvider
) -> None:
    set_up(
        ports,
        provider,
        audience=AUDIENCE,
        use_oauth_scope_permissions="true",
        enable_refresh_token="false",
    )
    parameters = begin(ports)
    scope = parameters["scope"].split()
    assert "offline_access" not in scope
    assert scope[:3] == ["openid", "profile", "email"]
    granting = [f"latchkey:{permission.value.lower()}" for permission in Permission]
    assert sorted(scope[3:]) == sorted([*granting, "latchkey:staff"])
    assert parameters["audience"] == AUDIENCE


def test_own_scope_prefix_is_requested_and_read(ports: Ports, provider: OwnProvider) -> None:
    set_up(
        ports,
        provider,
        audience=AUDIENCE,
        use_oauth_scope_permissions="true",
        scope_prefix="saleor",
    )
    assert "saleor:manage_products" in begin(ports)["scope"].split()
    access = provider.access_token(scope="saleor:manage_orders latchkey:manage_users")
    tokens = sign_in(ports, provider, access_token=access)
    assert tokens.user.permissions == {Permission.MANAGE_ORDERS}
    opaque = {"access_token": "opaque", "scope": "saleor:manage_apps latchkey:manage_users"}
    tokens = sign_in(ports, provider, **opaque)
    assert tokens.user.permissions == {Permission.MANAGE_APPS}


def test_state_and_verifier_are_unreadable_in_the_database(
    ports: Ports, provider: OwnProvider
) -> None:
    parameters = begin(ports)
    with ports.database.reading() as session:
        (record,) = session.scalars(select(models.OidcState))
    assert parameters["state"] not in (record.digest, record.sealed)
    assert parameters["nonce"] not in record.sealed
    assert record.redirect_uri == REDIRECT


@cases(
    ("redirect_uri", "code"),
    [
        (None, "REQUIRED"),
        ("", "REQUIRED"),
        ("https://evil.example/callback", "INVALID"),
        ("https://localhost:3000@evil.example/", "INVALID"),
        ("//evil.example/", "INVALID"),
        ("javascript:alert(1)", "INVALID"),
    ],
)
def test_redirects_go_to_allowed_hosts_only(
    ports: Ports, provider: OwnProvider, redirect_uri: str | None, code: str
) -> None:
    with pytest.raises(Refused) as refused:
        begin_sign_in(ports, NOBODY, plugin_id=PLUGIN, redirect_uri=redirect_uri)
    assert [(problem.field, problem.code) for problem in refused.value.problems] == [
        ("redirectUri", code)
    ]


@cases("plugin", [None, "", "no.such.plugin", "openidconnect", "x" * 300])
def test_unknown_plugin_has_no_sign_in(
    ports: Ports, provider: OwnProvider, plugin: str | None
) -> None:
    assert begin_sign_in(ports, NOBODY, plugin_id=plugin, redirect_uri=None) is None
    assert finish_sign_in(ports, NOBODY, plugin_id=plugin, code=None, state=None) is None


@cases("word", ["latchkey", "saleor", "default", "any-word"])
def test_unknown_slug_selects_the_default_provider(
    ports: Ports, provider: OwnProvider, word: str
) -> None:
    assert begin(ports, f"{word}.authentication.openidconnect")["client_id"] == CLIENT


def test_provider_without_login_flow_has_no_authorization_url(
    ports: Ports, provider: OwnProvider
) -> None:
    set_up(ports, provider, oauth_authorization_url=None)
    assert begin_sign_in(ports, NOBODY, plugin_id=PLUGIN, redirect_uri=REDIRECT) is None


def test_issued_tokens_are_ours_with_the_providers_origin(
    ports: Ports, provider: OwnProvider
) -> None:
    tokens = sign_in(ports, provider)

    claims = claims_in(ports, tokens.access)
    assert claims.keys() == {
        *("iat", "owner", "iss", "exp", "token", "email", "type", "user_id", "is_staff")
    }
    assert (claims["type"], claims["owner"]) == ("access", ports.configuration.token_owner)
    assert tokens.refresh
    assert "the first" not in str(claims_in(ports, tokens.refresh))
    actor = identify(ports, visit(tokens.access)).actor
    assert (actor.name, actor.origin) == ("alice@sso.example", SessionOrigin.OIDC)
    with ports.database.reading() as session:
        record = session.get_one(models.Session, actor.session_id)
        assert (record.sid, record.origin) == ("session-of-alice", "oidc")
        assert "the first" not in record.provider_refresh_token
    assert identities(ports) == [(provider.url, "alice", True)]


def test_code_is_exchanged_with_verifier_and_client_secret(
    ports: Ports, provider: OwnProvider
) -> None:
    parameters = begin(ports)
    grant(provider, parameters)
    finish(ports, parameters["state"])

    (call,) = provider.server.calls("/token")
    form = dict(parse_qsl(call.body.decode()))
    digest = hashlib.sha256(form["code_verifier"].encode()).digest()
    assert base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == parameters["code_challenge"]
    assert (form["code"], form["redirect_uri"]) == (CODE, REDIRECT)
    assert form["grant_type"] == "authorization_code"
    assert call.headers["authorization"].startswith("Basic ")
    assert "client_secret" not in form


def test_login_mode_does_not_restrict_sso(ports: Ports, provider: OwnProvider) -> None:
    set_mode(ports, PasswordLoginMode.DISABLED)
    assert identify(ports, visit(sign_in(ports, provider).access)).actor.is_user


def test_no_refresh_token_without_one_of_the_provider(ports: Ports, provider: OwnProvider) -> None:
    assert not sign_in(ports, provider, refresh_token=...).refresh
    set_up(ports, provider, enable_refresh_token="false")
    assert not sign_in(ports, provider).refresh


def test_missing_arguments_are_named(ports: Ports, provider: OwnProvider) -> None:
    assert codes(ports, None, None) == [("code", "REQUIRED"), ("state", "REQUIRED")]


@pytest.mark.both_databases
def test_state_works_once_for_its_lifetime_and_provider(
    ports: Ports, provider: OwnProvider, other_provider: OwnProvider, clock: FakeClock
) -> None:
    set_up(ports, other_provider, "other")
    parameters = begin(ports)
    grant(provider, parameters)
    finish(ports, parameters["state"])
    wrong = [("state", "INVALID")]
    assert codes(ports, parameters["state"]) == wrong
    assert codes(ports, "made up") == wrong
    assert codes(ports, "\ud800") == wrong

    late = begin(ports)
    clock.pass_(minutes=10)
    assert codes(ports, late["state"]) == wrong

    second_process = begin(ports, "other.authentication.openidconnect")
    assert codes(ports, second_process["state"]) == wrong
    assert len(provider.server.calls("/token")) == 1


def test_refused_code_signs_no_one_in(ports: Ports, provider: OwnProvider) -> None:
    assert codes(ports, begin(ports)["state"]) == [("code", "INVALID")]


def test_secret_of_another_key_is_no_call(ports: Ports, provider: OwnProvider) -> None:
    metrics = PrometheusMetrics()
    lost = replace(find_provider(ports, "default"), client_secret="of another key")

    def ask(_client: Client) -> TokenResponse:
        raise AssertionError("The provider was called.")

    with pytest.raises(DecryptionError):
        ask_for_tokens(replace(ports, metrics=metrics), lost, CallPurpose.SIGN_IN, ask)
    assert f'purpose="{CallPurpose.SIGN_IN}"' not in metrics.render([]).decode()


def test_details_come_from_user_info_without_a_verified_email(
    ports: Ports, provider: OwnProvider
) -> None:
    parameters = begin(ports)
    bare = dict.fromkeys(("email", "email_verified", "given_name", "family_name"), ...)
    id_token = provider.sign(provider.id_claims(parameters["nonce"], **bare))
    grant(provider, parameters, id_token=id_token, access_token=provider.known("an opaque one"))

    user = finish(ports, parameters["state"]).user
    assert (user.email, user.first_name) == ("alice@sso.example", "Alice")


def test_permissions_come_from_the_access_token_or_the_responses_scope(
    ports: Ports, provider: OwnProvider
) -> None:
    set_up(ports, provider, audience=AUDIENCE, use_oauth_scope_permissions="true")
    access = provider.access_token(scope="latchkey:manage_products")
    for response, expected in (
        ({"access_token": access}, {Permission.MANAGE_PRODUCTS}),
        ({"scope": "openid latchkey:manage_orders"}, {Permission.MANAGE_ORDERS}),
        # Silence would mean all that was asked for, by RFC 6749; here it means nothing.
        ({}, set()),
    ):
        tokens = sign_in(ports, provider, **response)
        assert tokens.user.permissions == expected
        assert identify(ports, visit(tokens.access)).actor.permissions == expected


def test_access_token_for_another_audience_is_refused(ports: Ports, provider: OwnProvider) -> None:
    set_up(ports, provider, audience=AUDIENCE, use_oauth_scope_permissions="true")
    parameters = begin(ports)
    grant(provider, parameters, access_token=provider.access_token(aud="https://another.example"))
    assert codes(ports, parameters["state"]) == [("code", "INVALID")]


def test_account_without_a_password_is_linked_and_confirmed(
    ports: Ports, provider: OwnProvider
) -> None:
    clerk = actor_of(ports, make_staff(ports, "clerk@example.com", Permission.MANAGE_USERS))
    created = create_customer(ports, clerk, NewCustomer("alice@sso.example"))
    assert not created.is_confirmed
    parameters = begin(ports)
    grant(provider, parameters)
    finish(ports, parameters["state"])
    user = user_called(ports, "alice@sso.example")
    assert user is not None
    assert (user.id, user.is_confirmed) == (created.id, True)


def test_inactive_and_unconfirmed_accounts_are_refused(
    ports: Ports, provider: OwnProvider
) -> None:
    user_id = make_user(ports, "alice@sso.example", is_confirmed=False)
    parameters = begin(ports)
    grant(provider, parameters)
    assert codes(ports, parameters["state"]) == [(None, "ACCOUNT_NOT_CONFIRMED")]
    change_user(ports, user_id, is_confirmed=True, is_active=False)
    parameters = begin(ports)
    grant(provider, parameters)
    assert codes(ports, parameters["state"]) == [(None, "INACTIVE")]
    user = user_called(ports, "alice@sso.example")
    assert user is not None
    assert user.last_login is None


@cases(
    "members",
    [
        {"error": None},
        {"error": None, "error_description": None, "scope": None, "expires_in": None},
        {"error": ""},
    ],
)
def test_token_answer_with_an_empty_error_signs_in(
    ports: Ports, provider: OwnProvider, members: dict[str, object]
) -> None:
    assert sign_in(ports, provider, "alice", **members).user.email == "alice@sso.example"


def test_token_answer_with_an_error_is_refused(ports: Ports, provider: OwnProvider) -> None:
    parameters = begin(ports)
    grant(provider, parameters, error="invalid_grant")
    assert codes(ports, parameters["state"]) == [("code", "INVALID")]


def test_byte_order_mark_of_a_token_answer_is_skipped(ports: Ports, provider: OwnProvider) -> None:
    def answer(received: Received) -> Reply:
        reply = provider.answer_token(received)
        return Reply(reply.status, b"\xef\xbb\xbf" + reply.body, reply.headers)

    provider.server.routes["/token"] = answer
    assert sign_in(ports, provider).user.email == "alice@sso.example"


@pytest.mark.parametrize(("said", "is_linked"), [("true", True), ("false", False)])
def test_email_verified_as_text_counts_in_an_id_token(
    ports: Ports, provider: OwnProvider, said: str, is_linked: bool
) -> None:
    user_id = make_user(ports, "alice@sso.example")
    set_up(ports, provider, user_info_url=None)
    parameters = begin(ports)
    claims = provider.id_claims(parameters["nonce"], email_verified=said)
    grant(provider, parameters, id_token=provider.sign(claims))
    if is_linked:
        assert finish(ports, parameters["state"]).user.id == user_id
    else:
        assert codes(ports, parameters["state"]) == [(None, "INVALID")]


def refused_there(
    ports: Ports, state: str | None, code: str = "access_denied"
) -> list[tuple[str | None, str]]:
    """Return field and code of the problems when the provider sent back an error."""
    with pytest.raises(Refused) as refused:
        finish_sign_in(
            ports,
            NOBODY,
            plugin_id=PLUGIN,
            code=None,
            state=state,
            error=ProviderError(code, "Not today."),
        )
    return [(problem.field, problem.code) for problem in refused.value.problems]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("access_denied", SignInReason.SSO_REFUSED),
        ("temporarily_unavailable", SignInReason.UNAVAILABLE),
    ],
)
def test_providers_error_ends_the_sign_in_and_is_logged(
    ports: Ports, provider: OwnProvider, error: str, reason: SignInReason
) -> None:
    state = begin(ports)["state"]
    assert refused_there(ports, state, error) == [("error", "INVALID")]
    assert isinstance(ports.sign_in_log, FakeSignInLog)
    [refusal] = ports.sign_in_log.refusals
    assert (refusal.method, refusal.reason) == (SignInMethod.SSO, reason)
    assert refusal.detail.endswith(f"({error}: Not today.)")
    # The state worked once.
    assert refused_there(ports, state, error) == [("state", "INVALID")]
    assert codes(ports, state) == [("state", "INVALID")]


def test_providers_error_needs_the_state_of_a_sign_in(ports: Ports, provider: OwnProvider) -> None:
    assert refused_there(ports, "unknown") == [("state", "INVALID")]
    assert refused_there(ports, None) == [("state", "REQUIRED")]


def test_error_wins_over_a_code(ports: Ports, provider: OwnProvider) -> None:
    parameters = begin(ports)
    grant(provider, parameters)
    with pytest.raises(Refused) as refused:
        finish_sign_in(
            ports,
            NOBODY,
            plugin_id=PLUGIN,
            code=CODE,
            state=parameters["state"],
            error=ProviderError("access_denied"),
        )
    assert refused.value.problems[0].field == "error"
    assert provider.server.calls("/token") == []


def test_sign_up_is_attributed_to_the_person_and_the_provider(
    ports: Ports, provider: OwnProvider
) -> None:
    group = {"default_group_name_for_new_staff_users": "Newcomers"}
    set_up(ports, provider, staff_user_domains="sso.example", **group)
    sign_in(ports, provider, "alice")
    user = user_called(ports, "alice@sso.example")
    assert user is not None
    for action in ("user.create", "user.link", "user.join", "group.create"):
        [entry] = trail(ports, action)
        actor = (entry.actor_kind, entry.actor_user_id, entry.actor_name)
        assert actor == ("user", user.id, "alice@sso.example"), action
        if action != "group.create":
            assert entry.after["provider"] == "OpenID Connect", action
