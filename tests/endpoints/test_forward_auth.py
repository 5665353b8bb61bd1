"""``/auth/check``: what a proxy learns of a request's caller, and which requests can't pass."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import Select
from typing_extensions import override

from app.composition.factory import create_app
from app.composition.settings import Settings, SettingsError, load_settings
from app.domain.authorization.actor import OPERATOR, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode
from app.domain.sign_in.rate_limits import IMPORTED_TOKEN, RateLimitPolicy, parse_rates
from app.domain.values.ids import to_global_id
from app.domain.values.installation import DatabaseUnavailable
from app.ports import NamedRow, Ports
from app.services.apps.app_tokens import TokenOptions, create_app_token
from app.web.headers import IDENTITY_HEADERS, IdentityFact
from tests.builders.apps import import_token, make_app
from tests.builders.people import change_user, make_group, make_staff, make_user, sign_in
from tests.builders.shop import close_storefront, set_mode
from tests.builders.tokens import altered, claims_in
from tests.fakes.activity import FakeActivity
from tests.fakes.clock import FakeClock
from tests.fakes.no_database import NoDatabase
from tests.fixtures.cases import cases
from tests.fixtures.kept_application import AppOn
from tests.fixtures.statements import recorded_statements
from tests.graphql.shop_client import ApiClient
from tests.services.extension_setup import set_scene

CHECK = "/auth/check"
ORDERS, USERS = Permission.MANAGE_ORDERS, Permission.MANAGE_USERS
HOST = {"Host": "localhost:8000"}
IMPORTED = "Zx81SpectrumQl68008Commodore64"
NAMES = [*IDENTITY_HEADERS.values()]


class Checker:
    """Asks for checks as a proxy does."""

    def __init__(self, client: FlaskClient) -> None:
        self._client = client

    def __call__(
        self, query: str = "", token: str | None = None, /, method: str = "GET", **more: str
    ) -> Any:
        headers = {**HOST, **{name.replace("_", "-"): value for name, value in more.items()}}
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        return self._client.open(f"{CHECK}{query}", method=method, headers=headers)


class AbsentDatabase(NoDatabase):
    """A database that doesn't answer."""

    @override
    def read(
        self, statement: Select[*tuple[object, ...]], parameters: Mapping[str, object]
    ) -> Sequence[NamedRow]:
        raise DatabaseUnavailable("away")


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """One database is enough: what is asked of it is the API's own statement."""
    return sqlite_url


@pytest.fixture
def check(ports: Ports, app_on: AppOn) -> Checker:
    return Checker(app_on(ports, Settings(forward_auth=True)).test_client())


def told(response: Any) -> dict[str, str]:
    """Return what a successful check tells, by the default names without their prefix."""
    assert response.status_code == 200, response.headers
    return {fact.value: response.headers[name] for fact, name in IDENTITY_HEADERS.items()}


def challenge(response: Any) -> tuple[int, str]:
    assert not set(NAMES) & set(response.headers.keys())
    return response.status_code, response.headers.get("WWW-Authenticate", "")


def test_check_is_off_by_default(ports: Ports, app_on: AppOn) -> None:
    assert app_on(ports).test_client().get(CHECK).status_code == 404


def test_staff_member_is_told_with_permissions_session_and_expiry(
    ports: Ports, check: Checker
) -> None:
    group = make_group(ports, "orders", ORDERS)
    user = make_user(ports, "ann@example.com", is_staff=True, permissions=[USERS], groups=[group])
    token = sign_in(ports, user).access
    claims = claims_in(ports, token)
    assert told(check("", token)) == {
        "kind": "user",
        "id": to_global_id("User", user),
        "app": "",
        "email": "ann@example.com",
        "staff": "true",
        "permissions": "MANAGE_ORDERS,MANAGE_USERS",
        "session": claims["token"],
        "expires": str(claims["exp"]),
    }


def test_customer_app_extension_and_anonymous_caller_are_told_apart(
    ports: Ports, check: Checker
) -> None:
    customer = make_user(ports)
    facts = told(check("", sign_in(ports, customer).access))
    assert (facts["kind"], facts["staff"], facts["permissions"]) == ("user", "false", "")

    app_id, app_token = make_app(ports, "an app", ORDERS)
    shown = to_global_id("App", app_id)
    assert told(check("", app_token)) == dict.fromkeys(IdentityFact, "") | {
        "kind": "app",
        "id": shown,
        "app": shown,
        "staff": "false",
        "permissions": "MANAGE_ORDERS",
    }

    scene = set_scene(ports)
    facts = told(check("", scene.token))
    assert (facts["kind"], facts["id"]) == ("extension", to_global_id("User", scene.user))
    assert facts["app"] == to_global_id("App", scene.app.id)
    assert facts["permissions"] == "MANAGE_ORDERS,MANAGE_PAGES"

    assert told(check()) == dict.fromkeys(IdentityFact, "") | {
        "kind": "anonymous",
        "staff": "false",
    }


def test_expiry_of_an_app_token_is_told(ports: Ports, check: Checker, clock: FakeClock) -> None:
    app_id, _ = make_app(ports)
    ends = clock.now() + timedelta(days=7)
    options = TokenOptions(expires_at=ends)
    created = create_app_token(ports, OPERATOR, app_id, options)
    assert told(check("", created.secret))["expires"] == str(int(ends.timestamp()))


def test_authorization_bearer_wins_and_cookies_say_nothing(ports: Ports, check: Checker) -> None:
    ann, ben = (sign_in(ports, make_user(ports, f"{name}@x.example")).access for name in "ab")
    response = check("", ann, Authorization_Bearer=ben, Cookie=f"token={ann}; Authorization={ann}")
    assert told(response)["email"] == "b@x.example"
    assert told(check("", Cookie=f"token={ann}"))["kind"] == "anonymous"


def test_answer_has_no_body_and_is_kept_by_no_cache(ports: Ports, check: Checker) -> None:
    token = sign_in(ports, make_user(ports)).access
    for response in (check("", token), check("", "nonsense"), check("?staff=1", token)):
        assert response.data == b""
        assert response.headers["Cache-Control"] == "no-store"
        assert response.headers["Vary"] == "Authorization, Authorization-Bearer"
        assert "Set-Cookie" not in response.headers
        assert "Access-Control-Allow-Origin" not in response.headers


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_head_and_any_forwarded_method_answer_alike(
    ports: Ports, check: Checker, method: str
) -> None:
    token = sign_in(ports, make_user(ports)).access
    forwarded = {"X_Forwarded_Method": "DELETE", "X_Forwarded_Uri": "/a?require=X&staff=1"}
    assert told(check("", token, method, **forwarded)) == told(check("", token))


def test_other_methods_are_refused(ports: Ports, check: Checker) -> None:
    token = sign_in(ports, make_user(ports)).access
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
        response = check("", token, method)
        assert challenge(response) == (405, ""), method
        assert {*response.headers["Allow"].split(", ")} == {"GET", "HEAD"}


def test_check_takes_the_one_statement_of_the_api(ports: Ports, check: Checker) -> None:
    scene = set_scene(ports)
    tokens = {
        "user": sign_in(ports, scene.user).access,
        "app": make_app(ports, "other")[1],
        "extension": scene.token,
        "nobody": None,
    }
    for who, token in tokens.items():
        check("", token)
        with recorded_statements() as statements:
            assert check("", token).status_code == 200, who
        assert len(statements) == 1, who


def test_credential_that_the_api_rejects_is_a_401(ports: Ports, check: Checker) -> None:
    token = sign_in(ports, make_staff(ports)).access
    api = ApiClient(ports)
    invalid = "Invalid token. Create new one by using tokenCreate mutation."
    for changes, reason in (
        ({"exp": 1}, "Signature has expired"),
        ({"type": "refresh"}, invalid),
        ({"token": "of no session"}, invalid),
    ):
        bad = altered(ports, token, **changes)
        assert api.ask("{ me { id } }", bad)["errors"], changes
        expected = f'Bearer error="invalid_token", error_description="{reason}"'
        for query in ("", "?required=0", "?required=1", "?staff=1"):
            assert challenge(check(query, bad)) == (401, expected), changes
    assert check("?required=1&staff=1", token).status_code == 200


def test_anonymous_caller_passes_unless_someone_is_required(check: Checker) -> None:
    assert check("?required=0").status_code == 200
    for query in ("?required=1", "?required", "?staff=1", "?require=MANAGE_ORDERS"):
        assert challenge(check(query)) == (401, "Bearer")


def test_missing_rights_are_a_403_that_names_them(ports: Ports, check: Checker) -> None:
    token = sign_in(ports, make_staff(ports)).access
    status, text = challenge(check("?require=MANAGE_ORDERS,MANAGE_USERS", token))
    assert status == 403
    assert text == (
        'Bearer error="insufficient_scope", '
        'error_description="Missing permissions: MANAGE_ORDERS, MANAGE_USERS"'
    )
    customer = sign_in(ports, make_user(ports)).access
    app = make_app(ports, "an app", ORDERS)[1]
    for one in (customer, app):
        assert challenge(check("?staff=1", one))[0] == 403
    assert check("?require=MANAGE_ORDERS", app).status_code == 200


def test_what_apps_and_extensions_need_here_counts_as_used(ports: Ports) -> None:
    activity = FakeActivity()
    counted = replace(ports, activity=activity)
    check = Checker(create_app(counted, Settings(forward_auth=True)).test_client())
    app, token = make_app(ports, "an app", ORDERS, USERS)
    for query in ("", "?require=MANAGE_PRODUCTS"):
        check(query, token)
    assert not activity.permissions, "none was needed, or it isn't held"
    check("?require=MANAGE_ORDERS", token)
    assert activity.permissions == {(app, ORDERS)}
    scene = set_scene(ports)
    check("?require=MANAGE_ORDERS", scene.token)
    assert activity.permissions == {(app, ORDERS), (scene.app.id, ORDERS)}
    activity.permissions.clear()
    api = ApiClient(counted)
    api.run("{ me { id } }", scene.token)
    assert not activity.permissions
    api.run("{ orders(first: 1) { totalCount } }", scene.token)
    api.run("{ orders(first: 1) { totalCount } }", sign_in(ports, scene.user).access)
    assert activity.permissions == {(scene.app.id, ORDERS)}, "of the extension, not the person"


def test_every_required_permission_must_be_held(ports: Ports, check: Checker) -> None:
    token = sign_in(ports, make_staff(ports, "ann@example.com", ORDERS)).access
    assert check("?require=MANAGE_ORDERS&required=1&staff=true", token).status_code == 200
    for query in (
        "?require=MANAGE_ORDERS&require=MANAGE_USERS",
        "?require=MANAGE_USERS&require=MANAGE_ORDERS",
        "?require=MANAGE_ORDERS,%20MANAGE_USERS",
    ):
        assert check(query, token).status_code == 403


def test_typo_in_a_check_lets_nothing_pass(ports: Ports, check: Checker) -> None:
    token = sign_in(ports, make_user(ports, "root@example.com", is_superuser=True)).access
    for query in (
        "?require=MANAGE_ORDER",
        "?require=manage_orders",
        "?require=",
        "?require=MANAGE_ORDERS,",
        "?requires=MANAGE_ORDERS",
        "?Require=MANAGE_ORDERS",
        "?staff=yes",
        "?staff=1&staff=0",
        "?required=2",
        "?require[]=MANAGE_ORDERS",
        "?%22%0d%0aX-Auth-Kind:%20app=1",
    ):
        status, text = challenge(check(query, token))
        assert status == 400, query
        assert text.startswith('Bearer error="invalid_request", error_description="'), query
        assert text.isprintable()
    assert check("?require=MANAGE_ORDERS&staff=1&required=1", token).status_code == 200


def test_closed_storefront_lets_staff_and_apps_pass_alone(ports: Ports, check: Checker) -> None:
    staff, customer = (
        sign_in(ports, made).access for made in (make_staff(ports), make_user(ports))
    )
    app = make_app(ports)[1]
    close_storefront(ports)
    closed = (
        401,
        'Bearer error="invalid_token", error_description="Storefront traffic is not allowed."',
    )
    assert challenge(check("", customer)) == closed
    assert challenge(check("", "nonsense")) == closed
    assert challenge(check()) == (401, "Bearer")
    for token in (staff, app):
        assert check("", token).status_code == 200


def test_login_modes_count_as_in_the_api(ports: Ports, check: Checker) -> None:
    user = make_staff(ports, "ann@example.com", ORDERS)
    password, sso = (
        sign_in(ports, user, origin).access
        for origin in (SessionOrigin.PASSWORD, SessionOrigin.OIDC)
    )
    set_mode(ports, PasswordLoginMode.CUSTOMERS_ONLY)
    facts = told(check("", password))
    assert (facts["staff"], facts["permissions"]) == ("false", "")
    assert check("?staff=1", password).status_code == 403
    assert check("?require=MANAGE_ORDERS", sso).status_code == 200

    set_mode(ports, PasswordLoginMode.DISABLED)
    assert check("", password).status_code == 401
    assert check("", sso).status_code == 200


def test_deactivated_user_is_refused_at_once(ports: Ports, check: Checker) -> None:
    user = make_user(ports)
    token = sign_in(ports, user).access
    assert check("", token).status_code == 200
    change_user(ports, user, is_active=False)
    assert check("", token).status_code == 401


def test_unreachable_database_is_a_503(ports: Ports) -> None:
    token = make_app(ports)[1]
    away = replace(ports, database=AbsentDatabase())
    for reached, status in ((away, 503), (ports, 200)):
        response = Checker(create_app(reached, Settings(forward_auth=True)).test_client())(
            "", token
        )
        assert response.status_code == status
        assert response.data == b""
        assert (int(response.headers.get("Retry-After", 0)) > 0) is (status == 503)


def test_credential_that_cannot_be_compared_now_is_a_429(ports: Ports) -> None:
    import_token(ports, make_app(ports)[0], IMPORTED)
    policy = RateLimitPolicy(changed={IMPORTED_TOKEN: parse_rates("1/minute")})
    limited = replace(ports, configuration=replace(ports.configuration, rate_limits=policy))
    check = Checker(create_app(limited, Settings(forward_auth=True)).test_client())
    assert check("", f"1wrongBearerWithARightEnding{IMPORTED[-4:]}").status_code == 401

    response = check("", IMPORTED)

    assert challenge(response) == (429, "")
    assert int(response.headers["Retry-After"]) > 0
    unlimited = create_app(ports, Settings(forward_auth=True)).test_client()
    assert told(Checker(unlimited)("", IMPORTED))["kind"] == "app"


def test_names_of_headers_are_a_setting(ports: Ports) -> None:
    settings = load_settings(
        {"FORWARD_AUTH": "true", "FORWARD_AUTH_HEADERS": "email=Remote-Email, kind=X-Who"}
    )
    client = create_app(ports, settings).test_client()
    token = sign_in(ports, make_user(ports, "ann@example.com")).access
    response = Checker(client)("", token)
    assert (response.headers["Remote-Email"], response.headers["X-Who"]) == (
        "ann@example.com",
        "user",
    )
    assert not set(NAMES) & set(response.headers.keys())


@cases(
    "text",
    [
        "email",
        "emails=X-Auth-Email",
        "email=Set-Cookie",
        "email=X-Auth_Email",
        "email=X-Forwarded-User",
        "email=X-Request-ID",
        "email=X-A,kind=x-a",
        "email=X-A,email=X-B",
        "email=X-A\r\nX-B",
    ],
)
def test_header_names_that_cannot_be_used_stop_the_start(text: str) -> None:
    with pytest.raises(SettingsError, match="FORWARD_AUTH_HEADERS"):
        load_settings({"FORWARD_AUTH_HEADERS": text})
