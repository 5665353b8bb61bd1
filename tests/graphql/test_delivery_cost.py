"""Overviews of deliveries of all apps cost what the shop's webhooks can return."""

from typing import Any

import pytest

from app.composition.settings import Settings
from app.domain.authorization.permissions import Permission
from app.domain.deliveries.deliveries import DeliveryStatus
from app.ports import Ports
from tests.builders.apps import make_app
from tests.builders.deliveries import store_attempt, store_deliveries
from tests.builders.people import make_staff, make_user, sign_in
from tests.builders.webhooks import make_webhook
from tests.fixtures.statements import recorded_statements, selects
from tests.graphql.shop_client import ApiClient

LIMIT = 30_000
OVERVIEW = """
query Overview($size: Int!) {
  apps(first: $size, filter: {type: LOCAL}) {
    edges { node { id ...Deliveries } }
  }
}
fragment Deliveries on App {
  webhooks {
    failed: eventDeliveries(
      first: 1 filter: {status: FAILED} sortBy: {field: CREATED_AT direction: DESC}
    ) {
      edges { node {
        id createdAt
        attempts(first: 1 sortBy: {field: CREATED_AT direction: DESC}) {
          edges { node { id status createdAt } }
        }
      } }
    }
    waiting: eventDeliveries(
      first: 6 filter: {status: PENDING} sortBy: {field: CREATED_AT direction: DESC}
    ) {
      edges { node {
        id
        attempts(first: 6 sortBy: {field: CREATED_AT direction: DESC}) {
          edges { node { id status createdAt } }
        }
      } }
    }
  }
}
"""
"""What a dashboard asks of all apps at once, by its names."""

NESTED = """
query {
  apps(first: 100) { edges { node { webhooks {
    eventDeliveries(first: %d) { edges { node { id attempts(first: 10) { edges { node {
      id status } } } } } }
  } } } }
}
"""


@pytest.fixture
def manager(ports: Ports) -> str:
    return sign_in(ports, make_staff(ports, "manager@example.com", Permission.MANAGE_APPS)).access


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports, Settings(graphql_cost_shown=True))


def store_webhooks(ports: Ports, apps: int, webhooks: int, deliveries: int = 0) -> None:
    """Store apps with webhooks, and with waiting deliveries after two attempts each."""
    for number in range(apps):
        app, _ = make_app(ports, f"app {number}")
        for _ in range(webhooks):
            webhook = make_webhook(ports, app)
            for delivery in store_deliveries(
                ports, webhook, DeliveryStatus.PENDING, count=deliveries
            ):
                store_attempt(ports, delivery)
                store_attempt(ports, delivery)


def cost_of(reply: Any) -> int:
    cost: int = reply["extensions"]["cost"]["requestedQueryCost"]
    return cost


def count_values(value: Any) -> int:
    """Count the fields in an answer."""
    if isinstance(value, dict):
        return len(value) + sum(map(count_values, value.values()))
    return sum(map(count_values, value)) if isinstance(value, list) else 0


def test_overview_of_a_large_page_fits_where_few_webhooks_exist(
    ports: Ports, api: ApiClient, manager: str
) -> None:
    store_webhooks(ports, apps=2, webhooks=3)
    for size in (50, 100):
        reply = api.ask(OVERVIEW, manager, size=size)
        assert "errors" not in reply
        assert cost_of(reply) < LIMIT / 10


@pytest.mark.first
def test_overview_fits_up_to_a_hundred_webhooks(
    ports: Ports, api: ApiClient, manager: str
) -> None:
    store_webhooks(ports, apps=20, webhooks=5)
    reply = api.ask(OVERVIEW, manager, size=50)
    assert "errors" not in reply
    assert LIMIT / 2 < cost_of(reply) <= LIMIT
    store_webhooks(ports, apps=10, webhooks=10)
    (error,) = api.ask(OVERVIEW, manager, size=50)["errors"]
    assert error["extensions"]["limit"]["name"] == "cost"


@pytest.mark.first
def test_most_expensive_overview_returns_no_more_values_than_its_cost(
    ports: Ports, manager: str
) -> None:
    """Whereas the list of one app's webhooks, today's worst, is taken for ten."""
    store_webhooks(ports, apps=2, webhooks=10, deliveries=12)
    limit = 3_500
    api = ApiClient(ports, Settings(graphql_cost_shown=True, graphql_cost_max=limit))
    sizes = range(20, 0, -1)
    most = next(size for size in sizes if "errors" not in api.ask(NESTED % size, manager))
    assert most < max(sizes)
    with recorded_statements() as statements:
        reply = api.ask(NESTED % most, manager)
    assert limit * 0.7 < cost_of(reply) <= limit
    assert count_values(reply["data"]) <= cost_of(reply)
    assert len(selects(statements)) <= 6


def test_number_of_webhooks_decides_only_for_those_who_see_them(
    ports: Ports, api: ApiClient
) -> None:
    store_webhooks(ports, apps=1, webhooks=1)
    _, token = make_app(ports, "reader", Permission.MANAGE_PRODUCTS)
    customer = sign_in(ports, make_user(ports, "customer@example.com")).access
    for credential in (None, token, customer):
        (error,) = api.ask(OVERVIEW, credential, size=50)["errors"]
        assert error["extensions"]["limit"]["actual"] > LIMIT


def test_overview_costs_little_for_staff_who_see_no_webhooks(ports: Ports, api: ApiClient) -> None:
    """Dashboards ask it on every page, whatever the person can do."""
    staff = sign_in(ports, make_staff(ports, "other@example.com", Permission.MANAGE_ORDERS)).access
    costs = []
    for webhooks in (1, 20):
        store_webhooks(ports, apps=2, webhooks=webhooks)
        with recorded_statements() as statements:
            reply = api.ask(OVERVIEW, staff, size=50)
        codes = {error["extensions"]["exception"]["code"] for error in reply["errors"]}
        assert codes == {"PermissionDenied"}
        assert not [one for one in selects(statements) if "webhook" in str(one)]
        costs.append(cost_of(reply))
    assert costs[0] == costs[1] < LIMIT / 10
