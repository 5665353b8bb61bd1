"""Changes of a provider that wait for confirmation: shown, and confirmed by a superuser."""

from datetime import timedelta

from app.domain.authorization.permissions import Permission
from app.ports import Ports
from app.services.identity.providers import known_providers
from tests.builders.provider_records import make_provider
from tests.console.conftest import StaffConsole
from tests.console.staff_client import ConsoleClient
from tests.fakes.clock import FakeClock

PAGE = "/console/single-sign-on/default/"
THEIRS = "https://mallory.example/keys"


def change(console: ConsoleClient) -> None:
    assert console.send(f"{PAGE}switch", {"to": "off"}, seen_at=PAGE).status == 303
    form = {"json_web_key_set_url": THEIRS, "user_info_url": THEIRS, "name": "<b>Acme</b>"}
    assert console.send(f"{PAGE}edit", form, seen_at=f"{PAGE}edit").status == 303


def test_superuser_sees_what_waits_and_confirms_what_was_shown(
    staff_console: StaffConsole, admin: ConsoleClient, shop: Ports, clock: FakeClock
) -> None:
    make_provider(shop, audience="shop")
    assert "aren't confirmed" not in admin.open("/console/").text
    console = staff_console(Permission.MANAGE_PLUGINS)
    change(console)

    page = console.open(PAGE)
    assert "Waiting for confirmation" in page.text
    assert "must confirm it" in page.text
    assert "Confirm settings" not in page.text
    version = {"version": str(known_providers(shop)[0].trust_version)}
    refused = console.send(f"{PAGE}confirm", version, seen_at=PAGE)
    assert refused.status == 422
    assert "every permission can confirm this" in refused.text

    assert "Changes to <b>Acme</b> aren't confirmed." in admin.open("/console/").text
    shown = admin.open(PAGE)
    assert THEIRS in shown.text.replace("\u200b", "")
    assert "<b>Acme" not in shown.html
    assert admin.send(f"{PAGE}confirm", {"version": "0"}, seen_at=PAGE).status == 422
    clock.pass_(seconds=timedelta(minutes=6).total_seconds())
    asked = admin.send(f"{PAGE}confirm", version, seen_at=PAGE)
    assert "confirm an identity provider's settings" in asked.text
    assert known_providers(shop)[0].waits


def test_superuser_confirms_with_a_fresh_proof(
    staff_console: StaffConsole, admin: ConsoleClient, shop: Ports
) -> None:
    make_provider(shop, audience="shop")
    change(staff_console(Permission.MANAGE_PLUGINS))
    version = {"version": str(known_providers(shop)[0].trust_version)}
    done = admin.follow(admin.send(f"{PAGE}confirm", version, seen_at=PAGE))
    assert "are confirmed" in done.text
    assert "Waiting for confirmation" not in done.text
    assert not known_providers(shop)[0].waits


def test_provider_that_kept_staff_rights_for_any_client_is_warned_about(
    staff_console: StaffConsole, shop: Ports
) -> None:
    make_provider(shop, serves_staff_of_any_client=True)
    console = staff_console(Permission.MANAGE_PLUGINS)
    assert "accepts tokens of any client" in console.open("/console/").text
    assert "Access tokens of any of the provider's clients" in console.open(PAGE).text
