"""Reading a page of records by keyset: the rows after a cursor's sort values."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from sqlalchemy import Row, Select, func, select, tuple_
from sqlalchemy.orm import InstrumentedAttribute, Session

from app.domain.errors import Problem, Refused
from app.domain.pages import Page, PageRequest, make_cursor
from app.ports import Ports
from app.services.access import part

Item = TypeVar("Item")
Column = InstrumentedAttribute[str] | InstrumentedAttribute[int] | InstrumentedAttribute[datetime]


@dataclass(frozen=True, slots=True)
class Order:
    """By which columns a list goes, the unique key last; none of them may be null.

    All go in one direction, so that one comparison of rows, and one index, serve.
    """

    columns: tuple[Column, ...]
    descending: bool = False


@part
def read_page(
    ports: Ports,
    session: Session,
    query: Select[*tuple[object, ...]],
    order: Order,
    request: PageRequest,
    item: Callable[[Row[*tuple[object, ...]]], Item],
) -> Page[Item]:
    """The page of ``query`` that ``request`` asks for; each row becomes an item.

    Whether there is more is told by one row beyond the page, never by counting.
    """
    descending = order.descending is not request.backwards
    places = tuple_(*order.columns)
    wanted = query.add_columns(*(column.label(None) for column in order.columns))
    if request.cursor:
        values = tuple_(*_typed(order, request))
        wanted = wanted.where(places < values if descending else places > values)
    wanted = wanted.order_by(
        *(column.desc() if descending else column.asc() for column in order.columns)
    ).limit(request.size + 1)
    rows = session.execute(wanted).all()
    more = len(rows) > request.size
    rows = rows[: request.size]
    if request.backwards:
        rows = rows[::-1]
    width = len(order.columns)
    return Page(
        items=tuple(item(row) for row in rows),
        cursors=tuple(_cursor(row[-width:]) for row in rows),
        has_next=bool(request.cursor) if request.backwards else more,
        has_previous=more if request.backwards else bool(request.cursor),
        count=lambda: _count(ports, query),
    )


def _count(ports: Ports, query: Select[*tuple[object, ...]]) -> int:
    with ports.database.reading() as session:
        counted = select(func.count()).select_from(query.order_by(None).subquery())
        return session.scalar(counted) or 0


def _typed(order: Order, request: PageRequest) -> list[object]:
    """The cursor's values as the columns hold them; refuses a cursor of another list."""
    problem = Problem("GRAPHQL_ERROR", "Received cursor is invalid.", "after")
    if len(request.cursor) != len(order.columns):
        raise Refused(problem)
    typed: list[object] = []
    for column, value in zip(order.columns, request.cursor, strict=True):
        kind = column.type.python_type
        try:
            found = datetime.fromisoformat(str(value)) if kind is datetime else value
        except ValueError:
            raise Refused(problem) from None
        if not isinstance(found, kind):
            raise Refused(problem)
        typed.append(found)
    return typed


def _cursor(values: Sequence[object]) -> str:
    return make_cursor(
        tuple(
            value.isoformat() if isinstance(value, datetime) else _plain(value) for value in values
        )
    )


def _plain(value: object) -> str | int:
    return value if isinstance(value, int) else str(value)
