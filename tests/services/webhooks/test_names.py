"""Webhooks by name."""

from app.domain.authorization.actor import OPERATOR
from app.ports import Ports
from app.services.webhooks.lists import WebhookName, list_webhook_names
from tests.builders.apps import make_app
from tests.builders.webhooks import make_webhook


def test_newest_webhook_is_first_with_its_app(ports: Ports) -> None:
    app_id, _ = make_app(ports, "Labels")
    first, second = make_webhook(ports, app_id), make_webhook(ports, app_id)
    assert list_webhook_names(ports, OPERATOR) == (
        WebhookName(second, "hook", app_id, "Labels"),
        WebhookName(first, "hook", app_id, "Labels"),
    )
