"""Deliveries as they come: each told once, whatever page it stands on."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest

from app.commands.webhooks.follow import DeliveryFollower
from app.domain.values.errors import Problem, Refused
from app.domain.values.installation import Fault, Unreachable
from app.ports.instance import (
    DeliveryPage,
    DeliveryQuery,
    InstanceApp,
    InstanceAttempt,
    InstanceDelivery,
    InstanceWebhook,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
APP = InstanceApp("QXBwOjE=", "Warehouse", is_active=True)


def webhook(key: str) -> InstanceWebhook:
    return InstanceWebhook(key, APP, key, "https://app.example.com/", True, (), "", {})  # noqa: FBT003


def delivery(number: int, status: str = "PENDING", *, seconds: int = 0) -> InstanceDelivery:
    when = NOW + timedelta(seconds=seconds or number)
    return InstanceDelivery(f"delivery {number}", "ORDER_PAID", status, when, "{}")


@dataclass(slots=True)
class InstanceWithDeliveries:
    """An instance that has sent these, the newest first, to each webhook."""

    sent: dict[str, list[InstanceDelivery]] = field(default_factory=dict)
    calls: int = 0
    lost: tuple[int, ...] = ()
    """Which of the questions get no answer."""
    fault: Exception = field(default_factory=lambda: Unreachable("The shop", "it is down."))
    removed: set[str] = field(default_factory=set)

    def deliveries(self, webhook_id: str, query: DeliveryQuery) -> DeliveryPage:
        self.calls += 1
        if self.calls in self.lost:
            raise self.fault
        if webhook_id in self.removed:
            raise Refused(Problem("NOT_FOUND", "There is no such webhook.", "id"))
        start = int(query.after or 0)
        end = start + query.size
        every = self.sent.get(webhook_id, [])
        return DeliveryPage(tuple(every[start:end]), str(end) if end < len(every) else "")


def follow(instance: InstanceWithDeliveries, *keys: str) -> DeliveryFollower:
    return DeliveryFollower(instance, [webhook(key) for key in keys], NOW, 0.01)  # type: ignore[arg-type]


def new_ids(follower: DeliveryFollower) -> list[str]:
    return [one.delivery.id for one in follower.new_deliveries()]


def test_each_delivery_is_reported_once_oldest_first() -> None:
    instance = InstanceWithDeliveries({"a": [delivery(2), delivery(1)], "b": [delivery(3)]})
    follower = follow(instance, "a", "b")
    assert new_ids(follower) == ["delivery 1", "delivery 2", "delivery 3"]
    assert new_ids(follower) == []
    instance.sent["a"].insert(0, delivery(4))
    assert new_ids(follower) == ["delivery 4"]


def test_what_was_sent_before_is_no_news() -> None:
    instance = InstanceWithDeliveries({"a": [delivery(2), delivery(1, seconds=-1)]})
    assert new_ids(follow(instance, "a")) == ["delivery 2"]


def test_many_at_once_are_read_page_by_page_and_then_no_further() -> None:
    instance = InstanceWithDeliveries({"a": [delivery(number) for number in range(50, 0, -1)]})
    follower = follow(instance, "a")
    assert len(new_ids(follower)) == 50
    assert instance.calls == 3
    assert new_ids(follower) == []
    assert instance.calls == 4


def test_every_status_change_is_reported() -> None:
    instance = InstanceWithDeliveries({"a": [delivery(1)]})
    follower = follow(instance, "a")
    assert new_ids(follower) == ["delivery 1"]
    attempt = InstanceAttempt(NOW, "FAILED", 500, 0.1, "", {})
    instance.sent["a"] = [replace(delivery(1), attempt=attempt)]
    assert new_ids(follower) == ["delivery 1"]
    instance.sent["a"] = [replace(delivery(1, "SUCCESS"), attempt=attempt)]
    assert new_ids(follower) == ["delivery 1"]
    assert new_ids(follower) == []


def test_delivery_without_key_is_reported_once_it_has_one() -> None:
    instance = InstanceWithDeliveries({"a": [delivery(2), delivery(1, "SUCCESS")]})
    follower = follow(instance, "a")
    follower.key = lambda one: one.id if one.status == "SUCCESS" else ""
    assert new_ids(follower) == ["delivery 1"]
    instance.sent["a"][0] = delivery(2, "SUCCESS")
    assert new_ids(follower) == ["delivery 2"]


def test_following_does_not_end() -> None:
    instance = InstanceWithDeliveries({"a": [delivery(1)]})
    found = []
    for one in islice(follow(instance, "a").stream(), 3):
        found.append(one.delivery.id)
        instance.sent["a"].insert(0, delivery(len(found) + 1))
    assert found == ["delivery 1", "delivery 2", "delivery 3"]


def test_instance_that_is_lost_for_a_while_is_waited_for() -> None:
    instance = InstanceWithDeliveries({"a": [delivery(1)]}, lost=(2, 3))
    follower = follow(instance, "a")
    lines: list[str] = []
    follower.say = lines.append
    news = follower.stream()
    assert next(news).delivery.id == "delivery 1"
    instance.sent["a"].insert(0, delivery(2))
    assert next(news).delivery.id == "delivery 2"
    assert lines == ["The shop cannot be reached: it is down. Retrying.", "Reconnected."]


def test_instance_that_was_never_there_is_not() -> None:
    with pytest.raises(Unreachable):
        next(follow(InstanceWithDeliveries(lost=(1,)), "a").stream())


def test_instance_that_is_not_well_for_a_while_is_waited_for() -> None:
    lines: list[str] = []
    instance = InstanceWithDeliveries(
        {"hook": [delivery(1)]}, lost=(2, 3), fault=Fault("The shop failed.")
    )
    follower = replace(follow(instance, "hook"), say=lines.append)
    coming = follower.stream()
    assert next(coming).delivery.id == "delivery 1"
    instance.sent["hook"].insert(0, delivery(2))
    assert next(coming).delivery.id == "delivery 2"
    assert lines == ["The shop failed. Retrying.", "Reconnected."]


def test_webhook_that_is_removed_ends_the_news_of_it_alone() -> None:
    lines: list[str] = []
    instance = InstanceWithDeliveries({"hook": [], "other": []})
    follower = replace(follow(instance, "hook", "other"), say=lines.append)
    assert new_ids(follower) == []
    instance.removed.add("hook")
    instance.sent["other"].insert(0, delivery(1))
    assert new_ids(follower) == ["delivery 1"]
    assert lines == ["hook was deleted."]
    instance.removed.add("other")
    with pytest.raises(Refused):
        follower.new_deliveries()
