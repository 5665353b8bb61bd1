"""The view model of the list of deliveries: its rows, and the question before a replay."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from app.console.formatting import exact
from app.console.integrations.delivery_attempts import status_words
from app.domain.deliveries.deliveries import SCHEDULE, DeliveryStatus
from app.domain.events import EventType
from app.domain.values.text import text
from app.services.deliveries.search import DeliveryLine
from app.services.webhooks.names import WebhookName

SINCE = {
    "1": "The last hour",
    "24": "The last day",
    "72": "The last three days",
    "336": "14 days",
}
"""How far back a replay looks: hours as forms send them, and their words."""

DEFAULT_SINCE = "24"

_UNNAMED = "Without a name"
_NO_NUMBER = "\N{EN DASH}"


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    """A delivery in the list."""

    id: int
    event: EventType
    object_id: str
    checkbox_label: str
    state: str
    status: str
    given_up: str
    webhook: str
    app: str
    code: str
    attempts: str
    made_at: datetime
    next_attempt_at: datetime | None


@dataclass(frozen=True, slots=True)
class Replay:
    """The question before a replay; ``what`` is missing or failed."""

    what: str
    title: str
    detail: str
    action: str


@dataclass(frozen=True, slots=True)
class DeliveriesPage:
    """The list, what it can be narrowed by, and the replay asked about."""

    rows: tuple[DeliveryRow, ...]
    summary: str
    caption: str
    webhooks: Mapping[str, str]
    replay: Replay | None


_REPLAYS = {
    "replay-missing": Replay(
        "missing",
        "Replay what is missing?",
        "Events that a webhook listens to now and never got: it was switched off then, or did not "
        "yet listen.",
        "Replay what is missing",
    ),
    "replay-failed": Replay(
        "failed",
        "Replay what failed?",
        "Deliveries that were given up are sent again, each with its own webhook-id, so that the "
        "app can tell.",
        "Replay what failed",
    ),
}


def make_deliveries_page(
    lines: Iterable[DeliveryLine],
    webhooks: Iterable[WebhookName],
    asked: str = "",
    *,
    oldest_first: bool = False,
) -> DeliveriesPage:
    """Return the page that lists ``lines``, and asks about a replay if one is ``asked``."""
    rows = tuple(_row(line) for line in lines)
    return DeliveriesPage(
        rows=rows,
        summary=_summary(len(rows)),
        caption="Deliveries, oldest first" if oldest_first else "Deliveries, newest first",
        webhooks={
            str(webhook.id): text(
                "{name} ({app})", name=webhook.name or _UNNAMED, app=webhook.app_name
            )
            for webhook in webhooks
        },
        replay=_REPLAYS.get(asked),
    )


def _summary(deliveries: int) -> str:
    if not deliveries:
        return "No deliveries here"
    return text("{count:,} delivery here", "{count:,} deliveries here", count=deliveries)


def _row(line: DeliveryLine) -> DeliveryRow:
    state, status = status_words(line)
    return DeliveryRow(
        id=line.id,
        event=line.event,
        object_id=line.object_id,
        checkbox_label=text(
            "Choose {event} to {receiver}, {moment}",
            event=line.event,
            receiver=line.webhook_name or line.app_name,
            moment=exact(line.created_at),
        ),
        state=state,
        status=status,
        given_up=line.given_up,
        webhook=line.webhook_name or _UNNAMED,
        app=line.app_name,
        code=_code(line),
        attempts=_attempts(line),
        made_at=line.created_at,
        next_attempt_at=line.next_attempt_at if line.attempts else None,
    )


def _code(line: DeliveryLine) -> str:
    if line.response_status:
        return str(line.response_status)
    return "none" if line.attempts else _NO_NUMBER


def _attempts(line: DeliveryLine) -> str:
    if line.status is DeliveryStatus.PENDING and line.attempts:
        return text("{number} of {most}", number=line.attempts, most=len(SCHEDULE))
    return str(line.attempts)
