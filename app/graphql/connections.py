"""Relay connections over pages, what nodes share, and the conditions that lists are read by."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import graphene

from app.domain.values.pages import Page, PageRequest, make_cursor, no_page_size, read_page_request
from app.graphql.context import Info
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


def page_request(name: str, arguments: Mapping[str, Any]) -> PageRequest:
    """The page of the list ``name`` that ``arguments`` ask for; refuses what makes no sense."""
    return read_page_request(
        name, **{argument: arguments.get(argument) for argument in _ARGUMENTS}
    )


def is_ascending(arguments: Mapping[str, Any]) -> bool:
    """Whether ``sortBy`` in the arguments of a list sorts its only field upwards."""
    return bool((arguments.get("sort_by") or {}).get("direction") == "ASC")


def _resolve_page_info(page: Page[object], _info: Info) -> Page[object]:
    return page


def _resolve_edges(page: Page[object], at: Info) -> list[Edge]:
    if not page.has_items:
        raise no_page_size(str(at.path.as_list()[-2]))
    return list(map(Edge, page.items, page.positions))


def _resolve_cursor(edge: Edge, _info: Info) -> str:
    return make_cursor(edge.position)


def _resolve_total_count(page: Page[object], _info: Info) -> int:
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
