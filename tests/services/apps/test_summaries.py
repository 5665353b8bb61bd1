"""What a list of apps tells of each."""

from app import models
from app.domain.authorization.actor import OPERATOR
from app.domain.events import EventType
from app.ports import Ports
from app.services.apps.app_lists import AppSummary, list_webhooks_of_app, summaries_of_apps
from app.services.apps.app_tokens import create_app_token
from tests.builders.apps import import_token, make_app
from tests.builders.webhooks import make_webhook


def test_tokens_and_webhooks_are_counted_per_app(ports: Ports) -> None:
    first, _ = make_app(ports, "first")
    second, _ = make_app(ports, "second")
    import_token(ports, first, "Zx81SpectrumQl68008Commodore64")
    token = create_app_token(ports, OPERATOR, first).token
    make_webhook(ports, first)
    failing = make_webhook(ports, first)
    with ports.database.transaction() as session:
        session.get_one(models.Webhook, failing).failing_since = ports.clock.now()
    found = summaries_of_apps(ports, OPERATOR, (first, second))
    assert found[first] == AppSummary(
        3, token.last_four, None, webhooks=2, failing=1, unused_imports=1
    )
    assert (found[second].tokens, found[second].webhooks) == (1, 0)
    assert found[second].unused_imports == 0


def test_app_webhooks_are_listed_with_events(ports: Ports) -> None:
    app_id, _ = make_app(ports)
    make_webhook(ports, app_id, EventType.ORDER_CREATED, EventType.PRODUCT_CREATED)
    (webhook,) = list_webhooks_of_app(ports, OPERATOR, app_id)
    assert set(webhook.events) == {EventType.ORDER_CREATED, EventType.PRODUCT_CREATED}
    assert not webhook.is_failing
