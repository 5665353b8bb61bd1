"""The search box: pages, and everything of the shop whose words begin with what was typed."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from flask import Blueprint, current_app, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from app.console.frame.navigation import Place, all_places, other_places
from app.console.frame.page_layout import page
from app.console.frame.session import actor, ports
from app.domain.values.text import translatable
from app.services.console.search import Hit, HitKind, search_everything
from app.web.translation import text

_PLAYGROUND = Place(
    translatable("Playground"),
    "playground",
    "terminal",
    translatable("graphql graphiql query api"),
)


@dataclass(frozen=True, slots=True)
class Kind:
    """How results of a kind are shown, and the page that they lead to."""

    label: str
    icon: str
    endpoint: str


_KINDS = {
    HitKind.APP: Kind(translatable("Apps"), "grid", "console.apps.show"),
    HitKind.WEBHOOK: Kind(translatable("Webhooks"), "broadcast", "console.webhooks.show"),
    HitKind.DELIVERY: Kind(translatable("Deliveries"), "send", "console.deliveries.show"),
    HitKind.STAFF: Kind(translatable("Staff"), "person-badge", "console.staff.show"),
    HitKind.CUSTOMER: Kind(translatable("Customers"), "people", "console.customers.show"),
    HitKind.GROUP: Kind(translatable("Groups"), "person-badge", "console.staff.groups.show"),
    HitKind.PROVIDER: Kind(
        translatable("Identity providers"), "shield-lock", "console.single_sign_on.show"
    ),
    HitKind.ORDER: Kind(translatable("Orders"), "bag", "console.customers.show"),
}

blueprint = Blueprint("search", __name__, url_prefix="/search")


@dataclass(frozen=True, slots=True)
class Result:
    """One result; ``detail`` distinguishes it from others of its name."""

    label: str
    detail: str
    icon: str
    address: str


@dataclass(frozen=True, slots=True)
class ResultGroup:
    """Results under one heading."""

    label: str
    results: tuple[Result, ...]


@blueprint.get("/")
def index() -> BaseResponse:
    """Show what ``q`` finds, or the pages of the console."""
    search_text = request.args.get("q", "").strip()
    groups = [group for group in _groups(search_text) if group.results]
    return page(
        "search/index.html", search_text=search_text, groups=groups, summary=summary(groups)
    )


def summary(groups: Iterable[ResultGroup]) -> str:
    """Return how many results there are."""
    count = sum(len(group.results) for group in groups)
    return (
        text("{count:,} result", "{count:,} results", count=count) if count else text("No results")
    )


def hit_result(hit: Hit, icon: str, address: str) -> Result:
    """Return a hit as a result."""
    if hit.kind is HitKind.ORDER:
        return Result(text("Order #{number}", number=hit.title), hit.detail, icon, address)
    detail = hit.detail if hit.title else ""
    if not hit.is_active:
        detail = text("{detail} · disabled", detail=detail) if detail else text("Disabled")
    return Result(hit.title or hit.detail or text("Unnamed"), detail, icon, address)


def _groups(search_text: str) -> Iterator[ResultGroup]:
    yield ResultGroup(text("Pages"), tuple(_places(all_places(), search_text)))
    others = (*other_places(), _PLAYGROUND)
    yield ResultGroup(text("Actions"), tuple(_places(others, search_text)) if search_text else ())
    hits = search_everything(ports(), actor(), search_text) if search_text else ()
    for kind, shown in _KINDS.items():
        yield ResultGroup(text(shown.label), tuple(_of_kind(kind, shown, hits)))


def _of_kind(kind: HitKind, shown: Kind, hits: Sequence[Hit]) -> Iterator[Result]:
    for hit in hits:
        if hit.kind is kind:
            yield hit_result(hit, shown.icon, _address(shown.endpoint, hit))


def _address(endpoint: str, hit: Hit) -> str:
    if hit.kind is HitKind.PROVIDER:
        return url_for(endpoint, slug=hit.detail)
    if hit.kind is HitKind.ORDER and not hit.id:
        return url_for("console.customers.index", q=hit.detail)
    return url_for(endpoint, key=hit.id)


def _places(places: tuple[Place, ...], search_text: str) -> Iterator[Result]:
    """Yield the places with a word that begins with each of the words of ``search_text``."""
    beginnings = search_text.lower().split()
    for place in places:
        known = {word for label in (place.label, place.words) for word in _words(label)}
        fits = all(any(word.startswith(beginning) for word in known) for beginning in beginnings)
        if fits and place.endpoint in current_app.view_functions and place.is_open_to(actor()):
            yield Result(text(place.label), "", place.icon, url_for(place.endpoint))


def _words(label: str) -> list[str]:
    """Return the words of a label, in English and in the language of the page."""
    return f"{label} {text(label)}".lower().replace("-", " ").split()
