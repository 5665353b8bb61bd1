"""Two people who saw the same thing and save at the same moment: one of them is told."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier

import pytest
from sqlalchemy import func, select

from app import models
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.events import EventType
from app.domain.values.errors import Stale
from app.domain.values.ids import to_global_id
from app.domain.values.inputs import Seen
from app.domain.webhooks import editable_facts
from app.ports import Ports
from app.services.apps.app_changes import AppChange, app_facts, update_app
from app.services.people.customers import update_customer
from app.services.people.groups import GroupChanges, update_group
from app.services.people.staff import StaffChanges, update_staff
from app.services.people.users import Details
from app.services.webhooks.changes import WebhookInput, update_webhook
from app.services.webhooks.lists import show_webhook
from tests.builders.apps import app_as_stored, make_app
from tests.builders.people import actor_of, make_group, make_staff, make_user
from tests.builders.webhooks import make_webhook
from tests.fakes.clock import FakeClock
from tests.fixtures.ports import fake_ports

ORDERS = Permission.MANAGE_ORDERS


@dataclass(frozen=True)
class Shop:
    """One of each thing that can be edited, and who edits it."""

    actor: Actor
    app: int
    webhook: int
    group: str
    staff: str
    customer: str


@dataclass(frozen=True)
class Edit:
    """A change of one thing: what is seen of it, how it is changed, and its name afterwards."""

    seen: Callable[[Ports, Shop], Seen]
    change: Callable[[Ports, Shop, str, Seen], object]


def webhook_facts(ports: Ports, shop: Shop) -> Seen:
    hook = show_webhook(ports, shop.actor, shop.webhook)
    assert hook is not None
    return editable_facts(hook)


EDITS = {
    "app": Edit(
        lambda ports, shop: app_facts(app_as_stored(ports, shop.app)),
        lambda ports, shop, name, seen: update_app(
            ports, shop.actor, shop.app, AppChange(name, seen=seen)
        ),
    ),
    "webhook": Edit(
        webhook_facts,
        lambda ports, shop, name, seen: update_webhook(
            ports,
            shop.actor,
            to_global_id("Webhook", shop.webhook),
            "",
            WebhookInput(name=name, seen=seen),
        ),
    ),
    "headers of a webhook": Edit(
        webhook_facts,
        lambda ports, shop, name, seen: update_webhook(
            ports,
            shop.actor,
            to_global_id("Webhook", shop.webhook),
            "",
            WebhookInput(custom_headers={"X-Shop": name}, seen=seen),
        ),
    ),
    "group": Edit(
        lambda _ports, _shop: {"name": "Support", "permissions": ["MANAGE_ORDERS"]},
        lambda ports, shop, name, seen: update_group(
            ports, shop.actor, shop.group, GroupChanges(name=name, seen=seen)
        ),
    ),
    "staff": Edit(
        lambda _ports, _shop: {"last_name": "", "groups": [], "permissions": ["MANAGE_ORDERS"]},
        lambda ports, shop, name, seen: update_staff(
            ports, shop.actor, shop.staff, StaffChanges(Details(last_name=name, seen=seen))
        ),
    ),
    "customer": Edit(
        lambda _ports, _shop: {"last_name": "", "note": ""},
        lambda ports, shop, name, seen: update_customer(
            ports, shop.actor, shop.customer, Details(last_name=name, seen=seen)
        ),
    ),
}


def recorded(ports: Ports) -> int:
    with ports.database.reading() as session:
        return session.scalar(select(func.count()).select_from(models.AuditEntry)) or 0


@pytest.fixture
def stocked(ports: Ports) -> Shop:
    actor = actor_of(ports, make_staff(ports, "boss@example.com", *ALL_PERMISSIONS))
    app, _ = make_app(ports, "Labels", ORDERS)
    hook = make_webhook(
        ports, app, EventType.ORDER_PAID, name="Print label", custom_headers={"X-Shop": "harbour"}
    )
    staff = make_user(ports, "tom@example.com", is_staff=True, permissions=[ORDERS])
    return Shop(
        actor,
        app,
        hook,
        to_global_id("Group", make_group(ports, "Support", ORDERS)),
        to_global_id("User", staff),
        to_global_id("User", make_user(ports, "ada@example.com")),
    )


@pytest.mark.both_databases
def test_of_two_changes_at_the_same_moment_one_is_refused(
    ports: Ports, database_url: str, clock: FakeClock, stocked: Shop
) -> None:
    others = [fake_ports(database_url, clock) for _ in range(2)]
    for name, edit in EDITS.items():
        seen, start = edit.seen(ports, stocked), Barrier(len(others), timeout=60)

        def run(
            other: Ports, given: str, edit: Edit = edit, seen: Seen = seen, start: Barrier = start
        ) -> str:
            start.wait()
            try:
                edit.change(other, stocked, given, seen)
            except Stale:
                return "stale"
            return "saved"

        with ThreadPoolExecutor(len(others)) as pool:
            tasks = [pool.submit(run, *one) for one in zip(others, ("One", "Two"), strict=True)]
            assert sorted(task.result(timeout=60) for task in tasks) == ["saved", "stale"], name


def test_stale_change_saves_nothing(ports: Ports, stocked: Shop) -> None:
    for name, edit in EDITS.items():
        seen = edit.seen(ports, stocked)
        edit.change(ports, stocked, "One", {})
        entries = recorded(ports)
        with pytest.raises(Stale):
            edit.change(ports, stocked, "Two", seen)
        assert recorded(ports) == entries, name
        edit.change(ports, stocked, "Two", {})
        assert recorded(ports) > entries, name


def test_grant_for_a_webhook_keeps_what_others_removed(ports: Ports, stocked: Shop) -> None:
    update_app(ports, stocked.actor, stocked.app, AppChange(permissions=frozenset()))
    added = AppChange(added_permissions=frozenset({Permission.MANAGE_PRODUCTS}))
    app = update_app(ports, stocked.actor, stocked.app, added)
    assert app.permissions == {Permission.MANAGE_PRODUCTS}
