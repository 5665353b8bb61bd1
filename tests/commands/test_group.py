"""``flask group``."""

import pytest

from app.ports import Ports
from tests.builders.people import make_group, make_user
from tests.commands.shell import run, run_json


def test_group_is_made_with_its_permissions(ports: Ports) -> None:
    shown = run_json(
        ports,
        *("group", "create", "Support", "--permission", "MANAGE_ORDERS"),
        *("--permission", "manage_users"),
    )
    assert (shown["name"], shown["members"]) == ("Support", 0)
    assert shown["permissions"] == ["MANAGE_ORDERS", "MANAGE_USERS"]


def test_groups_are_listed_by_name(ports: Ports) -> None:
    assert run_json(ports, "group", "list") == []
    make_group(ports, "Support")
    make_group(ports, "Editors")
    assert run(ports, "group", "list", "--short").stdout == "Editors\nSupport\n"
    first = run(ports, "group", "list", "--limit", "1", "--short")
    cursor = first.stderr.split("--after ")[1].strip()
    assert run(ports, "group", "list", "--after", cursor, "--short").stdout == "Support\n"


def test_name_that_is_taken_is_refused(ports: Ports) -> None:
    make_group(ports, "Support")
    failed = run(ports, "group", "create", "Support")
    assert failed.exit_code == 3
    assert failed.stderr == "Error: name: Group with this name already exists.\n"


def test_group_changes_in_name_permissions_and_members(ports: Ports) -> None:
    make_group(ports, "Support")
    make_user(ports, "bob@example.com", is_staff=True)
    shown = run_json(
        ports,
        *("group", "update", "Support", "--name", "First line"),
        *("--add-permission", "MANAGE_ORDERS", "--add-user", "bob@example.com"),
    )
    assert (shown["name"], shown["members"]) == ("First line", 1)
    assert shown["permissions"] == ["MANAGE_ORDERS"]
    back = run_json(
        ports,
        *("group", "update", "First line", "--remove-permission", "manage-orders"),
        *("--remove-user", "bob@example.com"),
    )
    assert (back["members"], back["permissions"]) == (0, [])


def test_group_deletion_needs_confirmation(ports: Ports) -> None:
    make_group(ports, "Support")
    assert run(ports, "group", "delete", "Support").exit_code == 2
    assert run_json(ports, "group", "delete", "Support", "--yes")["name"] == "Support"
    assert run_json(ports, "group", "list") == []


def test_groups_are_found_by_a_part_of_their_name(ports: Ports) -> None:
    make_group(ports, "Support")
    make_group(ports, "Editors")
    assert run(ports, "group", "list", "--search", "supp", "--short").stdout == "Support\n"


@pytest.mark.parametrize("arguments", [("update", "Nobody", "--name", "x"), ("delete", "Nobody")])
def test_a_group_that_does_not_exist_is_not_found(
    ports: Ports, arguments: tuple[str, ...]
) -> None:
    failed = run(ports, "group", *arguments)
    assert failed.exit_code == 3
    assert "Group 'Nobody' not found." in failed.stderr


def test_a_change_of_nothing_is_a_usage_error(ports: Ports) -> None:
    make_group(ports, "Support")
    assert run(ports, "group", "update", "Support").exit_code == 2
