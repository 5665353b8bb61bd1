"""A provider added and changed at the console; its secret is never shown."""

import re

from flask import Flask

from app.console.security.provider_editing import PRESETS
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.single_sign_on.providers import Provider
from app.ports import Ports
from app.services.identity.providers import client_secret_of, known_providers
from app.services.single_sign_on.provider_settings import ProviderUpdate, save_provider
from tests.builders.people import PASSWORD, make_group
from tests.builders.providers import set_up
from tests.console.conftest import StaffConsole
from tests.console.staff_client import ConsoleClient, Page
from tests.fakes.clock import FakeClock
from tests.servers.own_provider import SECRET, OwnProvider

MAY = Permission.MANAGE_PLUGINS
NEW = "/console/single-sign-on/new"
PAGE = "/console/single-sign-on/default/"
EDIT = f"{PAGE}edit"


def stored(shop: Ports, slug: str = "default") -> Provider:
    return next(one for one in known_providers(shop) if one.slug == slug)


def test_provider_is_added_from_its_issuer(
    staff_console: StaffConsole, shop: Ports, other_provider: OwnProvider
) -> None:
    console = staff_console(MAY)
    other_provider.describe()
    typed = {"name": "Acme", "provider": "acme", "issuer": other_provider.url}
    registered = {"client_id": "shop", "client_secret": SECRET}
    done = console.send(NEW, typed | registered)
    assert done.leads_to == "/console/single-sign-on/acme/"
    page = console.follow(done)
    assert "Acme was added. Enable it to let people sign in." in page.text
    assert SECRET not in page.html
    provider = stored(shop, "acme")
    assert (provider.name, provider.active) == ("Acme", False)
    assert (provider.client_id, client_secret_of(shop, provider)) == ("shop", SECRET)
    assert provider.json_web_key_set_url == f"{other_provider.url}/keys"


def test_navigation_shows_where_one_is_on_every_page_of_a_place(
    staff_console: StaffConsole,
) -> None:
    console = staff_console(MAY)
    here = '<a href="/console/single-sign-on/" aria-current="page">'
    for path in ("/console/single-sign-on/", NEW, PAGE, EDIT):
        page = console.open(path).html
        assert here in page
        assert page.partition("<main")[0].count('aria-current="page"') == 1


def test_provider_that_cannot_be_added_is_refused_with_what_was_typed(
    staff_console: StaffConsole, shop: Ports, other_provider: OwnProvider
) -> None:
    console = staff_console(MAY)
    wrong = {
        "a word": "Use lowercase letters",
        "default": "This short name is already in use",
        "latchkey": "This short name is already in use",
        "mirumee": "This short name is already in use",
        "": "Enter a short name",
    }
    for word, message in wrong.items():
        refused = console.send(NEW, {"name": "Acme <b>", "provider": word, "issuer": ""})
        assert (refused.status, message in refused.text) == (422, True)
        assert "Acme &lt;b&gt;" in refused.html
    typed = {"name": "Acme", "provider": "acme", "issuer": other_provider.url}
    assert "Issuer:" in console.send(NEW, typed).text
    assert [one.slug for one in known_providers(shop)] == ["default"]


def test_first_page_has_the_callback_url_of_every_preset(
    staff_console: StaffConsole, app: Flask
) -> None:
    console = staff_console(MAY)
    for key, preset in PRESETS.items():
        page = console.open(f"{NEW}?preset={key}")
        assert page.status == 200
        slug = key if preset.issuer else "SHORT-NAME"
        callback = f"/console/sign-in/with/{slug}.authentication.openidconnect"
        [shown] = re.findall(r'id="callback"[^>]*\svalue="https?://[^/"]*([^"]*)"', page.html)
        assert shown.startswith(callback)
        found, values = app.url_map.bind("localhost").match(shown)
        assert (found, slug in values["plugin_id"]) == ("console.sign_in.finish", True)
        assert 'data-copy="callback"' in page.html
        for words in (preset.callback, preset.client_id, preset.client_secret, *preset.steps):
            assert words in page.text
    assert "Other provider" in console.open(f"{NEW}?preset=%3Cb%3E").text


def test_preset_makes_the_issuer_of_what_was_entered() -> None:
    cases = {
        "keycloak": (
            {"address": " https://id.example.com/auth/ ", "realm": "north light/"},
            "https://id.example.com/auth/realms/north%20light",
        ),
        "auth0": ({"domain": "https://shop.eu.auth0.com/"}, "https://shop.eu.auth0.com/"),
        "okta": (
            {"domain": "shop.okta.com", "server": "default"},
            "https://shop.okta.com/oauth2/default",
        ),
        "entra": ({"tenant": "8f1b2c3d"}, "https://login.microsoftonline.com/8f1b2c3d/v2.0"),
        "google": ({}, "https://accounts.google.com"),
    }
    assert {*cases} == {*PRESETS} - {"other"}
    for key, (entered, issuer) in cases.items():
        preset = PRESETS[key]
        values = {part.name: part.value_in(entered[part.name]) for part in preset.parts}
        assert preset.issuer.format(**values) == issuer
    for name in ("a.example/x?y#", "me@evil.example", "a:b@c"):
        made = PRESETS["okta"].parts[0].value_in(name)
        assert not {*made} & {*"/?#@:"}


def test_preset_fills_what_it_knows_and_says_what_is_wrong_at_its_fields(
    staff_console: StaffConsole, shop: Ports, other_provider: OwnProvider
) -> None:
    console = staff_console(MAY)
    typed = {"preset": "keycloak", "name": "Acme", "provider": "keycloak", "client_id": "shop"}
    empty = console.send(NEW, typed, seen_at=f"{NEW}?preset=keycloak")
    assert (empty.status, "Keycloak URL: This is required." in empty.text) == (422, True)
    there = {
        "part_address": f"{other_provider.url}/",
        "part_realm": "acme",
        "client_secret": SECRET,
    }
    refused = console.send(NEW, typed | there, seen_at=NEW)
    assert refused.status == 422
    assert 'id="part_address-error"' in refused.html
    assert SECRET not in refused.html
    other_provider.describe_at("/realms/acme")
    done = console.send(NEW, typed | there, seen_at=NEW)
    assert done.leads_to == "/console/single-sign-on/keycloak/"
    provider = stored(shop, "keycloak")
    assert provider.issuer == f"{other_provider.url}/realms/acme"
    assert client_secret_of(shop, provider) == SECRET
    assert 'value="keycloak-2"' in console.open(f"{NEW}?preset=keycloak").html


def test_discovery_fills_the_addresses_and_leaves_the_rest(
    staff_console: StaffConsole, shop: Ports, other_provider: OwnProvider
) -> None:
    console = staff_console(MAY)
    save_provider(shop, OPERATOR, "default", ProviderUpdate({"client_id": "shop"}))
    there = {"issuer": other_provider.url}
    refused = console.send(f"{PAGE}discover", there, seen_at=EDIT)
    assert refused.status == 422
    assert other_provider.url in refused.html
    assert re.search(r'<input [^>]*checked [^>]*name="enable_refresh_token"', refused.html)
    other_provider.describe()
    done = console.follow(console.send(f"{PAGE}discover", there, seen_at=EDIT))
    assert "were discovered and saved" in done.text
    assert stored(shop).client_id == "shop"
    assert stored(shop).oauth_token_url == f"{other_provider.url}/token"


def form_values(provider: Provider, **changes: str) -> dict[str, str]:
    """The settings as the form would send them."""
    kept = {
        "name": provider.name,
        "client_id": provider.client_id,
        "client_secret": "",
        "issuer": provider.issuer,
        "oauth_authorization_url": provider.oauth_authorization_url,
        "oauth_token_url": provider.oauth_token_url,
        "json_web_key_set_url": provider.json_web_key_set_url,
        "user_info_url": provider.user_info_url,
        "oauth_logout_url": provider.oauth_logout_url,
        "audience": provider.audience,
        "staff_user_domains": provider.staff_user_domains,
    }
    return {**kept, **changes}


def test_secret_is_never_shown_and_stays_unless_another_is_typed(
    staff_console: StaffConsole, shop: Ports, other_provider: OwnProvider
) -> None:
    console = staff_console(MAY)
    set_up(shop, other_provider)
    for path in (PAGE, EDIT):
        assert SECRET not in console.open(path).html
        assert "****" not in console.open(path).html
    assert "A secret is stored" in console.open(EDIT).text
    done = console.send(EDIT, form_values(stored(shop), name="Northlight", audience="shop"))
    assert "The settings of Northlight were saved" in console.follow(done).text
    assert client_secret_of(shop, stored(shop)) == SECRET
    assert (stored(shop).audience, stored(shop).enable_refresh_token) == ("shop", False)
    console.send(
        EDIT, form_values(stored(shop), client_secret="another", enable_refresh_token="y")
    )
    assert client_secret_of(shop, stored(shop)) == "another"
    assert stored(shop).enable_refresh_token
    console.send(EDIT, form_values(stored(shop), drops_secret="y"))
    assert stored(shop).client_secret == ""
    assert "Not set. It is sent to the token URL" in console.open(EDIT).text


def test_invalid_value_is_shown_at_its_field_and_changes_nothing(
    staff_console: StaffConsole, shop: Ports, other_provider: OwnProvider
) -> None:
    console = staff_console(MAY)
    set_up(shop, other_provider)
    before = stored(shop)
    typed = form_values(before, user_info_url="<nowhere>", client_secret="newly typed")
    refused = console.send(EDIT, typed)
    assert refused.status == 422
    assert "User info URL: Use a full URL" in refused.text
    assert "&lt;nowhere&gt;" in refused.html
    assert "newly typed" not in refused.html
    gone = console.send(EDIT, form_values(before, json_web_key_set_url=""))
    assert "JSON Web Key Set URL is required to accept the provider's access tokens." in gone.text
    assert stored(shop) == before


def test_group_that_does_not_exist_is_created_only_when_confirmed(
    staff_console: StaffConsole, shop: Ports, other_provider: OwnProvider
) -> None:
    console = staff_console(MAY)
    set_up(shop, other_provider)
    make_group(shop, "Support")
    name = "default_group_name_for_new_staff_users"
    refused = console.send(EDIT, form_values(stored(shop), **{name: "Suport"}))
    assert refused.status == 422
    assert "There is no group “Suport”." in refused.text
    assert stored(shop).default_group_name_for_new_staff_users == ""
    assert console.send(EDIT, form_values(stored(shop), **{name: "Support"})).status == 303
    confirmed = {name: "New staff", "creates_group": "y"}
    assert console.send(EDIT, form_values(stored(shop), **confirmed)).status == 303
    assert stored(shop).default_group_name_for_new_staff_users == "New staff"
    kept = form_values(stored(shop), **{name: "New staff", "audience": "shop"})
    assert console.send(EDIT, kept).status == 303


def kept_key(page: Page, name: str = "client_secret") -> dict[str, str]:
    """Return the hidden input that names a secret that was entered."""
    found = re.search(rf'name="({name}_kept)" value="(\w+)"', page.html)
    assert found is not None
    return {found[1]: found[2]}


ACME = {"name": "Acme", "provider": "acme", "issuer": "", "client_id": "shop"}
LOST = "Client secret: Enter it again: what you entered before isn't kept anymore."


def test_secret_outlives_the_refusal_of_its_form(staff_console: StaffConsole, shop: Ports) -> None:
    console = staff_console(MAY)
    refused = console.send(NEW, {**ACME, "provider": "A word", "client_secret": SECRET})
    assert refused.status == 422
    assert SECRET not in refused.html
    assert "What you entered is kept for 10 minutes." in refused.text
    again = console.send(NEW, {**ACME, "provider": "", "client_secret": "", **kept_key(refused)})
    assert again.status == 422
    assert console.send(NEW, {**ACME, "client_secret": "", **kept_key(again)}).status == 303
    assert client_secret_of(shop, stored(shop, "acme")) == SECRET


def test_secret_that_is_not_kept_anymore_must_be_entered_again(
    staff_console: StaffConsole, shop: Ports, clock: FakeClock
) -> None:
    console = staff_console(MAY)
    refused = console.send(NEW, {**ACME, "provider": "", "client_secret": SECRET})
    clock.pass_(minutes=10)
    lost = console.send(NEW, {**ACME, **kept_key(refused)})
    assert (lost.status, LOST in lost.text) == (422, True)
    assert console.send(NEW, {**ACME, **kept_key(lost)}).status == 422
    assert [one.slug for one in known_providers(shop)] == ["default"]
    typed = {**ACME, "provider": "typed", "client_secret": "another", **kept_key(lost)}
    asked = console.send(NEW, typed)
    assert (asked.status, "another" in asked.html) == (403, False)
    proved = {**typed, "client_secret": "", **kept_key(asked), "proof_password": PASSWORD}
    assert console.send(NEW, proved).status == 303
    assert client_secret_of(shop, stored(shop, "typed")) == "another"
    given_up = {"client_secret_forgotten": "y", **kept_key(lost)}
    assert console.send(NEW, {**ACME, **given_up}).status == 303
    assert stored(shop, "acme").client_secret == ""


def test_secret_is_kept_for_its_form_and_session_alone(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(MAY)
    refused = console.send(NEW, {**ACME, "provider": "", "client_secret": SECRET})
    edited = console.send(EDIT, form_values(stored(shop), **kept_key(refused)))
    assert (edited.status, LOST in edited.text) == (422, True)
    another = staff_console(MAY, email="another@example.com")
    assert LOST in another.send(NEW, {**ACME, **kept_key(refused)}).text
    dropped = form_values(stored(shop), drops_secret="y", **kept_key(refused))
    assert console.send(EDIT, dropped).status == 303


def test_active_provider_is_changed_only_by_who_proves_who_they_are(
    staff_console: StaffConsole, shop: Ports, other_provider: OwnProvider, clock: FakeClock
) -> None:
    console = staff_console(MAY)
    other_provider.describe()
    before = set_up(shop, other_provider)
    clock.pass_(minutes=6)
    refused = console.send(EDIT, form_values(before, audience="typed here"))
    assert (refused.status, "Confirm your password" in refused.text) == (403, True)
    assert "typed here" in refused.html
    there = {"issuer": other_provider.url}
    assert console.send(f"{PAGE}discover", there, seen_at=EDIT).status == 403
    assert stored(shop) == before


def test_groups_of_claims_are_edited_as_a_table(
    staff_console: StaffConsole, shop: Ports, other_provider: OwnProvider
) -> None:
    for name in ("Orders", "Stock <b>"):
        make_group(shop, name)
    set_up(shop, other_provider)
    console = staff_console(MAY)
    page = console.open(EDIT)
    assert page.html.count('<option value="Stock &lt;b&gt;">') == 4  # three rows, default group
    done = save(console, shop, "ops", "Orders", "", "", "team <i>", "Stock <b>")
    assert done.leads_to == PAGE
    assert stored(shop).group_mapping == '{"ops": "Orders", "team <i>": "Stock <b>"}'
    shown = console.open(f"{PAGE}?view=settings")
    assert "<code>team &lt;i&gt;</code> → Stock &lt;b&gt;" in shown.html
    again = console.open(EDIT).html
    assert 'value="ops"' in again
    assert '<option value="Orders" selected>' in again
    refused = save(console, shop, "ops", "", "new", "Stock <b>")
    assert refused.status == 422
    assert "Enter a claim value and a group in each row." in refused.text
    assert 'value="new"' in refused.html
    assert save(console, shop, "", "Orders", "", "").status == 422
    assert "Remove people from groups whose rows are removed" in again
    assert save(console, shop, "", "", "", "").leads_to == PAGE
    assert stored(shop).group_mapping == ""


def save(console: ConsoleClient, shop: Ports, *cells: str) -> Page:
    return console.send(EDIT, {**form_values(stored(shop)), "group_mapping": list(cells)})
