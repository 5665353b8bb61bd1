"""The webhooks in a manifest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.domain.apps.manifest_fields import Identifiers, Members, unknown_names
from app.domain.events import EventType, UnsentEvent
from app.domain.values.errors import Problem
from app.domain.webhooks.webhooks import (
    headers_problem,
    sync_events_problem,
    unsent_events_problem,
)

MAX_WEBHOOKS = 100


@dataclass(frozen=True, slots=True)
class ManifestWebhook:
    """One webhook. Without ``events`` it is about those that its ``query`` is about.

    Whether the query makes sense is for those who know the schema to say; ``place`` names the
    webhook in what they say.
    """

    name: str
    identifier: str
    target_url: str
    query: str
    events: tuple[EventType, ...]
    is_active: bool
    custom_headers: Mapping[str, str]
    place: str


def read_webhooks(members: Members) -> tuple[ManifestWebhook, ...]:
    """The webhooks of a manifest."""
    identifiers = Identifiers()
    return tuple(
        _read(part, identifiers) for part in members.parts("webhooks", max_items=MAX_WEBHOOKS)
    )


def _read(part: Members, identifiers: Identifiers) -> ManifestWebhook:
    identifier = part.line("identifier")
    if not identifiers.is_new(identifier):
        part.refuse(
            "identifier", "DUPLICATED_WEBHOOK_IDENTIFIER", "Another webhook has this identifier."
        )
    problem = sync_events_problem(part.names("syncEvents"))
    if problem is not None:
        part.add("syncEvents", problem)
    return ManifestWebhook(
        name=part.line("name", required=True),
        identifier=identifier,
        target_url=part.address("targetUrl", required=True),
        query=part.prose("query", required=True),
        events=_events(part),
        is_active=part.flag("isActive", otherwise=True),
        custom_headers=_headers(part),
        place=part.place,
    )


def _events(part: Members) -> tuple[EventType, ...]:
    names = part.names("asyncEvents")
    problem = unsent_events_problem(name for name in names if name in UnsentEvent.__members__)
    if problem is not None:
        part.add("asyncEvents", problem)
    known = {*EventType.__members__, *UnsentEvent.__members__}
    unknown = unknown_names(names, known, max_length=80)
    if unknown:
        part.add("asyncEvents", _unknown_events(unknown))
    return tuple(event for event in EventType if event.value in names)


def _unknown_events(names: Sequence[str]) -> Problem:
    return Problem(
        "INVALID",
        "Unknown event: {names}.",
        plural="Unknown events: {names}.",
        values={"count": len(names), "names": ", ".join(names)},
    )


def _headers(part: Members) -> Mapping[str, str]:
    headers = part.mapping("customHeaders")
    problem = headers_problem(headers)
    if problem is not None:
        part.add("customHeaders", problem)
        return {}
    return {name: str(value) for name, value in headers.items()}
