"""Staff who manage apps have no app's webhook tell them what they may not see."""

from collections.abc import Callable

import pytest

from app.domain.actor import OPERATOR, Actor
from app.domain.errors import Refused
from app.domain.ids import to_global_id
from app.domain.permissions import Permission
from app.domain.webhooks import AsyncEvent
from app.ports import Ports
from app.services.webhook_changes import (
    WebhookInput,
    create_webhook,
    delete_webhook,
    update_webhook,
)
from tests.builders.apps import make_app
from tests.builders.people import actor_of, make_staff
from tests.builders.webhooks import make_webhook
from tests.services.refusals import codes

RESETS = AsyncEvent.STAFF_SET_PASSWORD_REQUESTED
MINE = "https://mine.example/"


def create(ports: Ports, actor: Actor, app: int, _webhook: str) -> object:
    return create_webhook(ports, actor, WebhookInput(target_url=MINE, events=(RESETS,)), app)


def lead_elsewhere(ports: Ports, actor: Actor, _app: int, webhook: str) -> object:
    return update_webhook(ports, actor, webhook, "", WebhookInput(target_url=MINE))


def hear_more(ports: Ports, actor: Actor, _app: int, webhook: str) -> object:
    return update_webhook(ports, actor, webhook, "", WebhookInput(events=(RESETS,)))


def delete(ports: Ports, actor: Actor, _app: int, webhook: str) -> object:
    return delete_webhook(ports, actor, webhook)


Change = Callable[[Ports, Actor, int, str], object]
EVERY = pytest.mark.parametrize("change", [create, lead_elsewhere, hear_more, delete])


def make_listener(ports: Ports) -> tuple[int, str]:
    """An app that is told of staff and their links, and a webhook of it."""
    app, _ = make_app(ports, "listener", Permission.MANAGE_STAFF)
    webhook = make_webhook(ports, app, AsyncEvent.STAFF_UPDATED, target_url="https://app.example/")
    return app, to_global_id("Webhook", webhook)


@EVERY
def test_the_webhooks_of_an_app_that_may_do_more_are_not_theirs_to_manage(
    ports: Ports, change: Change
) -> None:
    """Its links to set a password would come to them."""
    app, webhook = make_listener(ports)
    desk = actor_of(ports, make_staff(ports, "desk@example.com", Permission.MANAGE_APPS))
    with pytest.raises(Refused) as refused:
        change(ports, desk, app, webhook)
    assert codes(refused) == [("app" if change is create else "id", "INVALID")]
    assert "it has permissions that you lack: MANAGE_STAFF" in str(refused.value)


@EVERY
def test_those_of_an_app_that_may_do_no_more_are(ports: Ports, change: Change) -> None:
    app, webhook = make_listener(ports)
    both = (Permission.MANAGE_APPS, Permission.MANAGE_STAFF)
    chief = actor_of(ports, make_staff(ports, "chief@example.com", *both))
    assert change(ports, chief, app, webhook)


@EVERY
def test_the_operator_manages_all(ports: Ports, change: Change) -> None:
    assert change(ports, OPERATOR, *make_listener(ports))
