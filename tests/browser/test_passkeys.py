"""Passkeys in a real browser, with its virtual authenticator."""

import re

import pytest
from playwright.sync_api import Page, expect

from app import models
from app.domain.authorization.actor import PROOF_LASTS
from app.domain.second_factors import RECOVERY_CODES
from tests.browser.authenticator import VirtualAuthenticator
from tests.browser.console import ADMIN, RunningShop, Watch
from tests.browser.test_second_factors import faults
from tests.builders.people import PASSWORD, make_user
from tests.fakes.offset_clock import Ahead

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("console"), pytest.mark.one_of("theme")]

THEMES = pytest.mark.parametrize("theme", ["light", "dark"])

SECURITY = "/console/account/security/"
WITHOUT_AUTOFILL = "PublicKeyCredential.isConditionalMediationAvailable = async () => false"
"""Otherwise a present finger chooses what the email field offers, before a button is used."""


@pytest.fixture
def url(small_shop: RunningShop) -> str:
    """The shop by its host name, because there are no passkeys on an IP address."""
    return small_shop.url.replace("127.0.0.1", "localhost")


@pytest.fixture
def own_watch(page: Page, url: str) -> Watch:
    return Watch(page, url)


@pytest.fixture
def authenticator(page: Page, small_shop: RunningShop, url: str) -> VirtualAuthenticator:
    """The authenticator of a staff member who is about to sign in."""
    make_user(small_shop.ports, ADMIN, is_superuser=True, first_name="Ada")
    return VirtualAuthenticator(page)


def sign_in_with_password(page: Page, url: str) -> None:
    page.goto(f"{url}/console/sign-in?next={SECURITY}")
    page.get_by_label("Email").fill(ADMIN)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in with password").click()
    expect(page.get_by_role("heading", name="Sign-in and security")).to_be_visible()


@THEMES
def test_passkey_is_added_renamed_and_deleted(
    page: Page,
    url: str,
    small_shop: RunningShop,
    authenticator: VirtualAuthenticator,
    own_watch: Watch,
    theme: str,
) -> None:
    page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
    page.goto(f"{url}/console/sign-in")
    expect(page.get_by_role("button", name="Sign in with a passkey")).to_be_visible()
    assert faults(page) == []
    sign_in_with_password(page, url)
    page.get_by_role("button", name="Add passkey").click()
    expect(page.get_by_role("heading", name="Add a passkey")).to_be_visible()
    assert faults(page) == []
    create_passkey(page, "")  # the name is needed before a passkey is made
    expect(page.get_by_role("button", name="Create passkey")).to_be_visible()
    assert authenticator.passkeys() == []
    authenticator.verify_person(succeeds=False)
    create_passkey(page, "Laptop")
    expect(page.get_by_role("alert")).to_have_text(re.compile("No passkey was used"))
    authenticator.verify_person(succeeds=True)
    page.get_by_role("button", name="Create passkey").click()
    expect(page.get_by_text("Passkey added.")).to_be_visible()
    expect(page.locator(".lk-codes li")).to_have_count(RECOVERY_CODES)
    (made,) = authenticator.passkeys()
    assert (made["rpId"], made["isResidentCredential"]) == ("localhost", True)
    table = page.get_by_role("table", name="Your passkeys")
    expect(table.get_by_role("row").filter(has_text="Laptop")).to_be_visible()
    assert faults(page) == []
    page.get_by_role("button", name="Add passkey").click()
    create_passkey(page, "Again")
    expect(page.get_by_role("alert")).to_have_text(
        "This device already has a passkey for your account."
    )
    assert len(authenticator.passkeys()) == 1
    rename_and_delete_passkey(page, url, small_shop)
    assert own_watch.complaints == []


def create_passkey(page: Page, name: str) -> None:
    """Name a passkey and let the script of the page make it."""
    page.get_by_role("textbox", name="Name").fill(name)
    page.wait_for_load_state()
    page.get_by_role("button", name="Create passkey").click()


def rename_and_delete_passkey(page: Page, url: str, shop: RunningShop) -> None:
    """Rename the passkey; delete it when its owner has to confirm who they are, by it."""
    page.goto(f"{url}{SECURITY}")
    page.get_by_role("link", name="Rename Laptop").click()
    expect(page.get_by_role("heading", name="Rename passkey")).to_be_visible()
    assert faults(page) == []
    page.get_by_role("textbox", name="Name").fill("Office")
    page.get_by_role("button", name="Rename passkey").click()
    expect(page.get_by_text("Passkey renamed.")).to_be_visible()

    assert isinstance(shop.ports.clock, Ahead)
    shop.ports.clock.seconds += PROOF_LASTS.total_seconds() + 1
    page.get_by_role("link", name="Delete Office").click()
    dialog = page.get_by_role("dialog", name="Delete the passkey Office?")
    expect(dialog).to_be_visible()
    assert faults(page) == []
    dialog.get_by_role("button", name="Delete passkey").click()
    expect(page.get_by_text("You're about to delete a passkey.")).to_be_visible()
    expect(page.get_by_label("Password", exact=True)).to_have_count(0)
    page.wait_for_load_state()
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_text("You have no passkey.")).to_be_visible()


def enroll(page: Page, url: str) -> None:
    """Add a passkey, and sign out."""
    sign_in_with_password(page, url)
    page.get_by_role("button", name="Add passkey").click()
    create_passkey(page, "Laptop")
    expect(page.get_by_text("Passkey added.")).to_be_visible()
    page.context.clear_cookies()


@THEMES
def test_passkey_signs_in_alone_and_with_a_password(
    page: Page, url: str, authenticator: VirtualAuthenticator, own_watch: Watch, theme: str
) -> None:
    page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
    enroll(page, url)
    security = page.get_by_role("heading", name="Sign-in and security")
    # A present finger chooses the only passkey that the email field offers: no button is pressed.
    page.goto(f"{url}/console/sign-in?next={SECURITY}")
    expect(security).to_be_visible()
    (used,) = authenticator.passkeys()
    assert used["signCount"] > 1
    page.context.clear_cookies()

    page.add_init_script(WITHOUT_AUTOFILL)
    authenticator.verify_person(succeeds=False)
    page.goto(f"{url}/console/sign-in?next={SECURITY}")
    page.get_by_role("button", name="Sign in with a passkey").click()
    canceled = page.get_by_role("alert").filter(has_text="No passkey was used.")
    expect(canceled).to_be_visible()
    expect(page.get_by_label("Email")).to_be_editable()
    authenticator.verify_person(succeeds=True)
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(security).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="Laptop")).not_to_contain_text("Never")
    page.context.clear_cookies()

    page.goto(f"{url}/console/sign-in?next={SECURITY}")
    page.get_by_label("Email").fill(ADMIN)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in with password").click()
    expect(page.get_by_role("heading", name="Use your passkey")).to_be_visible()
    page.wait_for_load_state()
    authenticator.verify_person(succeeds=False)
    page.get_by_role("button", name="Use a passkey").click()
    expect(canceled).to_be_visible()
    authenticator.verify_person(succeeds=True)
    page.get_by_role("button", name="Use a passkey").click()
    expect(security).to_be_visible()
    assert own_watch.complaints == []


def test_refused_passkey_leaves_the_other_ways(
    page: Page, url: str, small_shop: RunningShop, authenticator: VirtualAuthenticator
) -> None:
    enroll(page, url)
    with small_shop.ports.database.transaction() as session:
        session.query(models.Passkey).delete()
        session.query(models.RecoveryCode).delete()
    page.goto(f"{url}/console/sign-in")
    expect(page.get_by_text("This passkey wasn't accepted.")).to_be_visible()
    expect(page.get_by_role("button", name="Sign in with password")).to_be_visible()
    # The passkey isn't offered again by itself; on request it is.
    expect(page.get_by_role("button", name="Sign in with a passkey")).to_be_visible()
    assert len(authenticator.passkeys()) == 1
