"""`tokenRefresh` while password login is off tells nothing about the token it was sent."""

from dataclasses import replace

import pytest

from app.domain.authorization.actor import OPERATOR, SessionOrigin
from app.domain.shop.settings import PasswordLoginMode, ShopUpdate
from app.ports import Ports
from app.services.people.user_status import deactivate_user
from app.services.shop.settings import update_shop
from tests.builders.people import make_user, sign_in
from tests.builders.shop import set_mode
from tests.fakes.clock import FakeClock
from tests.graphql.shop_client import ApiClient
from tests.services.invalid_tokens import BROKEN, break_token

REFRESH = """mutation ($token: String) {
  tokenRefresh(refreshToken: $token) { token errors { field code } }
}"""
DISABLED = {"token": None, "errors": [{"field": None, "code": "DISABLED_AUTHENTICATION_METHOD"}]}


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports)


@pytest.fixture(params=[SessionOrigin.PASSWORD, SessionOrigin.OIDC])
def origin(request: pytest.FixtureRequest) -> SessionOrigin:
    return SessionOrigin(request.param)


def test_all_invalid_tokens_get_the_same_response(
    ports: Ports, api: ApiClient, origin: SessionOrigin
) -> None:
    pair = sign_in(ports, make_user(ports), origin)
    set_mode(ports, PasswordLoginMode.DISABLED)
    sent: dict[str, str | None] = {
        name: token
        for name in BROKEN
        if (token := break_token(ports, pair.refresh, name)[0]).isprintable()
    }
    sent |= {"empty": "", "missing": None, "access token": pair.access, "garbage": "x.y.z"}

    answers = {name: api.run(REFRESH, token=token) for name, token in sent.items()}

    assert {name for name, answer in answers.items() if answer != DISABLED} == set()


def test_tokens_of_ended_sessions_get_the_same_response(
    ports: Ports, api: ApiClient, clock: FakeClock
) -> None:
    user = make_user(ports)
    ended = sign_in(ports, user, SessionOrigin.OIDC).refresh
    deactivate_user(ports, OPERATOR, user)
    old = sign_in(ports, make_user(ports, "old@example.com"), SessionOrigin.OIDC).refresh
    set_mode(ports, PasswordLoginMode.DISABLED)

    assert api.run(REFRESH, token=ended) == DISABLED
    clock.pass_(hours=31 * 24)
    assert api.run(REFRESH, token=old) == DISABLED


def test_missing_argument_gets_the_same_response(ports: Ports, api: ApiClient) -> None:
    set_mode(ports, PasswordLoginMode.DISABLED)

    assert api.run("mutation { tokenRefresh { token errors { field code } } }") == DISABLED


def test_expired_token_in_the_header_is_reported_first(
    ports: Ports, api: ApiClient, clock: FakeClock
) -> None:
    pair = sign_in(ports, make_user(ports), SessionOrigin.OIDC)
    set_mode(ports, PasswordLoginMode.DISABLED)
    clock.pass_(seconds=ports.configuration.jwt_ttl_access)

    assert api.code(REFRESH, pair.access, token="garbage") == "ExpiredSignatureError"


def test_closed_storefront_is_reported_first(ports: Ports, api: ApiClient) -> None:
    set_mode(ports, PasswordLoginMode.DISABLED)
    update_shop(ports, OPERATOR, ShopUpdate(allow_storefront_traffic=False))

    assert api.post({"query": REFRESH, "variables": {"token": "x"}}).status_code == 401


def test_live_session_gets_the_same_response(
    ports: Ports, api: ApiClient, origin: SessionOrigin
) -> None:
    pair = sign_in(ports, make_user(ports), origin)
    set_mode(ports, PasswordLoginMode.DISABLED)

    assert api.run(REFRESH, token=pair.refresh) == DISABLED


def test_single_use_refresh_token_is_not_used_up(ports: Ports) -> None:
    ports = replace(
        ports, configuration=replace(ports.configuration, single_use_refresh_tokens=True)
    )
    api, pair = ApiClient(ports), sign_in(ports, make_user(ports), SessionOrigin.OIDC)
    set_mode(ports, PasswordLoginMode.DISABLED)

    assert api.run(REFRESH, token=pair.refresh) == DISABLED
    set_mode(ports, PasswordLoginMode.ENABLED)

    assert api.run(REFRESH, token=pair.refresh)["token"]


@pytest.mark.parametrize("mode", [PasswordLoginMode.ENABLED, PasswordLoginMode.CUSTOMERS_ONLY])
def test_other_modes_refresh_sso_sessions(
    ports: Ports, api: ApiClient, mode: PasswordLoginMode
) -> None:
    pair = sign_in(ports, make_user(ports), SessionOrigin.OIDC)
    set_mode(ports, mode)

    refreshed = api.run(REFRESH, token=pair.refresh)

    assert refreshed["errors"] == []
    assert refreshed["token"]


@pytest.mark.parametrize("mode", [PasswordLoginMode.ENABLED, PasswordLoginMode.CUSTOMERS_ONLY])
def test_other_modes_report_the_token_error(
    ports: Ports, api: ApiClient, mode: PasswordLoginMode
) -> None:
    set_mode(ports, mode)

    [error] = api.run(REFRESH, token="garbage")["errors"]

    assert error == {"field": "refreshToken", "code": "JWT_DECODE_ERROR"}
