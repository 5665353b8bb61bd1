"""A webhook of a limited app token keeps its limit until a person chooses what it sends."""

from dataclasses import replace

import pytest

from app.domain.authorization.actor import OPERATOR
from app.domain.events import ProductUpdated
from app.ports import Ports
from app.ports.http import HttpResponse
from app.services.webhooks.changes import WebhookInput, update_webhook
from tests.builders.apps import make_app
from tests.builders.products import make_product
from tests.builders.webhooks import make_webhook
from tests.fakes.fake_http import FakeHttp
from tests.graphql.shop_client import ApiClient
from tests.hostile.test_limited_tokens import (
    MINE,
    PRODUCT_AND_SECRETS,
    PRODUCTS,
    SIGNING,
    USERS,
    Scenario,
)


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """One kind of database is enough: these rules stand above it."""
    return sqlite_url


@pytest.fixture
def scenario(ports: Ports) -> Scenario:
    app, full_token = make_app(ports, "warehouse", PRODUCTS, USERS)
    http = FakeHttp(ports.database, lambda _request: HttpResponse(200))
    return Scenario(ports, ApiClient(ports), http, app, full_token)


@pytest.mark.parametrize("input_", [WebhookInput(is_active=True), WebhookInput(name="Cups")])
def test_enabling_or_renaming_a_webhook_keeps_its_limit(
    scenario: Scenario, input_: WebhookInput
) -> None:
    key = webhook_of_a_limited_token(scenario)
    update_webhook(scenario.ports, OPERATOR, key, "", replace(input_, is_active=True))
    scenario.happen(ProductUpdated(make_product(scenario.ports, "Cup")))
    (payload,) = scenario.sent
    assert "product" in payload
    assert SIGNING not in payload


def test_person_who_saves_the_same_query_and_target_again_keeps_the_limit(
    scenario: Scenario,
) -> None:
    key = webhook_of_a_limited_token(scenario)
    input_ = WebhookInput(target_url=MINE, query=PRODUCT_AND_SECRETS, is_active=True)
    update_webhook(scenario.ports, OPERATOR, key, "", input_)
    scenario.happen(ProductUpdated(make_product(scenario.ports, "Cup")))
    assert SIGNING not in scenario.sent[0]


def test_person_who_chooses_the_target_lifts_the_limit(scenario: Scenario) -> None:
    key = webhook_of_a_limited_token(scenario)
    input_ = WebhookInput(target_url="https://theirs.example/", is_active=True)
    update_webhook(scenario.ports, OPERATOR, key, "", input_)
    update_webhook(scenario.ports, OPERATOR, key, "", WebhookInput(target_url=MINE))
    scenario.happen(ProductUpdated(make_product(scenario.ports, "Cup")))
    assert SIGNING in scenario.sent[0]


def webhook_of_a_limited_token(scenario: Scenario) -> str:
    """A webhook that is off, and whose query asks for more than its token can read."""
    make_webhook(scenario.ports, scenario.app, secret=SIGNING, target_url="https://app.example/")
    input_ = {"query": PRODUCT_AND_SECRETS, "isActive": False}
    created: str = scenario.create(scenario.token(PRODUCTS), **input_)["webhook"]["id"]
    return created
