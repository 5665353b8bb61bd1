"""The platform's shop settings and switches, imported."""

import pytest

from app.domain.authorization.actor import OPERATOR
from app.domain.shop.settings import PasswordLoginMode, ShopSettings
from app.ports import Ports
from app.services.shop.settings import show_settings
from tests.builders.audit import trail
from tests.commands.shell import run
from tests.imports.importing import Report, import_platform
from tests.imports.platform import PlatformDatabase
from tests.imports.test_single_sign_on import add_person, add_plugin

TOKEN_HASH = "pbkdf2_sha256$1000$salt$7VFWTSb1m1wc1gYw4Cn5wgTjWd1pUT/rnV7jpKz7Rts="


def add_settings(platform: PlatformDatabase, **changes: object) -> None:
    platform.add(
        "site_sitesettings",
        **{
            "id": 1,
            "description": "Tea",
            "default_mail_sender_name": "Northlight",
            "default_mail_sender_address": "shop@northlight.example",
            "customer_set_password_url": "http://localhost:3000/password",
            "enable_account_confirmation_by_email": True,
            "password_login_mode": "enabled",
            "allow_storefront_traffic": True,
            **changes,
        },
    )


def shown(target: Ports) -> ShopSettings:
    return show_settings(target, OPERATOR)


def test_settings_and_switches_are_imported(target: Ports, platform: PlatformDatabase) -> None:
    add_settings(platform, allow_storefront_traffic=False, allow_login_without_confirmation=True)

    report = import_platform(target, platform)

    assert report.findings == []
    shop = shown(target)
    assert (shop.description, shop.default_mail_sender_name) == ("Tea", "Northlight")
    assert shop.default_mail_sender_address == "shop@northlight.example"
    assert shop.customer_set_password_url == "http://localhost:3000/password"
    assert shop.allow_login_without_confirmation
    assert not shop.allow_storefront_traffic
    assert trail(target, "shop.update") == []
    assert import_platform(target, platform).counts("shop_settings") == {"read": 1, "unchanged": 1}


def test_refused_settings_keep_their_value_here(target: Ports, platform: PlatformDatabase) -> None:
    run(target, "shop", "set", "default-mail-sender-name", "Ours")
    add_settings(
        platform,
        default_mail_sender_name="North\nlight",
        customer_set_password_url="ftp://shop.example/password",
        metadata={"a": "b"},
    )

    report = import_platform(target, platform)

    assert [code for _, _, code, _ in report.findings] == [
        "NO_PLACE",
        "SETTING_REFUSED",
        "SETTING_REFUSED",
    ]
    shop = shown(target)
    assert (shop.default_mail_sender_name, shop.customer_set_password_url) == ("Ours", "")
    assert shop.description == "Tea"


def test_later_run_follows_the_source_unless_settings_were_edited_here(
    target: Ports, platform: PlatformDatabase
) -> None:
    add_settings(platform)
    import_platform(target, platform)
    platform.run("UPDATE site_sitesettings SET description = 'Mugs'")
    import_platform(target, platform)
    assert shown(target).description == "Mugs"

    run(target, "shop", "set", "description", "Ours")
    platform.run("UPDATE site_sitesettings SET allow_storefront_traffic = false")
    report = import_platform(target, platform)
    assert report.findings == [("site_sitesettings", 1, "EDITED_HERE", "KEPT")]
    shop = shown(target)
    assert (shop.description, shop.allow_storefront_traffic) == ("Ours", True)


@pytest.mark.parametrize("has_provider", [True, False])
def test_mode_that_locks_out_staff_is_reported(
    target: Ports, platform: PlatformDatabase, has_provider: bool
) -> None:
    add_settings(platform, password_login_mode="disabled")
    add_person(platform, 1, "a", is_staff=True)
    if has_provider:
        add_plugin(platform)
    dry, wet = import_platform(target, platform, "--dry-run"), import_platform(target, platform)
    [reason] = wet.reasons("LOGIN_MODE_LOCKS_OUT")
    assert dry.reasons("LOGIN_MODE_LOCKS_OUT") == [reason]
    assert reason.startswith("Password login is DISABLED, as at the source. No ")
    assert ("No identity provider is active" in reason) is not has_provider
    assert shown(target).password_login_mode is PasswordLoginMode.DISABLED


def test_mode_is_imported_without_a_finding_if_someone_can_undo_it(
    target: Ports, platform: PlatformDatabase
) -> None:
    """Someone with ``manage_settings`` in all channels: a member of a group, or an app."""
    add_settings(platform, password_login_mode="customers_only")
    add_plugin(platform)
    add_person(platform, 1, "a", is_staff=True)
    platform.add("permission_permission", id=9, content_type_id=1, codename="manage_settings")
    platform.add("account_group", id=1, name="A", restricted_access_to_channels=True)
    platform.add("account_group_permissions", group_id=1, permission_id=9)
    platform.add("account_user_groups", user_id=1, group_id=1)
    locks_out = ["LOGIN_MODE_LOCKS_OUT"]
    assert _findings(import_platform(target, platform, "--dry-run")) == locks_out
    assert _findings(import_platform(target, platform)) == locks_out

    platform.run("UPDATE account_group SET restricted_access_to_channels = false")
    assert _findings(import_platform(target, platform, "--dry-run")) == []

    platform.run("DELETE FROM account_group_permissions")
    platform.add("app_app", id=1, name="A", type="local", is_active=True, is_installed=True)
    platform.add("app_app_permissions", app_id=1, permission_id=9)
    platform.add("app_apptoken", app_id=1, token_last_4="abcd", auth_token=TOKEN_HASH)
    assert _findings(import_platform(target, platform, "--dry-run")) == []
    assert _findings(import_platform(target, platform)) == []
    assert shown(target).password_login_mode is PasswordLoginMode.CUSTOMERS_ONLY


def _findings(report: Report) -> list[str]:
    return [code for table, _, code, _ in report.findings if table == "site_sitesettings"]


def test_settings_of_further_sites_are_left_out(target: Ports, platform: PlatformDatabase) -> None:
    add_settings(platform)
    add_settings(platform, id=2, description="Other")
    report = import_platform(target, platform)
    assert report.findings == [("site_sitesettings", 2, "SITE_NOT_CHOSEN", "LEFT_OUT")]
    assert shown(target).description == "Tea"
