"""A storefront is closed for a reason and until a time, and opens by itself then."""

import time
from datetime import UTC, datetime, timedelta
from threading import Event, Thread
from typing import Any

import pytest

from app.adapters.activity import SqlActivity
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.shop.settings import ShopSettings, ShopUpdate
from app.domain.values.errors import Refused
from app.ports import Ports
from app.services.authorization.shop_state import load_shop_state
from app.services.console.saved_filters import show_badges
from app.services.shop.impact import show_impact
from app.services.shop.settings import Closing, open_storefront_on_time, show_settings, update_shop
from app.worker.tasks import TASKS, run_tasks
from tests.builders.audit import trail
from tests.fakes.clock import FakeClock
from tests.servers.sandbox import PATIENCE

HOUR = timedelta(hours=1)


def close(ports: Ports, **closing: Any) -> ShopSettings:
    update = ShopUpdate(allow_storefront_traffic=False, **closing)
    return update_shop(ports, OPERATOR, update)


def is_open(ports: Ports) -> bool:
    return load_shop_state(ports).switches.allow_storefront_traffic


def rejected(ports: Ports) -> int:
    return show_impact(ports, OPERATOR).rejected


def problems(ports: Ports, **update: Any) -> list[tuple[str | None, str]]:
    with pytest.raises(Refused) as refused:
        update_shop(ports, OPERATOR, ShopUpdate(**update))
    return [(problem.field, problem.message) for problem in refused.value.problems]


def test_storefront_opens_when_its_time_has_come_and_no_sooner(
    ports: Ports, clock: FakeClock
) -> None:
    close(ports, storefront_note="Stocktaking", storefront_opens_at=clock.now() + HOUR)
    clock.pass_(minutes=59)
    open_storefront_on_time(ports, WORKER)
    assert not is_open(ports)
    clock.pass_(minutes=1)
    open_storefront_on_time(ports, WORKER)
    assert is_open(ports)
    shop = show_settings(ports, OPERATOR)
    assert (shop.storefront_note, shop.storefront_opens_at) == ("", None)


def test_every_page_is_told_why_and_since_when(ports: Ports, clock: FakeClock) -> None:
    assert show_badges(ports, OPERATOR).closing is None
    closed_at, opens_at = clock.now(), clock.now() + HOUR
    close(ports, storefront_note="Stocktaking", storefront_opens_at=opens_at)
    clock.pass_(minutes=10)
    close(ports, storefront_note="Fire drill")
    badges = show_badges(ports, OPERATOR)
    assert badges.closing == Closing("Fire drill", closed_at, opens_at)
    update_shop(ports, OPERATOR, ShopUpdate(allow_storefront_traffic=True))
    assert show_badges(ports, OPERATOR).closing is None


def test_requests_are_counted_that_a_closed_storefront_rejected(
    ports: Ports, clock: FakeClock
) -> None:
    activity = SqlActivity(ports.database, clock)
    activity.count_rejection()
    activity.flush()
    assert rejected(ports) == 0
    close(ports)
    for _ in range(3):
        activity.count_rejection()
    activity.flush()
    activity.count_rejection()
    activity.close()
    assert rejected(ports) == 4
    update_shop(ports, OPERATOR, ShopUpdate(allow_storefront_traffic=True))
    close(ports)
    assert rejected(ports) == 0


def test_opening_is_in_the_audit_log_once(ports: Ports, clock: FakeClock) -> None:
    opens_at = clock.now() + HOUR
    close(ports, storefront_note="Stocktaking", storefront_opens_at=opens_at)
    clock.pass_(hours=1)
    for _ in range(2):
        open_storefront_on_time(ports, WORKER)
    _, opened = trail(ports, "shop.update")
    assert opened.actor_kind == "worker"
    assert opened.before == {
        "allow_storefront_traffic": False,
        "storefront_note": "Stocktaking",
        "storefront_opens_at": opens_at.isoformat(),
    }
    assert opened.after == {
        "allow_storefront_traffic": True,
        "storefront_note": "",
        "storefront_opens_at": "",
    }


@pytest.mark.both_databases
def test_worker_opens_it(ports: Ports, clock: FakeClock) -> None:
    close(ports, storefront_opens_at=clock.now() + HOUR)
    clock.pass_(hours=1)
    [task] = [task for task in TASKS if task.name == "storefront"]
    stop = Event()
    worker = Thread(target=run_tasks, args=(ports, stop, (task,)))
    worker.start()
    try:
        deadline = time.monotonic() + PATIENCE
        while not is_open(ports) and time.monotonic() < deadline:
            stop.wait(0.05)
    finally:
        stop.set()
        worker.join(180)
    assert is_open(ports)


def test_storefront_without_a_time_stays_closed(ports: Ports, clock: FakeClock) -> None:
    close(ports, storefront_note="Moving house")
    clock.pass_(hours=10_000)
    open_storefront_on_time(ports, WORKER)
    assert not is_open(ports)
    assert show_settings(ports, OPERATOR).storefront_note == "Moving house"


def test_opening_by_hand_drops_reason_and_time(ports: Ports, clock: FakeClock) -> None:
    close(ports, storefront_note="Stocktaking", storefront_opens_at=clock.now() + HOUR)
    shop = update_shop(ports, OPERATOR, ShopUpdate(allow_storefront_traffic=True))
    assert (shop.storefront_note, shop.storefront_opens_at) == ("", None)
    again = close(ports)
    assert (again.storefront_note, again.storefront_opens_at) == ("", None)


def test_reason_and_time_of_a_closed_storefront_can_change(ports: Ports, clock: FakeClock) -> None:
    close(ports, storefront_note="Stocktaking", storefront_opens_at=clock.now() + HOUR)
    later = clock.now() + 3 * HOUR
    shop = update_shop(ports, OPERATOR, ShopUpdate(storefront_opens_at=later))
    assert (shop.storefront_note, shop.storefront_opens_at) == ("Stocktaking", later)
    shop = update_shop(ports, OPERATOR, ShopUpdate(storefront_opens_at=None))
    assert (shop.storefront_note, shop.storefront_opens_at) == ("Stocktaking", None)


def test_time_without_a_zone_is_utc(ports: Ports, clock: FakeClock) -> None:
    naive = (clock.now() + HOUR).replace(tzinfo=None)
    assert close(ports, storefront_opens_at=naive).storefront_opens_at == naive.replace(tzinfo=UTC)


def test_reason_and_time_are_refused_while_the_storefront_is_open(
    ports: Ports, clock: FakeClock
) -> None:
    later = clock.now() + HOUR
    assert problems(ports, storefront_note="Stocktaking", storefront_opens_at=later) == [
        ("storefrontNote", "The storefront is open."),
        ("storefrontOpensAt", "The storefront is open."),
    ]
    assert problems(ports, allow_storefront_traffic=True, storefront_opens_at=later) == [
        ("storefrontOpensAt", "The storefront is open.")
    ]


@pytest.mark.parametrize("moment", [datetime(2000, 1, 1, tzinfo=UTC), datetime(1, 1, 2)])  # noqa: DTZ001 - as the API reads a time without a zone
def test_time_in_the_past_is_refused(ports: Ports, moment: datetime) -> None:
    update = {"allow_storefront_traffic": False, "storefront_opens_at": moment}
    assert problems(ports, **update) == [("storefrontOpensAt", "Enter a time in the future.")]
    assert is_open(ports)
