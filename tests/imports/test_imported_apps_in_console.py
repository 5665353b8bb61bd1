"""The console shows imported apps and webhooks, however awkward, for people to correct them."""

import pytest

from app.composition.factory import create_app
from app.composition.settings import Settings
from app.ports import Ports
from tests.builders.people import make_user
from tests.console.staff_client import ConsoleClient
from tests.fakes.clock import FakeClock
from tests.fixtures.ports import fake_ports
from tests.imports.app_rows import QUERY, add_app, add_permissions, add_token, add_webhook
from tests.imports.importing import import_platform
from tests.imports.platform import PlatformDatabase

ADMIN = "admin@example.com"


@pytest.fixture
def shop(sqlite_url: str, clock: FakeClock) -> Ports:
    return fake_ports(sqlite_url, clock)


@pytest.fixture
def console(shop: Ports, platform: PlatformDatabase) -> ConsoleClient:
    """Import awkward webhooks and sign in as an administrator."""
    add_permissions(platform, "manage_users")
    add_app(platform, 1, 1, name="x" * 300, identifier="post", homepage_url="ftp://x.example")
    add_app(platform, 2, name="", is_installed=False)
    add_token(platform, 11, 1)
    add_webhook(platform, 31, 1, "invoice_requested", subscription_query="query { shop { name } }")
    add_webhook(platform, 32, 1, name=None, target_url="http://10.0.0.1/hook")
    add_webhook(
        platform,
        33,
        1,
        "any_events",
        name=None,
        subscription_query=QUERY,
        filterable_channel_slugs=["uk"],
        custom_headers={"X-Shop": "1"},
    )
    add_webhook(platform, 34, 2, "product_created", identifier="products")
    imported = import_platform(shop, platform, "--only", "apps,webhooks")
    assert imported.counts("webhook") == {"read": 4, "created": 4}
    make_user(shop, ADMIN, is_superuser=True)
    client = ConsoleClient(create_app(shop, Settings()).test_client(), shop)
    assert client.sign_in(ADMIN).status == 303
    return client


def test_pages_of_imported_apps_and_webhooks_open(console: ConsoleClient) -> None:
    paths = ["apps/", "webhooks/", "apps/1", "apps/2"]
    paths += [f"webhooks/{key}" for key in (31, 32, 33, 34)]
    paths += [f"webhooks/{key}/edit" for key in (31, 32, 33, 34)]
    statuses = {path: console.open(f"/console/{path}").status for path in paths}
    assert set(statuses.values()) == {200}, statuses
