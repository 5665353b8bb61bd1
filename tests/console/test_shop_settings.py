"""The page of the shop's settings: each group is saved on its own, and refused at its field."""

import pytest

from app.console.shop.emails import SENDING as SENDING_GROUPS
from app.console.shop.shop_settings import HEADINGS
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
from tests.console.staff_client import ConsoleClient
from tests.fixtures.cases import cases

PAGE = "/console/settings/"
SENDING = "/console/emails/sending"
LOOK = "/console/emails/look"
MANAGER = Permission.MANAGE_SETTINGS
SENDERS = SettingGroup.MAIL_SENDERS
PAGES = {
    **{f"{PAGE}{group}": (group,) for group in HEADINGS},
    SENDING: tuple(SENDING_GROUPS),
    LOOK: (SettingGroup.MAIL_DESIGN,),
}
"""The pages of settings, each with its groups; two others have a page for their questions."""


def settings(shop: Ports) -> ShopSettings:
    return show_settings(shop, OPERATOR)


def page_of(group: str) -> str:
    return next(path for path, groups in PAGES.items() if group in groups)


def action(group: str) -> str:
    return f"{SENDING}/{group}" if page_of(group) == SENDING else page_of(group)


@pytest.fixture
def manager(staff_console: StaffConsole) -> ConsoleClient:
    return staff_console(MANAGER)


def test_settings_need_the_permission(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(Permission.MANAGE_ORDERS)
    assert console.open(PAGE).status == 403
    refused = console.send(f"{PAGE}shop", {"name": "Mine"}, seen_at="/console/keyboard")
    assert refused.status == 403
    assert settings(shop).name != "Mine"


def test_page_shows_every_setting_that_is_no_switch_of_the_access_page(
    staff_console: StaffConsole,
) -> None:
    console = staff_console(MANAGER)
    elsewhere = {SettingGroup.ACCESS, SettingGroup.SECOND_FACTOR}
    assert {group for groups in PAGES.values() for group in groups} == {*SettingGroup} - elsewhere
    for path, groups in PAGES.items():
        page = console.open(path)
        for setting in SETTINGS:
            is_shown = f'name="{setting.name}"' in page.html
            assert is_shown is (setting.group in groups), (path, setting.name)
            assert (setting.label in page.text) or not is_shown
    index = console.open(PAGE)
    assert "/graphql/" in index.text
    for path in (*(one for one in PAGES if one.startswith(PAGE)), f"{PAGE}second-factor"):
        assert f'href="{path}"' in index.html


@cases(
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
            "Sender saved. New emails come from Maya.",
        ),
        (
            "mail-design",
            {"accent_color": "#aa3300", "mail_footer": "Hi", "mail_legal_line": "Shop Ltd"},
            "Design saved.",
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
    manager: ConsoleClient, shop: Ports, group: str, values: dict[str, str], message: str
) -> None:
    before, changes = settings(shop), len(trail(shop, "shop.update"))
    saved = manager.send(action(group), values, seen_at=page_of(group))
    assert saved.status == 303
    assert saved.leads_to.partition("?")[0] in (page_of(group), f"{SENDING}#{group}")
    assert message in manager.follow(saved).text
    after = settings(shop)
    for setting in SETTINGS:
        if setting.group.value == group:
            sent = values.get(setting.name, "")
            assert setting.read(after) == (sent == "y" if setting.kind.is_switch else sent)
        else:
            assert setting.read(after) == setting.read(before)
    assert len(trail(shop, "shop.update")) == changes + 1


def test_sender_of_emails_is_the_shop_without_a_name_of_its_own(
    staff_console: StaffConsole, shop: Ports
) -> None:
    update_shop(shop, OPERATOR, ShopUpdate(name="Northlight"))
    console = staff_console(MANAGER)
    values = {"default_mail_sender_name": "", "default_language": "EN"}
    saved = console.send(f"{SENDING}/mail", values, seen_at=SENDING)
    assert "New emails come from Northlight." in console.follow(saved).text


@cases(
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
    manager: ConsoleClient, shop: Ports, group: str, field: str, value: str, problem: str
) -> None:
    before = settings(shop)
    values = {"accent_color": "#0b5563", "default_language": "EN", field: value}
    refused = manager.send(action(group), values, seen_at=page_of(group))
    assert refused.status == 422
    assert "There's a problem with 1 field" in refused.text
    assert problem in refused.text
    assert f'id="{field}-error"' in refused.html
    assert f'value="{value}"' in refused.html
    assert settings(shop) == before


def test_unknown_group_is_no_page(staff_console: StaffConsole) -> None:
    console = staff_console(MANAGER)
    for name in ("access", "nothing"):
        for path in (f"{PAGE}{name}", f"{SENDING}/{name}"):
            assert console.send(path, {}, seen_at=PAGE).status == 404
    assert console.open(f"{PAGE}mail").status == 404
    assert console.send(f"{SENDING}/shop", {}, seen_at=PAGE).status == 404


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
    page = console.open(SENDING)
    warning = "This shop sends these emails, because no active app gets their links: "
    assert f"{warning}Password reset emails, Account confirmation emails," in page.text
    assert page.text.count("No active app gets these links.") == 5
    mailing.make_listener(Permission.MANAGE_USERS, name="Mailer")
    mailing.make_listener(Permission.MANAGE_ORDERS, name="Warehouse")
    silent = "subscription { event { ... on AccountConfirmationRequested { issuedAt } } }"
    mailing.make_listener(Permission.MANAGE_USERS, name="Statistics", query=silent)
    page = console.open(SENDING)
    assert page.text.count("Gets these links: Mailer.") == 4
    assert f"{warning}Staff invitations." in page.text
    update_shop(shop, OPERATOR, ShopUpdate(staff_invitation_sender=MailSender.OURS))
    assert warning not in console.open(SENDING).text


def test_unknown_sender_is_refused(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(MANAGER)
    values = dict.fromkeys((setting.name for setting in settings_in(SENDERS)), "OURS")
    sent = values | {"password_reset_sender": "NONE"}
    refused = console.send(f"{SENDING}/mail-senders", sent, seen_at=SENDING)
    assert refused.status == 422
    assert "Password reset emails: Choose OURS, APP, BOTH." in refused.text
    assert trail(shop, "shop.update") == []
