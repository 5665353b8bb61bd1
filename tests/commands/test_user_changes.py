"""``flask user``: what becomes of people who are there already."""

from dataclasses import replace

import pytest

from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import MailKind
from app.ports import Ports
from app.services.accounts.password_resets import answer_reset_requests
from app.services.outbox.base_url import save_base_url
from tests.builders.outbox import mails
from tests.builders.people import make_group, make_user
from tests.commands.shell import run, run_json

PAGE = "http://localhost:3000/password"


def test_names_and_address_of_a_customer_are_changed(ports: Ports) -> None:
    make_user(ports, "ann@example.com", first_name="Ann")
    shown = run_json(
        ports,
        *("user", "update", "ann@example.com", "--email", "Anna@Example.com"),
        *("--first-name", "Anna", "--last-name", "Lee"),
    )
    assert (shown["email"], shown["firstName"], shown["lastName"]) == (
        "anna@example.com",
        "Anna",
        "Lee",
    )


def test_staff_join_and_leave_groups(ports: Ports) -> None:
    make_user(ports, "bob@example.com", is_staff=True)
    make_group(ports, "Support")
    make_group(ports, "Editors")
    joined = run_json(
        ports,
        *("user", "update", "bob@example.com"),
        *("--add-group", "Support", "--add-group", "Editors"),
    )
    assert sorted(joined["groups"]) == ["Editors", "Support"]
    left = run_json(ports, "user", "update", "bob@example.com", "--remove-group", "Support")
    assert left["groups"] == ["Editors"]


def test_direct_permissions_are_granted_and_removed(ports: Ports) -> None:
    support = make_group(ports, "Support", Permission.MANAGE_ORDERS)
    make_user(ports, "bob@example.com", is_staff=True, groups=[support])
    update = ("user", "update", "bob@example.com")
    granted = run_json(
        ports, *update, "--permission", "manage-orders", "--permission", "MANAGE_APPS"
    )
    assert granted["permissions"] == ["MANAGE_APPS", "MANAGE_ORDERS"]
    shown = run_json(ports, "user", "show", "bob@example.com")
    assert shown["directPermissions"] == ["MANAGE_APPS", "MANAGE_ORDERS"]
    removed = run_json(
        ports, *update, "--no-permission", "MANAGE_APPS", "--no-permission", "MANAGE_ORDERS"
    )
    assert removed["permissions"] == ["MANAGE_ORDERS"]
    assert run_json(ports, "user", "show", "bob@example.com")["directPermissions"] == []


def test_customer_gets_no_direct_permission(ports: Ports) -> None:
    make_user(ports, "eve@example.com")
    refused = run(ports, "user", "update", "eve@example.com", "--permission", "MANAGE_APPS")
    assert refused.exit_code == 3
    assert "flask user promote eve@example.com" in refused.stderr


def test_customer_is_made_staff_before_any_group(ports: Ports) -> None:
    make_user(ports, "eve@example.com")
    make_group(ports, "Support")
    refused = run(ports, "user", "update", "eve@example.com", "--add-group", "Support")
    assert refused.exit_code == 3
    assert "flask user promote eve@example.com" in refused.stderr
    shown = run_json(ports, "user", "promote", "eve@example.com", "--group", "Support")
    assert (shown["isStaff"], shown["groups"]) == (True, ["Support"])


def test_a_change_of_nothing_is_a_usage_error(ports: Ports) -> None:
    make_user(ports, "ann@example.com")
    failed = run(ports, "user", "update", "ann@example.com")
    assert failed.exit_code == 2
    assert "Nothing to update" in failed.stderr


@pytest.mark.parametrize("is_staff", [True, False])
def test_user_deletion_needs_confirmation(ports: Ports, is_staff: bool) -> None:
    make_user(ports, "ann@example.com", is_staff=is_staff)
    assert run(ports, "user", "delete", "ann@example.com").exit_code == 2
    assert run(ports, "user", "list", "--short").stdout == "ann@example.com\n"
    gone = run(ports, "user", "delete", "ann@example.com", "--yes", "--short")
    assert (gone.exit_code, gone.stdout) == (0, "ann@example.com\n")
    assert run_json(ports, "user", "list") == []


def test_link_to_a_new_password_is_mailed(ports: Ports) -> None:
    make_user(ports, "ann@example.com")
    sent = run(ports, "user", "reset-password", "ann@example.com", "--page", PAGE)
    assert sent.exit_code == 0
    answer_reset_requests(ports, WORKER)
    [mail] = mails(ports, MailKind.PASSWORD_RESET)
    assert mail.recipient == "ann@example.com"
    assert mail.values["link"].startswith(PAGE)


def test_link_leads_to_the_page_of_the_shop_s_settings(ports: Ports) -> None:
    make_user(ports, "ann@example.com")
    run(ports, "shop", "set", "customer-set-password-url", PAGE)
    assert run(ports, "user", "reset-password", "ann@example.com").exit_code == 0
    answer_reset_requests(ports, WORKER)
    assert mails(ports, MailKind.PASSWORD_RESET)[0].values["link"].startswith(PAGE)


def test_link_leads_to_the_console_where_the_shop_names_no_page(ports: Ports) -> None:
    make_user(ports, "ann@example.com")
    save_base_url(ports, OPERATOR, "http://127.0.0.1:8123")
    assert run(ports, "user", "reset-password", "ann@example.com").exit_code == 0
    answer_reset_requests(ports, WORKER)
    [mail] = mails(ports, MailKind.PASSWORD_RESET)
    assert mail.values["link"].startswith("http://127.0.0.1:8123/console/set-password?")


def test_link_to_a_foreign_host_is_refused(ports: Ports) -> None:
    make_user(ports, "ann@example.com")
    strict = replace(ports, configuration=replace(ports.configuration, development=False))
    page = "https://evil.example/password"
    failed = run(strict, "user", "reset-password", "ann@example.com", "--page", page)
    assert failed.exit_code == 3
    assert mails(ports) == []


def test_list_shows_inactive_users(ports: Ports) -> None:
    make_user(ports, "ann@example.com")
    make_user(ports, "bob@example.com")
    run(ports, "user", "deactivate", "bob@example.com")
    assert run(ports, "user", "list", "--inactive", "--short").stdout == "bob@example.com\n"
    assert run(ports, "user", "list", "--active", "--short").stdout == "ann@example.com\n"
