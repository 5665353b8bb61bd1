"""Staff who manage apps have no app's webhook tell them links that let them in as others."""

from collections.abc import Callable

import pytest

from app.domain.authorization.actor import OPERATOR, Actor, ActorKind
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.domain.values.errors import PermissionDenied
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.webhooks.changes import WebhookInput, create_webhook, update_webhook
from tests.builders.apps import make_app
from tests.builders.people import actor_of, make_staff
from tests.builders.webhooks import make_webhook

RESETS = EventType.STAFF_SET_PASSWORD_REQUESTED
MINE = "https://mine.example/"


def create(ports: Ports, actor: Actor, app: int, _webhook: str) -> object:
    return create_webhook(ports, actor, WebhookInput(target_url=MINE, events=(RESETS,)), app)


def create_for_all(ports: Ports, actor: Actor, app: int, _webhook: str) -> object:
    input_ = WebhookInput(target_url=MINE, events=(EventType.ANY_EVENTS,))
    return create_webhook(ports, actor, input_, app)


def create_by_query(ports: Ports, actor: Actor, app: int, _webhook: str) -> object:
    query = "subscription { event { ... on StaffSetPasswordRequested { token } } }"
    return create_webhook(ports, actor, WebhookInput(target_url=MINE, query=query), app)


def lead_elsewhere(ports: Ports, actor: Actor, _app: int, webhook: str) -> object:
    update_webhook(ports, OPERATOR, webhook, "", WebhookInput(events=(RESETS,)))
    return update_webhook(ports, actor, webhook, "", WebhookInput(target_url=MINE))


def hear_more(ports: Ports, actor: Actor, _app: int, webhook: str) -> object:
    return update_webhook(ports, actor, webhook, "", WebhookInput(events=(RESETS,)))


Change = Callable[[Ports, Actor, int, str], object]
CHANGES: tuple[Change, ...] = (create, create_for_all, create_by_query, hear_more, lead_elsewhere)


def make_listener(ports: Ports) -> tuple[int, str]:
    """An app that is told of staff and their links, and a webhook of it."""
    app, _ = make_app(ports, "listener", Permission.MANAGE_STAFF)
    webhook = make_webhook(ports, app, EventType.STAFF_UPDATED, target_url="https://app.example/")
    return app, to_global_id("Webhook", webhook)


def test_link_webhook_is_refused_without_the_permission(ports: Ports) -> None:
    """Its links to set a password would come to them."""
    app, webhook = make_listener(ports)
    desk = actor_of(ports, make_staff(ports, "desk@example.com", Permission.MANAGE_APPS))
    for change in CHANGES:
        with pytest.raises(PermissionDenied) as denied:
            change(ports, desk, app, webhook)
        assert denied.value.required == ("MANAGE_STAFF",), change


def test_link_webhook_is_saved_with_the_permission_and_by_the_operator(ports: Ports) -> None:
    both = (Permission.MANAGE_APPS, Permission.MANAGE_STAFF)
    chief = actor_of(ports, make_staff(ports, "chief@example.com", *both))
    for actor in (chief, OPERATOR):
        app, webhook = make_listener(ports)
        for change in CHANGES:
            assert change(ports, actor, app, webhook), change


def test_app_can_subscribe_its_own_webhook_to_links(ports: Ports) -> None:
    app, webhook = make_listener(ports)
    itself = Actor(ActorKind.APP, app_id=app)
    input_ = WebhookInput(target_url=MINE, events=(RESETS,))
    assert update_webhook(ports, itself, webhook, "", input_).events == (RESETS,)


def test_webhook_of_an_app_without_link_permission_subscribes_to_all_events(ports: Ports) -> None:
    app, _ = make_app(ports, "till", Permission.MANAGE_ORDERS)
    held = (Permission.MANAGE_APPS, Permission.MANAGE_ORDERS)
    desk = actor_of(ports, make_staff(ports, "desk@example.com", *held))
    assert create_for_all(ports, desk, app, "")
