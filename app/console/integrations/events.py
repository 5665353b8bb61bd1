"""Events: what webhooks can subscribe to, each with a sample of its payload."""

from flask import request
from werkzeug.wrappers import Response as BaseResponse

from app.console.integrations.events_page import NO_SAMPLE, SampleEvent, make_events_page
from app.console.integrations.sample_events import sample_header, send_sample
from app.console.navigation import Entry, Heading, PageGroup
from app.console.page_layout import page, refused_page
from app.console.session import actor, ports, require
from app.domain.authorization.permissions import Permission
from app.domain.events import EVENTS, EventType, default_query
from app.domain.values.errors import PermissionDenied, Refused
from app.domain.values.pages import MAX_PAGE_SIZE, Page, PageRequest
from app.services.authorization.register import may
from app.services.deliveries.dry_runs import dry_run_webhook
from app.services.webhooks.lists import Subscriber, list_subscribers
from app.services.webhooks.queries import check_query
from app.web.converters import row_key
from app.web.translation import problem_text, reason_text

blueprint = PageGroup(
    "events",
    __name__,
    Entry(
        "Events",
        "lightning-charge",
        "catalogue catalog payload sample subscription types",
        Heading.INTEGRATIONS,
        needs=check_query,
    ),
    url_prefix="/events",
)


@blueprint.get("/")
def index() -> BaseResponse:
    """List the events that match a search, and show one of them."""
    return _show(NO_SAMPLE)


@blueprint.post("/send")
def send() -> BaseResponse:
    """Send a sample of the event to one of the webhooks that subscribe to it."""
    require(Permission.MANAGE_APPS)
    wanted = request.form.get("object", "").strip()
    webhook = request.form.get("webhook", 0, type=row_key)
    try:
        return send_sample(webhook, _named_event(), wanted)
    except Refused as refused:
        problem = " ".join(map(problem_text, refused.problems))
        return _show(SampleEvent(webhook, wanted, problem))


def _named_event() -> EventType:
    name = request.values.get("event", "")
    return EventType(name) if name in EVENTS else next(iter(EVENTS))


def _show(sample: SampleEvent) -> BaseResponse:
    shown, search = _named_event(), request.args.get("q", "")
    payload, problem = _sample(shown)
    events = make_events_page(
        shown, search, _subscribers(shown), payload=payload, problem=problem, sample=sample
    )
    respond = refused_page if sample.problem else page
    return respond(
        "events/index.html", events=events, search=search, sample_header=sample_header()
    )


def _sample(event: EventType) -> tuple[str, str]:
    """Return the payload of the newest object by the default query, or why there is none."""
    try:
        sample = dry_run_webhook(ports(), actor(), query=default_query(EVENTS[event]))
    except Refused as refused:
        return "", problem_text(refused.problems[0])
    except PermissionDenied as denied:
        return "", reason_text(str(denied))
    return sample.payload, ""


def _subscribers(event: EventType) -> Page[Subscriber] | None:
    if not may(actor(), list_subscribers):
        return None
    return list_subscribers(ports(), actor(), event, PageRequest(MAX_PAGE_SIZE))
