"""The throttles under test, also as other processes use them."""

from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.queues import Queue
from threading import Barrier, Event, Thread

from sqlalchemy import Select

from app.adapters.database.sql_database import connect_database
from app.adapters.queue.throttle_redis import connect_redis_throttle
from app.adapters.queue.throttle_sql import SqlThrottle
from app.ports.throttle import Attempt, Throttle

NOW = 1_795_178_982.25
ADDRESS = "203.0.113.7"
OTHER_ADDRESS = "2001:db8::7"
ANNA, BELA = 1, 2
"""Keys of two users who exist in every database of the suite."""


@dataclass(frozen=True, slots=True)
class Place:
    """The store of a throttle's counters, which any process can open."""

    database_url: str
    redis_url: str = ""

    def open(self) -> Throttle:
        if self.redis_url:
            return connect_redis_throttle(self.redis_url)
        return SqlThrottle(connect_database(self.database_url))

    def counted(self, answer: int | Select[int]) -> int | None:
        """Return the number of blocked addresses, read from the database if need be."""
        if isinstance(answer, int):
            return answer
        with connect_database(self.database_url).reading() as session:
            return session.scalar(answer)


class Visitor:
    """A client at one IP address that waits exactly as long as it must; ``now`` advances."""

    def __init__(self, throttle: Throttle, address: str = ADDRESS, now: float = NOW) -> None:
        self.throttle = throttle
        self.address = address
        self.now = now

    def begin(self) -> Attempt:
        return self.throttle.begin(self.address, self.now)

    def fail(self, user_id: int | None = None, times: int = 1) -> list[float]:
        """Fail as soon as the block allows, ``times`` in a row; return each block's length."""
        waits = []
        for _ in range(times):
            wait = self.throttle.fail(self.address, self._lease(), user_id, self.now)
            self.now += wait
            waits.append(wait)
        return waits

    def succeed(self, user_id: int) -> None:
        self.throttle.succeed(self.address, self._lease(), user_id, self.now)

    def _lease(self) -> str:
        attempt = self.begin()
        assert attempt.lease, f"{self.address} has to wait {attempt.wait} s more"
        return attempt.lease


def run_programs(act: Callable[[], None], threads: int) -> None:
    """Run ``act`` in that many threads and wait for all of them."""
    running = [Thread(target=act) for _ in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join(180)


def begin_together(place: Place, rivals: int, start: Barrier, answers: "Queue[str]") -> None:
    """``rivals`` threads begin at once, together with whoever else waits at ``start``."""
    throttle = place.open()

    def begin() -> None:
        start.wait(60)
        answers.put(throttle.begin(ADDRESS, NOW).lease)

    run_programs(begin, rivals)


def begin_and_hang(place: Place, answers: "Queue[str]") -> None:
    """Begin an attempt that never ends."""
    answers.put(place.open().begin(ADDRESS, NOW).lease)
    Event().wait(900)
