"""Deliveries of several webhooks, and attempts at several deliveries, are read at once."""

import pytest

from app.domain.authorization.actor import OPERATOR, Actor, ActorKind
from app.domain.deliveries.deliveries import DeliveryStatus
from app.domain.values.pages import PageRequest
from app.ports import Ports
from app.services.deliveries.lists import (
    DeliveryFilter,
    attempts_of_deliveries,
    deliveries_of_webhooks,
)
from tests.builders.apps import make_app
from tests.builders.deliveries import store_attempt, store_deliveries
from tests.builders.webhooks import make_webhook
from tests.fixtures.statements import recorded_statements, selects

TWO = PageRequest(2)
FAILED = DeliveryStatus.FAILED


@pytest.mark.both_databases
def test_app_reads_pages_of_its_own_webhooks_and_nothing_of_others(ports: Ports) -> None:
    (own, _), (foreign, _) = (make_app(ports, name) for name in ("own", "foreign"))
    webhooks = [make_webhook(ports, app) for app in (own, own, own, foreign)]
    made = {
        webhook: store_deliveries(ports, webhook, FAILED, count=number)
        for number, webhook in enumerate(webhooks)
    }
    newest = {webhook: keys[::-1][:2] for webhook, keys in made.items()}
    itself = Actor(ActorKind.APP, app_id=own)
    nothing: dict[int, list[int]] = {webhooks[3]: []}
    for actor, hidden in ((OPERATOR, {}), (itself, nothing)):
        with recorded_statements() as statements:
            found = deliveries_of_webhooks(ports, actor, webhooks, TWO, DeliveryFilter(FAILED))
        assert len(selects(statements)) == 1
        shown = {webhook: [one.id for one in page.items] for webhook, page in found.items()}
        assert shown == newest | hidden
        assert [found[webhook].has_next for webhook in webhooks] == [False] * 3 + [not hidden]


@pytest.mark.both_databases
def test_app_reads_attempts_at_its_own_deliveries_and_none_at_others(ports: Ports) -> None:
    (own, _), (foreign, _) = (make_app(ports, name) for name in ("own", "foreign"))
    deliveries = [
        key
        for app, count in ((own, 3), (foreign, 1))
        for key in store_deliveries(ports, make_webhook(ports, app), FAILED, count=count)
    ]
    made = {
        key: [store_attempt(ports, key, answered=500 + each) for each in range(number)]
        for number, key in enumerate(deliveries)
    }
    newest = {delivery: keys[::-1][:2] for delivery, keys in made.items()}
    itself = Actor(ActorKind.APP, app_id=own)
    nothing: dict[int, list[int]] = {deliveries[3]: []}
    for actor, hidden in ((OPERATOR, {}), (itself, nothing)):
        with recorded_statements() as statements:
            found = attempts_of_deliveries(ports, actor, deliveries, TWO)
        assert len(selects(statements)) == 1
        shown = {delivery: [one.id for one in page.items] for delivery, page in found.items()}
        assert shown == newest | hidden
        assert [one.response_status for one in found[deliveries[2]].items] == [501, 500]
