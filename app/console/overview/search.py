"""The search box: pages, and everything of the shop that has the typed words, numbers or IDs.

What is typed comes in a form's body, since it can be a token. Only what is too short for one is
put into the URL of the results.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from flask import Blueprint, current_app, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from app.console.frame.navigation import Entry, all_places, other_places
from app.console.frame.page_layout import page, redirect_to, wants_part
from app.console.frame.session import actor, ports
from app.console.people.customers import ORDER_STATUSES
from app.console.security.inspector import KINDS, verdict_sentence
from app.domain.authorization.permissions import Permission
from app.domain.deliveries.deliveries import DeliveryStatus
from app.domain.inspector import Inspection, TokenKind, may_be_token
from app.domain.sign_in.sign_in_log import Period
from app.domain.values.text import translatable
from app.services.console.search import Hit, HitKind, HitState, search_everything
from app.services.inspector.inspect import inspect_token
from app.web.translation import text

_PLAYGROUND = Entry(
    translatable("Playground"),
    "terminal",
    translatable("graphql graphiql query api"),
    endpoint="playground",
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
    HitKind.OAUTH_CLIENT: Kind(
        translatable("OAuth clients"), "box-arrow-in-right", "console.oauth_clients.show"
    ),
    HitKind.ORDER: Kind(translatable("Orders"), "bag", "console.customers.show"),
    HitKind.IP_ADDRESS: Kind(translatable("IP addresses"), "globe", "console.sign_ins.index"),
}

_PEOPLE: Mapping[str, str] = {
    HitState.ACTIVE: translatable("Active."),
    HitState.INACTIVE: translatable("Deactivated: can't sign in."),
    HitState.UNCONFIRMED: translatable("Active. The email isn't confirmed."),
}
_STATES: Mapping[HitKind, Mapping[str, str]] = {
    HitKind.APP: {
        HitState.ACTIVE: translatable("Active."),
        HitState.INACTIVE: translatable("Deactivated: its tokens are refused."),
    },
    HitKind.WEBHOOK: {
        HitState.ACTIVE: translatable("Enabled."),
        HitState.INACTIVE: translatable("Disabled: no events are sent."),
        HitState.PAUSED: translatable("Paused: events wait."),
        HitState.FAILING: translatable("Failing: events are retried."),
    },
    HitKind.STAFF: _PEOPLE,
    HitKind.CUSTOMER: _PEOPLE,
    HitKind.PROVIDER: {
        HitState.ACTIVE: translatable("Enabled."),
        HitState.INACTIVE: translatable("Disabled: no one can sign in with it."),
        HitState.WAITING: translatable("Changed settings wait for confirmation."),
    },
    HitKind.OAUTH_CLIENT: {
        HitState.ACTIVE: translatable("Enabled."),
        HitState.INACTIVE: translatable("Disabled: no one can sign in with it."),
    },
    HitKind.ORDER: {status.value: words for status, words in ORDER_STATUSES.items()},
}

blueprint = Blueprint("search", __name__, url_prefix="/search")


@dataclass(frozen=True, slots=True)
class Result:
    """One result; ``detail`` distinguishes it from others of its name, ``state`` is a sentence."""

    label: str
    detail: str
    icon: str
    address: str
    state: str = ""


@dataclass(frozen=True, slots=True)
class ResultGroup:
    label: str
    results: tuple[Result, ...]


@blueprint.get("/")
def index() -> BaseResponse:
    """Show what ``q`` finds, or the pages of the console."""
    return _results(request.args.get("q", "").strip())


@blueprint.post("/")
def find() -> BaseResponse:
    """Explain a token, or show what another text finds, at its own URL if it can't be a token."""
    search_text = request.form.get("q", "").strip()
    if may_be_token(search_text):
        token = _token(search_text)
        if token is None:
            return _results(search_text)
        return _show("", [ResultGroup(text("Tokens"), (token,))])
    if wants_part():
        return _results(search_text)
    return redirect_to(".index", q=search_text)


def _results(search_text: str) -> BaseResponse:
    return _show(search_text, [group for group in _groups(search_text) if group.results])


def _show(search_text: str, groups: Sequence[ResultGroup]) -> BaseResponse:
    return page(
        "search/index.html", search_text=search_text, groups=groups, summary=summary(groups)
    )


def _token(search_text: str) -> Result | None:
    """Return what a token is and whether it is valid; ``None`` for another text."""
    found = inspect_token(ports(), actor(), search_text)
    if found.kind is TokenKind.UNREADABLE:
        return None
    owner = ""
    if found.app is not None:
        owner = found.app.name
    elif found.bearer is not None:
        owner = found.bearer.name or found.bearer.email
    kind = text(KINDS[found.kind])
    return Result(kind, owner, "braces", _token_address(found), verdict_sentence(found))


def _token_address(found: Inspection) -> str:
    """Return the page of the token's app or person for a reader who can open it."""
    if found.app is not None:
        return url_for("console.apps.show", key=found.app.id)
    bearer = found.bearer
    if bearer is not None and bearer.is_staff and actor().holds(Permission.MANAGE_STAFF):
        return url_for("console.staff.show", key=bearer.id)
    if bearer is not None and not bearer.is_staff and actor().holds(Permission.MANAGE_USERS):
        return url_for("console.customers.show", key=bearer.id)
    return url_for("console.inspector.index")


def summary(groups: Iterable[ResultGroup]) -> str:
    count = sum(len(group.results) for group in groups)
    return (
        text("{count:,} result", "{count:,} results", count=count) if count else text("No results")
    )


def hit_result(hit: Hit, icon: str, address: str) -> Result:
    state = _state(hit)
    if hit.kind is HitKind.ORDER:
        label = text("Order #{number}", number=hit.title)
        return Result(label, hit.detail, icon, address, state)
    label = hit.title or hit.detail or text("Unnamed")
    return Result(label, hit.detail if hit.title else "", icon, address, state)


def _state(hit: Hit) -> str:
    if hit.kind is HitKind.DELIVERY:
        return _delivery_state(hit)
    if hit.kind is HitKind.GROUP:
        return text("{count:,} member", "{count:,} members", count=hit.count)
    if hit.kind is HitKind.IP_ADDRESS:
        attempts = text("{count:,} sign-in attempt", "{count:,} sign-in attempts", count=hit.count)
        is_blocked = hit.state == HitState.BLOCKED
        return text("Blocked. {attempts}", attempts=attempts) if is_blocked else attempts
    return text(_STATES[hit.kind].get(hit.state, ""))


def _delivery_state(hit: Hit) -> str:
    if hit.state == DeliveryStatus.SUCCESS:
        return text("Delivered.")
    if hit.state == DeliveryStatus.FAILED:
        return text(
            "Failed after {count:,} attempt.", "Failed after {count:,} attempts.", count=hit.count
        )
    if not hit.count:
        return text("Waiting for the first attempt.")
    return text(
        "Retrying after {count:,} attempt.", "Retrying after {count:,} attempts.", count=hit.count
    )


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
    if hit.kind is HitKind.IP_ADDRESS:
        if hit.state == HitState.BLOCKED:
            return url_for("console.throttle.index", q=hit.title)
        return url_for(endpoint, q=hit.title, since=Period.QUARTER.value)
    return url_for(endpoint, key=hit.id)


def _places(places: tuple[Entry, ...], search_text: str) -> Iterator[Result]:
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
