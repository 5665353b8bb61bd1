"""The view model of the event catalogue: every event, and one with a sample of its payload."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from app.console.integrations.event_catalog import NOUNS
from app.domain.events import EVENTS, EventType, default_query
from app.domain.values.ids import to_global_id
from app.domain.values.pages import Page
from app.services.webhooks.lists import Subscriber
from app.web.translation import text

_TRIGGER = "flask webhook trigger --webhook-id"


@dataclass(frozen=True, slots=True)
class ListedEvent:
    """An event in the list."""

    name: EventType
    label: str
    description: str
    is_shown: bool


@dataclass(frozen=True, slots=True)
class EventGroup:
    """The events about one subject."""

    noun: str
    events: tuple[ListedEvent, ...]


@dataclass(frozen=True, slots=True)
class SubscribedWebhook:
    """A webhook that subscribes to the event shown."""

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
        shown=_shown(shown, webhooks, payload, problem, sample),
    )


def _groups(shown: EventType, search: str) -> Iterator[EventGroup]:
    listed = (name for name in EVENTS if search in _searched(name))
    for noun, names in groupby(listed, _noun):
        events = tuple(
            ListedEvent(name, text(name.label), text(EVENTS[name].description), name is shown)
            for name in names
        )
        yield EventGroup(text(noun), events)


def _searched(name: EventType) -> str:
    return f"{name.value} {text(name.label)} {text(EVENTS[name].description)}".lower()


def _noun(name: EventType) -> str:
    return next(noun for start, noun in NOUNS.items() if name.value.startswith(start))


def _shown(
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
        subscribers=_subscribers(webhooks),
        webhooks=subscribed,
        recipients=recipients,
        not_sent=_not_sent(webhooks, recipients),
        sample=sample,
        command=_command(name, recipients),
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


def _command(name: EventType, recipients: Sequence[SubscribedWebhook]) -> str:
    if not recipients:
        return ""
    webhook = to_global_id("Webhook", recipients[0].id)
    return f"{_TRIGGER} {webhook}"


def _subscribers(webhooks: Page[Subscriber] | None) -> str:
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
