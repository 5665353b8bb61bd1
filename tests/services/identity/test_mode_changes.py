"""Who may set which password login mode: contract, "Password login mode"."""

from itertools import product

import pytest

from app.domain.authorization.actor import OPERATOR, Actor, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode, ShopSettings, ShopUpdate
from app.domain.values.errors import PermissionDenied, Problem, Refused, TokenRejected
from app.ports import Ports
from app.services.identity.identify import identify
from app.services.shop.settings import show_settings, update_shop
from tests.builders.apps import make_app
from tests.builders.audit import trail
from tests.builders.people import actor_of, make_staff, visit
from tests.builders.shop import set_mode
from tests.fixtures.cases import cases

ENABLED, CUSTOMERS_ONLY, DISABLED = PasswordLoginMode
SETTINGS = Permission.MANAGE_SETTINGS


def manager(ports: Ports, origin: SessionOrigin = SessionOrigin.PASSWORD) -> Actor:
    """A new member of the staff who may manage settings, come in by ``origin``."""
    return actor_of(ports, make_staff(ports, "manager@example.com", SETTINGS), origin)


def settings(ports: Ports) -> ShopSettings:
    return show_settings(ports, OPERATOR)


def problems_of(ports: Ports, actor: Actor, update: ShopUpdate) -> tuple[Problem, ...]:
    with pytest.raises(Refused) as refused:
        update_shop(ports, actor, update)
    return refused.value.problems


def test_sso_staff_can_set_any_mode_from_any_mode(ports: Ports) -> None:
    chief = manager(ports, SessionOrigin.OIDC)
    for present, target in product(PasswordLoginMode, PasswordLoginMode):
        set_mode(ports, present)
        shop = update_shop(ports, chief, ShopUpdate(password_login_mode=target))
        assert shop.password_login_mode is target, present
        assert settings(ports) == shop


@pytest.mark.parametrize("target", [CUSTOMERS_ONLY, DISABLED])
def test_staff_of_a_password_session_cannot_restrict_password_login(
    ports: Ports, target: PasswordLoginMode
) -> None:
    [problem] = problems_of(ports, manager(ports), ShopUpdate(password_login_mode=target))

    assert (problem.field, problem.code) == ("passwordLoginMode", "PASSWORD_AUTH_RESTRICTION")
    assert settings(ports).password_login_mode is ENABLED


def test_password_staff_can_set_the_current_mode(ports: Ports) -> None:
    shop = update_shop(ports, manager(ports), ShopUpdate(password_login_mode=ENABLED))

    assert shop.password_login_mode is ENABLED


@pytest.mark.parametrize("present", [CUSTOMERS_ONLY, DISABLED])
def test_password_session_without_rights_cannot_change_the_mode(
    ports: Ports, present: PasswordLoginMode
) -> None:
    staff = make_staff(ports, "staff@example.com", SETTINGS)
    set_mode(ports, present)

    with pytest.raises((PermissionDenied, TokenRejected)):
        update_shop(ports, actor_of(ports, staff), ShopUpdate(password_login_mode=ENABLED))

    assert settings(ports).password_login_mode is present


@cases("target", PasswordLoginMode)
@cases("present", PasswordLoginMode)
def test_operator_can_set_any_mode(
    ports: Ports, present: PasswordLoginMode, target: PasswordLoginMode
) -> None:
    set_mode(ports, present)

    shop = update_shop(ports, OPERATOR, ShopUpdate(password_login_mode=target))

    assert shop.password_login_mode is target


def test_app_can_set_enabled_only(ports: Ports) -> None:
    _, token = make_app(ports, "Switch", SETTINGS)
    app = identify(ports, visit(token)).actor
    for present in PasswordLoginMode:
        set_mode(ports, present)
        for target in (CUSTOMERS_ONLY, DISABLED):
            change = ShopUpdate(password_login_mode=target, name="Other")
            [problem] = problems_of(ports, app, change)
            assert (problem.field, problem.code) == (
                "passwordLoginMode",
                "PASSWORD_AUTH_RESTRICTION",
            )
            assert settings(ports).password_login_mode is present
        shop = update_shop(ports, app, ShopUpdate(password_login_mode=ENABLED))
        assert shop.password_login_mode is ENABLED


def test_a_refused_mode_leaves_every_other_field_of_the_input_unchanged(ports: Ports) -> None:
    before = settings(ports)

    problems_of(
        ports,
        manager(ports),
        ShopUpdate(
            password_login_mode=DISABLED,
            allow_storefront_traffic=False,
            name="Renamed",
            enable_account_confirmation_by_email=False,
        ),
    )

    assert settings(ports) == before
    assert trail(ports, "shop.update") == []


@pytest.mark.both_databases
def test_all_problems_are_reported_at_once(ports: Ports) -> None:
    problems = problems_of(
        ports,
        manager(ports),
        ShopUpdate(password_login_mode=DISABLED, allow_storefront_traffic=None, name=""),
    )

    assert {(problem.field, problem.code) for problem in problems} == {
        ("name", "REQUIRED"),
        ("allowStorefrontTraffic", "INVALID"),
        ("passwordLoginMode", "PASSWORD_AUTH_RESTRICTION"),
    }
