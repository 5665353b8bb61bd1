"""Payloads made to be slow to compare don't hold up a dry run."""

import json

import pytest

from app import models
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.domain.values.ids import to_global_id
from app.domain.values.line_diff import diff_lines
from app.ports import Ports
from tests.builders.apps import make_app
from tests.builders.people import make_staff
from tests.builders.products import make_product
from tests.builders.webhooks import make_delivery, make_webhook
from tests.console.staff_client import ConsoleClient
from tests.fakes.clock import FakeClock
from tests.fixtures.kept_application import AppOn
from tests.fixtures.ports import fake_ports
from tests.hostile.cpu import BOUND, slowest

FIELDS = " ".join(f"name{number}: name" for number in range(30))
QUERY = f"subscription {{ event {{ ... on ProductUpdated {{ product {{ {FIELDS} }} }} }} }}"
PAGE = "/console/dry-run/"


@pytest.fixture
def shop(sqlite_url: str, clock: FakeClock) -> Ports:
    return fake_ports(sqlite_url, clock)


@pytest.fixture
def console(shop: Ports, app_on: AppOn) -> ConsoleClient:
    console = ConsoleClient(app_on(shop).test_client(), shop)
    make_staff(shop, "staff@example.com", *Permission)
    assert console.sign_in("staff@example.com").status == 303
    return console


def test_dry_run_is_compared_with_similar_lines_within_the_allowed_cpu(
    shop: Ports, console: ConsoleClient
) -> None:
    product = make_product(shop, "K" * 250)
    app_id, _ = make_app(shop, "Labels", Permission.MANAGE_PRODUCTS)
    hook = make_webhook(shop, app_id, EventType.PRODUCT_UPDATED, query=QUERY)
    sent = {"product": {f"name{number}": "K" * 249 + "k" for number in range(830)}}
    key = make_delivery(shop, hook, json.dumps(sent))
    with shop.database.transaction() as session:
        session.get_one(models.Delivery, key).note_id = 1
    form = {
        "event": "PRODUCT_UPDATED",
        "act": "run",
        "query": QUERY,
        "webhook": str(hook),
        "object": to_global_id("Product", product),
    }
    pages: list[str] = []
    console.follow(console.send(PAGE, {**form, "webhook": ""}))  # loads what a first request loads

    taken = slowest(lambda: pages.append(console.follow(console.send(PAGE, form)).html))

    assert "Compared with the last delivery" in pages[0]
    assert "<del>" in pages[0]
    assert taken < BOUND


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([f"{n}" for n in range(40_000)], [f"{n // 2}{'+' * (n % 2)}" for n in range(40_000)]),
        (["},", "{"] * 20_000, ["{", "},", "}"] * 13_000),
        ([f"{n}" for n in range(40_000)], [f"{n}" for n in reversed(range(40_000))]),
    ],
    ids=["interleaved", "repeated", "reversed"],
)
def test_lines_of_any_order_are_compared_within_the_allowed_cpu(
    before: list[str], after: list[str]
) -> None:
    assert slowest(lambda: diff_lines(before, after)) < BOUND
