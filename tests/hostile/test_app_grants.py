"""A webhook that waits on an app without rights gains nothing by a later grant unnoticed."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from app import models
from app.domain.authorization.actor import OPERATOR, WORKER, Actor, ActorKind
from app.domain.authorization.permissions import Permission
from app.domain.events import AccountSetPasswordRequested, CustomerUpdated, EventType
from app.domain.values.ids import to_global_id
from app.domain.values.pages import PageRequest
from app.domain.webhooks import Saver
from app.ports import Ports
from app.ports.http import HttpResponse
from app.services.apps.app_changes import AppChange, update_app
from app.services.apps.app_lists import list_apps
from app.services.deliveries.fanout import fan_out_events
from app.services.outbox.publisher import add_event
from app.services.webhooks.app_reach import WebhooksNotConfirmed
from app.services.webhooks.changes import WebhookInput, create_webhook, update_webhook
from app.services.webhooks.stored_webhooks import read_saver
from tests.builders.apps import app_as_stored, make_app
from tests.builders.audit import trail
from tests.builders.deliveries import work_off
from tests.builders.people import actor_of, make_staff, make_user, sign_in
from tests.builders.webhooks import make_webhook
from tests.commands.shell import run
from tests.console.staff_client import ConsoleClient
from tests.fakes.fake_http import FakeHttp
from tests.fixtures.kept_application import AppOn
from tests.graphql.shop_client import ApiClient
from tests.servers.apps import app_server
from tests.services.installation_helpers import boss, want, work

APPS, ORDERS, PRODUCTS, STAFF, USERS = (
    Permission.MANAGE_APPS,
    Permission.MANAGE_ORDERS,
    Permission.MANAGE_PRODUCTS,
    Permission.MANAGE_STAFF,
    Permission.MANAGE_USERS,
)
LINKS = (EventType.STAFF_SET_PASSWORD_REQUESTED, EventType.ACCOUNT_SET_PASSWORD_REQUESTED)
MINE = "https://mine.example/"
USER = ActorKind.USER
UPDATE = """
mutation ($id: ID!, $input: AppInput!) {
  appUpdate(id: $id, input: $input) {
    app { permissions { code } } errors { field code message permissions }
  }
}"""


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """One kind of database is enough: the rule stands above it."""
    return sqlite_url


def plant(
    ports: Ports, app: int, *permissions: Permission, events: tuple[EventType, ...] = LINKS
) -> None:
    """Save a webhook on ``app`` as somebody who manages apps and holds ``permissions``."""
    console = actor_of(ports, make_staff(ports, "desk@example.com", APPS, *permissions))
    create_webhook(ports, console, WebhookInput(name="Trap", target_url=MINE, events=events), app)


def granter(ports: Ports) -> int:
    return make_staff(ports, "chief@example.com", APPS, ORDERS, PRODUCTS, STAFF, USERS)


def grant(ports: Ports, app: int, *permissions: Permission) -> Any:
    chief = sign_in(ports, granter(ports)).access
    input_ = {"permissions": [permission.value for permission in permissions]}
    return ApiClient(ports).run(UPDATE, chief, id=to_global_id("App", app), input=input_)


@pytest.mark.parametrize(
    "events", [LINKS, (EventType.ANY_EVENTS,), (EventType.STAFF_UPDATED,), ()]
)
def test_api_refuses_a_grant_and_names_the_webhook_and_who_saved_it(
    ports: Ports, events: tuple[EventType, ...]
) -> None:
    app, _ = make_app(ports, "harmless")
    plant(ports, app, events=events)
    response = grant(ports, app, ORDERS, STAFF)
    assert response["app"] is None
    (error,) = response["errors"]
    assert (error["field"], error["code"]) == ("permissions", "OUT_OF_SCOPE_PERMISSION")
    assert error["permissions"] == ["MANAGE_ORDERS", "MANAGE_STAFF"]
    assert "Trap" in error["message"]
    assert "desk@example.com" in error["message"]
    assert app_as_stored(ports, app).permissions == frozenset()


def test_webhook_change_keeps_its_saver(ports: Ports) -> None:
    app, _ = make_app(ports, "harmless")
    plant(ports, app, events=(EventType.APP_UPDATED,))
    other = actor_of(ports, make_staff(ports, "other@example.com", APPS))
    update_webhook(
        ports, other, to_global_id("Webhook", 1), "", WebhookInput(events=LINKS, is_active=False)
    )
    (error,) = grant(ports, app, USERS)["errors"]
    assert "other@example.com" in error["message"]


def test_manifest_webhooks_are_saved_by_the_installer(ports: Ports) -> None:
    links = "subscription { event { ... on AccountSetPasswordRequested { token } } }"
    webhooks = [{"name": "Own", "targetUrl": MINE, "query": links}]
    with app_server(webhooks=webhooks) as app:
        want(ports, app, boss(ports))
        work(ports)
    [installed] = list_apps(ports, OPERATOR, PageRequest(10)).items
    (error,) = grant(ports, installed.id, USERS)["errors"]
    assert (error["code"], error["permissions"]) == ("OUT_OF_SCOPE_PERMISSION", ["MANAGE_USERS"])
    assert "boss@example.com" in error["message"]


def test_planted_webhook_is_not_sent_what_its_saver_cannot_read(ports: Ports) -> None:
    app, _ = make_app(ports, "harmless")
    plant(ports, app, events=(EventType.CUSTOMER_UPDATED, EventType.STAFF_UPDATED))
    with pytest.raises(WebhooksNotConfirmed):
        update_app(ports, OPERATOR, app, AppChange(permissions=frozenset({USERS, STAFF})))
    assert sent_of_customer(ports) == []


@pytest.mark.parametrize(
    ("permissions", "events"),
    [((STAFF, USERS), LINKS), ((USERS, STAFF, ORDERS), (EventType.ANY_EVENTS,))],
)
def test_grant_is_made_if_the_saver_had_the_rights(
    ports: Ports, permissions: tuple[Permission, ...], events: tuple[EventType, ...]
) -> None:
    app, _ = make_app(ports, "mailer")
    plant(ports, app, *permissions, events=events)
    assert grant(ports, app, STAFF, USERS)["errors"] == []


def saved_by_app(ports: Ports, app: int) -> None:
    itself = Actor(ActorKind.APP, app_id=app)
    create_webhook(ports, itself, WebhookInput(target_url=MINE, events=LINKS))


def saved_by_operator(ports: Ports, app: int) -> None:
    create_webhook(ports, OPERATOR, WebhookInput(target_url=MINE, events=LINKS), app)


def saved_by_superuser(ports: Ports, app: int) -> None:
    root = actor_of(ports, make_user(ports, "root@example.com", is_staff=True, is_superuser=True))
    create_webhook(ports, root, WebhookInput(target_url=MINE, events=LINKS), app)


def saved_before_savers_were_recorded(ports: Ports, app: int) -> None:
    make_webhook(ports, app, *LINKS)


@pytest.mark.parametrize(
    "save",
    [saved_by_app, saved_by_operator, saved_by_superuser, saved_before_savers_were_recorded],
)
def test_grant_is_made_without_people_who_lack_permissions(
    ports: Ports, save: Callable[[Ports, int], None]
) -> None:
    app, _ = make_app(ports, "mailer")
    save(ports, app)
    assert grant(ports, app, STAFF, USERS)["errors"] == []


def test_webhook_whose_saver_lacks_permissions_of_the_app_goes_on(ports: Ports) -> None:
    """As saved before it was required to hold them all; other changes don't ask, either."""
    app, _ = make_app(ports, "crm", USERS)
    make_webhook(ports, app, EventType.CUSTOMER_UPDATED, saver=Saver(USER, "desk", frozenset()))
    update_app(ports, OPERATOR, app, AppChange(name="CRM", permissions=frozenset({USERS})))
    assert len(sent_of_customer(ports)) == 1
    update_app(ports, OPERATOR, app, AppChange(permissions=frozenset()))


def test_confirmation_takes_nothing_from_what_was_saved_before(ports: Ports) -> None:
    app, _ = make_app(ports, "mailer", USERS)
    plant(ports, app, USERS)
    desk = actor_of(ports, make_staff(ports, "buyer@example.com", APPS, USERS, ORDERS))
    granted = AppChange(permissions=frozenset({USERS, ORDERS}))
    update_app(ports, desk, app, granted, confirmed=True)
    with ports.database.reading() as session:
        saver = read_saver(session.get_one(models.Webhook, 1))
    assert saver == Saver(USER, "buyer@example.com", frozenset({APPS, USERS, ORDERS}))


def sent_of_customer(ports: Ports) -> list[bytes | None]:
    """Change a customer, and return the bodies of what webhooks are sent about it."""
    customer = make_user(ports, "ann@example.com")
    with ports.database.transaction() as session:
        add_event(ports, OPERATOR, session, CustomerUpdated(customer))
    return bodies(ports)


def test_grant_passes_after_saving_the_webhook_with_the_permission(ports: Ports) -> None:
    app, _ = make_app(ports, "mailer")
    plant(ports, app)
    chief = actor_of(ports, granter(ports))
    granted = AppChange(permissions=frozenset({STAFF, USERS}))
    with pytest.raises(WebhooksNotConfirmed):
        update_app(ports, chief, app, granted)
    update_webhook(ports, chief, to_global_id("Webhook", 1), "", WebhookInput(name="Mine now"))
    assert STAFF in update_app(ports, chief, app, granted).permissions


def customer_link_is_sent(ports: Ports) -> bool:
    customer = make_user(ports, "ann@example.com")
    with ports.database.transaction() as session:
        add_event(ports, OPERATOR, session, AccountSetPasswordRequested(customer, token="sesame"))
    return any(b'"sesame"' in (body or b"") for body in bodies(ports))


def bodies(ports: Ports) -> list[bytes | None]:
    fan_out_events(ports, WORKER)
    http = FakeHttp(ports.database, lambda _request: HttpResponse(200))
    work_off(replace(ports, http=http))
    return [request.body for request in http.requests]


def test_command_line_asks_for_confirmation(ports: Ports) -> None:
    app, _ = make_app(ports, "harmless")
    plant(ports, app)
    command = ("app", "update", "harmless", "--permission", "MANAGE_USERS")
    result = run(ports, *command)
    assert result.exit_code == 2
    for part in ("Trap", "desk@example.com", "MANAGE_USERS"):
        assert part in result.stderr
    assert app_as_stored(ports, app).permissions == frozenset()

    assert run(ports, *command, "--yes").exit_code == 0
    assert app_as_stored(ports, app).permissions == {USERS}
    (confirmed,) = trail(ports, "webhook.confirm")
    assert confirmed.before == {"saved_by": "desk@example.com"}
    assert customer_link_is_sent(ports)


def test_command_line_does_not_ask_without_need(ports: Ports) -> None:
    app, _ = make_app(ports, "harmless")
    plant(ports, app, ORDERS)
    assert run(ports, "app", "update", "harmless", "--permission", "MANAGE_ORDERS").exit_code == 0
    assert app_as_stored(ports, app).permissions == {ORDERS}


def test_console_asks_for_confirmation(ports: Ports, app_on: AppOn) -> None:
    app, _ = make_app(ports, "harmless")
    plant(ports, app)
    granter(ports)
    console = ConsoleClient(app_on(ports).test_client(), ports)
    console.sign_in("chief@example.com")
    page = f"/console/apps/{app}"
    form: dict[str, Any] = {"permissions": ["MANAGE_USERS", "MANAGE_ORDERS"]}
    response = console.send(f"{page}/permissions", form, seen_at=page)
    assert response.status == 422
    assert "Grant these permissions to harmless?" in response.text
    for part in ("Trap", "desk@example.com", "Manage users", MINE):
        assert part in response.text
    inputs = re.findall(r'name="permissions"\s+value="MANAGE_USERS"', response.html)
    assert len(inputs) == 2
    assert app_as_stored(ports, app).permissions == frozenset()

    done = console.send(f"{page}/permissions", {**form, "confirmed": "yes"}, seen_at=page)
    assert done.status == 303
    assert app_as_stored(ports, app).permissions == {USERS, ORDERS}
    (confirmed,) = trail(ports, "webhook.confirm")
    assert confirmed.after == {"saved_by": "chief@example.com"}
    assert customer_link_is_sent(ports)


def test_confirmation_does_not_grant_missing_permissions(ports: Ports, app_on: AppOn) -> None:
    app, _ = make_app(ports, "harmless")
    plant(ports, app)
    make_staff(ports, "chief@example.com", APPS, ORDERS)
    console = ConsoleClient(app_on(ports).test_client(), ports)
    console.sign_in("chief@example.com")
    page = f"/console/apps/{app}"
    form: dict[str, Any] = {"permissions": ["MANAGE_USERS"], "confirmed": "yes"}
    assert console.send(f"{page}/permissions", form, seen_at=page).status == 422
    assert app_as_stored(ports, app).permissions == frozenset()
