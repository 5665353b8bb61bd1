"""The interface of a kind of rows that is imported: users, groups, apps, webhooks and so on.

A section converts rows of the source and reads, writes and removes them here; the run
(``run_section``) does the rest: it compares digests, decides what is created, updated, kept or
removed, writes the ledger in the same transaction, counts, and reports findings. To add one:

- subclass ``Section``, set its attributes, and list it in ``platform_sections`` below the sections
  whose rows it refers to;
- ``convert`` turns a batch of source rows into ``Converted[Row]``. ``Row.state`` holds what the
  import writes and compares, as JSON values and moments, with lists sorted; ``Row.extra`` is
  written too but not compared here, for what changes by use (the last sign-in, a token's hash);
- ``current`` returns ``state`` of the rows as they are here now. A row whose state isn't what the
  import last wrote was edited here: it is kept, with a finding;
- ``insert``, ``update`` and ``remove`` write whole batches by SQLAlchemy Core in the given
  transaction, without events or audit entries. They aren't called in a dry run.

``Run.is_left_out`` says whether a row that others refer to isn't imported or was deleted here, if
the section of that row is a part of this run. Findings of ``convert`` are reported in every run.
All sections ``prepare`` before the first row is read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, TypeVar

from sqlalchemy import delete
from sqlalchemy.orm import Session

from app.domain.imports.runs import Converted, Finding, Part, RunOptions, digest_of
from app.models.record import Record
from app.ports import Ports
from app.ports.import_source import ImportSource, TableRow
from app.services.imports.ledger import find_entries

Value = TypeVar("Value")
State = Mapping[str, object]
OnFinding = Callable[[Finding], None]
OnRows = Callable[[str, int, int], None]
"""Takes the title of a section, how many of its rows were read, and how many there are."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row as it is to be here.

    ``key`` is its ID here, ``source_key`` the source's where that is another one. ``value`` is for
    the section, such as the object that ``state`` was made from. ``source_digest`` is of the row
    as the source has it, also in a copy with another ``state``.
    """

    key: int
    state: State
    extra: State = field(default_factory=dict)
    value: object = field(default=None, repr=False)
    source_key: int | None = None
    source_digest: str = ""

    def __post_init__(self) -> None:
        if not self.source_digest:
            digest = digest_of({**self.state, **self.extra})
            object.__setattr__(self, "source_digest", digest)

    def value_of(self, kind: type[Value]) -> Value:
        """Return ``value``, which the section knows to be of that ``kind``."""
        if not isinstance(self.value, kind):
            raise TypeError(f"A row of this section holds a {kind.__name__}.")
        return self.value

    def texts(self, name: str) -> Sequence[str]:
        """Return a list in ``state``."""
        value = self.state[name]
        return value if isinstance(value, list | tuple) else ()


@dataclass(slots=True)
class Run:
    """What the sections of a run share.

    ``name`` is that of the source in the list of imports. ``import_id`` is 0 in a dry run of a
    source that was never imported. ``hidden_metadata`` are keys of private metadata that users
    don't keep.
    """

    ports: Ports
    source: ImportSource
    options: RunOptions
    name: str
    import_id: int
    report: OnFinding
    show: OnRows
    hidden_metadata: set[str] = field(default_factory=set)
    _left_out: dict[str, set[int]] = field(default_factory=dict)

    def leave_out(self, kind: str, key: int) -> None:
        """Record that a row of the source isn't imported, so that nothing refers to it."""
        self._left_out.setdefault(kind, set()).add(key)

    def is_left_out(self, kind: str, key: int) -> bool:
        """Whether a row that the source has isn't imported."""
        return key in self._left_out.get(kind, ())


class Section(ABC):
    """One kind of rows.

    ``kind`` names it in the ledger, ``title`` in reports ("Users"). ``table`` is the source's
    table, of which ``required`` and ``optional`` columns are read. ``record`` is the table here
    whose IDs are the source's; ``None`` if IDs aren't kept. ``removes_left_out``: a row that was
    imported, and that ``convert`` now leaves out, is removed.
    """

    part: ClassVar[Part]
    kind: ClassVar[str]
    title: ClassVar[str]
    table: ClassVar[str]
    required: ClassVar[tuple[str, ...]] = ()
    optional: ClassVar[tuple[str, ...]] = ()
    record: ClassVar[type[Record] | None] = None
    removes_left_out: ClassVar[bool] = True

    def is_wanted(self, parts: Collection[Part]) -> bool:
        """Whether the section is imported when ``parts`` are."""
        return self.part in parts

    def prepare(self, run: Run) -> None:
        """Look up what the whole section needs, before its first row."""
        return

    def count(self, run: Run) -> int:
        """Return how many rows the source has."""
        return run.source.count(self.table)

    def batches(self, run: Run) -> Iterator[Sequence[TableRow]]:
        """Yield the rows of the source, a transaction's at a time."""
        columns = (*self.required, *self.optional)
        return run.source.batches(self.table, columns, run.options.batch)

    def highest_id(self, run: Run) -> int:
        """Return the highest ID that rows of the source have now."""
        return run.source.highest(self.table)

    def reserved_until(self, run: Run) -> int:
        """Return the highest ID that is kept free for rows that the source may still create."""
        return self.highest_id(run) + run.options.reserve

    @abstractmethod
    def convert(self, run: Run, rows: Sequence[TableRow]) -> Iterable[Converted[Row]]:
        """Convert a batch; a row that is left out has no value and a finding.

        Call ``run.leave_out`` for it if others refer to it.
        """

    @abstractmethod
    def current(self, run: Run, session: Session, keys: Collection[int]) -> Mapping[int, State]:
        """Return the rows with these keys as they are here, in the shape of ``Row.state``."""

    @abstractmethod
    def insert(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        """Write new rows."""

    @abstractmethod
    def update(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        """Write rows that are here already, with ``extra``."""

    def remove(self, run: Run, session: Session, keys: Collection[int]) -> None:
        """Delete rows that the source no longer has, with what belongs to them.

        Sections without ``record`` override it.
        """
        if self.record is None:
            raise NotImplementedError
        key = self.record.__table__.c.id
        session.execute(delete(self.record).where(key.in_(keys)))

    def conflicts(self, run: Run, session: Session, rows: Sequence[Row]) -> Mapping[int, Finding]:
        """Return why some of ``rows`` can't be written, such as a name that another row has.

        They are tried again at the end, when the other row may have changed.
        """
        return {}

    def without_conflict(self, row: Row, conflict: Finding) -> Row | None:
        """Return ``row`` as it can be written in spite of ``conflict``, ``None`` if it can't."""
        return None

    def known_keys(self, run: Run, session: Session, keys: Collection[int]) -> Collection[int]:
        """Return those of ``keys`` that were imported before."""
        return find_entries(session, run.import_id, self.kind, keys).keys()

    def keys_at_source(self, run: Run, keys: Collection[int]) -> set[int]:
        """Return those of ``keys``, which were imported, that the source still has."""
        found = run.source.matching(self.table, ("id",), "id", keys)
        return {key for row in found if isinstance(key := row["id"], int)}

    def follow_up(self, run: Run, session: Session, rows: Sequence[Row]) -> None:
        """Handle what is compared apart from ``state``, such as passwords, of rows that stay here.

        Also called in a dry run: report findings, but write nothing then.
        """
        return
