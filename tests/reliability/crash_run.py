"""One trial: changes are made, processes are killed meanwhile, and everything is counted."""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.reliability.shop_processes import KilledShop, killed_shop
from tests.servers.free_ports import free_port
from tests.servers.http import Reply, http_server

_MAX_DELAY = 0.05
"""Seconds after a change at which the kill comes, at most: in the middle of the next ones."""

Watching = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Trial:
    """What is to be done; ``kill_redis`` ends and restarts the Redis at every second kill."""

    changes: int
    kills: int
    workers: int = 1
    redis_url: str = ""
    kill_redis: Callable[[], None] | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """What came of it: ``noted`` are the events of the outbox, each of which is one delivery.

    ``arrived`` are different ``webhook-id``, ``duplicates`` further arrivals of one of them;
    ``unknown`` arrived and are of no delivery, ``lost`` are deliveries that never arrived.
    """

    changes: int
    noted: int
    arrived: int
    duplicates: int
    unknown: int
    lost: int
    seconds: float

    @property
    def is_whole(self) -> bool:
        """Whether every change that a client was told of has arrived, and nothing else has."""
        return not self.lost and not self.unknown and self.changes <= self.noted == self.arrived


def run_trial(
    folder: Path, database_url: str, trial: Trial, watch: Watching = lambda _changes, _kills: None
) -> Result:
    """Do it on a migrated database; ``watch`` gets how many changes and kills there have been."""
    began = time.monotonic()
    with http_server() as receiver:
        target = receiver.answer("/hook", Reply(200))
        with killed_shop(
            folder,
            database_url,
            target,
            free_port(),
            redis_url=trial.redis_url,
            workers=trial.workers,
        ) as shop:
            _change_and_kill(shop, trial, watch)
            late = _wait(shop)
            delivered, noted = shop.delivered(), shop.noted()
        received = Counter(call.headers["webhook-id"] for call in receiver.calls("/hook"))
    return Result(
        changes=shop.changes,
        noted=noted,
        arrived=len(received),
        duplicates=received.total() - len(received),
        unknown=len(set(received) - delivered) if not late else 0,
        lost=noted - len(set(received) & delivered),
        seconds=time.monotonic() - began,
    )


def _change_and_kill(shop: KilledShop, trial: Trial, watch: Watching) -> None:
    """Kill while requests are under way: from beside the one who makes them."""
    edge = max(1, trial.changes // 50)
    moments = set(random.sample(range(edge, trial.changes - edge), trial.kills))
    kills = 0
    with ThreadPoolExecutor(1) as killer:
        for number in range(trial.changes):
            if number in moments:
                kills += 1
                with _killing(killer, shop, trial, kills):
                    shop.change()
            else:
                shop.change()
            watch(shop.changes, kills)


@contextmanager
def _killing(
    killer: ThreadPoolExecutor, shop: KilledShop, trial: Trial, kills: int
) -> Iterator[None]:
    """Kill everything some time during the block."""
    delay = random.uniform(0, _MAX_DELAY)  # noqa: S311 - of no secret

    def kill() -> None:
        time.sleep(delay)  # the moment is what chance makes of it
        shop.kill()
        if trial.kill_redis is not None and kills % 2:
            trial.kill_redis()
        shop.start()

    killing = killer.submit(kill)
    yield
    killing.result(180)


def _wait(shop: KilledShop) -> bool:
    """Wait for the rest; whether some of it has not come in time."""
    try:
        shop.wait_until_all_is_delivered()
    except TimeoutError:
        return True
    return False
