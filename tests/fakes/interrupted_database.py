"""A real database that runs an action at a known point of a transaction."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from sqlalchemy import Select
from sqlalchemy.orm import Session

from app.ports import Database, NamedRow, ReadSession, Subject

Action = Callable[[], object]


class InterruptedDatabase:
    """Runs actions before a transaction begins, when it is open, and after its commit.

    ``before``, ``during`` and ``after`` are by the number of the transaction, the first is 1.
    An action during a transaction can write on PostgreSQL only: SQLite has one writer at a time.
    """

    def __init__(self, inner: Database) -> None:
        self._inner = inner
        self.begun = 0
        self.before: dict[int, Action] = {}
        self.during: dict[int, Action] = {}
        self.after: dict[int, Action] = {}

    @contextmanager
    def transaction(self, *subjects: Subject, signs_in: bool = False) -> Iterator[Session]:
        self.begun += 1
        number = self.begun
        self._run(self.before, number)
        with self._inner.transaction(*subjects, signs_in=signs_in) as session:
            session.connection()
            self._run(self.during, number)
            yield session
        self._run(self.after, number)

    @contextmanager
    def reading(self) -> Iterator[ReadSession]:
        with self._inner.reading() as session:
            yield session

    def read(
        self, statement: Select[*tuple[object, ...]], parameters: Mapping[str, object]
    ) -> Sequence[NamedRow]:
        return self._inner.read(statement, parameters)

    @property
    def in_transaction(self) -> bool:
        return self._inner.in_transaction

    def close(self) -> None:
        self._inner.close()

    def _run(self, actions: dict[int, Action], number: int) -> None:
        action = actions.pop(number, None)
        if action is not None:
            action()
