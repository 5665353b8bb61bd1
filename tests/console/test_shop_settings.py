"""The page of the shop's settings: each group is saved on its own, and refused at its field."""

import pytest

from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import MailSender
from app.domain.shop.setting_table import SETTINGS, SettingGroup, settings_in
from app.domain.shop.settings import ShopSettings, ShopUpdate
from app.ports import Ports
from app.services.shop.settings import show_settings, update_shop
from tests.builders.app_mail import make_mailing_shop
from tests.builders.audit import trail
from tests.console.conftest import StaffConsole

PAGE = "/console/settings/"
MANAGER = Permission.MANAGE_SETTINGS
SENDERS = SettingGroup.MAIL_SENDERS


def settings(shop: Ports) -> ShopSettings:
    return show_settings(shop, OPERATOR)


def test_settings_need_the_permission(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(Permission.MANAGE_ORDERS)
    assert console.open(PAGE).status == 403
    refused = console.send(f"{PAGE}shop", {"name": "Mine"}, seen_at="/console/keyboard")
    assert refused.status == 403
    assert settings(shop).name != "Mine"


def test_page_shows_every_setting_that_is_no_switch_of_the_access_page(
    staff_console: StaffConsole,
) -> None:
    page = staff_console(MANAGER).open(PAGE)
    for setting in SETTINGS:
        is_shown = f'name="{setting.name}"' in page.html
        elsewhere = SettingGroup.ACCESS, SettingGroup.SECOND_FACTOR
        assert is_shown is (setting.group not in elsewhere), setting.name
        assert (setting.label in page.text) or not is_shown
    assert "/graphql/" in page.text


@pytest.mark.parametrize(
    ("group", "values", "message"),
    [
        ("shop", {"name": "Corner shop", "description": "Bowls."}, "Shop settings saved."),
        (
            "mail",
            {
                "default_mail_sender_name": "Maya",
                "default_mail_sender_address": "hello@example.com",
                "mail_reply_to": "help@example.com",
                "default_language": "DE",
            },
            "Mail settings saved. New emails come from Maya.",
        ),
        (
            "mail-design",
            {"accent_color": "#aa3300", "mail_footer": "Hi", "mail_legal_line": "Shop Ltd"},
            "Mail design saved.",
        ),
        (
            "mail-senders",
            {
                "password_reset_sender": "APP",
                "account_confirmation_sender": "BOTH",
                "email_change_request_sender": "OURS",
                "customer_invitation_sender": "APP",
                "staff_invitation_sender": "OURS",
            },
            "Senders saved.",
        ),
        ("links", {"customer_set_password_url": "http://localhost:3000/set"}, "Links saved."),
        (
            "accounts",
            {"allow_login_without_confirmation": "y"},
            "Customer account settings saved.",
        ),
    ],
)
def test_group_is_saved_alone(
    staff_console: StaffConsole,
    shop: Ports,
    group: str,
    values: dict[str, str],
    message: str,
) -> None:
    console = staff_console(MANAGER)
    before = settings(shop)
    saved = console.send(f"{PAGE}{group}", values, seen_at=PAGE)
    assert saved.status == 303
    assert saved.leads_to == f"{PAGE}#{group}"
    assert message in console.follow(saved).text
    after = settings(shop)
    for setting in SETTINGS:
        if setting.group.value == group:
            sent = values.get(setting.name, "")
            assert setting.read(after) == (sent == "y" if setting.kind.is_switch else sent)
        else:
            assert setting.read(after) == setting.read(before)
    assert len(trail(shop, "shop.update")) == 1


def test_sender_of_emails_is_the_shop_without_a_name_of_its_own(
    staff_console: StaffConsole, shop: Ports
) -> None:
    update_shop(shop, OPERATOR, ShopUpdate(name="Northlight"))
    console = staff_console(MANAGER)
    values = {"default_mail_sender_name": "", "default_language": "EN"}
    saved = console.send(f"{PAGE}mail", values, seen_at=PAGE)
    assert "New emails come from Northlight." in console.follow(saved).text


@pytest.mark.parametrize(
    ("group", "field", "value", "problem"),
    [
        ("shop", "name", " ", "Shop name: This is required."),
        ("mail", "default_mail_sender_address", "nobody", "Sender email: "),
        ("mail", "mail_reply_to", "a@example.com, b@example.com", "Reply-to email: "),
        ("mail-design", "accent_color", "#fff", "Accent color: Enter a color as #"),
        ("links", "customer_set_password_url", "https://evil.example/x", "Set-password page: "),
    ],
)
def test_refused_value_is_shown_at_its_field_and_kept(
    staff_console: StaffConsole, shop: Ports, group: str, field: str, value: str, problem: str
) -> None:
    console = staff_console(MANAGER)
    before = settings(shop)
    values = {"accent_color": "#0b5563", "default_language": "EN", field: value}
    refused = console.send(f"{PAGE}{group}", values, seen_at=PAGE)
    assert refused.status == 422
    assert "There's a problem with 1 field" in refused.text
    assert problem in refused.text
    assert f'id="{field}-error"' in refused.html
    assert f'value="{value}"' in refused.html
    assert settings(shop) == before


def test_unknown_group_is_no_page(staff_console: StaffConsole) -> None:
    console = staff_console(MANAGER)
    for name in ("access", "nothing"):
        assert console.send(f"{PAGE}{name}", {}, seen_at=PAGE).status == 404


def test_home_names_emails_that_no_app_can_send(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(MANAGER)
    assert "no app that can send" not in console.open("/console/").text
    mailing = make_mailing_shop(shop)
    home = console.open("/console/").text
    assert "5 kinds of email have no app that can send them." in home
    mailing.make_listener(Permission.MANAGE_USERS)
    home = console.open("/console/").text
    assert "1 kind of email has no app that can send it." in home
    assert "Until then, this shop sends: Staff invitation." in home
    mailing.make_listener(Permission.MANAGE_STAFF)
    assert "no app that can send" not in console.open("/console/").text


def test_page_says_which_apps_can_send_emails(staff_console: StaffConsole, shop: Ports) -> None:
    mailing = make_mailing_shop(shop)
    console = staff_console(MANAGER)
    page = console.open(PAGE)
    warning = "This shop sends these emails, because no active app gets their links: "
    assert f"{warning}Password reset emails, Account confirmation emails," in page.text
    assert page.text.count("No active app gets these links.") == 5
    mailing.make_listener(Permission.MANAGE_USERS, name="Mailer")
    mailing.make_listener(Permission.MANAGE_ORDERS, name="Warehouse")
    silent = "subscription { event { ... on AccountConfirmationRequested { issuedAt } } }"
    mailing.make_listener(Permission.MANAGE_USERS, name="Statistics", query=silent)
    page = console.open(PAGE)
    assert page.text.count("Gets these links: Mailer.") == 4
    assert f"{warning}Staff invitations." in page.text
    update_shop(shop, OPERATOR, ShopUpdate(staff_invitation_sender=MailSender.OURS))
    assert warning not in console.open(PAGE).text


def test_unknown_sender_is_refused(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(MANAGER)
    values = dict.fromkeys((setting.name for setting in settings_in(SENDERS)), "OURS")
    sent = values | {"password_reset_sender": "NONE"}
    refused = console.send(f"{PAGE}mail-senders", sent, seen_at=PAGE)
    assert refused.status == 422
    assert "Password reset emails: Choose OURS, APP, BOTH." in refused.text
    assert trail(shop, "shop.update") == []
