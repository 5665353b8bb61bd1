"""Events: what webhooks can subscribe to, each with a sample of its payload."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from flask import request
from werkzeug.wrappers import Response as BaseResponse

from app.console.frame.navigation import Entry, Heading, PageGroup
from app.console.frame.page_layout import page, refused_page
from app.console.frame.session import actor, ports, require
from app.console.frame.submissions import CreatingForm
from app.console.integrations.event_subjects import sample_header, send_sample
from app.domain.apps.apps import App
from app.domain.authorization.permissions import Permission
from app.domain.events import EVENTS, Event, EventType, default_query
from app.domain.values.errors import PermissionDenied, Refused
from app.domain.values.ids import to_global_id
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


def catalogue(owner: App | None, chosen: Collection[str]) -> list[Group]:
    """Return the events by subject, with the permission that ``owner`` needs to receive them."""
    return [
        _group(noun, permission, owner, [_entry(name, kind, chosen) for name, kind in kinds])
        for (noun, permission), kinds in groupby(EVENTS.items(), _about)
    ]


def _about(item: tuple[EventType, type[Event]]) -> tuple[str, Permission]:
    _, kind = item
    return kind.subject.heading, kind.permission


def _group(
    noun: str, permission: Permission, owner: App | None, entries: Iterable[EventEntry]
) -> Group:
    listed = tuple(entries)
    selected = sum(entry.is_chosen for entry in listed)
    is_missing = owner is not None and permission not in owner.permissions
    return Group(
        noun=text(noun),
        needs=_needs(permission, owner if is_missing else None),
        is_missing=is_missing,
        selected=text("{count} selected", count=selected),
        total=text("of {count}", count=len(listed)),
        is_open=selected > 0,
        entries=listed,
    )


def _needs(permission: Permission, lacking: App | None) -> str:
    if lacking is None:
        return text("Requires {permission}.", permission=text(permission.label))
    return text(
        "Requires {permission}, which {app} doesn't have.",
        permission=text(permission.label),
        app=lacking.name,
    )


def _entry(name: EventType, kind: type[Event], chosen: Collection[str]) -> EventEntry:
    return EventEntry(
        id=f"event-{name.value.lower().replace('_', '-')}",
        name=name.value,
        label=text(name.label),
        description=text(kind.description),
        is_chosen=name.value in chosen,
    )


_TRIGGER = "flask webhook trigger --webhook-id"


@dataclass(frozen=True, slots=True)
class ListedEvent:
    name: EventType
    label: str
    description: str
    is_shown: bool


@dataclass(frozen=True, slots=True)
class EventGroup:
    noun: str
    events: tuple[ListedEvent, ...]


@dataclass(frozen=True, slots=True)
class SubscribedWebhook:
    id: int
    name: str
    app: str
    can_be_sent: bool
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class SampleEvent:
    """What was entered to send a sample, and what is wrong with it."""

    webhook: int | None = None
    object: str = ""
    problem: str = ""


NO_SAMPLE = SampleEvent()


@dataclass(frozen=True, slots=True)
class ShownEvent:
    """The event shown; ``payload`` is empty without a sample, which ``problem`` then explains.

    ``recipients`` are the webhooks that a sample can be sent to; ``not_sent`` says why there is
    none.
    """

    name: EventType
    label: str
    description: str
    permission: str
    permission_code: str
    query: str
    subscribers: str
    webhooks: tuple[SubscribedWebhook, ...]
    recipients: tuple[SubscribedWebhook, ...]
    not_sent: str
    sample: SampleEvent
    command: str
    payload: str
    problem: str


@dataclass(frozen=True, slots=True)
class EventsPage:
    """The catalogue, narrowed by a search, and the event shown."""

    groups: tuple[EventGroup, ...]
    summary: str
    shown: ShownEvent


def make_events_page(
    shown: EventType,
    search: str,
    webhooks: Page[Subscriber] | None,
    *,
    payload: str = "",
    problem: str = "",
    sample: SampleEvent = NO_SAMPLE,
) -> EventsPage:
    """Return the page; ``webhooks`` are those that subscribe, or ``None`` if they are hidden."""
    groups = tuple(_groups(shown, search.strip().lower()))
    found = sum(len(group.events) for group in groups)
    return EventsPage(
        groups=groups,
        summary=text("{matching} of {total} events", matching=found, total=len(EVENTS)),
        shown=_shown_event(shown, webhooks, payload, problem, sample),
    )


def _groups(shown: EventType, search: str) -> Iterator[EventGroup]:
    listed = (name for name in EVENTS if search in _searched(name))
    for noun, names in groupby(listed, lambda name: EVENTS[name].subject.heading):
        events = tuple(
            ListedEvent(name, text(name.label), text(EVENTS[name].description), name is shown)
            for name in names
        )
        yield EventGroup(text(noun), events)


def _searched(name: EventType) -> str:
    return f"{name.value} {text(name.label)} {text(EVENTS[name].description)}".lower()


def _shown_event(
    name: EventType,
    webhooks: Page[Subscriber] | None,
    payload: str,
    problem: str,
    sample: SampleEvent,
) -> ShownEvent:
    kind = EVENTS[name]
    subscribed = tuple(
        _subscribed(webhook, sample) for webhook in (webhooks.items if webhooks else ())
    )
    recipients = tuple(webhook for webhook in subscribed if webhook.can_be_sent)
    return ShownEvent(
        name=name,
        label=text(name.label),
        description=text(kind.description),
        permission=text(kind.permission.label),
        permission_code=kind.permission.value,
        query=default_query(kind),
        subscribers=_subscribers_sentence(webhooks),
        webhooks=subscribed,
        recipients=recipients,
        not_sent=_not_sent(webhooks, recipients),
        sample=sample,
        command=_command(recipients),
        payload=json.dumps(json.loads(payload), indent=2, ensure_ascii=False) if payload else "",
        problem=problem,
    )


def _subscribed(webhook: Subscriber, sample: SampleEvent) -> SubscribedWebhook:
    return SubscribedWebhook(
        webhook.id,
        webhook.name or webhook.target_url,
        webhook.app_name,
        can_be_sent=webhook.is_active and webhook.is_app_active,
        is_chosen=webhook.id == sample.webhook,
    )


def _not_sent(webhooks: Page[Subscriber] | None, recipients: Sequence[SubscribedWebhook]) -> str:
    if webhooks is None or recipients:
        return ""
    if not webhooks.items:
        return text("To send a sample, create a webhook that subscribes to this event.")
    return text(
        "To send a sample, enable a webhook that subscribes to this event and activate its app."
    )


def _command(recipients: Sequence[SubscribedWebhook]) -> str:
    if not recipients:
        return ""
    webhook = to_global_id("Webhook", recipients[0].id)
    return f"{_TRIGGER} {webhook}"


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
    events = make_events_page(
        shown, search, _subscribers(shown), payload=payload, problem=problem, sample=sample
    )
    respond = refused_page if sample.problem else page
    return respond(
        "events/index.html",
        events=events,
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


def _subscribers(event: EventType) -> Page[Subscriber] | None:
    if not can_call(actor(), list_subscribers):
        return None
    return list_subscribers(ports(), actor(), event, PageRequest(MAX_PAGE_SIZE))
