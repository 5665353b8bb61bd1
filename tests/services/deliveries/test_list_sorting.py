"""Lists in the orders that people choose: whole, page by page, both ways, from an index."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from sqlalchemy import update

from app import models
from app.domain.audit import AuditFilter
from app.domain.authorization.actor import OPERATOR
from app.domain.deliveries.deliveries import DeliveryStatus
from app.domain.shop.settings import ShopUpdate
from app.domain.values.pages import Page, PageRequest, read_cursor
from app.ports import Ports
from app.services.audit.entries import export_entries, list_entries
from app.services.deliveries.lists import DeliverySearch, search_deliveries
from app.services.people.groups import GroupFilter, list_groups
from app.services.shop.settings import update_shop
from app.services.single_sign_on.provider_settings import PluginSort, list_plugins
from app.services.webhooks.lists import WebhookFilter, WebhookSort, list_webhooks
from tests.builders.apps import make_app
from tests.builders.people import make_group, make_user
from tests.builders.provider_records import make_provider
from tests.builders.webhooks import make_delivery, make_webhook
from tests.fakes.clock import FakeClock

Listing = Callable[[PageRequest], Page[Any]]


def turned(listing: Listing, size: int = 2) -> list[Any]:
    """Everything in a list, page by page; the same backwards from its end."""
    page = listing(PageRequest(size))
    found = list(page.items)
    while page.has_next:
        page = listing(PageRequest(size, cursor=read_cursor(page.cursors[-1], "after")))
        found += page.items
    back = listing(PageRequest(size, backwards=True))
    reversed_ = list(back.items)
    while back.has_previous:
        cursor = read_cursor(back.cursors[0], "before")
        back = listing(PageRequest(size, backwards=True, cursor=cursor))
        reversed_ = [*back.items, *reversed_]
    assert reversed_ == found
    return found


@pytest.mark.both_databases
def test_webhooks_are_sorted_by_age_name_or_app(ports: Ports) -> None:
    alpha, _ = make_app(ports, "Alpha")
    zeta, _ = make_app(ports, "Zeta")
    alpha_too, _ = make_app(ports, "Alpha")
    for app, name in ((alpha, "c"), (alpha_too, "b"), (alpha, "d"), (zeta, ""), (alpha_too, "a")):
        key = make_webhook(ports, app)
        with ports.database.transaction() as session:
            session.execute(
                update(models.Webhook).where(models.Webhook.id == key).values(name=name)
            )

    for sort, order in (
        (WebhookSort.NEWEST, ["a", "", "d", "b", "c"]),
        (WebhookSort.NAME, ["", "a", "b", "c", "d"]),
        (WebhookSort.APP, ["c", "d", "b", "a", ""]),
    ):

        def listing(page: PageRequest, sort: WebhookSort = sort) -> Page[Any]:
            return list_webhooks(ports, OPERATOR, page, WebhookFilter(), sort)

        assert [webhook.name for webhook in turned(listing)] == order, sort


def test_deliveries_are_sorted_by_time_in_both_directions(ports: Ports, clock: FakeClock) -> None:
    app, _ = make_app(ports, "Warehouse")
    hook, other = make_webhook(ports, app), make_webhook(ports, app)
    keys = []
    for number in range(5):
        keys.append(make_delivery(ports, other if number == 2 else hook))
        clock.pass_(minutes=number % 2)  # some were made at the same moment
    with ports.database.transaction() as session:
        failed = update(models.Delivery).where(models.Delivery.id.in_(keys[:2]))
        session.execute(failed.values(status=DeliveryStatus.FAILED.value))

    def found(**conditions: Any) -> list[int]:
        def listing(page: PageRequest) -> Page[Any]:
            return search_deliveries(ports, OPERATOR, page, DeliverySearch(**conditions))

        return [delivery.id for delivery in turned(listing)]

    assert found() == keys[::-1]
    assert found(oldest_first=True) == keys
    by_hook = [key for key in keys if key != keys[2]]
    assert found(oldest_first=True, webhook_id=hook) == by_hook
    assert found(oldest_first=True, status=DeliveryStatus.FAILED) == keys[:2]
    assert found(oldest_first=True, text="{") == keys


def test_audit_log_is_sorted_by_time_in_both_directions(ports: Ports, clock: FakeClock) -> None:
    for name in ("one", "two", "three"):
        update_shop(ports, OPERATOR, ShopUpdate(name=name))
        clock.pass_(hours=1)
    since = clock.now() - timedelta(hours=2, minutes=30)

    def names(filter_: AuditFilter) -> list[object]:
        listing = partial(list_entries, ports, OPERATOR, filter_=filter_)
        return [entry.after["name"] for entry in turned(listing)]

    assert names(AuditFilter()) == ["three", "two", "one"]
    assert names(AuditFilter(oldest_first=True)) == ["one", "two", "three"]
    assert names(AuditFilter(oldest_first=True, since=since)) == ["two", "three"]
    exported = export_entries(ports, OPERATOR, AuditFilter(oldest_first=True, text="shop"))
    assert [entry.after["name"] for entry in exported] == ["one", "two", "three"]


def test_groups_are_sorted_by_name_or_size(ports: Ports) -> None:
    small, large, empty, same = (make_group(ports, name) for name in ("b", "c", "a", "d"))
    assert empty
    make_user(ports, "one@example.com", is_staff=True, groups=[large, small])
    make_user(ports, "two@example.com", is_staff=True, groups=[large, same])

    def names(**filter_: Any) -> list[str]:
        listing = partial(list_groups, ports, OPERATOR, filter_=GroupFilter(**filter_))
        return [group.name for group in turned(listing)]

    assert names() == ["a", "b", "c", "d"]
    assert names(by_members=True, descending=True) == ["c", "d", "b", "a"]
    assert names(by_members=True) == ["a", "b", "d", "c"]
    assert list_groups(ports, OPERATOR, PageRequest(1), GroupFilter(by_members=True)).count() == 4


def test_providers_are_sorted_by_age_or_name(ports: Ports) -> None:
    for slug, name in (("default", "m"), ("one", "z"), ("two", "a"), ("three", "a")):
        make_provider(ports, slug, name=name)

    def slugs(sort: PluginSort, *, descending: bool = False) -> list[str]:
        listing = partial(list_plugins, ports, OPERATOR, sort=sort, descending=descending)
        return [provider.slug for provider in turned(listing)]

    assert slugs(PluginSort.AGE) == ["default", "one", "two", "three"]
    assert slugs(PluginSort.NAME) == ["two", "three", "default", "one"]
    assert slugs(PluginSort.NAME, descending=True) == ["one", "default", "three", "two"]


def test_providers_are_sorted_by_whether_they_are_active(ports: Ports) -> None:
    for slug, active in (("default", False), ("one", True), ("two", False), ("three", True)):
        make_provider(ports, slug, active=active)

    def slugs(*, descending: bool) -> list[str]:
        listing = partial(
            list_plugins, ports, OPERATOR, sort=PluginSort.IS_ACTIVE, descending=descending
        )
        return [provider.slug for provider in turned(listing)]

    assert slugs(descending=False) == ["default", "two", "one", "three"]
    assert slugs(descending=True) == ["three", "one", "two", "default"]
