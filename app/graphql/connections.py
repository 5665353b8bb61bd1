"""Relay connections over pages, what nodes share, and the conditions that lists are read by."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, TypeVar

import graphene

from app.domain.commerce.sales import OrderStatus
from app.domain.values import pages
from app.graphql.context import Info
from app.services.commerce.orders import OrderFilter
from app.services.lists.filters import Where

Filter = TypeVar("Filter")

_ARGUMENTS = ("before", "after", "first", "last")


class Node(graphene.Interface):
    """An object with a global ID."""

    id = graphene.NonNull(graphene.ID)


@dataclass(frozen=True, slots=True)
class Edge:
    """One item of a page and the sort values of its row."""

    node: object
    position: Sequence[object]


def make_connection(name: str, node: str, kind: str = "Countable") -> type[graphene.ObjectType]:
    """The type ``<name><kind>Connection`` of nodes of the dotted type ``node``."""
    edge = type(
        f"{name}{kind}Edge",
        (graphene.ObjectType,),
        {
            "__doc__": "An item of a list and its cursor.",
            "node": graphene.NonNull(node),
            "cursor": graphene.NonNull(graphene.String),
            "resolve_cursor": _resolve_cursor,
        },
    )
    connection: type[graphene.ObjectType] = type(
        f"{name}{kind}Connection",
        (graphene.ObjectType,),
        {
            "__doc__": "A page of a list.",
            "page_info": graphene.NonNull("app.graphql.types.lists.PageInfo"),
            "edges": graphene.NonNull(graphene.List(graphene.NonNull(edge))),
            "total_count": graphene.Int(description="The total number of items."),
            "resolve_page_info": _resolve_page_info,
            "resolve_edges": _resolve_edges,
            "resolve_total_count": _resolve_total_count,
        },
    )
    return connection


def connection_arguments() -> Mapping[str, graphene.Argument]:
    """Relay's four arguments."""
    return {
        "before": graphene.Argument(graphene.String),
        "after": graphene.Argument(graphene.String),
        "first": graphene.Argument(graphene.Int),
        "last": graphene.Argument(graphene.Int),
    }


def sorting_input(name: str, items: str, field: object) -> Any:
    """Return the input type ``name``: by which ``field`` some ``items`` are sorted, and how."""
    direction = graphene.InputField("app.graphql.types.lists.OrderDirection", required=True)
    return type(
        name,
        (graphene.InputObjectType,),
        {
            "__doc__": f"Sort order of {items}.",
            "direction": direction,
            "field": graphene.InputField(field, required=True),
        },
    )


def page_request(name: str, arguments: Mapping[str, Any]) -> pages.PageRequest:
    """The page of the list ``name`` that ``arguments`` ask for; refuses what makes no sense."""
    return pages.read_page_request(
        name, **{argument: arguments.get(argument) for argument in _ARGUMENTS}
    )


def is_ascending(arguments: Mapping[str, Any]) -> bool:
    """Whether ``sortBy`` in the arguments of a list sorts its only field upwards."""
    return bool((arguments.get("sort_by") or {}).get("direction") == "ASC")


def _resolve_page_info(page: pages.Page[object], _info: Info) -> pages.Page[object]:
    return page


def _resolve_edges(page: pages.Page[object], at: Info) -> list[Edge]:
    if not page.has_items:
        raise pages.no_page_size(str(at.path.as_list()[-2]))
    return list(map(Edge, page.items, page.positions))


def _resolve_cursor(edge: Edge, _info: Info) -> str:
    return pages.make_cursor(edge.position)


def _resolve_total_count(page: pages.Page[object], _info: Info) -> int:
    return page.count()


def where_in(
    sent: Mapping[str, Any], filter_in: Callable[[Mapping[str, Any]], Filter]
) -> Where[Filter]:
    """Return what an input with ``AND`` and ``OR`` means; ``filter_in`` reads its other fields."""
    return Where(
        filter_in(sent),
        every=tuple(where_in(part, filter_in) for part in sent.get("AND") or ()),
        some=tuple(where_in(part, filter_in) for part in sent.get("OR") or ()),
    )


def chosen_in(sent: Mapping[str, Any] | None) -> tuple[Any, ...] | None:
    """Return the values of an input with ``eq`` and ``oneOf``; none of both matches nothing."""
    if sent is None:
        return None
    if sent.get("eq") is not None:
        return (sent["eq"],)
    return tuple(sent.get("one_of") or ())


def ids_in(sent: Mapping[str, Any] | None) -> tuple[str, ...] | None:
    """Return the IDs of a ``GlobalIDFilterInput``; an empty one is none, as in Saleor."""
    chosen = chosen_in(sent)
    return None if chosen is None else tuple(filter(None, chosen))


def values_in(sent: Iterable[Any] | None) -> tuple[Any, ...] | None:
    """Return the values of a list in an input; ``None`` if it wasn't sent."""
    return None if sent is None else tuple(sent)


def range_in(sent: Mapping[str, Any] | None) -> pages.Range[Any] | None:
    """Return the range that an input with ``gte`` and ``lte`` means."""
    return None if sent is None else pages.Range(sent.get("gte"), sent.get("lte"))


def range_or_chosen(
    sent: Mapping[str, Any] | None,
) -> tuple[pages.Range[Any] | None, tuple[Any, ...] | None]:
    """Return the range in an input with ``eq``, ``oneOf`` and ``range``, or else its values."""
    found = None if sent is None else range_in(sent.get("range"))
    return found, None if found is not None else chosen_in(sent)


def times_in(range_: Mapping[str, datetime | None] | None) -> pages.Range[datetime] | None:
    """The range that a ``DateTimeRangeInput`` means."""
    return None if range_ is None else pages.moment_range(range_.get("gte"), range_.get("lte"))


def days_in(range_: Mapping[str, date | None] | None) -> pages.Range[datetime] | None:
    """The range that a ``DateRangeInput`` means."""
    return None if range_ is None else pages.day_range(range_.get("gte"), range_.get("lte"))


def prices_in(range_: Mapping[str, float | None] | None) -> pages.Range[Decimal] | None:
    """The range that a ``PriceRangeInput`` means."""
    return (
        None
        if range_ is None
        else pages.Range(_price(range_.get("gte")), _price(range_.get("lte")))
    )


def _price(amount: float | None) -> Decimal | None:
    return None if amount is None else Decimal(repr(amount))


def order_where(sent: Mapping[str, Any]) -> Where[OrderFilter]:
    """Return the conditions that an ``OrderWhereInput`` or ``CustomerOrderWhereInput`` means."""
    return where_in(sent, _order_filter)


def _order_filter(sent: Mapping[str, Any]) -> OrderFilter:
    number_range, numbers = range_or_chosen(sent.get("number"))
    return OrderFilter(
        ids=values_in(sent.get("ids")),
        emails=chosen_in(sent.get("user_email")),
        numbers=numbers,
        number_range=number_range,
        channel_ids=ids_in(sent.get("channel_id")),
        statuses=_statuses(sent.get("status")),
        created_at=times_in(sent.get("created_at")),
        updated_at=times_in(sent.get("updated_at")),
    )


def _statuses(sent: Mapping[str, Any] | None) -> tuple[OrderStatus, ...] | None:
    chosen = chosen_in(sent)
    if chosen is None:
        return None
    names = {one.value for one in chosen}
    return tuple(status for status in OrderStatus if status.value in names)
