"""The settings, and who may change them: contract, "Storefront traffic", "Modes, precisely"."""

from datetime import timedelta
from typing import Any

import pytest

from app.domain.authorization.actor import OPERATOR, Actor, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import MailSender
from app.domain.shop.setting_table import SETTINGS as SHOP_SETTINGS
from app.domain.shop.setting_table import SettingKind
from app.domain.shop.settings import PasswordLoginMode, ShopSettings, ShopUpdate, StaffSecondFactor
from app.domain.values.errors import PermissionDenied, Problem, Refused
from app.domain.values.inputs import ABSENT
from app.ports import Ports
from app.services.identity.identify import identify
from app.services.shop.settings import show_settings, update_shop
from tests.builders.apps import make_app
from tests.builders.audit import trail
from tests.builders.people import ADDRESS, NOBODY, actor_of, make_staff, make_user, visit
from tests.fakes.clock import START
from tests.fixtures.cases import cases

ENABLED, CUSTOMERS_ONLY, DISABLED = PasswordLoginMode
SETTINGS = Permission.MANAGE_SETTINGS
LONG = "x" * 10_001


def manager(ports: Ports, origin: SessionOrigin = SessionOrigin.PASSWORD) -> Actor:
    """A new member of the staff who may manage settings, come in by ``origin``."""
    return actor_of(ports, make_staff(ports, "manager@example.com", SETTINGS), origin)


def settings(ports: Ports) -> ShopSettings:
    return show_settings(ports, OPERATOR)


NOTE = "storefront_note"
"""Only a closed storefront has one."""

OTHER: dict[SettingKind, object] = {
    SettingKind.LINE: "Früchte & Gemüse GmbH, Köln",
    SettingKind.PROSE: "Open from 9 to 5.\nClosed on Mondays.",
    SettingKind.EMAIL: "shop@example.com",
    SettingKind.REDIRECT_URL: "http://localhost:3000/set",
    SettingKind.SWITCH: False,
    SettingKind.LOGIN_MODE: CUSTOMERS_ONLY,
    SettingKind.MOMENT: None,
    SettingKind.SECOND_FACTOR: StaffSecondFactor.REQUIRED,
    SettingKind.DAYS: 30,
    SettingKind.NUMBER: 7,
    SettingKind.COLOR: "#AA3300",
    SettingKind.LANGUAGE: "PT_BR",
    SettingKind.MAIL_SENDER: MailSender.APP,
}
"""A value for settings of each kind that isn't the default."""


def problems_of(ports: Ports, actor: Actor, update: ShopUpdate) -> tuple[Problem, ...]:
    with pytest.raises(Refused) as refused:
        update_shop(ports, actor, update)
    return refused.value.problems


def refusals(ports: Ports, **update: Any) -> list[tuple[str | None, str]]:
    problems = problems_of(ports, OPERATOR, ShopUpdate(**update))
    return [(problem.field, problem.code) for problem in problems]


@pytest.mark.parametrize("allowed", [True, False])
def test_settings_managers_can_change_the_storefront_in_any_session(
    ports: Ports, allowed: bool
) -> None:
    _, token = make_app(ports, "Switch", SETTINGS)
    actors = [manager(ports), identify(ports, visit(token)).actor, OPERATOR]

    for actor in actors:
        update_shop(ports, OPERATOR, ShopUpdate(allow_storefront_traffic=not allowed))
        shop = update_shop(ports, actor, ShopUpdate(allow_storefront_traffic=allowed))
        assert shop.allow_storefront_traffic is allowed


def test_settings_require_the_permission(ports: Ports) -> None:
    before = settings(ports)
    _, token = make_app(ports, "Importer", Permission.MANAGE_PRODUCTS)
    others = [permission for permission in Permission if permission is not SETTINGS]
    callers = [
        NOBODY,
        actor_of(ports, make_user(ports)),
        actor_of(ports, make_staff(ports, "staff@example.com", *others), SessionOrigin.OIDC),
        identify(ports, visit(token)).actor,
    ]

    @cases(
        "update",
        [ShopUpdate(), ShopUpdate(password_login_mode=ENABLED, allow_storefront_traffic=False)],
    )
    def check(update: ShopUpdate) -> None:
        for caller in callers:
            with pytest.raises(PermissionDenied) as denied:
                update_shop(ports, caller, update)
            assert denied.value.required == ("MANAGE_SETTINGS",)
            with pytest.raises(PermissionDenied):
                show_settings(ports, caller)
        assert settings(ports) == before

    check()


def test_absent_settings_stay(ports: Ports) -> None:
    before = settings(ports)

    assert update_shop(ports, OPERATOR, ShopUpdate()) == before
    assert settings(ports) == before


@cases(
    ("update", "refusal"),
    [
        ({"password_login_mode": None}, ("passwordLoginMode", "REQUIRED")),
        ({"staff_second_factor": None}, ("staffSecondFactor", "REQUIRED")),
        ({"second_factor_grace_days": None}, ("secondFactorGraceDays", "REQUIRED")),
        ({"second_factor_grace_days": -1}, ("secondFactorGraceDays", "INVALID")),
        ({"second_factor_grace_days": 366}, ("secondFactorGraceDays", "INVALID")),
        ({"allow_storefront_traffic": None}, ("allowStorefrontTraffic", "INVALID")),
        (
            {"enable_account_confirmation_by_email": None},
            ("enableAccountConfirmationByEmail", "INVALID"),
        ),
        ({"allow_login_without_confirmation": None}, ("allowLoginWithoutConfirmation", "INVALID")),
        ({"name": None}, ("name", "REQUIRED")),
        ({"name": ""}, ("name", "REQUIRED")),
        ({"name": "  "}, ("name", "REQUIRED")),
        ({"name": LONG[:257]}, ("name", "INVALID")),
        ({"name": "two\nlines"}, ("name", "INVALID")),
        ({"description": LONG}, ("description", "INVALID")),
        ({"description": "a\0b"}, ("description", "INVALID")),
        ({"description": "\ud800"}, ("description", "INVALID")),
        (
            {"default_mail_sender_name": "Shop\r\nBcc: all@example.com"},
            ("defaultMailSenderName", "INVALID"),
        ),
        ({"default_mail_sender_address": "no address"}, ("defaultMailSenderAddress", "INVALID")),
        (
            {"default_mail_sender_address": "a@example.com\n"},
            ("defaultMailSenderAddress", "INVALID"),
        ),
        ({"mail_reply_to": "no address"}, ("mailReplyTo", "INVALID")),
        ({"mail_reply_to": "a@example.com\r\nBcc: all@example.com"}, ("mailReplyTo", "INVALID")),
        ({"mail_legal_line": "two\nlines"}, ("mailLegalLine", "INVALID")),
        ({"mail_footer": LONG[:1001]}, ("mailFooter", "INVALID")),
        ({"accent_color": None}, ("accentColor", "REQUIRED")),
        ({"accent_color": "#fff"}, ("accentColor", "INVALID")),
        ({"accent_color": "red;}body{display:none"}, ("accentColor", "INVALID")),
        ({"default_language": None}, ("defaultLanguage", "REQUIRED")),
        ({"default_language": "XX"}, ("defaultLanguage", "INVALID")),
        ({"default_language": "de"}, ("defaultLanguage", "INVALID")),
        ({"password_reset_sender": None}, ("passwordResetSender", "REQUIRED")),
        ({"staff_invitation_sender": "NONE"}, ("staffInvitationSender", "INVALID")),
        *(
            ({"customer_set_password_url": url}, ("customerSetPasswordUrl", "INVALID"))
            for url in (
                LONG[:1025],
                "https://evil.example/set",
                "http://localhost@evil.example/",
                "javascript:alert(1)",
                "http://localhost:3000/\nX: y",
            )
        ),
    ],
)
def test_invalid_setting_is_refused_on_its_field(
    ports: Ports, update: dict[str, Any], refusal: tuple[str, str]
) -> None:
    before = settings(ports)

    assert refusals(ports, **update) == [refusal]
    assert settings(ports) == before


@pytest.mark.both_databases
def test_every_setting_can_be_changed_and_read_back(ports: Ports) -> None:
    values: dict[str, Any] = {setting.name: OTHER[setting.kind] for setting in SHOP_SETTINGS}
    values |= {
        "enable_account_confirmation_by_email": False,
        "allow_login_without_confirmation": True,
        "storefront_opens_at": ports.clock.now() + timedelta(hours=2),
    }

    shop = update_shop(ports, OPERATOR, ShopUpdate(**values))

    assert {name: getattr(shop, name) for name in values} == values
    assert settings(ports) == shop


@cases(
    "name",
    [
        one.name
        for one in SHOP_SETTINGS
        if one.kind.is_text and not one.is_required and one.name != NOTE
    ],
)
def test_null_and_empty_text_clear_a_setting(ports: Ports, name: str) -> None:
    text = "http://localhost/" if name.endswith("_url") else "a@example.com"
    for cleared in (None, ""):
        filled: dict[str, Any] = {name: text}
        update_shop(ports, OPERATOR, ShopUpdate(**filled))
        emptied: dict[str, Any] = {name: cleared}
        shop = update_shop(ports, OPERATOR, ShopUpdate(**emptied))
        assert getattr(shop, name) == ""


def test_audit_entry_names_actor_values_and_ip_address(ports: Ports) -> None:
    actor = manager(ports, SessionOrigin.OIDC)

    update_shop(
        ports,
        actor,
        ShopUpdate(
            password_login_mode=DISABLED, allow_storefront_traffic=False, description=ABSENT
        ),
    )

    [row] = trail(ports, "shop.update")
    assert (row.actor_kind, row.actor_user_id, row.actor_app_id) == ("user", actor.user_id, None)
    assert (row.actor_name, row.address, row.at) == ("manager@example.com", ADDRESS, START)
    assert (row.subject_type, row.subject_id) == ("Shop", "1")
    assert row.before == {"password_login_mode": "ENABLED", "allow_storefront_traffic": True}
    assert row.after == {"password_login_mode": "DISABLED", "allow_storefront_traffic": False}


def test_unchanged_values_are_not_audited(ports: Ports) -> None:
    update_shop(
        ports, OPERATOR, ShopUpdate(password_login_mode=ENABLED, allow_storefront_traffic=True)
    )

    assert trail(ports, "shop.update") == []


def test_audit_log_distinguishes_apps_from_the_operator(ports: Ports) -> None:
    app_id, token = make_app(ports, "Switch", SETTINGS)
    app = identify(ports, visit(token)).actor

    update_shop(ports, app, ShopUpdate(allow_storefront_traffic=False))
    update_shop(ports, OPERATOR, ShopUpdate(allow_storefront_traffic=True))

    by_app, by_operator = trail(ports, "shop.update")
    assert (by_app.actor_kind, by_app.actor_app_id, by_app.actor_name) == ("app", app_id, "Switch")
    assert (by_operator.actor_kind, by_operator.actor_name) == ("operator", "operator")
    assert by_operator.address == ""


@pytest.mark.both_databases
def test_changed_switch_applies_to_the_next_request_in_every_process(
    ports: Ports, second_process: Ports
) -> None:
    assert identify(second_process, visit()).switches.allow_storefront_traffic

    update_shop(
        ports,
        OPERATOR,
        ShopUpdate(allow_storefront_traffic=False, password_login_mode=CUSTOMERS_ONLY),
    )

    switches = identify(second_process, visit()).switches
    assert (switches.allow_storefront_traffic, switches.password_login_mode) == (
        False,
        CUSTOMERS_ONLY,
    )
