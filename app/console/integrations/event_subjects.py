"""Events by subject: names and other words for each subject, and the samples to choose from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from werkzeug.wrappers import Response as BaseResponse

from app.console.frame.session import actor, ports
from app.console.frame.submissions import Created, CreatingForm, create_once
from app.domain.authorization.actor import Actor
from app.domain.events import EVENTS, EventType
from app.domain.values.errors import PermissionDenied, Problem, Refused
from app.domain.values.ids import parse_global_id, to_global_id
from app.domain.values.pages import PageRequest
from app.domain.values.text import translatable
from app.ports import Ports
from app.services.commerce.channels import list_channels
from app.services.commerce.orders import OrderFilter, list_orders
from app.services.commerce.products import ProductFilter, list_products
from app.services.console.search import HitKind, search_everything
from app.services.deliveries.details import ObjectName
from app.services.deliveries.dry_runs import trigger_webhook
from app.services.deliveries.lists import DeliveryLine
from app.web.translation import enumeration, text

_FIRST = PageRequest(8)
_SHORT_NUMBER = 8


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
    return _find_objects(ports, actor, SHOWN_SUBJECTS[EVENTS[event].subject.type], name)


def _find_objects(
    ports: Ports, actor: Actor, subject: "ShownSubject", name: str
) -> list[FoundObject]:
    try:
        return subject.find(ports, actor, name)
    except (PermissionDenied, Refused):
        return []


def object_called(ports: Ports, actor: Actor, called: str) -> str:
    """Return the global ID of the object that rows of deliveries call so: ``Order #44``, ``44``.

    A name or an email must be whole; an ID is returned as it is. Raises ``ValueError`` if there
    is no such object that ``actor`` can see.
    """
    if parse_global_id(called) is not None:
        return called
    for kind in ("Order", *SHOWN_SUBJECTS):
        subject = SHOWN_SUBJECTS[kind]
        name = _without_mark(called.casefold().removeprefix(text(subject.label).casefold()))
        for one in _find_objects(ports, actor, subject, name) if name else ():
            if name in {_without_mark(one.title.casefold()), one.detail.casefold()}:
                return one.id
    raise ValueError(called)


def _without_mark(name: str) -> str:
    """Return ``name`` without the mark of a number: ``44`` of ``#44``, ``Nr. 44`` in German."""
    mark = text("#{number}", number="").casefold().strip()
    return name.strip().removeprefix("#").removeprefix(mark).strip()


def title_of(line: DeliveryLine, names: Mapping[str, ObjectName]) -> str:
    """Return what the delivery is about: its object's name, or else the event.

    ``names`` are those of ``name_objects``.
    """
    named = names.get(line.object_id)
    return SHOWN_SUBJECTS[EVENTS[line.event].subject.type].title(line, named)


@dataclass(frozen=True, slots=True)
class ShownSubject:
    """A type of object that events are about.

    ``label`` names it, ``hint`` says how to enter one. ``find`` finds objects by a text, and
    ``title`` names the object of a delivery.
    """

    label: str
    hint: str
    find: Callable[[Ports, Actor, str], list[FoundObject]]
    title: Callable[[DeliveryLine, ObjectName | None], str]


def _find_products(ports: Ports, actor: Actor, name: str) -> list[FoundObject]:
    products = list_products(ports, actor, _FIRST, ProductFilter(search=name)).items
    return [FoundObject(to_global_id("Product", p.id), p.name, p.slug) for p in products]


def _find_orders(ports: Ports, actor: Actor, name: str) -> list[FoundObject]:
    orders = list_orders(ports, actor, _FIRST, OrderFilter(search=name.lstrip("#"))).items
    return [
        FoundObject(
            to_global_id("Order", order.id),
            text("#{number}", number=order.number),
            order.user_email,
        )
        for order in orders
    ]


def _find_hits(
    type_: str, kinds: tuple[HitKind, ...], ports: Ports, actor: Actor, name: str
) -> list[FoundObject]:
    return [
        FoundObject(to_global_id(type_, hit.id), hit.title, hit.detail)
        for hit in search_everything(ports, actor, name)
        if hit.kind in kinds
    ]


def _find_none(_ports: Ports, _actor: Actor, _name: str) -> list[FoundObject]:
    return []


def _name_title(line: DeliveryLine, named: ObjectName | None) -> str:
    if named is None:
        return text(line.event.label)
    return text("{name} (deleted)", name=named.name) if named.is_deleted else named.name


def _numbered(template: str) -> Callable[[DeliveryLine, ObjectName | None], str]:
    """Return the title of deliveries whose object's name is its number."""

    def title(line: DeliveryLine, named: ObjectName | None) -> str:
        return text(line.event.label) if named is None else text(template, number=named.name)

    return title


def _find_channels(ports: Ports, actor: Actor, name: str) -> list[FoundObject]:
    wanted = name.casefold()
    return [
        FoundObject(to_global_id("Channel", channel.id), channel.name, channel.slug)
        for channel in list_channels(ports, actor)
        if wanted in channel.name.casefold() or wanted in channel.slug.casefold()
    ][: _FIRST.size]


def _cart_title(line: DeliveryLine, named: ObjectName | None) -> str:
    if named is not None:
        return text("Cart of {email}", email=named.name)
    if not line.object_id:
        return text("Deleted cart")
    _, token = parse_global_id(line.object_id) or ("", line.object_id)
    return text("Cart {number}", number=token[:_SHORT_NUMBER])


SHOWN_SUBJECTS: Mapping[str, ShownSubject] = MappingProxyType(
    {
        "Address": ShownSubject(
            translatable("Address"),
            translatable("ID. Leave empty for the latest address."),
            _find_none,
            _numbered(translatable("Address {number}")),
        ),
        "Channel": ShownSubject(
            translatable("Channel"),
            translatable("Name, slug or ID. Leave empty for the latest channel."),
            _find_channels,
            _name_title,
        ),
        "Shop": ShownSubject(
            translatable("Shop"),
            translatable("ID. Leave empty for this shop."),
            _find_none,
            _name_title,
        ),
        "App": ShownSubject(
            translatable("App"),
            translatable("Name, number, email or ID. Leave empty for the latest app."),
            partial(_find_hits, "App", (HitKind.APP,)),
            _name_title,
        ),
        "Checkout": ShownSubject(
            translatable("Cart"),
            translatable("Name, number, email or ID. Leave empty for the latest cart."),
            _find_none,
            _cart_title,
        ),
        "Group": ShownSubject(
            translatable("Permission group"),
            translatable(
                "Name, number, email or ID. Leave empty for the latest permission group."
            ),
            partial(_find_hits, "Group", (HitKind.GROUP,)),
            _name_title,
        ),
        "Order": ShownSubject(
            translatable("Order"),
            translatable("Name, number, email or ID. Leave empty for the latest order."),
            _find_orders,
            _numbered(translatable("Order #{number}")),
        ),
        "Product": ShownSubject(
            translatable("Product"),
            translatable("Name, number, email or ID. Leave empty for the latest product."),
            _find_products,
            _name_title,
        ),
        "User": ShownSubject(
            translatable("Person"),
            translatable("Name, number, email or ID. Leave empty for the latest person."),
            partial(_find_hits, "User", (HitKind.CUSTOMER, HitKind.STAFF)),
            _name_title,
        ),
    }
)
"""By the type of ``domain.events.Subject``."""

_TRUE = "true"


def send_sample(webhook: int, event: EventType | None, named: str) -> BaseResponse:
    """Send the webhook the event about the object that ``named`` names, or the newest.

    Without an event, the first that the webhook subscribes to; ``named`` is an ID then. Refuses
    as ``object_named`` and ``trigger_webhook`` do. Leads to the delivery. The form is a
    ``CreatingForm``: sent twice, it sends the event once.
    """

    def send() -> Created:
        object_id: str | None = named or None
        if event is not None and event in EVENTS:
            object_id = object_named(ports(), actor(), event, named)
        key = to_global_id("Webhook", webhook)
        sent = trigger_webhook(ports(), actor(), key, object_id, event)
        return Created(text("Sending sample event."), "console.deliveries.show", {"key": sent.id})

    return create_once(CreatingForm(), send)


def sample_header() -> str:
    return f"{ports().configuration.header_names.sample_header}: {_TRUE}"
