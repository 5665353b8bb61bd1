"""A streaming replica of PostgreSQL: lists are read from it while it keeps up with the primary."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from threading import Condition, Event, Lock, Thread
from typing import Any, NoReturn

from sqlalchemy import Engine, Select, make_url, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session
from typing_extensions import override

from app.adapters.database.engines import replica_engine, trace_statements
from app.adapters.database.outages import Outage, translate_errors
from app.adapters.database.sql_database import SqlDatabase, measure_pool
from app.domain.values.installation import DatabaseBusy, DatabaseUnavailable, Fault, Unreachable
from app.ports import Metrics, NamedRow, ReadSession, Subject
from app.ports.database import MAX_LAG
from app.ports.monitoring import REPLICA_READS, Measurement, Traces

_CHECK_SECONDS = 1.0
_VALID_SECONDS = 3.0
"""How long the result of a check counts; without a newer one, the primary is read."""

_IDLE_SECONDS = 600.0
"""How long a process that reads no lists goes on checking."""

_PATIENCE_SECONDS = 3.0
_SILENT = "it doesn't respond"

_PRIMARY = text("""
SELECT system_identifier, current_database() AS name,
  pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0') AS position
FROM pg_control_system()""")

_REPLICA = text("""
SELECT system_identifier, current_database() AS name, pg_is_in_recovery() AS follows,
  coalesce(pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0'), 0) AS position
FROM pg_control_system()""")


class Lag:
    """How far the replica is behind, by positions in the primary's log and this process's clock.

    PostgreSQL's time of the last replayed commit says nothing while the primary is idle, and a
    replica that has lost its primary has replayed everything that it got.
    """

    def __init__(self) -> None:
        self._ahead: list[tuple[float, int]] = []
        self._latest: float | None = None
        self._current_at: float | None = None

    def measure(self, moment: float, written: int, replayed: int) -> float | None:
        """Return the seconds since which the replica lacks something; ``None`` if not known yet.

        ``written`` is the primary's position at ``moment``, ``replayed`` the replica's after that.
        """
        if self._latest is None or moment - self._latest > _VALID_SECONDS:
            self._ahead, self._current_at = [], None
        self._latest = moment
        self._ahead.append((moment, written))
        reached = [then for then, position in self._ahead if position <= replayed]
        if reached:
            self._current_at = reached[-1]
            self._ahead = [sample for sample in self._ahead if sample[0] > reached[-1]]
        if self._current_at is not None:
            return moment - self._current_at
        waited = moment - self._ahead[0][0]
        return waited if waited > MAX_LAG else None


class SqlReplica:
    """The replica behind ``engine``.

    Once lists are read, a thread checks it every second, by ``watching``, an engine with a
    connection to spare: no request waits for a replica that doesn't respond.
    """

    def __init__(
        self, primary: SqlDatabase, engine: Engine, watching: Engine, metrics: Metrics
    ) -> None:
        self._primary = primary
        self._engine = engine
        self._watching = watching
        self._outage = Outage("replica_unavailable")
        self._is_current = False
        self._checked = self._asked = -_IDLE_SECONDS
        self._result: float | DatabaseUnavailable | None = None
        self._changed = Condition()
        self._wake = Event()
        self._starting = Lock()
        self._thread: Thread | None = None
        self.database = ReplicaDatabase(self, primary, engine, metrics)

    def is_usable(self) -> bool:
        """Return whether the latest check succeeded; checks go on from now on."""
        self._asked = time.monotonic()
        if self._thread is None or not self._thread.is_alive():
            self._start()
        if self._is_current and self._asked - self._checked >= _VALID_SECONDS:
            self.give_up(DatabaseUnavailable(_SILENT))
        return self._is_current

    def check(self) -> float:
        self.is_usable()
        began = time.monotonic()
        self._wake.set()

        def is_checked() -> bool:
            return self._checked >= began and self._result is not None

        with self._changed:
            self._changed.wait_for(is_checked, _PATIENCE_SECONDS)
            checked, result = self._checked, self._result
        if checked < began:
            raise DatabaseUnavailable(_SILENT)
        if isinstance(result, float):
            return result
        raise result or DatabaseUnavailable("it hasn't caught up with the primary yet")

    def give_up(self, fault: DatabaseUnavailable) -> None:
        """Read from the primary until the next check."""
        self._is_current = False
        self._outage.begin(fault)

    def trace(self, traces: Traces) -> None:
        """Make a span of every statement from now on."""
        trace_statements(self._engine, traces)

    def measure(self) -> Iterator[Measurement]:
        """Return how many connections are in use, and could be."""
        return measure_pool(self._engine, "replica")

    def close(self) -> None:
        self._asked = -_IDLE_SECONDS
        self._wake.set()
        if self._thread is not None:
            self._thread.join(_PATIENCE_SECONDS)
        self._engine.dispose()
        self._watching.dispose()

    def _start(self) -> None:
        with self._starting:
            if self._thread is None or not self._thread.is_alive():
                self._is_current = False
                self._thread = Thread(target=self._watch, name="replica checks", daemon=True)
                self._thread.start()

    def _watch(self) -> None:
        lag = Lag()
        while time.monotonic() - self._asked < _IDLE_SECONDS:
            self._check(lag)
            self._wake.wait(_CHECK_SECONDS)
            self._wake.clear()
        self._is_current = False

    def _check(self, lag: Lag) -> None:
        moment = time.monotonic()
        result: float | DatabaseUnavailable | None
        try:
            result = self._measure(lag, moment)
        except DatabaseUnavailable as fault:
            result = fault
        except (SQLAlchemyError, Fault) as error:
            result = DatabaseUnavailable(" ".join(str(error).split()))
        # Logged first: a waiting check returns as soon as it is notified.
        if isinstance(result, DatabaseUnavailable):
            self._outage.begin(result)
        elif result is not None:
            self._outage.end()
        with self._changed:
            self._checked, self._result = moment, result
            self._is_current = isinstance(result, float)
            self._changed.notify_all()

    def _measure(self, lag: Lag, moment: float) -> float | None:
        """Return the lag, ``None`` if it isn't known; raises ``DatabaseUnavailable``."""
        try:
            with self._primary.reading() as session:
                here = session.execute(_PRIMARY).one()
        except Unreachable:
            return None  # the primary's own log says so
        with translate_errors(), self._watching.connect() as connection:
            there = connection.execute(_REPLICA).one()
        if not there.follows:
            raise DatabaseUnavailable("it isn't a streaming replica")
        if (here.system_identifier, here.name) != (there.system_identifier, there.name):
            raise DatabaseUnavailable("it is a replica of another database")
        seconds = lag.measure(moment, int(here.position), int(there.position))
        if seconds is not None and seconds > MAX_LAG:
            raise DatabaseUnavailable(f"it is more than {MAX_LAG:.0f} seconds behind the primary")
        return seconds


class ReplicaDatabase:
    """The database port for reads that may be late."""

    def __init__(
        self, replica: SqlReplica, primary: SqlDatabase, engine: Engine, metrics: Metrics
    ) -> None:
        self._replica = replica
        self._primary = primary
        self._engine = engine
        self._metrics = metrics

    def transaction(self, *_subjects: Subject, signs_in: bool = False) -> NoReturn:
        """Raise ``RuntimeError``: what reads from the replica must not write."""
        raise RuntimeError("A use case that reads from the replica can't write.")

    @contextmanager
    def reading(self) -> Iterator[ReadSession]:
        with ExitStack() as stack:
            if self._replica.is_usable():
                self._metrics.count(REPLICA_READS, "replica")
                yield stack.enter_context(_RepeatingSession(self._engine, self._repeat(stack)))
            else:
                self._metrics.count(REPLICA_READS, "primary")
                yield stack.enter_context(self._primary.reading())

    def read(
        self, statement: Select[*tuple[object, ...]], parameters: Mapping[str, object]
    ) -> Sequence[NamedRow]:
        return self._primary.read(statement, parameters)

    @property
    def in_transaction(self) -> bool:
        return self._primary.in_transaction

    def close(self) -> None:
        self._replica.close()

    def _repeat(self, stack: ExitStack) -> Callable[[Fault | SQLAlchemyError], ReadSession]:
        """Return what opens a session of the primary after a statement failed on the replica."""

        def open_primary(error: Fault | SQLAlchemyError) -> ReadSession:
            if isinstance(error, DatabaseUnavailable) and not isinstance(error, DatabaseBusy):
                self._replica.give_up(error)
            self._metrics.count(REPLICA_READS, "primary")
            return stack.enter_context(self._primary.reading())

        return open_primary


class _RepeatingSession(ReadSession):
    """A session of single statements; from the first that fails on, the primary is asked.

    The replica cancels statements that conflict with what it replays, and can be unreachable. An
    invalid statement fails on the primary again.
    """

    def __init__(
        self, engine: Engine, open_primary: Callable[[Fault | SQLAlchemyError], ReadSession]
    ) -> None:
        super().__init__(engine, expire_on_commit=False)
        self._open_primary = open_primary
        self._on_primary: ReadSession | None = None

    @override
    def execute(self, *args: Any, **kwargs: Any) -> Any:
        return self._run(super().execute, Session.execute, *args, **kwargs)

    @override
    def scalar(self, *args: Any, **kwargs: Any) -> Any:
        return self._run(super().scalar, Session.scalar, *args, **kwargs)

    @override
    def scalars(self, *args: Any, **kwargs: Any) -> Any:
        return self._run(super().scalars, Session.scalars, *args, **kwargs)

    @override
    def rows(self, *args: Any, **kwargs: Any) -> Any:
        return self._run(super().rows, ReadSession.rows, *args, **kwargs)

    def _run(
        self, on_replica: Callable[..., Any], method: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> Any:
        if self._on_primary is None:
            try:
                with translate_errors():
                    return on_replica(*args, **kwargs)
            except (Fault, SQLAlchemyError) as error:
                self._on_primary = self._open_primary(error)
        return method(self._on_primary, *args, **kwargs)


def connect_replica(
    url: str,
    primary: SqlDatabase,
    metrics: Metrics,
    *,
    connections: int,
    transaction_pooling: bool,
) -> SqlReplica:
    """Return the replica at ``url`` of ``primary``; connects on first use.

    At most half of ``connections`` are open, because nothing is written there, and one more.
    """
    make = partial(replica_engine, make_url(url), transaction_pooling=transaction_pooling)
    return SqlReplica(primary, make(connections=connections), make(connections=2), metrics)
