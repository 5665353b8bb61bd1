"""Read a page of records by keyset, and make records of rows by name.

A page is the rows after a cursor's sort values.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from sqlalchemy import (
    BindParameter,
    Cast,
    ColumnClause,
    ColumnElement,
    Executable,
    Integer,
    Label,
    Row,
    ScalarSelect,
    Select,
    UnaryExpression,
    bindparam,
    func,
    literal,
    literal_column,
    select,
    tuple_,
    union_all,
)
from sqlalchemy.orm import InstrumentedAttribute
from typing_extensions import TypeVarTuple

from app.domain.values.errors import Problem, Refused
from app.domain.values.pages import BAD_CURSOR, MAX_COUNTED, Counts, Page, PageRequest, with_items
from app.models.record import Record as StoredRecord
from app.ports import NamedRow, Ports, ReadSession
from app.services.authorization.register import building_block

Record = TypeVar("Record")


@building_block
def record_from(kind: type[Record], row: NamedRow | StoredRecord, **others: Any) -> Record:
    """Return a record whose fields are the columns of the same names, but for ``others``.

    Every other field must be a column, one with a default too: a forgotten column raises
    ``AttributeError`` and isn't the default for ever.
    """
    key: Any = kind  # for mypy, a class can't be hashed
    return kind(**{name: getattr(row, name) for name in _columns_of(key, *others)}, **others)


@building_block
def columns_for(
    kind: type[object], stored: type[StoredRecord], *others: str
) -> tuple[InstrumentedAttribute[Any], ...]:
    """Return the columns of ``stored`` with the names of fields of ``kind``, for ``record_from``.

    Callers add the fields that have no column, and ``others``, whose column isn't what they hold.
    """
    key: Any = kind  # for mypy, a class can't be hashed
    names = (name for name in _columns_of(key, *others) if hasattr(stored, name))
    return tuple(getattr(stored, name) for name in names)


@cache
def _columns_of(kind: type[object], *others: str) -> tuple[str, ...]:
    """Return the names of the fields but for ``others``."""
    if not is_dataclass(kind):
        raise TypeError(f"{kind} has no fields")
    return tuple(field.name for field in fields(kind) if field.name not in others)


Item = TypeVar("Item")
Columns = TypeVarTuple("Columns")
Query = Select[*tuple[object, ...]]
Column = (
    InstrumentedAttribute[str]
    | InstrumentedAttribute[int]
    | InstrumentedAttribute[datetime]
    | ScalarSelect[int]
    | Cast[int]
)
Parent = InstrumentedAttribute[int] | InstrumentedAttribute[int | None]

_NONE: Mapping[str, object] = {}
_ROWS = "page_rows"
_PLACE = "page_place_{}"
_KEY = "page_parent_{}"
"""Parameters of a page's statement: how many rows, after which sort values, of which parents."""

_PARENT = "page_parent"
_MAX_PARENTS = 128
"""In one statement: SQLite joins at most 500 parts, and each part takes time to build."""


@dataclass(frozen=True, slots=True)
class Order:
    """By which columns a list goes, the unique key last; none of them may be null.

    All go in one direction, so that one comparison of rows, and one index, serve. A number that is
    counted for each row is for lists that are short as a whole.
    """

    columns: tuple[Column, ...]
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Parents:
    """Records whose lists are read together: by ``keys`` in the ``column`` of the list's rows."""

    column: Parent
    keys: Collection[int]


_statements: WeakKeyDictionary[Query, dict[tuple[object, ...], Executable]] = WeakKeyDictionary()
"""The statements of pages, by the query that they are pages of, for as long as it exists."""


@building_block
def with_conditions(query: Query, conditions: Iterable[ColumnElement[bool]]) -> Query:
    """Return ``query`` with ``conditions``, or ``query`` itself if there are none.

    The pages of a query that is a module's constant take less time: their statements are cached.
    """
    found = tuple(conditions)
    return query.where(*found) if found else query


@building_block
def read_page(
    ports: Ports,
    session: ReadSession,
    query: Select[*tuple[object, ...]],
    order: Order,
    request: PageRequest,
    item: Callable[[Row[*tuple[object, ...]]], Item],
    whole: Query | None = None,
) -> Page[Item]:
    """Return the page of ``query`` as ``read_rows`` does; each row becomes an item."""
    rows = read_rows(ports, session, query, order, request, whole)
    return with_items(rows, map(item, rows.items))


@building_block
def read_by_keys(
    ports: Ports,
    query: Query,
    key: InstrumentedAttribute[int],
    keys: Collection[int],
    item: Callable[[Row[*tuple[object, ...]]], Item],
) -> tuple[Item, ...]:
    """Return the items of ``query``, which says who sees them, that have one of ``keys``."""
    with ports.database.reading() as session:
        return tuple(map(item, session.execute(query.where(key.in_(keys)))))


@building_block
def read_rows(
    ports: Ports,
    session: ReadSession,
    query: Select[*tuple[object, ...]],
    order: Order,
    request: PageRequest,
    whole: Query | None = None,
) -> Page[Row[*tuple[object, ...]]]:
    """Return the page as rows, for items that need a second query about all of them.

    One row beyond the page shows whether there is more. ``query`` returns each item in one row,
    neither grouped nor distinct; ``whole`` is the list without its filter, for the counts. Refuses
    another list's cursor.
    """
    values = _values(order, request)
    if request.is_counted:
        counts = _bounded_counts(query, whole)
        rows = session.execute(_statement(query, order, request, *counts), values).all()
        page = _page(rows, order, request, lambda: _count(ports, query))
        return replace(page, counts=_read_counts(session, page.items, counts))
    rows = session.rows(_cached_statement(query, order, request), values) if request.size else ()
    return _page(rows, order, request, lambda: _count(ports, query))


@building_block
def read_rows_by_parent(
    ports: Ports,
    session: ReadSession,
    query: Select[*tuple[object, ...]],
    parents: Parents,
    order: Order,
    request: PageRequest,
    values: Mapping[str, object] = _NONE,
) -> Mapping[int, Page[Row[*tuple[object, ...]]]]:
    """Return the page of each of several parents' lists as ``read_rows`` does, by parent's key.

    ``values`` are those of parameters of ``query``. One statement for up to 128 parents; it reads
    no more rows of each than its page has. Pages have no ``counts``; the ``count`` of the first
    one that is asked for it counts all of them, in one statement.
    """
    parent = parents.column
    found: dict[int, list[Row[*tuple[object, ...]]]] = {key: [] for key in parents.keys}
    of_page = {**values, **_values(order, request)}
    for some in _in_parts(tuple(found) if request.size else ()):
        # One for many parents takes megabytes, and is made for one page of a response.
        statement = (
            _cached_statement(query, order, request, parent)
            if len(some) == 1
            else _statement_by_parent(query, parent, len(some), order, request)
        )
        keys = {_KEY.format(number): key for number, key in enumerate(some)}
        for row in session.rows(statement, {**of_page, **keys}):
            found[getattr(row, _PARENT)].append(row)
    count = cache(partial(_counts_by_parent, ports, query, parents, values))
    return {
        key: _page(rows, order, request, partial(_count_of, count, key))
        for key, rows in found.items()
    }


@building_block
def pages_by_parent(
    found: Mapping[int, Page[Row[*tuple[object, ...]]]],
    item: Callable[[Row[*tuple[object, ...]]], Item],
) -> Mapping[int, Page[Item]]:
    """Return what ``read_rows_by_parent`` found; each row becomes an item."""
    return {key: with_items(rows, map(item, rows.items)) for key, rows in found.items()}


def _in_parts(keys: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield the keys for one statement each, padded with 0, which no row has, to a power of two.

    So SQLAlchemy compiles eight statements, not one for each number of keys.
    """
    for start in range(0, len(keys), _MAX_PARENTS):
        some = keys[start : start + _MAX_PARENTS]
        yield some + (0,) * ((1 << (len(some) - 1).bit_length()) - len(some))


def _cached_statement(
    query: Query, order: Order, request: PageRequest, parent: Parent | None = None
) -> Executable:
    """Return the cached statement for this kind of page of ``query``; make it if there is none.

    With ``parent`` it is that of ``_statement_by_parent`` for one.
    """
    cached = _statements.setdefault(query, {})
    kind = order, request.backwards, bool(request.cursor), parent
    if kind not in cached:
        cached[kind] = (
            _statement(query, order, request)
            if parent is None
            else _statement_by_parent(query, parent, 1, order, request)
        )
    return cached[kind]


def _statement_by_parent(
    query: Query, parent: Parent, parents: int, order: Order, request: PageRequest
) -> Executable:
    label = parent.label(_PARENT)
    keys = [bindparam(_KEY.format(number), type_=parent.type) for number in range(parents)]
    pages = [_statement(query.where(parent == key), order, request, label) for key in keys]
    if len(pages) == 1:
        return pages[0]
    union = union_all(*(select(page.subquery()) for page in pages))
    places = list(union.selected_columns)[-len(order.columns) :]
    return union.order_by(*_sorted(places, order, request))


def _statement(
    query: Query, order: Order, request: PageRequest, *columns: Label[Any]
) -> Select[*tuple[object, ...]]:
    """Return the query for a page and the row after it: ``columns`` and the sort values last.

    ``_values`` are those of its parameters.
    """
    statement = query.add_columns(*columns, *(column.label(None) for column in order.columns))
    cursor = [
        bindparam(_PLACE.format(number), type_=column.type)
        for number, column in enumerate(order.columns[: len(request.cursor)])
    ]
    ordered = _beyond(statement, order, request, cursor)
    return ordered.limit(bindparam(_ROWS, type_=Integer()))


def _values(order: Order, request: PageRequest) -> dict[str, object]:
    """Return the values for the statement of a page; refuses a cursor of another list."""
    cursor = enumerate(_typed(order, request))
    return {_ROWS: request.size + 1, **{_PLACE.format(number): value for number, value in cursor}}


@building_block
def in_order(query: Select[*Columns], order: Order, request: PageRequest) -> Select[*Columns]:
    """Return ``query`` from the page's cursor on, in the order and direction of the page."""
    typed = zip(order.columns, _typed(order, request), strict=False)
    return _beyond(query, order, request, [literal(value, column.type) for column, value in typed])


def _beyond(
    query: Select[*Columns], order: Order, request: PageRequest, cursor: list[BindParameter[Any]]
) -> Select[*Columns]:
    """Return ``query`` in order, from the values of ``cursor`` on if there are any."""
    if cursor:
        places, values = tuple_(*order.columns), tuple_(*cursor)
        is_beyond = places < values if _is_descending(order, request) else places > values
        query = query.where(is_beyond)
    return query.order_by(*_sorted(order.columns, order, request))


def _sorted(
    columns: Iterable[Column | ColumnElement[object]], order: Order, request: PageRequest
) -> Iterator[UnaryExpression[Any]]:
    for column in columns:
        yield column.desc() if _is_descending(order, request) else column.asc()


def _is_descending(order: Order, request: PageRequest) -> bool:
    return order.descending is not request.backwards


def _page(
    rows: Sequence[Row[*tuple[object, ...]]],
    order: Order,
    request: PageRequest,
    count: Callable[[], int],
) -> Page[Row[*tuple[object, ...]]]:
    """Return what ``_statement`` found as a page."""
    more = len(rows) > request.size > 0
    rows = rows[: request.size]
    if request.backwards:
        rows = rows[::-1]
    width = len(order.columns)
    return Page(
        items=tuple(rows),
        positions=tuple(row[-width:] for row in rows),
        has_next=bool(request.cursor) if request.backwards else more,
        has_previous=more if request.backwards else bool(request.cursor),
        count=count,
        has_items=request.size > 0,
    )


def _bounded_counts(query: Query, whole: Query | None) -> tuple[Label[int], Label[int]]:
    """Return columns with how many rows both have; they cost the page no further statement."""
    return (
        _bounded_count(query).label("matching_count"),
        _bounded_count(query if whole is None else whole).label("total_count"),
    )


def _bounded_count(query: Query) -> ScalarSelect[int]:
    one: ColumnClause[int] = literal_column("1")
    some = query.with_only_columns(one, maintain_column_froms=True).order_by(None)
    return count_up_to(some, MAX_COUNTED + 1)


@building_block
def count_up_to(query: Select[*tuple[Any, ...]], most: int) -> ScalarSelect[int]:
    """Return how many rows ``query`` has; counting stops at ``most``."""
    return select(func.count()).select_from(query.limit(most).subquery()).scalar_subquery()


def _read_counts(
    session: ReadSession, rows: Sequence[Row[*tuple[object, ...]]], counts: tuple[Label[int], ...]
) -> Counts:
    row: NamedRow = rows[0] if rows else session.execute(select(*counts)).one()
    return Counts(row.matching_count, row.total_count)


def _count(ports: Ports, query: Select[*tuple[object, ...]]) -> int:
    # The columns are left out: some are subqueries, which needn't run for every row.
    counted = query.with_only_columns(func.count(), maintain_column_froms=True).order_by(None)
    with ports.database.reading() as session:
        return session.scalar(counted) or 0


def _counts_by_parent(
    ports: Ports, query: Query, parents: Parents, values: Mapping[str, object]
) -> Mapping[int, int]:
    """Return how many items each parent's list has; parents without any are left out."""
    columns = parents.column.label(_PARENT), func.count().label("number")
    counted = query.with_only_columns(*columns, maintain_column_froms=True).order_by(None)
    of_parents = counted.where(parents.column.in_(parents.keys)).group_by(parents.column)
    with ports.database.reading() as session:
        rows = session.execute(of_parents, values)
        return {getattr(row, _PARENT): row.number for row in rows}


def _count_of(counts: Callable[[], Mapping[int, int]], key: int) -> int:
    return counts().get(key, 0)


def _typed(order: Order, request: PageRequest) -> list[object]:
    """Return the cursor's values as the columns hold them; refuses a cursor of another list."""
    if not request.cursor:
        return []
    if len(request.cursor) != len(order.columns):
        raise _foreign(request)
    return [
        _value(column, value, request)
        for column, value in zip(order.columns, request.cursor, strict=True)
    ]


def _value(column: Column, value: str | int, request: PageRequest) -> object:
    kind = column.type.python_type
    if kind is datetime:
        return _moment(value, request)
    if not isinstance(value, kind):
        raise _foreign(request)
    return value


def _moment(value: str | int, request: PageRequest) -> datetime:
    try:
        return datetime.fromisoformat(str(value)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise _foreign(request) from None


def _foreign(request: PageRequest) -> Refused:
    return Refused(Problem("GRAPHQL_ERROR", BAD_CURSOR, request.cursor_field))
