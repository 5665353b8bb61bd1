"""Events: what webhooks can subscribe to, each with a sample of its payload."""

from flask import request
from werkzeug.wrappers import Response as BaseResponse

from app.console.integrations.events_page import make_events_page
from app.console.navigation import Entry, Heading, PageGroup
from app.console.page_layout import page
from app.console.session import actor, ports
from app.domain.events import EVENTS, EventType, default_query
from app.domain.values.errors import PermissionDenied, Refused, problem_text
from app.domain.values.pages import MAX_PAGE_SIZE, PageRequest
from app.services.authorization.register import may
from app.services.deliveries.dry_runs import dry_run_webhook
from app.services.webhooks.lists import ListedWebhook, WebhookFilter, list_webhooks
from app.services.webhooks.queries import check_query

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
    name = request.args.get("event", "")
    shown = EventType(name) if name in EVENTS else next(iter(EVENTS))
    payload, problem = _sample(shown)
    events = make_events_page(
        shown, request.args.get("q", ""), _webhooks(shown), payload=payload, problem=problem
    )
    return page("events/index.html", events=events, search=request.args.get("q", ""))


def _sample(event: EventType) -> tuple[str, str]:
    """Return the payload of the newest object by the default query, or why there is none."""
    try:
        sample = dry_run_webhook(ports(), actor(), query=default_query(EVENTS[event]))
    except Refused as refused:
        return "", problem_text(refused.problems[0])
    except PermissionDenied as denied:
        return "", str(denied)
    return sample.payload, ""


def _webhooks(event: EventType) -> tuple[ListedWebhook, ...] | None:
    if not may(actor(), list_webhooks):
        return None
    filter_ = WebhookFilter(event=event)
    return tuple(list_webhooks(ports(), actor(), PageRequest(MAX_PAGE_SIZE), filter_).items)
