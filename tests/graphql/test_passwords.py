"""Passwords by GraphQL: every refusal stands in the payload, under both names."""

from dataclasses import replace

import pytest

from app.domain.authorization.actor import WORKER
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode
from app.ports import Ports
from app.services.accounts.password_resets import answer_reset_requests
from tests.builders.apps import make_app
from tests.builders.outbox import mails, token_in
from tests.builders.people import PASSWORD, make_user, sign_in
from tests.builders.shop import set_mode
from tests.fixtures.cases import cases
from tests.graphql.shop_client import ApiClient

EMAIL = "customer@example.com"
NEW = "nine lazy Störche by the sea"
SHOP = "http://localhost:3000/reset"
REQUEST = """
    mutation ($e: String!, $u: String!) {
      requestPasswordReset(email: $e, redirectUrl: $u, channel: "default") {
        errors { field message code } accountErrors { field code }
      }
    }
"""
SET = """
    mutation ($e: String!, $p: String!, $t: String!) {
      setPassword(email: $e, password: $p, token: $t) {
        token refreshToken user { email } errors { field code } accountErrors { field code }
      }
    }
"""
CHANGE = """
    mutation ($o: String, $n: String!) {
      passwordChange(oldPassword: $o, newPassword: $n) {
        user { email } errors { field code } accountErrors { field code }
      }
    }
"""


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports)


def problem(field: str | None, code: str) -> list[dict[str, str | None]]:
    return [{"field": field, "code": code}]


def test_password_is_reset_by_a_mailed_link_and_signs_in(api: ApiClient, ports: Ports) -> None:
    make_user(ports)
    assert api.run(REQUEST, e=EMAIL, u=SHOP) == {"errors": [], "accountErrors": []}
    answer_reset_requests(ports, WORKER)
    token = token_in(mails(ports)[0])
    response = api.run(SET, e=EMAIL, p=NEW, t=token)
    assert (response["user"], response["errors"]) == ({"email": EMAIL}, [])
    assert api.run("{ me { email } }", response["token"]) == {"email": EMAIL}
    refreshed = api.run(
        "mutation ($t: String) { tokenRefresh(refreshToken: $t) { token } }",
        t=response["refreshToken"],
    )
    assert refreshed["token"]


def test_reset_request_has_the_same_response_for_every_email(api: ApiClient, ports: Ports) -> None:
    make_user(ports)
    make_user(ports, "inactive@example.com", is_active=False)
    bodies = {
        api.post({"query": REQUEST, "variables": {"e": email, "u": SHOP}}).data
        for email in (EMAIL, EMAIL, "inactive@example.com", "nobody@example.com", "no address")
    }
    assert len(bodies) == 1


def test_foreign_host_is_an_error_on_its_field(api: ApiClient) -> None:
    response = api.run(REQUEST, e=EMAIL, u="https://evil.example/")
    assert response["accountErrors"] == problem("redirectUrl", "INVALID")
    assert response["errors"][0]["message"]


def test_refused_set_password_is_an_object_with_errors(api: ApiClient, ports: Ports) -> None:
    make_user(ports)
    for password, refused in (
        (NEW, problem("token", "INVALID")),
        ("123", problem("password", "PASSWORD_TOO_SHORT")),
        ("sunshine1", problem("password", "PASSWORD_TOO_COMMON")),
        ("customer@example", problem("password", "PASSWORD_TOO_SIMILAR")),
        ("8203461957", problem("password", "PASSWORD_ENTIRELY_NUMERIC")),
    ):
        assert api.run(SET, e=EMAIL, p=password, t="bad-token") == {
            "token": None,
            "refreshToken": None,
            "user": None,
            "errors": refused,
            "accountErrors": refused,
        }


def test_password_is_changed(api: ApiClient, ports: Ports) -> None:
    access = sign_in(ports, make_user(ports)).access
    response = api.run(CHANGE, access, o=PASSWORD, n=NEW)
    assert response == {"user": {"email": EMAIL}, "errors": [], "accountErrors": []}
    assert api.run("{ me { email } }", access) == {"email": EMAIL}


def test_refused_change_names_the_field(api: ApiClient, ports: Ports) -> None:
    access = sign_in(ports, make_user(ports)).access
    cases: list[tuple[dict[str, str | None], object]] = [
        ({"n": NEW}, problem("oldPassword", "INVALID_CREDENTIALS")),
        ({"o": None, "n": NEW}, problem("oldPassword", "INVALID_CREDENTIALS")),
        ({"o": "wrong", "n": NEW}, problem("oldPassword", "INVALID_CREDENTIALS")),
        ({"o": PASSWORD, "n": "123"}, problem("newPassword", "PASSWORD_TOO_SHORT")),
    ]
    for variables, refused in cases:
        response = api.run(CHANGE, access, **variables)
        assert response == {"user": None, "errors": refused, "accountErrors": refused}, variables


def test_password_is_changed_by_its_owner_only(api: ApiClient, ports: Ports) -> None:
    _, app = make_app(ports, "an app", *Permission)
    assert api.code(CHANGE, None, o=PASSWORD, n=NEW) == "PermissionDenied"
    assert api.code(CHANGE, app, o=PASSWORD, n=NEW) == "PermissionDenied"
    assert api.code(CHANGE, "garbage", o=PASSWORD, n=NEW) == "InvalidTokenError"


def test_disabled_mode_refuses_all_three_mutations_for_everyone(
    api: ApiClient, ports: Ports
) -> None:
    access = sign_in(ports, make_user(ports)).access
    set_mode(ports, PasswordLoginMode.DISABLED)
    for credential in (None, access, "garbage"):
        for query, variables in (
            (REQUEST, {"e": EMAIL, "u": "https://evil.example/"}),
            (SET, {"e": EMAIL, "p": "123", "t": "bad"}),
            (CHANGE, {"o": PASSWORD, "n": NEW}),
        ):
            response = api.run(query, credential, **variables)
            assert response["accountErrors"] == problem(None, "DISABLED_AUTHENTICATION_METHOD")


@cases(
    "query",
    [
        'mutation { setPassword(email: "a@b.example", password: "x") { token } }',
        'mutation { requestPasswordReset(email: "a@b.example") { errors { code } } }',
        'mutation { passwordChange(oldPassword: "x") { errors { code } } }',
    ],
)
def test_required_arguments_are_required(api: ApiClient, query: str) -> None:
    assert api.post({"query": query}).status_code == 400


def test_production_link_leads_to_listed_hosts_only(ports: Ports) -> None:
    configuration = replace(
        ports.configuration, development=False, allowed_client_hosts=("shop.example.com",)
    )
    api = ApiClient(replace(ports, configuration=configuration))
    response = api.run(REQUEST, e=EMAIL, u="https://shop.example.com/reset")
    assert response["accountErrors"] == []
    response = api.run(REQUEST, e=EMAIL, u=SHOP)
    assert response["accountErrors"] == problem("redirectUrl", "INVALID")
