"""The secret of a link goes only to a webhook that holds every right of the link's subject."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from app import models
from app.domain.authorization.actor import OPERATOR, WORKER, Actor, ActorKind
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.events import (
    AccountChangeEmailRequested,
    AccountSetPasswordRequested,
    EventType,
    LinkRequested,
    StaffSetPasswordRequested,
)
from app.domain.values.errors import PermissionDenied
from app.domain.values.ids import to_global_id
from app.domain.webhooks import Saver
from app.ports import Ports
from app.ports.http import HttpResponse
from app.services.accounts.password_resets import answer_reset_requests, request_password_reset
from app.services.apps.app_changes import AppChange, update_app
from app.services.deliveries.fanout import fan_out_events
from app.services.deliveries.lists import show_delivery
from app.services.deliveries.replays import replay_deliveries, retry_delivery
from app.services.outbox.publisher import add_event
from app.services.webhooks.changes import WebhookInput, create_webhook
from tests.builders.apps import make_app
from tests.builders.deliveries import work_off
from tests.builders.outbox import mails, token_in
from tests.builders.people import NOBODY, actor_of, change_user, make_group, make_staff, make_user
from tests.builders.webhooks import make_webhook
from tests.fakes.clock import FakeClock
from tests.fakes.fake_http import FakeHttp

APPS, ORDERS, STAFF, USERS = (
    Permission.MANAGE_APPS,
    Permission.MANAGE_ORDERS,
    Permission.MANAGE_STAFF,
    Permission.MANAGE_USERS,
)
SECRET = "a5f8sesame9c1"
MINE = "https://mine.example/"
RESETS = (EventType.STAFF_SET_PASSWORD_REQUESTED, EventType.ACCOUNT_SET_PASSWORD_REQUESTED)
RENAMED = "subscription { event { ...on StaffSetPasswordRequested { a: token token } } }"
NOT_SENT = "Not sent: this link gives access to an account with permissions that the app"


@dataclass
class Scenario:
    """A shop, and what its webhooks were sent."""

    ports: Ports
    http: FakeHttp

    def work(self) -> None:
        fan_out_events(self.ports, WORKER)
        work_off(replace(self.ports, http=self.http))

    def ask(self, event: LinkRequested) -> None:
        with self.ports.database.transaction() as session:
            add_event(self.ports, OPERATOR, session, event)

    def listener(self, *permissions: Permission) -> int:
        app, _ = make_app(self.ports, "listener", *permissions)
        make_webhook(self.ports, app, EventType.ANY_EVENTS)
        return app

    @property
    def sent(self) -> str:
        return "".join((request.body or b"").decode() for request in self.http.requests)

    @property
    def delivery(self) -> models.Delivery:
        with self.ports.database.reading() as session:
            return session.get_one(models.Delivery, 1)


@pytest.fixture
def database_url(sqlite_url: str) -> str:
    """One kind of database is enough for most: what is sent does not depend on it."""
    return sqlite_url


@pytest.fixture
def scenario(ports: Ports) -> Scenario:
    return Scenario(ports, FakeHttp(ports.database, lambda _request: HttpResponse(200)))


def superuser(ports: Ports) -> int:
    return make_user(ports, "boss@example.com", is_superuser=True)


def in_group(ports: Ports) -> int:
    group = make_group(ports, "Orders", ORDERS)
    return make_user(ports, "boss@example.com", is_staff=True, groups=[group])


def directly(ports: Ports) -> int:
    return make_staff(ports, "boss@example.com", ORDERS)


def test_manager_of_apps_and_staff_does_not_become_superuser(scenario: Scenario) -> None:
    ports = scenario.ports
    attacker = actor_of(ports, make_staff(ports, "desk@example.com", APPS, STAFF))
    app, _ = make_app(ports, "mine", STAFF)
    input_ = WebhookInput(target_url=MINE, events=RESETS)
    create_webhook(ports, attacker, input_, app)
    superuser(ports)
    address = "http://localhost:3000/reset"
    request_password_reset(ports, NOBODY, email="boss@example.com", redirect_url=address)
    answer_reset_requests(ports, WORKER)
    scenario.work()

    (mail,) = mails(ports)
    assert json.loads(scenario.sent)["user"]["email"] == "boss@example.com"
    assert json.loads(scenario.sent)["token"] is None
    assert token_in(mail) not in scenario.sent


@pytest.mark.parametrize("subject", [superuser, in_group, directly])
def test_app_with_manage_staff_gets_no_link_of_people_with_more(
    scenario: Scenario, subject: Callable[[Ports], int]
) -> None:
    scenario.listener(STAFF, USERS)
    person = subject(scenario.ports)
    for kind in (StaffSetPasswordRequested, AccountChangeEmailRequested):
        scenario.ask(kind(person, token=SECRET))
    scenario.work()
    assert scenario.sent.count('"token": null') == 2
    assert SECRET not in scenario.sent


def test_superusers_link_goes_to_no_app(scenario: Scenario) -> None:
    scenario.listener(*(ALL_PERMISSIONS - {APPS}))
    scenario.ask(StaffSetPasswordRequested(superuser(scenario.ports), token=SECRET))
    scenario.work()
    assert SECRET not in scenario.sent


def test_staff_links_go_to_no_app_with_only_manage_users(scenario: Scenario) -> None:
    scenario.listener(USERS)
    person = make_staff(scenario.ports, "clerk@example.com")
    scenario.ask(AccountChangeEmailRequested(person, token=SECRET))
    scenario.work()
    assert '"token": null' in scenario.sent


def test_person_who_saved_the_webhook_gains_nothing_by_the_rights_of_the_app(
    scenario: Scenario,
) -> None:
    ports = scenario.ports
    app, _ = make_app(ports, "wide", STAFF, ORDERS)
    desk = Saver(ActorKind.USER, "desk@example.com", frozenset({APPS, STAFF}))
    make_webhook(ports, app, *RESETS, target_url=MINE, saver=desk)
    scenario.ask(StaffSetPasswordRequested(directly(ports), token=SECRET))
    scenario.work()
    assert '"token": null' in scenario.sent


def test_webhook_saved_before_the_app_was_granted_the_right_gets_no_link(
    scenario: Scenario,
) -> None:
    """However the grant came about: also past the question that is asked at granting."""
    ports = scenario.ports
    attacker = actor_of(ports, make_staff(ports, "desk@example.com", APPS))
    app, _ = make_app(ports, "harmless")
    create_webhook(ports, attacker, WebhookInput(target_url=MINE, events=RESETS), app)
    from_other_provider(ports, app, STAFF, USERS)
    customer = make_user(ports, "ann@example.com")
    scenario.ask(AccountSetPasswordRequested(customer, token=SECRET))
    scenario.ask(StaffSetPasswordRequested(make_staff(ports, "clerk@example.com"), token=SECRET))
    scenario.work()
    assert scenario.sent.count('"token": null') == 2
    assert SECRET not in scenario.sent


def from_other_provider(ports: Ports, app: int, *permissions: Permission) -> None:
    with ports.database.transaction() as session:
        session.add_all(
            models.AppPermission(app_id=app, permission=permission.value)
            for permission in permissions
        )


@pytest.mark.parametrize("query", ["", RENAMED])
def test_no_link_is_sent_after_the_subject_is_promoted(
    scenario: Scenario, clock: FakeClock, query: str
) -> None:
    ports = scenario.ports
    app, _ = make_app(ports, "listener", STAFF)
    make_webhook(ports, app, EventType.STAFF_SET_PASSWORD_REQUESTED, query=query)
    person = make_staff(ports, "clerk@example.com")
    scenario.http.answer = lambda _request: HttpResponse(500)
    scenario.ask(StaffSetPasswordRequested(person, token=SECRET))
    scenario.work()
    assert SECRET in scenario.sent
    scenario.http.requests.clear()
    change_user(ports, person, is_superuser=True)

    clock.pass_(minutes=5)
    scenario.work()
    assert scenario.sent == ""
    assert scenario.delivery.status == "FAILED"
    assert scenario.delivery.given_up.startswith(NOT_SENT)

    retry_delivery(ports, OPERATOR, to_global_id("EventDelivery", scenario.delivery.id))
    scenario.work()
    replay_deliveries(ports, OPERATOR, 1, clock.now().replace(year=2020))
    scenario.work()
    assert scenario.sent == ""


def test_no_link_is_sent_after_the_app_lost_a_permission(
    scenario: Scenario, clock: FakeClock
) -> None:
    ports = scenario.ports
    app = scenario.listener(STAFF, ORDERS)
    scenario.http.answer = lambda _request: HttpResponse(500)
    scenario.ask(StaffSetPasswordRequested(directly(ports), token=SECRET))
    scenario.work()
    scenario.http.requests.clear()
    update_app(ports, OPERATOR, app, AppChange(permissions=frozenset({STAFF})))
    clock.pass_(minutes=5)
    scenario.work()
    assert scenario.sent == ""

    itself = Actor(ActorKind.APP, app_id=app)
    shown = show_delivery(ports, itself, scenario.delivery.id)
    assert shown is not None
    assert SECRET not in shown.payload


def test_missing_deliveries_use_current_rights(scenario: Scenario, clock: FakeClock) -> None:
    ports = scenario.ports
    person = make_staff(ports, "clerk@example.com")
    scenario.ask(StaffSetPasswordRequested(person, token=SECRET))
    scenario.work()
    scenario.listener(STAFF)
    change_user(ports, person, is_superuser=True)
    replayed = replay_deliveries(ports, OPERATOR, 1, clock.now().replace(year=2020))
    assert replayed.missing == 1
    scenario.work()
    assert json.loads(scenario.sent)["token"] is None


def test_delivery_of_a_deleted_event_is_checked_before_sending(
    scenario: Scenario, clock: FakeClock
) -> None:
    """Nobody can tell any more whether its payload holds the secret."""
    ports = scenario.ports
    scenario.listener(STAFF)
    person = make_staff(ports, "clerk@example.com")
    scenario.http.answer = lambda _request: HttpResponse(500)
    scenario.ask(StaffSetPasswordRequested(person, token=SECRET))
    scenario.work()
    scenario.http.requests.clear()
    with ports.database.transaction() as session:
        session.delete(session.get_one(models.OutboxEvent, 1))
        session.add(models.UserPermission(user_id=person, permission=ORDERS.value))
    clock.pass_(minutes=5)
    scenario.work()
    assert scenario.sent == ""


def test_link_goes_to_webhooks_with_all_of_its_subjects_rights(
    scenario: Scenario, clock: FakeClock
) -> None:
    ports = scenario.ports
    chief = actor_of(ports, make_staff(ports, "chief@example.com", APPS, STAFF, USERS, ORDERS))
    app, _ = make_app(ports, "mailer", STAFF, USERS, ORDERS)
    create_webhook(ports, chief, WebhookInput(target_url=MINE, events=RESETS), app)
    make_webhook(ports, app, *RESETS)  # from before it was recorded who saved it
    customer = make_user(ports, "ann@example.com")
    scenario.http.answer = lambda _request: HttpResponse(500)
    scenario.ask(AccountSetPasswordRequested(customer, token=SECRET))
    scenario.ask(StaffSetPasswordRequested(directly(ports), token=SECRET))
    scenario.work()
    assert scenario.sent.count(f'"token": "{SECRET}"') == 4
    scenario.http.requests.clear()
    clock.pass_(minutes=5)
    scenario.work()
    assert scenario.sent.count(f'"token": "{SECRET}"') == 2  # one for each endpoint that fails


def test_saving_a_link_webhook_needs_the_permission_of_its_events(scenario: Scenario) -> None:
    ports = scenario.ports
    client = actor_of(ports, make_staff(ports, "desk@example.com", APPS))
    app, _ = make_app(ports, "mailer", STAFF)
    with pytest.raises(PermissionDenied):
        create_webhook(ports, client, WebhookInput(target_url=MINE, events=RESETS), app)
