"""Turns for transactions: how many a server's process has open at once, and for whom.

A transaction that waits for a row keeps its connection and its thread. So those about the same
account, cart or caller queue here instead, at most one of them waits in the database, and further
ones are refused. So requests about one account leave turns for all others.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from threading import Lock
from types import MappingProxyType

from app.domain.values.errors import TooManyRequests
from app.domain.values.installation import DatabaseBusy
from app.ports.bounded_lane import Lane
from app.ports.database import Subject, SubjectKind

_TURN_SECONDS = 0.5
"""How long a transaction waits for its turn while none begins or ends."""

_LONGEST_SECONDS = 2.0
"""How long it waits if others do; and before that, for others about the same subject."""

_RETRY_SECONDS = 1


@dataclass(frozen=True, slots=True)
class _Width:
    calls: int
    waiting: int | None


_ONE = _Width(calls=1, waiting=5)
"""A browser has six connections to a server."""

_WIDTHS: Mapping[SubjectKind, _Width] = MappingProxyType(
    {SubjectKind.CALLER: _Width(calls=3, waiting=None)}
)

_WAITING = 8
"""Threads that wait for subjects whose turns don't end: half of a process's threads.

While they end, as many wait as come: an app that sends twenty changes at once has them all made.
"""

_STALLED_SECONDS = 0.5
"""How long no turn of a subject has ended when its turns count as stalled."""


class TransactionTurns:
    """At most ``most`` transactions at once, a quarter of them for sign-ins alone."""

    def __init__(self, most: int) -> None:
        sign_ins = max(1, most // 4)
        self._sign_ins = Lane(calls=sign_ins, waiting=None)
        self._others = Lane(calls=max(1, most - sign_ins), waiting=None)
        self._subjects = SubjectLanes()

    @contextmanager
    def turn(
        self, subjects: tuple[Subject, ...], *, signs_in: bool, patiently: bool
    ) -> Iterator[None]:
        """Hold a turn during the block.

        Raises ``TooManyRequests`` if too many transactions queue for one of ``subjects``, and
        ``DatabaseBusy`` if no turn is free, or becomes so in good time.
        """
        lane = self._sign_ins if signs_in else self._others
        with ExitStack() as stack:
            # In order: two transactions about the same two subjects don't wait for each other.
            for subject in sorted(set(subjects)):
                stack.enter_context(self._subjects.turn(subject))
            patience = _TURN_SECONDS if patiently else 0
            if not stack.enter_context(lane.turn(patience, _LONGEST_SECONDS)):
                raise DatabaseBusy("too many transactions are waiting for a lock")
            yield


class SubjectLanes:
    """A lane for each subject that has a transaction here, as long as it has one."""

    def __init__(self, stalled_seconds: float = _STALLED_SECONDS) -> None:
        self._stalled_seconds = stalled_seconds
        self._lanes: dict[Subject, tuple[Lane, int]] = {}
        self._waiting = 0
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._lanes)

    @contextmanager
    def turn(self, subject: Subject) -> Iterator[None]:
        """Hold the subject's turn during the block, or raise ``TooManyRequests``."""
        lane = self._join(subject)
        try:
            if not lane.enter(0):
                self._wait(lane)
            try:
                yield
            finally:
                lane.leave()
        finally:
            self._part(subject)

    def _wait(self, lane: Lane) -> None:
        with self._lock:
            is_stalled = lane.seconds_since_turn > self._stalled_seconds
            is_full = is_stalled and self._waiting >= _WAITING
            self._waiting += not is_full
        if is_full:
            raise TooManyRequests(_RETRY_SECONDS)
        try:
            if not lane.enter(_LONGEST_SECONDS):
                raise TooManyRequests(_RETRY_SECONDS)
        finally:
            with self._lock:
                self._waiting -= 1

    def _join(self, subject: Subject) -> Lane:
        with self._lock:
            lane, users = self._lanes.get(subject) or (_lane_for(subject), 0)
            self._lanes[subject] = lane, users + 1
            return lane

    def _part(self, subject: Subject) -> None:
        with self._lock:
            lane, users = self._lanes.pop(subject)
            if users > 1:
                self._lanes[subject] = lane, users - 1


def _lane_for(subject: Subject) -> Lane:
    width = _WIDTHS.get(subject.kind, _ONE)
    return Lane(calls=width.calls, waiting=width.waiting)
