"""Identity providers at the console: listed, shown, enabled and disabled."""

from sqlalchemy import update

from app import models
from app.domain.authorization.actor import OPERATOR, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode
from app.ports import Ports
from app.services.identity.providers import known_providers
from app.services.single_sign_on.provider_settings import ProviderUpdate, save_provider
from tests.builders.people import make_staff, make_user
from tests.builders.provider_records import (
    ISSUER_THERE,
    link_identity,
    make_provider,
    sign_in_by_grant,
)
from tests.builders.shop import set_mode
from tests.console.conftest import StaffConsole, Statements
from tests.fakes.clock import FakeClock

MAY = Permission.MANAGE_PLUGINS
LIST = "/console/single-sign-on/"
PAGE = f"{LIST}default/"
OFF, ON = f"{PAGE}?ask=off", f"{PAGE}?ask=on"


def is_active(shop: Ports, slug: str = "default") -> bool:
    return next(one.active for one in known_providers(shop) if one.slug == slug)


def come_by_sign_on(shop: Ports) -> None:
    """Let every open session have begun at a provider."""
    with shop.database.transaction() as session:
        for stored in session.query(models.Session):
            stored.origin = SessionOrigin.OIDC.value


def test_pages_need_manage_plugins(staff_console: StaffConsole) -> None:
    console = staff_console(Permission.MANAGE_SETTINGS)
    for path in (LIST, PAGE, f"{LIST}new", f"{PAGE}edit"):
        page = console.open(path)
        assert page.status == 403
        assert "MANAGE_PLUGINS" in page.text
    assert console.send(f"{PAGE}switch", {"to": "on"}, seen_at="/console/").status == 403


def test_fresh_shop_has_a_provider_that_is_not_set_up(staff_console: StaffConsole) -> None:
    console = staff_console(MAY)
    assert "Not set up" in console.open(LIST).text
    page = console.open(PAGE)
    assert "Missing: Client ID, Authorization URL, Token URL, JSON Web Key Set URL" in page.text
    assert "Enable …" not in page.text


def test_several_providers_are_listed_and_narrowed_by_name(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(MAY)
    key = make_provider(shop, name="<script>alert(1)</script>")
    make_provider(shop, "acme", issuer="https://acme.example", name="Acme", active=False)
    ann = make_user(shop)
    link_identity(shop, ann)
    sign_in_by_grant(shop, ann, key, "")
    save_provider(shop, OPERATOR, "acme", ProviderUpdate({}))
    page = console.open(LIST)
    assert "<script>alert(1)" not in page.html
    assert "Default Enabled Access tokens 1 1" in page.text
    assert "Acme acme Disabled Access tokens 0 0" in page.text
    narrowed = console.open(f"{LIST}?q=acme").text
    assert "1 of 2 providers" in narrowed
    assert "No matching providers" in console.open(f"{LIST}?q=nobody").text


def test_provider_page_shows_the_urls_to_register(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(MAY)
    make_provider(shop)
    plugin = "latchkey.authentication.openidconnect"
    page = console.open(PAGE).html
    assert f"http://localhost/console/sign-in/with/{plugin}/callback" in page
    assert "http://localhost/oidc/default/backchannel-logout" in page
    assert console.open(f"{LIST}nobody/").status == 404


def test_provider_is_switched_on_after_a_question(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(MAY)
    make_provider(
        shop, active=False, name="Northlight ID", staff_user_domains="northlight.example"
    )
    save_provider(shop, OPERATOR, "default", ProviderUpdate({}))
    question = console.open(ON)
    assert "Enable Northlight ID?" in question.text
    assert "Verified emails at northlight.example become staff" in question.text
    done = console.follow(console.send(f"{PAGE}switch", {"to": "on"}, seen_at=ON))
    assert "Northlight ID is enabled." in done.text
    assert is_active(shop)


def test_provider_that_is_not_set_up_cannot_be_switched_on(
    staff_console: StaffConsole, shop: Ports
) -> None:
    refused = staff_console(MAY).send(f"{PAGE}switch", {"to": "on"}, seen_at=PAGE)
    assert refused.status == 422
    assert "JSON Web Key Set URL is required to accept" in refused.text
    assert not is_active(shop)


def test_disabling_a_provider_lists_affected_users(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(MAY, Permission.MANAGE_SETTINGS)
    key = make_provider(shop)
    save_provider(shop, OPERATOR, "default", ProviderUpdate({}))
    ann = make_user(shop, "ann@example.com", password=None, is_staff=True)
    link_identity(shop, ann)
    link_identity(shop, make_staff(shop, "carl@example.com"))
    sign_in_by_grant(shop, ann, key, "")
    question = console.open(OFF).text
    assert "2 people with a linked account can't sign in with it anymore" in question
    assert "1 person has no other way to sign in" in question
    assert "1 of them is staff: ann@example.com" in question
    assert "1 active session of it continues until it expires" in question
    done = console.follow(console.send(f"{PAGE}switch", {"to": "off"}, seen_at=OFF))
    assert "is disabled." in done.text
    assert not is_active(shop)


def test_last_administrators_provider_cannot_be_disabled(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(MAY, Permission.MANAGE_SETTINGS)
    make_provider(shop)
    save_provider(shop, OPERATOR, "default", ProviderUpdate({}))
    come_by_sign_on(shop)
    set_mode(shop, PasswordLoginMode.CUSTOMERS_ONLY)
    page = console.open(OFF)
    assert "No identity provider is active" in page.text
    assert 'aria-labelledby="dlg-t"' not in page.html
    refused = console.send(f"{PAGE}switch", {"to": "off"}, seen_at=PAGE)
    assert refused.status == 422
    assert is_active(shop)


def test_disabling_is_confirmed_when_recovery_was_already_impossible(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(MAY)
    make_provider(shop)
    save_provider(shop, OPERATOR, "default", ProviderUpdate({}))
    come_by_sign_on(shop)
    set_mode(shop, PasswordLoginMode.CUSTOMERS_ONLY)
    assert 'aria-labelledby="dlg-t"' in console.open(OFF).html
    assert console.send(f"{PAGE}switch", {"to": "off"}, seen_at=OFF).status == 303
    assert not is_active(shop)


def test_issuer_change_lists_affected_users_and_keeps_recovery(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(MAY, Permission.MANAGE_SETTINGS)
    make_provider(shop, name="Northlight ID")
    save_provider(shop, OPERATOR, "default", ProviderUpdate({}))
    link_identity(shop, make_user(shop))
    come_by_sign_on(shop)
    edit = f"{PAGE}edit"
    assert "1 person has a linked account." in console.open(edit).text
    typed = {"name": "Northlight ID", "issuer": "https://b.invalid"}
    typed |= {"json_web_key_set_url": ISSUER_THERE, "user_info_url": ISSUER_THERE}
    set_mode(shop, PasswordLoginMode.CUSTOMERS_ONLY)
    refused = console.send(edit, typed)
    assert refused.status == 422
    assert "Issuer: 1 person signed in with Northlight ID, 0 of them staff" in refused.text
    assert next(iter(known_providers(shop))).issuer == ISSUER_THERE
    set_mode(shop, PasswordLoginMode.ENABLED)
    assert console.send(edit, typed).status == 303
    make_provider(shop, active=False)
    save_provider(shop, OPERATOR, "default", ProviderUpdate({}))
    assert "linked account" not in console.open(edit).text


def test_refused_issuer_is_explained_in_the_person_s_language(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(MAY, Permission.MANAGE_SETTINGS)
    make_provider(shop, name="Northlight ID")
    save_provider(shop, OPERATOR, "default", ProviderUpdate({}))
    link_identity(shop, make_user(shop))
    come_by_sign_on(shop)
    set_mode(shop, PasswordLoginMode.CUSTOMERS_ONLY)
    with shop.database.transaction() as session:
        session.execute(update(models.User).values(language_code="DE"))
    typed = {"name": "Northlight ID", "issuer": "https://b.invalid"}
    typed |= {"json_web_key_set_url": ISSUER_THERE, "user_info_url": ISSUER_THERE}
    assert (
        "Aussteller: 1 Person, davon 0 aus dem Team, hat sich mit Northlight ID angemeldet; ein "
        "anderer Aussteller hebt die Verknüpfung auf. Niemand sonst, der Einstellungen verwalten "
        "kann, könnte sich anmelden, und keine App kann Einstellungen verwalten; deshalb ließe "
        "sich das nicht rückgängig machen. Sie können es ändern, solange sich alle mit Passwort "
        "anmelden können."
    ) in console.send(f"{PAGE}edit", typed).text


def test_switching_asks_again_who_one_is(
    staff_console: StaffConsole, shop: Ports, clock: FakeClock
) -> None:
    console = staff_console(MAY)
    make_provider(shop)
    save_provider(shop, OPERATOR, "default", ProviderUpdate({}))
    clock.pass_(minutes=6)
    assert console.open(OFF).leads_to.startswith("/console/prove?next=")
    posted = console.send(f"{PAGE}switch", {"to": "off"}, seen_at=PAGE)
    assert (posted.status, "Confirm your password" in posted.text) == (403, True)
    assert is_active(shop)


def test_question_that_is_answered_already_says_so(
    staff_console: StaffConsole, shop: Ports
) -> None:
    console = staff_console(MAY)
    make_provider(shop)
    save_provider(shop, OPERATOR, "default", ProviderUpdate({}))
    assert "No change to review" in console.open(ON).text
    assert 'aria-labelledby="dlg-t"' not in console.open(f"{PAGE}?ask=maybe").html
    assert console.send(f"{PAGE}switch", {"to": "maybe"}, seen_at=PAGE).leads_to == PAGE
    assert is_active(shop)


def test_the_pages_cost_six_statements_at_most(
    staff_console: StaffConsole, shop: Ports, statements: Statements
) -> None:
    console = staff_console(MAY, Permission.MANAGE_SETTINGS, Permission.MANAGE_STAFF)
    make_provider(shop)
    save_provider(shop, OPERATOR, "default", ProviderUpdate({}))
    for path in (LIST, PAGE, OFF, f"{PAGE}edit", f"{LIST}new"):
        console.open(path)
        with statements() as seen:
            console.open(path)
        assert len(seen) <= 6, path
