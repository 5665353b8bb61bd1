"""Objects that an event can be about, found by what people call them."""

from dataclasses import dataclass

from app.domain.authorization.actor import Actor
from app.domain.events import EVENTS, EventType
from app.domain.values.errors import PermissionDenied, Problem, Refused
from app.domain.values.ids import parse_global_id, to_global_id
from app.domain.values.pages import PageRequest
from app.domain.values.text import translatable
from app.ports import Ports
from app.services.commerce.catalogue import ProductFilter, list_products
from app.services.commerce.order_lists import OrderFilter, list_orders
from app.services.console.search import HitKind, search_everything
from app.web.translation import enumeration, text

_MOST = 8
_HITS = {
    "App": (HitKind.APP,),
    "Group": (HitKind.GROUP,),
    "User": (HitKind.CUSTOMER, HitKind.STAFF),
}


@dataclass(frozen=True, slots=True)
class FoundObject:
    """A match: its global ID, its name, and a detail that distinguishes it."""

    id: str
    title: str
    detail: str = ""


def object_named(ports: Ports, actor: Actor, event: EventType, named: str) -> str | None:
    """Return the global ID of the object that ``named`` names; ``None`` if it is empty.

    An ID is returned as it is; a number, a name or an email may be a part of one that is unique.
    Refuses NOT_FOUND on ``objectId`` if none matches, INVALID if several do.
    """
    if not named or parse_global_id(named) is not None:
        return named or None
    found = find_objects(ports, actor, event, named)
    name = named.lstrip("#").casefold()
    exact = [
        one for one in found if name in {one.title.lstrip("#").casefold(), one.detail.casefold()}
    ]
    if not found:
        message = translatable(
            "Nothing that this event is about matches “{named}”. Enter a number, name, email or "
            "ID, or leave the field empty for the newest."
        )
        raise Refused(Problem("NOT_FOUND", message, "objectId", values={"named": named}))
    matches = exact or found
    if len(matches) > 1:
        message = translatable("“{named}” matches {names}. Enter the full name, or an ID.")
        names = enumeration([one.title for one in matches])
        raise Refused(
            Problem("INVALID", message, "objectId", values={"named": named, "names": names})
        )
    return matches[0].id


def find_objects(ports: Ports, actor: Actor, event: EventType, name: str) -> list[FoundObject]:
    """Find objects for ``event`` by ``name``; empty without the permission to see them."""
    subject = EVENTS[event].subject
    first = PageRequest(_MOST)
    try:
        if subject == "Product":
            products = list_products(ports, actor, first, ProductFilter(search=name))
            return [
                FoundObject(to_global_id(subject, p.id), p.name, p.slug) for p in products.items
            ]
        if subject == "Order":
            orders = list_orders(ports, actor, first, OrderFilter(search=name.lstrip("#")))
            return [
                FoundObject(
                    to_global_id(subject, order.id),
                    text("#{number}", number=order.number),
                    order.user_email,
                )
                for order in orders.items
            ]
        hits = search_everything(ports, actor, name)
    except (PermissionDenied, Refused):
        return []
    return [
        FoundObject(to_global_id(subject, hit.id), hit.title, hit.detail)
        for hit in hits
        if hit.kind in _HITS.get(subject, ())
    ]
