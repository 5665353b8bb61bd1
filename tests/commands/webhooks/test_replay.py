"""``flask webhook replay`` goes on until nothing is missing any more."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import func, select

from app import models
from app.domain.events import EventType
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.deliveries import replays
from tests.builders.apps import make_app
from tests.builders.deliveries import store_attempt
from tests.builders.webhooks import (
    change_delivery,
    change_webhook,
    make_delivery,
    make_missed_events,
    make_webhook,
)
from tests.commands.shell import run, run_json
from tests.fakes.clock import FakeClock
from tests.fakes.payloads import FakePayloads


def test_all_that_is_missing_is_made_however_much_it_is(
    ports: Ports, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replays, "MAX_MISSING", 50)
    telling = replace(ports, payloads=FakePayloads(ports.database))
    make_missed_events(telling, 120)
    since = (clock.now() - timedelta(hours=1)).isoformat()

    page = run_json(telling, "webhook", "replay", "hook", "--since", since)

    assert page == {"failed": 0, "missing": 120}
    with ports.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(models.Delivery)) == 120


def test_replay_says_what_it_sends_before_it_does(ports: Ports, clock: FakeClock) -> None:
    telling = replace(ports, payloads=FakePayloads(ports.database))
    make_missed_events(telling, 2)
    change_webhook(telling, 1, created_at=clock.now() + timedelta(seconds=1))
    since = (clock.now() - timedelta(hours=1)).isoformat()
    command = ("webhook", "replay", "hook", "--since", since)
    assert run_json(telling, *command, "--preview") == {"failed": 0, "missing": 0, "earlier": 2}
    first = run(telling, *command)
    assert "Missed events to send: 0. " in first.stderr
    assert "Left out, from before the webhook was created: 2." in first.stderr
    sent = run(telling, *command, "--before-creation")
    assert "Missed events to send: 2. To: https://app.example.com/hook." in sent.stderr
    assert "Deliveries scheduled to https://app.example.com/hook: 2." in sent.stderr


def test_retrying_deliveries_are_listed_and_sent_now(ports: Ports, clock: FakeClock) -> None:
    app, _ = make_app(ports, "Feed")
    webhook = make_webhook(ports, app)
    make_delivery(ports, webhook)
    later = make_delivery(ports, webhook)
    change_delivery(ports, later, attempts=1, next_attempt_at=clock.now() + timedelta(hours=1))
    store_attempt(ports, later, answered=503)
    listed = run_json(ports, "webhook", "deliveries", "--status", "retrying")
    assert [delivery["id"] for delivery in listed] == [to_global_id("EventDelivery", later)]
    assert run_json(ports, "webhook", "send-waiting", "hook") == {"count": 1}
    assert run_json(ports, "webhook", "send-waiting", "hook") == {"count": 0}


def test_nothing_of_a_paused_webhook_is_said_to_be_sent(ports: Ports, clock: FakeClock) -> None:
    app, _ = make_app(ports, "Feed")
    webhook = make_webhook(ports, app, EventType.ANY_EVENTS)
    failed = make_delivery(ports, webhook)
    change_delivery(ports, failed, status="FAILED", attempts=10, next_attempt_at=None)
    since = (clock.now() - timedelta(hours=1)).isoformat()
    replay = ("webhook", "replay", "hook", "--since", since, "--failed")
    said = "The webhook is paused: its deliveries are sent, in order, once it is resumed: "
    assert said not in run(ports, "webhook", "send-waiting", "hook").stderr
    other = make_webhook(ports, app, EventType.ANY_EVENTS)
    change_webhook(ports, other, name="other")
    run(ports, "webhook", "pause", to_global_id("Webhook", other))
    make_delivery(ports, other)
    run(ports, "webhook", "pause", "hook")
    for command in (("webhook", "send-waiting", "hook"), replay):
        answer = run(ports, *command)
        assert said in answer.stderr
        assert "now:" not in answer.stderr
    retry = ("webhook", "retry", to_global_id("EventDelivery", failed))
    answer = run(ports, *retry)
    assert "The webhook 'hook' is paused" in answer.stderr
    assert "'other'" not in answer.stderr
    assert f"flask webhook resume {to_global_id('Webhook', webhook)}" in answer.stderr
    run(ports, "webhook", "resume", "hook")
    assert said not in run(ports, *replay).stderr
    assert "paused" not in run(ports, *retry).stderr
