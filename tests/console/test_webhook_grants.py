"""Permissions that a webhook's form grants to its app."""

import pytest

from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.ports import Ports
from app.services.apps.app_lists import show_app
from app.services.webhooks.lists import show_webhook
from tests.builders.apps import make_app
from tests.builders.people import PASSWORD
from tests.builders.webhooks import make_webhook
from tests.console.conftest import StaffConsole
from tests.fakes.clock import FakeClock

MAY = (Permission.MANAGE_APPS, Permission.MANAGE_PRODUCTS)
TARGET = "https://labels.example.com/hooks"


def permissions_of(shop: Ports, app_id: int) -> set[Permission]:
    app = show_app(shop, OPERATOR, app_id)
    assert app is not None
    return set(app.permissions)


@pytest.mark.parametrize("path", ["/console/webhooks/new", "/console/webhooks/1/edit"])
def test_refused_webhook_grants_nothing(
    staff_console: StaffConsole, shop: Ports, path: str
) -> None:
    app_id, _ = make_app(shop, "Labels")
    make_webhook(shop, app_id, EventType.PRODUCT_UPDATED)
    console = staff_console(*MAY, Permission.MANAGE_ORDERS)
    data = {"app": str(app_id), "events": ["ORDER_PAID"], "warned": "yes", "grants": "y"}
    refused = console.send(path, {**data, "target_url": "ftp://labels.example.com/"})
    assert refused.status == 422
    assert permissions_of(shop, app_id) == set()


@pytest.mark.parametrize("path", ["/console/webhooks/new", "/console/webhooks/1/edit"])
def test_grant_needs_reauthentication_before_anything_is_saved(
    staff_console: StaffConsole, shop: Ports, clock: FakeClock, path: str
) -> None:
    app_id, _ = make_app(shop, "Labels")
    make_webhook(shop, app_id, EventType.PRODUCT_UPDATED)
    console = staff_console(*MAY, Permission.MANAGE_ORDERS)
    clock.pass_(minutes=6)
    data = {"app": str(app_id), "events": ["ORDER_PAID"], "warned": "yes", "grants": "y"}
    asked = console.send(path, {**data, "target_url": TARGET})
    assert (asked.status, "Confirm your password" in asked.text) == (403, True)
    webhook = show_webhook(shop, OPERATOR, 1)
    assert webhook is not None
    assert webhook.events == (EventType.PRODUCT_UPDATED,)
    assert show_webhook(shop, OPERATOR, 2) is None
    console.send(path, {**data, "target_url": TARGET, "proof_password": PASSWORD})
    assert permissions_of(shop, app_id) == {Permission.MANAGE_ORDERS}
    assert show_webhook(shop, OPERATOR, 3) is None
