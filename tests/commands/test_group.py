"""``flask group``."""

from app.ports import Ports
from tests.builders.people import make_group
from tests.commands.shell import run, run_json


def test_a_group_is_made_with_its_permissions(ports: Ports) -> None:
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


def test_a_name_that_is_taken_is_refused(ports: Ports) -> None:
    make_group(ports, "Support")
    failed = run(ports, "group", "create", "Support")
    assert failed.exit_code == 3
    assert failed.stderr == "Error: name: Group with this name already exists.\n"
