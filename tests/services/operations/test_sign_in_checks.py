"""Whether doctor notices that no one can sign in, or manage settings."""

import pytest

from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.installation import CheckState
from app.ports import Ports
from app.services.operations.health_checks import second_factor_findings, sign_in_finding
from tests.builders.people import make_staff, make_user
from tests.builders.provider_records import link_identity, make_provider
from tests.builders.second_factor_rule import add_unusable_passkey, require_second_factor
from tests.builders.shop import set_mode

ENABLED, CUSTOMERS_ONLY, DISABLED = PasswordLoginMode
MANAGE = Permission.MANAGE_SETTINGS


def found(ports: Ports, *, has_provider: bool = False) -> tuple[CheckState, str, str]:
    finding = sign_in_finding(ports, has_working_provider=has_provider)
    assert bool(finding.remedy) is (finding.state is not CheckState.FINE)
    return finding.state, finding.message, finding.remedy


def test_shop_without_staff_is_a_warning(ports: Ports) -> None:
    make_user(ports, "carla@example.com")
    make_user(ports, "gone@example.com", is_staff=True, is_active=False)
    state, message, remedy = found(ports)
    assert (state, message) == (CheckState.WARNING, "There are no active staff.")
    assert remedy == "flask user create EMAIL --superuser"


def test_staff_with_a_password_can_sign_in_and_manage(ports: Ports) -> None:
    make_staff(ports, "tom@example.com")
    assert found(ports)[:2] == (CheckState.WARNING, "No one who can sign in can manage settings.")
    make_staff(ports, "ines@example.com", MANAGE)
    assert found(ports) == (
        CheckState.FINE,
        "2 of 2 active staff can sign in; 1 can manage settings.",
        "",
    )


def test_staff_without_password_and_identity_cannot_sign_in(ports: Ports) -> None:
    make_user(ports, "tom@example.com", is_staff=True, is_superuser=True, password=None)
    state, message, remedy = found(ports)
    assert (state, remedy) == (CheckState.WARNING, "flask user reset-password EMAIL")
    assert "1 active staff member has neither a password nor an SSO identity" in message


@pytest.mark.parametrize("mode", [DISABLED, CUSTOMERS_ONLY])
def test_restricted_password_login_needs_a_working_provider(
    ports: Ports, mode: PasswordLoginMode
) -> None:
    make_provider(ports)
    member = make_staff(ports, "ines@example.com", MANAGE)
    set_mode(ports, mode)
    state, message, remedy = found(ports)
    assert (state, remedy) == (CheckState.FAILED, "flask shop set password-login-mode ENABLED")
    assert "no identity provider works" in message
    state, message, _ = found(ports, has_provider=True)
    assert state is CheckState.WARNING
    assert "1 active staff member has no SSO identity" in message
    link_identity(ports, member)
    assert found(ports, has_provider=True)[0] is CheckState.FINE


def test_staff_without_the_required_second_factor_are_a_warning(ports: Ports) -> None:
    tom = make_staff(ports, "tom@example.com")
    make_user(ports, "carla@example.com")
    assert list(second_factor_findings(ports)) == []
    require_second_factor(ports)
    [finding] = second_factor_findings(ports)
    assert finding.state is CheckState.WARNING
    assert finding.message.startswith("1 active staff member has no second factor")
    assert finding.remedy.endswith("flask shop set staff-second-factor OPTIONAL")
    add_unusable_passkey(ports, tom)
    [finding] = second_factor_findings(ports)
    assert finding.state is CheckState.FINE
