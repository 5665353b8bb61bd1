"""What a required second factor takes from sessions: everything that makes them staff's."""

from datetime import timedelta

import pytest

from app.domain.authorization.actor import Actor, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode, ShopUpdate
from app.domain.values.errors import PermissionDenied
from app.ports import Ports
from app.services.identity.identify import identify
from app.services.shop.settings import update_shop
from tests.builders.apps import make_app
from tests.builders.people import make_staff, make_user, sign_in, visit
from tests.builders.second_factor_rule import MFA, require_second_factor
from tests.builders.shop import set_mode
from tests.fakes.clock import FakeClock

SETTINGS = Permission.MANAGE_SETTINGS
PASSWORD, OIDC = SessionOrigin.PASSWORD, SessionOrigin.OIDC
MODES = PasswordLoginMode


def caller(
    ports: Ports, user_id: int, origin: SessionOrigin = PASSWORD, amr: tuple[str, ...] = ()
) -> Actor:
    return identify(ports, visit(sign_in(ports, user_id, origin, amr=amr).access)).actor


CASES: tuple[tuple[int | None, SessionOrigin, tuple[str, ...], PasswordLoginMode, bool], ...] = (
    (None, PASSWORD, (), MODES.ENABLED, True),
    (1, PASSWORD, (), MODES.ENABLED, True),
    (0, PASSWORD, (), MODES.ENABLED, False),
    (-1, PASSWORD, (), MODES.ENABLED, False),
    (-1, PASSWORD, MFA, MODES.ENABLED, True),
    (-1, PASSWORD, ("hwk", "mfa"), MODES.ENABLED, True),
    (-1, PASSWORD, ("pwd", "otp"), MODES.ENABLED, False),
    (-1, PASSWORD, ("mfax",), MODES.ENABLED, False),
    (-1, PASSWORD, MFA, MODES.CUSTOMERS_ONLY, False),
    (-1, OIDC, (), MODES.ENABLED, False),
    (-1, OIDC, ("pwd", "mfa"), MODES.ENABLED, True),
    (-1, OIDC, ("pwd", "mfa"), MODES.DISABLED, True),
    (-1, OIDC, (), MODES.DISABLED, False),
    (1, OIDC, (), MODES.DISABLED, True),
)
"""Days until the rule holds, how the person signed in, and whether their rights are theirs."""


@pytest.mark.parametrize("is_superuser", [False, True])
def test_staff_rights_need_a_second_factor_once_the_grace_period_is_over(
    ports: Ports, *, is_superuser: bool
) -> None:
    user_id = make_user(
        ports,
        is_staff=True,
        is_superuser=is_superuser,
        permissions=() if is_superuser else [SETTINGS],
    )
    for case in CASES:
        days, origin, amr, mode, has_rights = case
        set_mode(ports, mode)
        if days is not None:
            require_second_factor(ports, ports.clock.now() + timedelta(days=days))

        actor = caller(ports, user_id, origin, amr)

        assert actor.is_staff is has_rights, case
        assert actor.holds(SETTINGS) is has_rights, case
        assert has_rights or actor.permissions == frozenset(), case


def test_customers_and_apps_need_no_second_factor(ports: Ports) -> None:
    require_second_factor(ports)
    customer = caller(ports, make_user(ports))
    assert customer.is_user
    assert not customer.is_staff
    _, token = make_app(ports, "Hooks", SETTINGS)
    app = identify(ports, visit(token)).actor
    assert app.holds(SETTINGS)


def test_open_session_loses_its_rights_at_the_very_moment(ports: Ports, clock: FakeClock) -> None:
    staff = make_staff(ports, "staff@example.com", SETTINGS)
    token = sign_in(ports, staff).access
    require_second_factor(ports, ports.clock.now() + timedelta(seconds=10))
    assert identify(ports, visit(token)).actor.holds(SETTINGS)
    clock.pass_(seconds=10)
    assert not identify(ports, visit(token)).actor.holds(SETTINGS)


def test_change_is_rolled_back_if_the_rule_comes_into_force_before_it_is_saved(
    ports: Ports,
) -> None:
    actor = caller(ports, make_staff(ports, "staff@example.com", SETTINGS))
    require_second_factor(ports)
    with pytest.raises(PermissionDenied):
        update_shop(ports, actor, ShopUpdate(name="Taken over"))
