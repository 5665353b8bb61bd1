"""The search box: places, things to do, and whatever the shop has that begins with these words."""

from collections.abc import Iterator
from dataclasses import dataclass

from flask import Blueprint, current_app, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from app.console.navigation import Place, all_places, other_places
from app.console.page_layout import page
from app.console.session import actor, ports
from app.services.console.search import Hit, HitKind, search_everything

_PLAYGROUND = Place("Playground", "playground", "terminal", "graphql graphiql query api")

_KINDS = {
    HitKind.APP: ("Apps", "grid", "console.apps.show"),
    HitKind.WEBHOOK: ("Webhooks", "broadcast", "console.webhooks.show"),
    HitKind.DELIVERY: ("Deliveries", "send", "console.deliveries.show"),
    HitKind.STAFF: ("Staff", "person-badge", "console.staff.show"),
    HitKind.CUSTOMER: ("Customers", "people", "console.customers.show"),
    HitKind.GROUP: ("Groups", "person-badge", "console.staff.groups.show"),
    HitKind.PROVIDER: ("Identity providers", "shield-lock", "console.single_sign_on.show"),
}

blueprint = Blueprint("search", __name__, url_prefix="/search")


@dataclass(frozen=True, slots=True)
class Result:
    """One line of what was found."""

    label: str
    detail: str
    icon: str
    address: str
    is_active: bool = True


@dataclass(frozen=True, slots=True)
class ResultGroup:
    """Results under one heading."""

    label: str
    results: tuple[Result, ...]


@blueprint.get("/")
def index() -> BaseResponse:
    """What ``q`` finds; without it the places of the console."""
    text = request.args.get("q", "").strip()
    groups = [group for group in _groups(text) if group.results]
    return page(
        "search/index.html",
        text=text,
        groups=groups,
        count=sum(len(group.results) for group in groups),
    )


def _groups(text: str) -> Iterator[ResultGroup]:
    yield ResultGroup("Pages", tuple(_places(all_places(), text)))
    yield ResultGroup("Do", tuple(_places((*other_places(), _PLAYGROUND), text)) if text else ())
    hits = search_everything(ports(), actor(), text) if text else ()
    for kind, (label, icon, endpoint) in _KINDS.items():
        found = tuple(
            Result(
                hit.title or hit.detail or "Without a name",
                hit.detail if hit.title else "",
                icon,
                _address(endpoint, hit),
                hit.is_active,
            )
            for hit in hits
            if hit.kind is kind
        )
        yield ResultGroup(label, found)


def _address(endpoint: str, hit: Hit) -> str:
    if hit.kind is HitKind.PROVIDER:
        return url_for(endpoint, slug=hit.detail)
    return url_for(endpoint, key=hit.id)


def _places(places: tuple[Place, ...], text: str) -> Iterator[Result]:
    """Those of ``places`` that have a word which begins with each of the words of ``text``."""
    wanted = text.lower().split()
    for place in places:
        known = f"{place.label} {place.words}".lower().replace("-", " ").split()
        fits = all(any(word.startswith(one) for word in known) for one in wanted)
        if fits and place.endpoint in current_app.view_functions:
            yield Result(place.label, "", place.icon, url_for(place.endpoint))
