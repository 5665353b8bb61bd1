"""A third party's token reads what its scopes name, and never acts on its person's account."""

from typing import Any

import pytest
from sqlalchemy import select

from app import models
from app.composition.factory import create_app
from app.composition.settings import load_settings
from app.domain.authorization.permissions import Permission
from app.domain.oauth import DEFAULT_SCOPES
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.apps.app_changes import deactivate_app
from app.services.authorization.register import REGISTER, can_call
from app.services.commerce.checkouts import LineInput, create_checkout
from app.services.identity.identify import identify
from app.services.oauth.userinfo import show_claims
from tests.builders.addresses import make_address
from tests.builders.oauth import grant, make_client
from tests.builders.orders import make_cart, make_order
from tests.builders.people import (
    PASSWORD,
    actor_of,
    make_group,
    make_user,
    sessions_of,
    sign_in,
    visit,
)
from tests.builders.products import make_product, product_id
from tests.graphql.shop_client import ApiClient

ORDERS = Permission.MANAGE_ORDERS
EVERYTHING = frozenset(("openid", "profile", "email", "address", "phone", "staff"))
ADDRESS = "{ me { addresses { city } } }"
READS = (
    "{ me { orders(first: 1) { edges { node { id } } } } }",
    "{ me { checkouts(first: 1) { edges { node { id } } } } }",
    "{ me { sessions { id } } }",
    "{ me { secondFactors { name } } }",
    "{ me { metadata { key } } }",
    "{ me { externalReference } }",
)
CHANGES = (
    'mutation { accountUpdate(input: {firstName: "M"}) { errors { code } } }',
    'mutation { accountAddressCreate(input: {city: "X"}) { errors { code } } }',
    (
        'mutation { passwordChange(oldPassword: "PASSWORD", newPassword: "another long sentence") '
        "{ errors { code } } }"
    ),
    "mutation { tokensDeactivateAll { errors { code } } }",
    (
        'mutation { requestEmailChange(newEmail: "m@example.com", password: "PASSWORD", '
        'redirectUrl: "http://localhost/") { errors { code } } }'
    ),
    'mutation { accountRequestDeletion(redirectUrl: "http://localhost/") { errors { code } } }',
    'mutation { updateMetadata(id: "%s", input: [{key: "a", value: "b"}]) { errors { code } } }',
)


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    return sqlite_url


def token_of(ports: Ports, user: int, *scopes: str, first: bool = False) -> str:
    words = frozenset(scopes)
    client = make_client(ports, scopes=words, is_first_party=first).client
    return grant(ports, client, user, words).access_token


def fails(answer: Any) -> bool:
    """Whether an operation raised, or changed nothing by a refusal."""
    return bool(answer.get("errors")) or all(
        field is None or field.get("errors") for field in answer["data"].values()
    )


def test_account_is_shown_for_the_scopes_that_name_it(ports: Ports) -> None:
    api, user = ApiClient(ports), make_user(ports, first_name="Ann")
    make_address(ports, user)
    read = "{ me { email firstName } }"
    shown = {"data": {"me": {"email": "customer@example.com", "firstName": "Ann"}}}
    assert api.ask(read, token_of(ports, user, *DEFAULT_SCOPES)) == shown
    assert api.ask(read, token_of(ports, user, "openid", first=True)) == shown
    for scopes in (("openid",), ("openid", "email"), ("openid", "profile")):
        assert api.ask(read, token_of(ports, user, *scopes)) == {"data": {"me": None}}
    city = {"data": {"me": {"addresses": [{"city": "WROCŁAW"}]}}}
    assert api.ask(ADDRESS, token_of(ports, user, *DEFAULT_SCOPES, "address")) == city
    assert fails(api.ask(ADDRESS, token_of(ports, user, *DEFAULT_SCOPES)))


def test_what_no_scope_names_is_refused(ports: Ports) -> None:
    api, user = ApiClient(ports), make_user(ports)
    person = actor_of(ports, user)
    make_order(ports, person)
    make_cart(ports, person)
    token, own = token_of(ports, user, *EVERYTHING), token_of(ports, user, "openid", first=True)
    for query in READS:
        assert fails(api.ask(query, token)), query
        assert not api.ask(query, own).get("errors"), query


def test_nothing_of_the_account_is_changed(ports: Ports) -> None:
    api, user = ApiClient(ports), make_user(ports)
    token = token_of(ports, user, *EVERYTHING, "offline_access")
    before = len(sessions_of(ports, user))
    for query in CHANGES:
        sent = query.replace("PASSWORD", PASSWORD).replace("%s", to_global_id("User", user))
        assert fails(api.ask(sent, token)), query
    assert len(sessions_of(ports, user)) == before
    own = token_of(ports, user, "openid", first=True)
    assert not fails(api.ask(CHANGES[0], own))


def test_carts_do_not_become_the_persons(ports: Ports) -> None:
    user = make_user(ports)
    actor = identify(ports, visit(token_of(ports, user, *EVERYTHING))).actor
    line = LineInput(product_id(make_product(ports, "Bowl")), 1)
    for caller, owner in ((actor, None), (actor_of(ports, user), user)):
        created = create_checkout(ports, caller, [line], "buyer@example.com")
        with ports.database.reading() as session:
            of_cart = select(models.Checkout.user_id).where(models.Checkout.token == created.token)
            assert session.scalars(of_cart).one() == owner


def test_permissions_are_those_of_scope_and_person(ports: Ports) -> None:
    held = make_user(ports, "a@example.com", is_staff=True, permissions=[ORDERS])
    lacking = make_user(ports, "b@example.com", is_staff=True)
    for user, expected in ((held, {ORDERS}), (lacking, set())):
        for first in (True, False):
            granted = token_of(ports, user, "openid", ORDERS.value, first=first)
            actor = identify(ports, visit(granted)).actor
            assert actor.permissions == expected
            assert actor.is_staff
    chief = make_user(ports, "chief@example.com", is_superuser=True)
    for scopes, is_staff in ((("openid",), False), (("openid", "staff"), True)):
        for first in (True, False):
            actor = identify(ports, visit(token_of(ports, chief, *scopes, first=first))).actor
            assert actor.permissions == frozenset()
            assert actor.is_staff is is_staff


def test_third_party_is_no_person_where_apps_are_none(ports: Ports) -> None:
    """Tokens and clients that it made would outlive what its person allowed."""
    apps = Permission.MANAGE_APPS
    user = make_user(ports, is_staff=True, permissions=[apps])
    for first in (True, False):
        caller = identify(ports, visit(token_of(ports, user, "openid", apps.value, first=first)))
        assert can_call(caller.actor, deactivate_app) is first


def test_groups_are_shown_with_the_scope_of_staff_alone(ports: Ports) -> None:
    user = make_user(ports, is_staff=True, groups=[make_group(ports, "Support", ORDERS)])
    read = "{ me { permissionGroups { name } userPermissions { code } } }"
    api = ApiClient(ports)
    plain: Any = {"data": {"me": {"permissionGroups": [], "userPermissions": []}}}
    assert api.ask(read, token_of(ports, user, *DEFAULT_SCOPES)) == plain
    named = {"data": {"me": {"permissionGroups": [{"name": "Support"}], "userPermissions": []}}}
    assert api.ask(read, token_of(ports, user, *DEFAULT_SCOPES, "staff")) == named


def test_only_reading_use_cases_are_declared_for_third_parties() -> None:
    """A new one is added here by someone who has checked that it changes nothing."""
    assert show_claims.__name__ == "show_claims"
    declared = {name for name, declaration in REGISTER.items() if declaration.scopes}
    assert declared == {"accounts.addresses.addresses_of_users", "oauth.userinfo.show_claims"}


def test_own_token_proves_nothing_to_a_third_party(ports: Ports) -> None:
    """Whoever has a token can have it verified: that shows what its scopes name, no more."""
    user = make_user(ports, is_staff=True, groups=[make_group(ports, "Support", ORDERS)])
    make_address(ports, user)
    api = ApiClient(ports)

    def verified(token: str, fields: str, header: str | None = None) -> tuple[Any, Any]:
        query = (
            f"mutation($t: String!) {{ tokenVerify(token: $t) {{ payload user {{ {fields} }} }} }}"
        )
        answer = api.ask(query, header, t=token)["data"]["tokenVerify"]
        return answer["user"], answer["payload"]

    hidden, claims = verified(token_of(ports, user, "openid"), "email")
    assert hidden is None
    assert (claims["email"], claims["is_staff"]) == ("", False)
    token = token_of(ports, user, *DEFAULT_SCOPES)
    for header in (None, token):
        shown, claims = verified(token, "email permissionGroups { name }", header)
        assert shown == {"email": "customer@example.com", "permissionGroups": []}
        assert claims["email"] == "customer@example.com"
        for field in ("addresses { city }", "secondFactors { name }", "metadata { key }"):
            shown, _ = verified(token, field, header)
            assert not shown or not any(shown.values()), field
    assert verified(token_of(ports, user, "staff"), "email")[1]["is_staff"] is True
    # Control: the person's own token, and that of a first party, show everything.
    for token in (sign_in(ports, user).access, token_of(ports, user, "openid", first=True)):
        shown, claims = verified(token, "addresses { city } secondFactors { name }")
        assert shown == {"addresses": [{"city": "WROCŁAW"}], "secondFactors": []}
        assert claims["email"] == "customer@example.com"


def test_proxies_do_not_take_a_third_party_for_its_person(ports: Ports) -> None:
    user = make_user(ports)
    settings = load_settings({"FORWARD_AUTH": "true"})
    browser = create_app(ports, settings).test_client()

    def check(token: str) -> int:
        headers = {"Host": "localhost:8000", "Authorization": f"Bearer {token}"}
        return browser.get("/auth/check", headers=headers).status_code

    assert check(token_of(ports, user, *EVERYTHING)) == 403
    assert check(token_of(ports, user, "openid", first=True)) == 200
