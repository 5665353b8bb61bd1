"""Staff sign in with SSO: at another site, and with the demo's own identity provider."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from app.adapters.system import SystemClock
from app.composition.settings import Settings
from app.composition.wiring import connect
from app.domain.authorization.actor import OPERATOR
from app.services.demo.identity_provider import set_up_demo_provider
from app.services.outbox.base_url import save_base_url
from app.services.single_sign_on.provider_checks import discover_provider
from app.services.single_sign_on.provider_settings import ProviderUpdate, save_provider
from tests.browser.console import ADMIN, PROVIDER, RunningShop, Watch, close_pages, running
from tests.browser.demo import demo_file
from tests.builders.people import PASSWORD, make_user
from tests.fixtures.ports import fake_ports
from tests.servers.provider import identity_provider

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("console")]

CALLBACK = "/console/sign-in/with/northlight.authentication.openidconnect/callback"


def test_staff_sign_in_with_a_provider_of_another_site(
    page: Page, small_shop: RunningShop, tmp_path: Path
) -> None:
    """The browser sends the cookie of the sign-in when the provider leads back to the shop."""
    ports, url = small_shop.ports, small_shop.url.replace("127.0.0.1", "localhost")
    make_user(ports, ADMIN, is_superuser=True)
    log, scopes = tmp_path / "provider.log", ports.configuration.scope_prefix
    with identity_provider(log, scopes) as provider:
        provider.lead_back_to(f"{url}{CALLBACK}")
        provider.tell("ada", email=ADMIN, email_verified=True)
        discover_provider(ports, OPERATOR, "northlight", provider.issuer)
        settings = {"client_id": "shop", "client_secret": provider.secret_of("shop")}
        update = ProviderUpdate(settings, active=True, name=PROVIDER)
        save_provider(ports, OPERATOR, "northlight", update)
        watch = Watch(page, url)
        page.goto(f"{url}/console/access/")
        assert watch.take() == []
        page.get_by_role("link", name=f"Continue with {PROVIDER}").click()
        page.get_by_placeholder("Enter any login").fill("ada")
        page.get_by_placeholder("and password").fill(PASSWORD)
        page.get_by_role("button", name="Sign-in").click()
        page.get_by_role("button", name="Continue").click()
        expect(page.get_by_text(f"You signed in with {PROVIDER} (SSO)")).to_be_visible()


@pytest.fixture
def demo(
    run_directory: Path, _migrated_file: Path, tmp_path: Path, browser: Browser
) -> Iterator[RunningShop]:
    """The demo shop as it is served, with calls to providers as in development."""
    file = shutil.copy(demo_file(run_directory, _migrated_file), tmp_path / "demo.sqlite3")
    url = f"sqlite:///{file}"
    real = connect(Settings(database_url=url)).identity_provider
    ports = replace(fake_ports(url, SystemClock()), identity_provider=real)
    with running(ports) as shop:
        save_base_url(ports, OPERATOR, shop.url)
        set_up_demo_provider(ports, OPERATOR)
        yield shop
        close_pages(browser)
    ports.database.close()


def test_demo_staff_sign_in_with_sso_and_can_limit_passwords(
    page: Page, demo: RunningShop
) -> None:
    page.goto(f"{demo.url}/console/access/")
    page.get_by_role("link", name="Northlight ID").click()
    expect(page.get_by_role("heading", name="Sign in with Northlight ID")).to_be_visible()
    page.get_by_role("button", name="Continue as Mateo Silva").click()
    expect(page.get_by_text("You signed in with Northlight ID (SSO)")).to_be_visible()
    login = page.get_by_role("region", name="Password login")
    expect(login.get_by_role("radio", name="Customers only")).to_be_visible()
    expect(
        login.get_by_text("Only someone who signed in with SSO can choose this.")
    ).to_have_count(0)
