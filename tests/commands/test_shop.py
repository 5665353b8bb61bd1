"""``flask shop``."""

from app.domain.authorization.actor import SessionOrigin
from app.domain.shop.settings import PasswordLoginMode
from app.ports import Ports
from app.services.authorization.shop_state import load_shop_state
from tests.builders.audit import trail
from tests.builders.people import make_staff, make_user, sign_in
from tests.builders.provider_records import link_identity, make_provider
from tests.builders.second_factor_rule import add_unusable_passkey
from tests.builders.shop import close_storefront, set_mode
from tests.commands.shell import run, run_json
from tests.fixtures.cases import cases

NONE_LOST = {
    "staff": 0,
    "customers": 0,
    "moreCustomers": False,
    "ssoSessionsWithoutRefresh": 0,
    "moreSsoSessionsWithoutRefresh": False,
}
SENDERS = (
    "passwordResetSender",
    "accountConfirmationSender",
    "emailChangeRequestSender",
    "customerInvitationSender",
    "staffInvitationSender",
)


def test_every_setting_is_shown(ports: Ports) -> None:
    assert run_json(ports, "shop", "show") == {
        "name": "Latchkey shop",
        "description": "",
        "defaultMailSenderName": "",
        "defaultMailSenderAddress": "",
        "mailReplyTo": "",
        "accentColor": "#0b5563",
        "mailFooter": "",
        "mailLegalLine": "",
        "defaultLanguage": "EN",
        "logo": False,
        **dict.fromkeys(SENDERS, "OURS"),
        "customerSetPasswordUrl": "",
        "enableAccountConfirmationByEmail": True,
        "allowLoginWithoutConfirmation": False,
        "allowStorefrontTraffic": True,
        "storefrontNote": "",
        "storefrontOpensAt": None,
        "passwordLoginMode": "ENABLED",
        "hostedPages": False,
        "hostedPasswordLogin": True,
        "hostedPasskeyLogin": True,
        "hostedProviderLogin": True,
        "emailCodeLogin": False,
        "staffSecondFactor": "OPTIONAL",
        "secondFactorGraceDays": 14,
        "secondFactorRequiredFrom": None,
        "webhookAlerts": True,
        "webhookAlertFailures": 3,
        "webhookAlertPercent": 50,
        "webhookAlertAttempts": 10,
    }
    assert run(ports, "shop", "show", "--short").stdout == "ENABLED\tyes\n"


def test_operator_can_reopen_password_login(ports: Ports) -> None:
    set_mode(ports, PasswordLoginMode.DISABLED)
    close_storefront(ports)
    assert run(ports, "shop", "set", "password-login-mode", "ENABLED").exit_code == 0
    assert run(ports, "shop", "set", "allow-storefront-traffic", "true").exit_code == 0
    switches = load_shop_state(ports).switches
    assert switches.password_login_mode is PasswordLoginMode.ENABLED
    assert switches.allow_storefront_traffic


@cases("mode", list(PasswordLoginMode))
def test_operator_sets_any_mode_in_any_spelling(ports: Ports, mode: PasswordLoginMode) -> None:
    shown = run_json(ports, "shop", "set", "password-login-mode", mode.value.lower())
    assert shown["passwordLoginMode"] == mode.value
    assert load_shop_state(ports).switches.password_login_mode is mode


def test_restricting_password_login_counts_who_loses_access(ports: Ports) -> None:
    make_provider(ports)
    make_staff(ports, "tom@example.com")
    link_identity(ports, make_staff(ports, "ines@example.com"))
    sign_in(ports, make_user(ports, "carla@example.com"), SessionOrigin.OIDC)
    change = ("shop", "set", "password-login-mode")
    limited = run_json(ports, *change, "CUSTOMERS_ONLY")
    assert limited["accessLost"] == {**NONE_LOST, "staff": 1}
    disabled = run_json(ports, *change, "DISABLED")
    assert disabled["accessLost"] == {
        **NONE_LOST,
        "staff": 1,
        "customers": 1,
        "ssoSessionsWithoutRefresh": 1,
    }
    unchanged = run_json(ports, *change, "DISABLED")
    assert unchanged["accessLost"] == NONE_LOST
    assert "accessLost" not in run_json(ports, *change, "ENABLED")


def test_script_is_told_on_standard_error_what_a_restriction_takes(ports: Ports) -> None:
    sign_in(ports, make_user(ports, "carla@example.com"), SessionOrigin.OIDC)
    change = ("shop", "set", "password-login-mode", "DISABLED")
    told = "1 SSO session can't be refreshed by its identity provider."
    first, again = run(ports, *change), run(ports, *change)
    assert told in first.stderr
    assert told not in first.stdout
    assert again.stderr == ""


def test_requiring_a_second_factor_counts_staff_without_one(ports: Ports) -> None:
    make_staff(ports, "tom@example.com")
    add_unusable_passkey(ports, make_staff(ports, "ines@example.com"))
    make_user(ports, "carla@example.com")
    required = run_json(ports, "shop", "set", "staff-second-factor", "required")
    assert required["accessLost"] == {**NONE_LOST, "staff": 1}
    assert required["staffSecondFactor"] == "REQUIRED"
    assert required["secondFactorRequiredFrom"] == "2026-03-15T12:00:00+00:00"
    optional = run_json(ports, "shop", "set", "staff-second-factor", "OPTIONAL")
    assert optional["secondFactorRequiredFrom"] is None
    assert "accessLost" not in optional


def test_grace_period_is_a_number_of_days(ports: Ports) -> None:
    days = run_json(ports, "shop", "set", "second-factor-grace-days", "3")
    assert days["secondFactorGraceDays"] == 3
    refused = run(ports, "shop", "set", "second-factor-grace-days", "366")
    assert refused.exit_code == 3
    assert "from 0 to 365" in refused.stderr


def test_change_is_recorded_as_the_operator_s(ports: Ports) -> None:
    run(ports, "shop", "set", "allow-storefront-traffic", "no")
    [row] = trail(ports, "shop.update")
    assert row.actor_kind == "operator"
    assert (row.before, row.after) == (
        {"allow_storefront_traffic": True},
        {"allow_storefront_traffic": False},
    )


def test_texts_are_set_and_cleared(ports: Ports) -> None:
    assert run_json(ports, "shop", "set", "name", "Corner shop")["name"] == "Corner shop"
    assert run_json(ports, "shop", "set", "description", "New")["description"] == "New"
    assert run_json(ports, "shop", "set", "description", "")["description"] == ""
    refused = run(ports, "shop", "set", "name", "")
    assert refused.exit_code == 3


@cases(
    ("setting", "value", "message"),
    [
        ("password-login-mode", "SOMETIMES", "Available values: ENABLED, CUSTOMERS_ONLY"),
        ("allow-storefront-traffic", "perhaps", "must be true or false, got 'perhaps'"),
        ("allow-storefront-traffic", "", "must be true or false, got ''"),
        ("staff-second-factor", "ALWAYS", "Available values: OPTIONAL, REQUIRED"),
        ("second-factor-grace-days", "soon", "must be an integer, got 'soon'"),
        ("nothing", "true", "Available values: name, description"),
    ],
)
def test_what_cannot_be_set_is_a_usage_error(
    ports: Ports, setting: str, value: str, message: str
) -> None:
    failed = run(ports, "shop", "set", setting, value)
    assert (failed.exit_code, failed.stdout) == (2, "")
    assert message in failed.stderr
    assert trail(ports, "shop.update") == []


def test_sender_that_is_no_address_is_refused(ports: Ports) -> None:
    failed = run(ports, "shop", "set", "default-mail-sender-address", "nobody")
    assert failed.exit_code == 3
    assert failed.stderr.startswith("Error: defaultMailSenderAddress: ")
