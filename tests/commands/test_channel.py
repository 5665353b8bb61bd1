"""``flask channel``: where the shop sells."""

from app.commands.terminal.exit_codes import Exit
from app.ports import Ports
from tests.builders.orders import make_cart, make_order
from tests.commands.shell import run, run_json
from tests.fixtures.cases import cases

NEW = ("channel", "create", "poland", "--name", "Poland", "--currency", "eur", "--country", "pl")


def test_channels_are_created_listed_updated_and_deleted(ports: Ports) -> None:
    made = run_json(ports, *NEW)
    assert made == {
        "id": 2,
        "slug": "poland",
        "name": "Poland",
        "currency": "EUR",
        "country": "PL",
        "isActive": True,
    }
    assert run(ports, "channel", "list", "--short").stdout == "default-channel\npoland\n"
    update = ("channel", "update", "poland", "--name", "Polska", "--slug", "pl", "--inactive")
    updated = run_json(ports, *update)
    assert (updated["slug"], updated["name"], updated["isActive"]) == ("pl", "Polska", False)
    make_cart(ports)
    make_order(ports)
    refused = run(ports, "channel", "delete", "default-channel", "--move-to", "pl")
    assert refused.exit_code == Exit.USAGE
    sentences = "Orders moved to pl: 1. Carts moved to pl: 1. Confirmation required"
    assert f"Delete channel default-channel? {sentences}" in refused.stderr
    moved = ("channel", "delete", "pl", "--move-to", "default-channel", "--yes")
    assert run_json(ports, *moved)["slug"] == "pl"
    assert run(ports, "channel", "list", "--short").stdout == "default-channel\n"


@cases(
    "arguments",
    [
        ("update", "none", "--inactive"),
        ("delete", "none", "--yes"),
        ("delete", "default-channel", "--yes"),
        ("create", "a b", "--name", "A", "--currency", "EUR", "--country", "PL"),
        ("create", "default-channel", "--name", "A", "--currency", "EUR", "--country", "PL"),
    ],
)
def test_refusals_say_why(ports: Ports, arguments: tuple[str, ...]) -> None:
    failed = run(ports, "channel", *arguments)
    assert failed.exit_code == Exit.REFUSED
    assert failed.stderr.startswith("Error: ")


def test_an_update_names_what_to_change(ports: Ports) -> None:
    assert run(ports, "channel", "update", "default-channel").exit_code == 2
