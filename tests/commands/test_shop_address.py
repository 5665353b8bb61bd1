"""``flask shop address``: the address of the company behind the shop."""

from app.ports import Ports
from app.services.shop.settings import show_company_address
from tests.builders.people import NOBODY
from tests.commands.shell import run, run_json

ADDRESS = ("shop", "address")
PLACE = ("--street-address-1", "A 1", "--postal-code", "53111", "--city", "Bonn")


def test_address_is_shown_changed_and_deleted(ports: Ports) -> None:
    assert run_json(ports, *ADDRESS)["country"] == ""
    shown = run_json(ports, *ADDRESS, *PLACE, "--country", "de", "--company-name", "Marigold")
    assert (shown["company_name"], shown["city"], shown["country"]) == ("Marigold", "BONN", "DE")
    changed = run_json(ports, *ADDRESS, "--company-name", "Marigold AG")
    assert (changed["company_name"], changed["street_address_1"]) == ("Marigold AG", "A 1")
    assert show_company_address(ports, NOBODY).postal_code == "53111"
    run_json(ports, *ADDRESS, "--remove")
    assert show_company_address(ports, NOBODY).postal_code == ""


def test_address_without_a_country_or_beside_remove_is_refused(ports: Ports) -> None:
    failed = run(ports, *ADDRESS, *PLACE)
    assert failed.exit_code == 3
    assert "country: Enter a country." in failed.stderr
    assert run(ports, *ADDRESS, "--remove", "--city", "Bonn").exit_code == 2
