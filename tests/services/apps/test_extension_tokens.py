"""An app's page in the dashboard acts for whoever looks at it, with what both of them may do."""

import pytest

from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.errors import PermissionDenied, Refused, TokenFault
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.identity.identify import identify
from app.services.sign_in.tokens import refresh_token, verify_token
from tests.builders.apps import app_as_stored, extension_token, make_app, make_extension_app
from tests.builders.people import NOBODY, actor_of, make_staff, make_user, visit
from tests.builders.shop import set_mode
from tests.builders.tokens import altered, claims_in
from tests.fixtures.statements import recorded_statements
from tests.services.extension_setup import ORDERS, PAGES, acts, set_scene, token_for

APPS, USERS = Permission.MANAGE_APPS, Permission.MANAGE_USERS


def test_extension_token_names_app_and_common_permissions(ports: Ports) -> None:
    staff = make_staff(ports, "ann@example.com", USERS, ORDERS, PAGES)
    app = make_extension_app(ports, "extension", ORDERS, Permission.MANAGE_TAXES)
    claims = claims_in(ports, token_for(ports, actor_of(ports, staff), app))
    assert claims["type"] == "thirdparty"
    assert claims["app"] == to_global_id("App", app.id)
    assert claims["user_id"] == to_global_id("User", staff)
    assert claims["permissions"] == ["MANAGE_ORDERS"]
    assert claims["user_permissions"] == ["MANAGE_ORDERS", "MANAGE_PAGES", "MANAGE_USERS"]
    assert claims["exp"] - claims["iat"] == 300
    assert set(claims) == {
        *("iat", "exp", "owner", "iss", "token", "email", "type", "user_id", "is_staff"),
        *("app", "permissions", "user_permissions"),
    }


def test_extension_token_has_the_manifests_audience(ports: Ports) -> None:
    app = make_extension_app(ports, "extension", audience="app.example")
    staff = actor_of(ports, make_staff(ports))
    assert claims_in(ports, token_for(ports, staff, app))["aud"] == "custom:app.example"


def test_extension_token_acts_for_the_user(ports: Ports) -> None:
    scene = set_scene(ports)
    identity = identify(ports, visit(scene.token))
    assert identity.user is not None
    assert identity.user.id == scene.user
    assert identity.user.permissions == {ORDERS, PAGES}
    actor = identity.actor
    assert (actor.is_user, actor.is_app, actor.is_staff) == (True, False, True)
    assert (actor.user_id, actor.app_id) == (scene.user, scene.app.id)
    assert actor.session_id == scene.caller.session_id


def test_extension_rights_are_those_of_user_and_app(ports: Ports) -> None:
    rights = (set[Permission](), {ORDERS}, {PAGES}, {ORDERS, PAGES}, ALL_PERMISSIONS)
    extensions = [(make_extension_app(ports, "extension", *of_app), of_app) for of_app in rights]
    for number, of_user in enumerate(rights):
        caller = actor_of(ports, make_staff(ports, f"{number}@example.com", *of_user))
        for extension, of_app in extensions:
            token = token_for(ports, caller, extension)
            expected = (of_user & of_app) - {APPS}
            assert acts(ports, token).permissions == expected
            assert set(claims_in(ports, token)["permissions"]) == expected
            assert verify_token(ports, NOBODY, token=token).user.permissions == expected


def test_superusers_extension_has_the_apps_permissions(ports: Ports) -> None:
    boss = actor_of(ports, make_user(ports, "boss@example.com", is_superuser=True))
    extension = make_extension_app(ports, "extension", ORDERS)
    assert acts(ports, token_for(ports, boss, extension)).permissions == {ORDERS}


def test_extension_token_cannot_be_refreshed(ports: Ports) -> None:
    scene = set_scene(ports)
    with pytest.raises(Refused) as refused:
        refresh_token(ports, NOBODY, token=scene.token)
    [problem] = refused.value.problems
    assert (problem.field, problem.code) == ("refreshToken", "JWT_INVALID_TOKEN")


def test_extension_cannot_use_another_extensions_permissions(ports: Ports) -> None:
    scene = set_scene(ports)
    mighty = make_extension_app(ports, "mighty", *ALL_PERMISSIONS)
    extension = acts(ports, scene.token)
    assert extension_token(ports, extension, mighty) is None
    assert extension_token(ports, extension, scene.app) is None


def test_extension_token_needs_a_user_and_an_app_with_a_page(ports: Ports) -> None:
    staff = actor_of(ports, make_staff(ports))
    local, token = make_app(ports, "local")
    page = make_extension_app(ports, "page")
    switched_off = make_extension_app(ports, "off", is_active=False)
    assert extension_token(ports, acts(ports, token), page) is None
    assert extension_token(ports, OPERATOR, page) is None
    assert extension_token(ports, staff, switched_off) is None
    assert extension_token(ports, staff, app_as_stored(ports, local)) is None


def test_customers_get_no_extension_token(ports: Ports) -> None:
    page = make_extension_app(ports, "page")
    with pytest.raises(PermissionDenied):
        extension_token(ports, actor_of(ports, make_user(ports)), page)
    with pytest.raises(PermissionDenied):
        extension_token(ports, NOBODY, page)


def test_staff_with_customer_rights_get_no_extension_token(ports: Ports) -> None:
    page = make_extension_app(ports, "page")
    staff = make_staff(ports)
    set_mode(ports, PasswordLoginMode.CUSTOMERS_ONLY)
    with pytest.raises(PermissionDenied):
        extension_token(ports, actor_of(ports, staff), page)


def test_extension_token_without_app_is_invalid(ports: Ports) -> None:
    scene = set_scene(ports)
    for named in (..., "App", "QXBw", to_global_id("User", 1), 5, None):
        token = altered(ports, scene.token, app=named)
        assert acts(ports, token).fault is TokenFault.INVALID, named


def test_permission_claims_grant_nothing(ports: Ports) -> None:
    scene = set_scene(ports)
    everything = sorted(ALL_PERMISSIONS)
    forged = altered(ports, scene.token, permissions=everything, user_permissions=everything)
    assert acts(ports, forged).permissions == {ORDERS, PAGES}


@pytest.mark.both_databases
def test_extension_token_costs_one_statement_and_no_write(ports: Ports) -> None:
    scene = set_scene(ports)
    acts(ports, scene.token)
    with recorded_statements() as statements:
        acts(ports, scene.token)
    assert len(statements) == 1
    assert statements[0].lstrip().startswith("SELECT")
