"""Events: what webhooks can subscribe to, each with a sample of its payload."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby

from flask import request
from werkzeug.wrappers import Response as BaseResponse

from app.console.frame.formatting import pretty_json
from app.console.frame.navigation import Entry, Heading, PageGroup
from app.console.frame.page_layout import page, refused_page
from app.console.frame.session import actor, ports, require
from app.console.frame.submissions import CreatingForm
from app.console.integrations.event_subjects import sample_header, send_sample
from app.domain.apps.apps import App
from app.domain.authorization.permissions import Permission
from app.domain.events import EVENTS, Event, EventType, Subject, default_query
from app.domain.values.errors import PermissionDenied, Refused
from app.domain.values.pages import MAX_PAGE_SIZE, Page, PageRequest
from app.services.authorization.register import can_call
from app.services.deliveries.dry_runs import dry_run_webhook
from app.services.webhooks.lists import Subscriber, list_subscribers
from app.services.webhooks.payloads import check_query
from app.web.converters import row_key
from app.web.translation import problem_text, reason_text, reasons_text, text


@dataclass(frozen=True, slots=True)
class EventEntry:
    """An event, and when it happens; ``id`` is its checkbox's."""

    id: str
    name: str
    label: str
    description: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Group:
    """The events about one subject; ``is_missing`` if the app lacks the permission they need."""

    noun: str
    needs: str
    is_missing: bool
    selected: str
    total: str
    is_open: bool
    entries: tuple[EventEntry, ...]


def catalogue(owner: App | None, chosen: Collection[str], search: str = "") -> list[Group]:
    """Return the events that match ``search``, by subject, and what ``owner`` needs for them."""
    kinds = (kind for kind in EVENTS.values() if search.strip().lower() in _searched(kind))
    return [
        _group(subject, owner, tuple(_entry(kind, chosen) for kind in found))
        for subject, found in groupby(kinds, lambda kind: kind.subject)
    ]


def _searched(kind: type[Event]) -> str:
    return f"{kind.type.value} {text(kind.type.label)} {text(kind.description)}".lower()


def _group(subject: Subject, owner: App | None, entries: tuple[EventEntry, ...]) -> Group:
    selected = sum(entry.is_chosen for entry in entries)
    is_missing = owner is not None and subject.permission not in owner.permissions
    return Group(
        noun=text(subject.heading),
        needs=_needs(subject.permission, owner if is_missing else None),
        is_missing=is_missing,
        selected=text("{count} selected", count=selected),
        total=text("of {count}", count=len(entries)),
        is_open=selected > 0,
        entries=entries,
    )


def _needs(permission: Permission, lacking: App | None) -> str:
    if lacking is None:
        return text("Requires {permission}.", permission=text(permission.label))
    return text(
        "Requires {permission}, which {app} doesn't have.",
        permission=text(permission.label),
        app=lacking.name,
    )


def _entry(kind: type[Event], chosen: Collection[str]) -> EventEntry:
    name = kind.type.value
    return EventEntry(
        id=f"event-{name.lower().replace('_', '-')}",
        name=name,
        label=text(kind.type.label),
        description=text(kind.description),
        is_chosen=name in chosen,
    )


@dataclass(frozen=True, slots=True)
class SampleEvent:
    """What was entered to send a sample, and what is wrong with it."""

    webhook: int | None = None
    object: str = ""
    problem: str = ""


NO_SAMPLE = SampleEvent()


@dataclass(frozen=True, slots=True)
class ShownEvent:
    """The event shown, and how many webhooks subscribe.

    ``recipients`` are those that a sample can be sent to; ``not_sent`` says why there is none.
    """

    name: EventType
    label: str
    description: str
    permission: Permission
    query: str
    subscribers: str
    webhooks: tuple[Subscriber, ...]
    recipients: tuple[Subscriber, ...]
    not_sent: str


@dataclass(frozen=True, slots=True)
class EventsPage:
    """The catalogue, narrowed by a search, and the event shown."""

    groups: list[Group]
    summary: str
    shown: ShownEvent


def make_events_page(
    shown: EventType, search: str, webhooks: Page[Subscriber] | None
) -> EventsPage:
    """Return the page; ``webhooks`` are those that subscribe, or ``None`` if they are hidden."""
    groups = catalogue(None, (shown,), search)
    found = sum(len(group.entries) for group in groups)
    return EventsPage(
        groups=groups,
        summary=text("{matching} of {total} events", matching=found, total=len(EVENTS)),
        shown=_shown_event(EVENTS[shown], webhooks),
    )


def _shown_event(kind: type[Event], webhooks: Page[Subscriber] | None) -> ShownEvent:
    subscribed = webhooks.items if webhooks else ()
    recipients = tuple(one for one in subscribed if one.is_active and one.is_app_active)
    return ShownEvent(
        name=kind.type,
        label=text(kind.type.label),
        description=text(kind.description),
        permission=kind.permission,
        query=default_query(kind),
        subscribers=_subscribers_sentence(webhooks),
        webhooks=subscribed,
        recipients=recipients,
        not_sent=_not_sent(webhooks, recipients),
    )


def _not_sent(webhooks: Page[Subscriber] | None, recipients: Sequence[Subscriber]) -> str:
    if webhooks is None or recipients:
        return ""
    if not webhooks.items:
        return text("To send a sample, create a webhook that subscribes to this event.")
    return text(
        "To send a sample, enable a webhook that subscribes to this event and activate its app."
    )


def _subscribers_sentence(webhooks: Page[Subscriber] | None) -> str:
    if webhooks is None:
        return ""
    count = len(webhooks.items)
    if webhooks.has_next:
        return text(
            "More than {count} webhook subscribes",
            "More than {count} webhooks subscribe",
            count=count,
        )
    if not count:
        return text("No webhook subscribes")
    return text("{count} webhook subscribes", "{count} webhooks subscribe", count=count)


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
        return _show(SampleEvent(webhook, wanted, reasons_text(refused)))


def _named_event() -> EventType:
    name = request.values.get("event", "")
    return EventType(name) if name in EVENTS else next(iter(EVENTS))


def _show(sample: SampleEvent) -> BaseResponse:
    shown, search = _named_event(), request.args.get("q", "")
    payload, problem = _sample(shown)
    subscribers = None
    if can_call(actor(), list_subscribers):
        subscribers = list_subscribers(ports(), actor(), shown, PageRequest(MAX_PAGE_SIZE))
    respond = refused_page if sample.problem else page
    return respond(
        "events/index.html",
        events=make_events_page(shown, search, subscribers),
        payload=pretty_json(payload),
        problem=problem,
        sample=sample,
        search=search,
        sample_header=sample_header(),
        once=CreatingForm(formdata=None),
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
