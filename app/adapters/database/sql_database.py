"""SQLite and PostgreSQL behind the database port, and turns for transactions.

A transaction that waits for a row keeps its connection and its thread. So those about the same
account, cart or caller queue here instead, at most one of them waits in the database, and further
ones are refused. So requests about one account leave turns for all others.
"""

import sys
import threading
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from types import MappingProxyType
from typing import Any

from sqlalchemy import BindParameter, Dialect, Engine, Select, event, func, make_url, select
from sqlalchemy.orm import Session, UOWTransaction
from sqlalchemy.pool import QueuePool

from app import models
from app.adapters.database.engines import (
    attributes_of,
    postgresql_engines,
    sqlite_engines,
    trace_statements,
)
from app.adapters.database.outages import TRANSLATED, Outage, fault_of
from app.domain.values.errors import TooManyRequests
from app.domain.values.installation import DatabaseBusy, DatabaseUnavailable
from app.ports import Database, NamedRow, ReadSession, monitoring
from app.ports.bounded_lane import Lane
from app.ports.configuration import Configuration
from app.ports.database import Subject, SubjectKind
from app.ports.queue import NO_SIGNAL, WorkSignal

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


_NOW = select(func.clock_timestamp().label("now"))


class DatabaseClock:
    """PostgreSQL's clock; each call is one short statement."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def now(self) -> datetime:
        (row,) = self._database.read(_NOW, {})
        now: datetime = row.now
        return now.astimezone(UTC)

    def timestamp(self) -> float:
        return self.now().timestamp()


_PING_AFTER_SECONDS = 1.0
_NO_SPAN = nullcontext()
_CONNECTIONS = Configuration().database_connections


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A statement as the driver takes it.

    ``constants`` are the values that the statement itself holds; ``converters`` turn values into
    what the driver takes, by the type of their parameter; ``names`` is the order of positional
    parameters, ``None`` where the driver takes them by name. ``row`` names the values of a row
    after the statement's columns.
    """

    text: str
    constants: Mapping[str, object]
    converters: Mapping[str, Callable[[Any], object]]
    names: tuple[str, ...] | None
    row: Callable[[Sequence[object]], NamedRow]

    def arguments(
        self, parameters: Mapping[str, object]
    ) -> Sequence[object] | Mapping[str, object]:
        values = {**self.constants, **parameters}
        for name, convert in self.converters.items():
            values[name] = convert(values[name])
        return values if self.names is None else [values[name] for name in self.names]


WORK = (
    models.OutboxEvent,
    models.Delivery,
    models.OutboxMail,
    models.ResetRequest,
    models.AppInstallation,
)
"""The records that workers look for: a new or a changed one is work for them.

What an UPDATE statement changes isn't seen here: workers write so for themselves, and use cases
that do send the signal.
"""

_LEFT_WORK = "left work"


class _WritingSession(Session):
    """A session that knows whether its transaction leaves work for a worker."""

    @property
    def left_work(self) -> bool:
        return _LEFT_WORK in self.info


@event.listens_for(_WritingSession, "after_flush")
def _remember_records(session: Session, _flush: UOWTransaction) -> None:
    if any(isinstance(record, WORK) for record in (*session.new, *session.dirty)):
        session.info[_LEFT_WORK] = True


_compiled: dict[tuple[str, int], tuple[Select[*tuple[object, ...]], _Compiled]] = {}


class SqlDatabase:
    """Two engines on one database: one writes in transactions, one reads by single statements.

    Single-statement reads run in autocommit, which saves PostgreSQL two round trips.
    """

    def __init__(self, writing: Engine, reading: Engine, max_writers: int = 0) -> None:
        self._writing = writing
        self._reading = reading
        self._turns = (
            TransactionTurns(min(max_writers, _most_in(writing))) if max_writers else None
        )
        self._away = Outage("unavailable")
        self._busy = Outage("busy")
        self._dialect: Dialect = reading.dialect
        self._local = threading.local()
        self._traces: monitoring.Traces = monitoring.NO_TRACES
        self._signal: WorkSignal = NO_SIGNAL

    @contextmanager
    def transaction(self, *subjects: Subject, signs_in: bool = False) -> Iterator[Session]:
        if self.in_transaction:
            # On SQLite the second would wait for the first, which waits for it.
            raise RuntimeError("This thread has a transaction open already.")
        new = _WritingSession(self._writing, expire_on_commit=False)
        with (
            self._watched(),
            self._turn(subjects, signs_in=signs_in),
            new as session,
            session.begin(),
        ):
            self._local.is_open = True
            try:
                yield session
                session.flush()
            finally:
                self._local.is_open = False
        if self._busy.is_on:
            self._busy.end()
        if new.left_work:
            self._signal.send()

    @contextmanager
    def reading(self) -> Iterator[ReadSession]:
        with self._watched(), ReadSession(self._reading, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def snapshot(self) -> Iterator[Session]:
        with self._watched(), self._reading.connect() as connection:
            if self._dialect.name == "sqlite":
                # The first read fixes the moment; a deferred transaction blocks no writer.
                connection.exec_driver_sql("BEGIN")
            else:
                connection.execution_options(
                    isolation_level="REPEATABLE READ", postgresql_readonly=True
                )
            with Session(connection, expire_on_commit=False) as session:
                yield session

    def read(
        self, statement: Select[*tuple[object, ...]], parameters: Mapping[str, object]
    ) -> Sequence[NamedRow]:
        compiled = self._compile(statement)
        if self._away.is_on:
            self._away.check()
        # What ``_watched`` does, without its generators: this is the read of every request.
        try:
            with self._span(compiled.text):
                rows = self._fetch(compiled.text, compiled.arguments(parameters))
        except (*TRANSLATED, self._dialect.loaded_dbapi.Error) as error:
            self._raise_named(error)
            raise
        if self._away.is_on:
            self._away.end()
        return [compiled.row(row) for row in rows]

    @property
    def reading_engine(self) -> Engine:
        """The engine whose statements commit by themselves."""
        return self._reading

    @property
    def in_transaction(self) -> bool:
        return getattr(self._local, "is_open", False)

    @property
    def is_file(self) -> bool:
        """Whether the database is a file of this machine, so that its clock is this machine's."""
        return self._dialect.name == "sqlite"

    def trace(self, traces: monitoring.Traces) -> None:
        """Make a span of every statement from now on."""
        self._traces = traces
        for engine in (self._writing, self._reading):
            trace_statements(engine, traces)

    def wake_workers(self, signal: WorkSignal) -> None:
        """Send ``signal`` after each transaction that leaves work for them."""
        self._signal = signal

    def measure(self) -> Iterator[monitoring.Measurement]:
        """Return how many connections are in use, and could be."""
        for name, engine in (("writing", self._writing), ("reading", self._reading)):
            yield from measure_pool(engine, name)

    def close(self) -> None:
        """Give every connection back to the system."""
        self._writing.dispose()
        self._reading.dispose()

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Name faults as the ports do, and notice when the database goes and comes back."""
        if self._away.is_on:
            self._away.check()
        try:
            yield
        except TRANSLATED as error:
            self._raise_named(error)
            raise
        if self._away.is_on:
            self._away.end()

    def _raise_named(self, error: Exception) -> None:
        """Raise the fault that ``error`` is, and note an outage; return if it is a defect."""
        fault = fault_of(error)
        if isinstance(fault, DatabaseBusy):
            self._busy.begin(fault)
        elif isinstance(fault, DatabaseUnavailable):
            self._away.begin(fault)
        if fault is not None and fault is not error:
            raise fault from error

    def _span(self, statement: str) -> AbstractContextManager[object]:
        if not self._traces.is_on:
            return _NO_SPAN
        attributes = attributes_of(self._reading, statement)
        return self._traces.span("SQL", monitoring.SpanKind.CLIENT, attributes=attributes)

    def _turn(
        self, subjects: tuple[Subject, ...], *, signs_in: bool
    ) -> AbstractContextManager[None]:
        if self._turns is None:
            return nullcontext()
        return self._turns.turn(subjects, signs_in=signs_in, patiently=not self._busy.is_on)

    def _fetch(
        self,
        text: str,
        arguments: Sequence[object] | Mapping[str, object],
        *,
        is_repeated: bool = False,
    ) -> Sequence[tuple[object, ...]]:
        connection = self._reading.raw_connection()
        try:
            cursor = connection.cursor()
            cursor.execute(text, arguments)
            rows: Sequence[tuple[object, ...]] = cursor.fetchall()
            cursor.close()
        except self._dialect.loaded_dbapi.Error as error:
            gone = self._dialect.is_disconnect(error, connection.dbapi_connection, None)
            connection.invalidate(error)
            if is_repeated or not gone:
                raise
        except BaseException:
            connection.invalidate()
            raise
        else:
            connection.close()
            return rows
        # A server that has been restarted cut the other connections, too.
        self._reading.dispose()
        return self._fetch(text, arguments, is_repeated=True)

    def _compile(self, statement: Select[*tuple[object, ...]]) -> _Compiled:
        # By identity: statements are constants, and hashing one costs more than running it.
        key = self._dialect.name, id(statement)
        cached = _compiled.get(key)
        if cached is not None:
            return cached[1]
        compiled = statement.compile(dialect=self._dialect)
        given_later = {name: None for name, bind in compiled.binds.items() if bind.required}
        # Some constants (a separator, say) stand in the text itself, which is complete only in
        # the expanded state.
        expanded = compiled.construct_expanded_state(given_later)
        made = _Compiled(
            text=expanded.statement,
            constants={
                name: value
                for name, value in expanded.parameters.items()
                if name not in given_later
            },
            converters={
                name: convert
                for name in given_later
                if (convert := _converter(compiled.binds[name], self._dialect)) is not None
            },
            names=None if expanded.positiontup is None else tuple(expanded.positiontup),
            row=_naming(statement),
        )
        _compiled[key] = (statement, made)
        return made


def _converter(
    parameter: BindParameter[object], dialect: Dialect
) -> Callable[[Any], object] | None:
    return parameter.type.dialect_impl(dialect).bind_processor(dialect)


def _naming(statement: Select[*tuple[object, ...]]) -> Callable[[Sequence[object]], NamedRow]:
    """Return what makes a row of ``statement`` one whose columns are attributes."""
    make_type: Callable[[str, Sequence[str]], Any] = namedtuple  # noqa: PYI024 - of names known now
    make_row: Callable[[Sequence[object]], NamedRow]
    make_row = make_type("Row", statement.selected_columns.keys())._make
    return make_row


def connect_database(
    url: str,
    *,
    connections: int = _CONNECTIONS,
    transaction_pooling: bool = False,
    ping_after: float = _PING_AFTER_SECONDS,
    max_writers: int = 0,
) -> SqlDatabase:
    """Return the database at ``url``; connects on first use.

    ``connections`` is how many are open at most, and ``transaction_pooling`` whether a pooler in
    front shares servers between them; SQLite ignores both. ``ping_after`` is after how many idle
    seconds a server's connection is checked before use.
    ``max_writers`` bounds concurrent transactions, to leave threads for reads; 0 for no limit.
    """
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite":
        return SqlDatabase(*sqlite_engines(parsed), max_writers)
    engines = postgresql_engines(
        parsed,
        connections=connections,
        transaction_pooling=transaction_pooling,
        ping_after=ping_after,
    )
    return SqlDatabase(*engines, max_writers)


def _most_in(engine: Engine) -> int:
    """Return how many connections the pool of ``engine`` can have open."""
    pool = engine.pool
    if not isinstance(pool, QueuePool):
        return sys.maxsize
    return pool.size() + max(0, pool._max_overflow)  # noqa: SLF001


def measure_pool(engine: Engine, name: str) -> Iterator[monitoring.Measurement]:
    """Yield how many connections of the pool called ``name`` are in use, and could be."""
    pool = engine.pool
    if isinstance(pool, QueuePool):
        yield monitoring.CONNECTIONS, max(0, pool.checkedout()), (name,)
        yield monitoring.CONNECTIONS_MAX, _most_in(engine), (name,)
