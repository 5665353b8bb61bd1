"""Whoever tries what an app would be told sees by the app's rights, and none of its secrets."""

import pytest

from app.domain.authorization.actor import WORKER, Actor
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.accounts.password_resets import answer_reset_requests, request_password_reset
from app.services.deliveries.dry_runs import dry_run_webhook
from app.services.deliveries.fanout import fan_out_events
from tests.builders.apps import make_app
from tests.builders.outbox import mails, token_in
from tests.builders.people import NOBODY, actor_of, make_staff
from tests.builders.webhooks import make_webhook
from tests.services.error_codes import codes

_SECRETS = "webhooks { secretKey customHeaders targetUrl }"
_DELIVERIES = "webhooks { eventDeliveries(first: 5) { edges { node { payload } } } }"


def query_for(selection: str) -> str:
    """Who hears of a change of staff, and what belongs to that app."""
    return f"subscription {{ event {{ ... on StaffUpdated {{ recipient {{ {selection} }} }} }} }}"


@pytest.fixture
def listener(ports: Ports) -> str:
    """An app that hears whenever staff want a new password."""
    app, _ = make_app(ports, "listener", Permission.MANAGE_STAFF)
    heard = EventType(EventType.STAFF_SET_PASSWORD_REQUESTED.value)
    make_webhook(ports, app, heard, secret="a secret of the app's", custom_headers={"X-Key": "k"})
    return to_global_id("App", app)


def chief(ports: Ports, *also: Permission) -> Actor:
    return actor_of(ports, make_staff(ports, "chief@example.com", Permission.MANAGE_STAFF, *also))


@pytest.mark.parametrize("selection", [_SECRETS, _DELIVERIES])
def test_webhooks_are_hidden_from_staff_without_manage_apps(
    ports: Ports, listener: str, selection: str
) -> None:
    with pytest.raises(Refused) as refused:
        dry_run_webhook(ports, chief(ports), query=query_for(selection), app=listener)
    assert codes(refused) == [("query", "GRAPHQL_ERROR")]
    assert "MANAGE_APPS" in str(refused.value)


def test_manage_apps_sees_custom_headers(ports: Ports, listener: str) -> None:
    actor = chief(ports, Permission.MANAGE_APPS)
    ran = dry_run_webhook(ports, actor, query=query_for(_SECRETS), app=listener)
    assert "a secret of the app's" in ran.payload


def test_dry_run_hides_the_link_of_the_last_delivery(ports: Ports, listener: str) -> None:
    actor = chief(ports, Permission.MANAGE_APPS)
    make_staff(ports, "boss@example.com")
    request_password_reset(
        ports, NOBODY, email="boss@example.com", redirect_url="http://localhost:3000/reset"
    )
    answer_reset_requests(ports, WORKER)
    fan_out_events(ports, WORKER)

    ran = dry_run_webhook(ports, actor, query=query_for(_DELIVERIES), app=listener)

    (mail,) = mails(ports)
    assert "boss@example.com" in ran.payload
    assert token_in(mail) not in ran.payload
    assert "(hidden)" in ran.payload
