"""Single sign-on at the console by a real provider: set up, come in, make the worst change."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

import pytest

from app.composition.factory import create_app
from app.composition.settings import Settings
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode
from app.ports import Ports
from app.services.shop.settings import show_settings
from tests.builders.people import make_staff, make_user
from tests.builders.providers import user_called
from tests.builders.second_factor_rule import require_second_factor
from tests.console.staff_client import ConsoleClient, Page
from tests.fakes.offset_clock import Ahead
from tests.fixtures.ports import fake_ports
from tests.servers.provider import IdentityProvider, Visitor, identity_provider

pytestmark = [pytest.mark.first, pytest.mark.xdist_group("provider")]

PROVIDER = "/console/single-sign-on/northlight/"
CALLBACK = "http://localhost/console/sign-in/with/northlight.authentication.openidconnect/callback"
DISABLE_LOGIN = "/console/access/?ask=mode&mode=DISABLED"
_WITH = re.compile(r'href="(/console/sign-in/with/[^"]+)"')


@pytest.fixture
def ahead() -> Ahead:
    return Ahead()


@pytest.fixture
def shop(sqlite_url: str, ahead: Ahead) -> Ports:
    """A shop that goes by the real time, as the provider does."""
    return fake_ports(sqlite_url, ahead)


@pytest.fixture
def real_provider(shop: Ports, tmp_path: Path) -> Iterator[IdentityProvider]:
    with identity_provider(tmp_path / "provider.log", shop.configuration.scope_prefix) as running:
        running.lead_back_to(CALLBACK)
        yield running


def console_of(shop: Ports) -> ConsoleClient:
    return ConsoleClient(create_app(shop, Settings()).test_client(), shop)


def set_up(console: ConsoleClient, provider: IdentityProvider) -> None:
    """Add the provider as staff do: from its issuer, then name and secret there, then on."""
    typed = {"name": "Northlight ID", "provider": "northlight", "issuer": provider.issuer}
    added = console.follow(console.send("/console/single-sign-on/new", typed))
    assert CALLBACK in added.html
    form = console.open(f"{PROVIDER}edit").html
    fields = dict(re.findall(r'name="([a-z_]+)"[^>]*type="text"[^>]*value="([^"]*)"', form))
    client = {"client_id": "shop", "client_secret": provider.secret_of("shop")}
    saved = console.send(f"{PROVIDER}edit", {**fields, **client})
    assert saved.status == 303, saved.text
    assert "Accepts the client" in console.send(f"{PROVIDER}test", seen_at=PROVIDER).text
    console.send(f"{PROVIDER}switch", {"to": "on"}, seen_at=f"{PROVIDER}?ask=on")


def through(console: ConsoleClient, page: Page, visitor: Visitor, sub: str) -> Page:
    """Take the page's way to the provider, sign in there, and come back."""
    found = _WITH.search(page.html)
    assert found is not None, page.text
    there = console.open(unescape(found[1])).leads_to
    back = visitor.sign_in(there, sub, CALLBACK)
    return console.open(f"{CALLBACK}?{urlencode(back)}")


def test_staff_come_in_by_a_real_provider_and_restrict_password_login(
    shop: Ports, real_provider: IdentityProvider, ahead: Ahead
) -> None:
    make_user(shop, "admin@example.com", is_superuser=True)
    make_staff(shop, "ann@sso.example", Permission.MANAGE_SETTINGS)
    admin, console, ann = console_of(shop), console_of(shop), Visitor()
    assert admin.sign_in("admin@example.com").status == 303
    set_up(admin, real_provider)

    door = console.open("/console/sign-in?next=/console/access/")
    assert "Northlight ID" in door.text
    came = through(console, door, ann, "ann")
    assert came.leads_to == "/console/access/"
    access = console.follow(came)
    assert "You signed in with Northlight ID" in access.text

    restricted = console.send(
        "/console/access/mode", {"mode": "CUSTOMERS_ONLY"}, seen_at="/console/access/"
    )
    assert "Password login is limited to customers." in console.follow(restricted).text
    assert admin.open("/console/access/").status == 403

    ahead.seconds = 360
    question = console.open(DISABLE_LOGIN)
    assert question.leads_to.startswith("/console/prove?next=")
    proving = console.follow(question)
    assert "Northlight ID will ask you to sign in again" in proving.text
    begun = _WITH.search(proving.html)
    assert begun is not None
    assert "prompt=login" in console.open(unescape(begun[1])).leads_to
    proved = through(console, proving, ann, "ann")
    question = console.follow(proved)
    assert "Turn off password login?" in question.text
    answer = {"mode": "DISABLED", "phrase": "NOBODY"}
    done = console.follow(console.send("/console/access/mode", answer, seen_at=DISABLE_LOGIN))
    assert "Password login is off." in done.text
    assert show_settings(shop, OPERATOR).password_login_mode is PasswordLoginMode.DISABLED


def test_second_factor_at_a_real_provider_counts_where_its_settings_say_so(
    shop: Ports, real_provider: IdentityProvider
) -> None:
    """Ann used one at the provider, Ben didn't; staff need one."""
    make_user(shop, "admin@example.com", is_superuser=True)
    for email in ("ann@sso.example", "ben@sso.example"):
        make_staff(shop, email, Permission.MANAGE_SETTINGS)
    admin = console_of(shop)
    admin.sign_in("admin@example.com")
    set_up(admin, real_provider)
    form = admin.open(f"{PROVIDER}edit").html
    fields = dict(re.findall(r'name="([a-z_]+)"[^>]*type="text"[^>]*value="([^"]*)"', form))
    admin.send(f"{PROVIDER}edit", {**fields, "second_factor_amr": "otp"})
    require_second_factor(shop)

    signed_in = {}
    for name, methods in (("ann", ["pwd", "otp"]), ("ben", ["pwd"])):
        email = f"{name}@sso.example"
        real_provider.tell(name, email=email, email_verified=True, amr=methods)
        console = console_of(shop)
        through(console, console.open("/console/sign-in"), Visitor(), name)
        signed_in[name] = console.open("/console/settings/")
    assert signed_in["ann"].status == 200
    assert signed_in["ben"].leads_to.startswith("/console/second-factor")


def test_provider_user_without_account_is_refused(
    shop: Ports, real_provider: IdentityProvider
) -> None:
    make_user(shop, "admin@example.com", is_superuser=True)
    admin, console = console_of(shop), console_of(shop)
    admin.sign_in("admin@example.com")
    set_up(admin, real_provider)
    refused = through(console, console.open("/console/sign-in"), Visitor(), "zoe")
    assert refused.status == 422
    assert "staff" in refused.text
    assert user_called(shop, "zoe@sso.example") is None
    assert console.open("/console/").status == 303
