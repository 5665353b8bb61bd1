"""Accounts by GraphQL: registered, confirmed, changed, moved, deleted."""

from typing import Any

import pytest

from app.domain.accounts.email_links import LinkPurpose
from app.domain.authorization.permissions import Permission
from app.domain.values.ids import to_global_id
from app.ports import Ports
from tests.builders.apps import make_app
from tests.builders.links import link_for
from tests.builders.outbox import mails, token_in
from tests.builders.people import PASSWORD, make_staff, make_user, sign_in, user_as_stored
from tests.builders.shop import configure_shop
from tests.fixtures.cases import cases
from tests.graphql.shop_client import ApiClient

EMAIL = "customer@example.com"
SHOP = "http://localhost:3000/account"
_ERRORS = "errors { field code } accountErrors { field code }"
REGISTER = f"""
    mutation ($i: AccountRegisterInput!) {{
      accountRegister(input: $i) {{ requiresConfirmation {_ERRORS} }}
    }}
"""
CONFIRM = f"""
    mutation ($e: String!, $t: String!, $p: String) {{
      confirmAccount(email: $e, token: $t, password: $p) {{
        user {{ email isConfirmed }} {_ERRORS}
      }}
    }}
"""
UPDATE = f"""
    mutation ($c: ID, $i: AccountInput!) {{
      accountUpdate(customerId: $c, input: $i) {{
        user {{ firstName lastName }} {_ERRORS}
      }}
    }}
"""
MOVE = f"""
    mutation ($n: String!, $p: String!, $u: String!) {{
      requestEmailChange(newEmail: $n, password: $p, redirectUrl: $u, channel: "x") {{
        user {{ email }} {_ERRORS}
      }}
    }}
"""
MOVED = f"""
    mutation ($t: String!) {{
      confirmEmailChange(token: $t, channel: "x") {{ user {{ email }} {_ERRORS} }}
    }}
"""
LEAVE = f"""
    mutation ($u: String!) {{
      accountRequestDeletion(redirectUrl: $u, channel: "x") {{ {_ERRORS} }}
    }}
"""
LEFT = f"""
    mutation ($t: String!) {{ accountDelete(token: $t) {{ user {{ id email }} {_ERRORS} }} }}
"""


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports)


def fine(**values: object) -> dict[str, object]:
    return {**values, "errors": [], "accountErrors": []}


def refused(field: str | None, code: str, **values: object) -> dict[str, object]:
    problems = [{"field": field, "code": code}]
    return {**values, "errors": problems, "accountErrors": problems}


def newcomer(**changes: object) -> dict[str, Any]:
    return {
        "email": "ann@example.com",
        "password": PASSWORD,
        "firstName": "Ann",
        "redirectUrl": SHOP,
        "channel": "x",
    } | changes


def test_register_and_confirm(api: ApiClient, ports: Ports) -> None:
    assert api.run(REGISTER, i=newcomer()) == fine(requiresConfirmation=True)
    token = token_in(mails(ports)[0])
    response = api.run(CONFIRM, e="ann@example.com", t=token)
    assert response == fine(user={"email": "ann@example.com", "isConfirmed": True})


def test_response_says_whether_confirmation_is_required(api: ApiClient, ports: Ports) -> None:
    configure_shop(ports, enable_account_confirmation_by_email=False)
    new = {"email": "ann@example.com", "password": PASSWORD, "lastName": None}
    assert api.run(REGISTER, i=new) == fine(requiresConfirmation=False)


def test_registration_does_not_reveal_existing_emails(api: ApiClient, ports: Ports) -> None:
    make_user(ports, "ann@example.com")
    make_user(ports, "bob@example.com", is_active=False)
    bodies = {
        api.post({"query": REGISTER, "variables": {"i": newcomer(email=email)}}).data
        for email in ("ann@example.com", "bob@example.com", "cyd@example.com")
    }
    assert len(bodies) == 1


@cases(
    ("changes", "field", "code"),
    [
        ({"email": "nobody"}, "email", "INVALID"),
        ({"email": ""}, "email", "REQUIRED"),
        ({"password": "123"}, "password", "PASSWORD_TOO_SHORT"),
        ({"firstName": "a\nb"}, "firstName", "INVALID"),
        ({"lastName": "x" * 300}, "lastName", "INVALID"),
        ({"redirectUrl": None}, "redirectUrl", "REQUIRED"),
        ({"redirectUrl": "https://evil.example"}, "redirectUrl", "INVALID"),
    ],
)
def test_refused_registration_names_the_field(
    api: ApiClient, changes: dict[str, object], field: str, code: str
) -> None:
    response = api.run(REGISTER, i=newcomer(**changes))
    assert response == refused(field, code, requiresConfirmation=None)


@pytest.mark.parametrize("password", ["", "123", "nine lazy Störche by the sea"])
def test_password_sent_with_the_confirmation_is_ignored(
    api: ApiClient, ports: Ports, password: str
) -> None:
    user_id = make_user(ports, is_confirmed=False)
    token = link_for(ports, user_id, LinkPurpose.CONFIRM_ACCOUNT)
    before = user_as_stored(ports, user_id).password_hash

    response = api.run(CONFIRM, e=EMAIL, t=token, p=password)

    assert response == fine(user={"email": EMAIL, "isConfirmed": True})
    assert user_as_stored(ports, user_id).password_hash == before


def test_invalid_link_confirms_no_account(api: ApiClient, ports: Ports) -> None:
    make_user(ports, is_confirmed=False)
    assert api.run(CONFIRM, e=EMAIL, t="bad") == refused("token", "INVALID", user=None)


def test_user_changes_their_own_name(api: ApiClient, ports: Ports) -> None:
    access = sign_in(ports, make_user(ports, first_name="Ann", last_name="Lee")).access
    names = {"firstName": "Änn", "lastName": "Lee"}
    assert api.run(UPDATE, access, i={"firstName": "Änn"}) == fine(user=names)
    names = {"firstName": "Änn", "lastName": ""}
    assert api.run(UPDATE, access, i={"lastName": None}) == fine(user=names)
    response = api.run(UPDATE, access, i={"firstName": "a\rb"})
    assert response == refused("firstName", "INVALID", user=None)


def test_app_with_impersonate_user_updates_customers(api: ApiClient, ports: Ports) -> None:
    customer = to_global_id("User", make_user(ports))
    _, app = make_app(ports, "an app", Permission.IMPERSONATE_USER)
    response = api.run(UPDATE, app, c=customer, i={"firstName": "Bea"})
    assert response == fine(user={"firstName": "Bea", "lastName": ""})
    response = api.run(UPDATE, app, c="garbage", i={})
    assert response == refused("customerId", "NOT_FOUND", user=None)
    response = api.run(UPDATE, app, i={})
    assert response == refused("customerId", "REQUIRED", user=None)


def test_account_update_changes_the_caller_only(api: ApiClient, ports: Ports) -> None:
    customer = make_user(ports)
    _, app = make_app(ports, "an app")
    staff = sign_in(ports, make_staff(ports)).access
    customer_id = to_global_id("User", customer)
    for credential in (None, app):
        assert api.code(UPDATE, credential, c=customer_id, i={}) == "PermissionDenied"
    for credential in (staff, sign_in(ports, customer).access):
        response = api.run(UPDATE, credential, c=customer_id, i={})
        assert response == refused("customerId", "INVALID", user=None)
    assert api.code(UPDATE, None, i={}) == "PermissionDenied"
    assert api.code(UPDATE, app, i={}) == "PermissionDenied"
    assert api.code(UPDATE, "garbage", i={}) == "InvalidTokenError"


def test_email_is_changed_by_a_mailed_link(api: ApiClient, ports: Ports) -> None:
    access = sign_in(ports, make_user(ports)).access
    response = api.run(MOVE, access, n="new@example.com", p=PASSWORD, u=SHOP)
    assert response == fine(user={"email": EMAIL})
    response = api.run(MOVED, access, t=token_in(mails(ports)[0]))
    assert response == fine(user={"email": "new@example.com"})
    assert api.run("{ me { email } }", access) == {"email": "new@example.com"}


def test_refused_email_change_names_the_field(api: ApiClient, ports: Ports) -> None:
    access = sign_in(ports, make_user(ports)).access
    for variables, field, code in (
        ({"n": "nobody", "p": PASSWORD, "u": SHOP}, "newEmail", "INVALID"),
        ({"n": EMAIL, "p": PASSWORD, "u": SHOP}, "newEmail", "UNIQUE"),
        ({"n": "new@example.com", "p": "wrong", "u": SHOP}, "password", "INVALID_CREDENTIALS"),
        ({"n": "new@example.com", "p": PASSWORD, "u": "x"}, "redirectUrl", "INVALID"),
    ):
        assert api.run(MOVE, access, **variables) == refused(field, code, user=None)
    assert api.run(MOVED, access, t="bad") == refused("token", "JWT_INVALID_TOKEN", user=None)


def test_account_is_deleted(api: ApiClient, ports: Ports) -> None:
    user_id = make_user(ports)
    access = sign_in(ports, user_id).access
    assert api.run(LEAVE, access, u=SHOP) == fine()
    response = api.run(LEFT, access, t=token_in(mails(ports)[0]))
    assert response == fine(user={"id": to_global_id("User", user_id), "email": EMAIL})
    assert api.code("{ me { email } }", access) == "InvalidTokenError"


def test_staff_cannot_delete_their_own_account(api: ApiClient, ports: Ports) -> None:
    staff = make_staff(ports)
    access = sign_in(ports, staff).access
    assert api.run(LEAVE, access, u=SHOP) == refused(None, "DELETE_STAFF_ACCOUNT")
    response = api.run(LEFT, access, t="bad")
    assert response == refused(None, "DELETE_STAFF_ACCOUNT", user=None)
    assert user_as_stored(ports, staff).is_staff


def test_invalid_or_foreign_link_deletes_no_account(api: ApiClient, ports: Ports) -> None:
    access = sign_in(ports, make_user(ports)).access
    other = link_for(ports, make_user(ports, "o@example.com"), LinkPurpose.DELETE_ACCOUNT)
    for token in ("bad", "", other):
        assert api.run(LEFT, access, t=token) == refused("token", "INVALID", user=None)


@cases(
    ("query", "variables"),
    [
        (MOVE, {"n": "new@example.com", "p": PASSWORD, "u": SHOP}),
        (MOVED, {"t": "bad"}),
        (LEAVE, {"u": SHOP}),
        (LEFT, {"t": "bad"}),
    ],
)
def test_account_operations_need_a_user(
    api: ApiClient, ports: Ports, query: str, variables: dict[str, str]
) -> None:
    _, app = make_app(ports, "an app", *Permission)
    for credential in (None, app):
        assert api.code(query, credential, **variables) == "PermissionDenied"
    assert api.code(query, "garbage", **variables) == "InvalidTokenError"
