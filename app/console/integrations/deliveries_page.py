"""The view model of the list of deliveries: its rows, and the question before a replay."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from app.console.exports import Columns
from app.console.formatting import exact
from app.console.integrations.delivery_attempts import (
    can_be_sent,
    status_words,
    title_of,
    was_answered,
)
from app.console.lists import RowCount
from app.console.parts import Consequence, Question
from app.domain.deliveries.causes import response_detail, status_line
from app.domain.deliveries.deliveries import SCHEDULE, DeliveryStatus, ReplayResult
from app.domain.values.ids import to_global_id
from app.domain.values.pages import NONE_COUNTED, Counts
from app.services.deliveries.bulk_resend import MAX_MATCHING, ResendImpact
from app.services.deliveries.object_names import ObjectName
from app.services.deliveries.replays import Resent
from app.services.deliveries.search import DeliveryLine
from app.services.webhooks.names import WebhookName
from app.web.translation import text

SINCE = {
    "1": "Last hour",
    "24": "Last 24 hours",
    "72": "Last 3 days",
    "336": "Last 14 days",
}
"""How far back a replay looks: hours as forms send them, and their words."""

DEFAULT_SINCE = "24"

REFRESH_SECONDS = 5
"""How often an open list looks for new deliveries and states."""

COLUMNS: Columns[DeliveryLine] = {
    "id": lambda line: to_global_id("EventDelivery", line.id),
    "event": lambda line: line.event.value,
    "object_id": lambda line: line.object_id,
    "webhook": lambda line: line.webhook_name,
    "app": lambda line: line.app_name,
    "status": lambda line: line.status.value,
    "response_code": lambda line: line.response_status,
    "cause": lambda line: "" if line.status is DeliveryStatus.SUCCESS else _cause(line),
    "attempts": lambda line: line.attempts,
    "created_at": lambda line: line.created_at,
    "next_attempt_at": lambda line: line.next_attempt_at,
    "message_id": lambda line: line.message_id,
}
"""The columns of the list as a file."""

COUNT = RowCount(
    none="No deliveries",
    no_match="No matching deliveries",
    one="1 delivery",
    many="{count} deliveries",
    some="{matching} of {total} deliveries",
)

_UNNAMED = "Unnamed webhook"
_NO_NUMBER = "\N{EN DASH}"


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    """A delivery in the list."""

    id: int
    title: str
    event: str
    checkbox_label: str
    state: str
    status: str
    result: str
    detail: str
    webhook: str
    app: str
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
    """The list, what it can be filtered by, and the replay asked about."""

    rows: tuple[DeliveryRow, ...]
    summary: str
    caption: str
    webhooks: Mapping[str, str]
    replay: Replay | None
    question: Question | None
    latest: str
    refresh_seconds: int = REFRESH_SECONDS


@dataclass(frozen=True, slots=True)
class Selection:
    """Selecting all deliveries that match; ``is_all`` says that they are.

    ``sentence`` says what is selected, or why all can't be; ``select`` and ``resend`` are labels,
    empty if all can't be selected.
    """

    is_all: bool
    sentence: str
    select: str
    resend: str


_REPLAYS = {
    "replay-missing": Replay(
        "missing",
        "Replay missed events?",
        "Events this webhook should have received but didn't, because it was disabled or not "
        "subscribed yet.",
        "Replay missed events",
    ),
    "replay-failed": Replay(
        "failed",
        "Resend failed deliveries?",
        "Each is sent again with its original message ID, so that the app can recognize "
        "duplicates.",
        "Resend failed deliveries",
    ),
}


def make_deliveries_page(
    lines: Iterable[DeliveryLine],
    webhooks: Iterable[WebhookName],
    names: Mapping[str, ObjectName],
    question_name: str = "",
    *,
    counts: Counts = NONE_COUNTED,
    question: Question | None = None,
    oldest_first: bool = False,
) -> DeliveriesPage:
    """Return the page that lists ``lines``, and asks about a replay if one is ``question_name``.

    ``names`` are those of the deliveries' objects by global ID.
    """
    rows = tuple(delivery_row(line, names) for line in lines)
    return DeliveriesPage(
        rows=rows,
        summary=COUNT.of(counts),
        caption="Deliveries, oldest first" if oldest_first else "Deliveries, newest first",
        webhooks={
            str(webhook.id): text(
                "{name} ({app})", name=webhook.name or _UNNAMED, app=webhook.app_name
            )
            for webhook in webhooks
        },
        replay=_REPLAYS.get(question_name),
        question=question,
        latest=_latest(rows),
    )


def make_selection(counts: Counts, *, is_all: bool, is_valid: bool = True) -> Selection:
    """Return what can be selected; all if there are several, not too many, and valid filters."""
    number = counts.matching
    if number > MAX_MATCHING:
        hint = text("To select all, filter to {count:,} deliveries at most.", count=MAX_MATCHING)
        return Selection(is_all=False, sentence=hint, select="", resend="")
    if not is_valid or number < 2:  # noqa: PLR2004 - one is all of it
        return Selection(is_all=False, sentence="", select="", resend="")
    is_filtered = number != counts.total
    sentence = "All {number:,} deliveries are selected."
    select = "Select all {number:,} deliveries"
    if is_filtered:
        sentence = "All {number:,} matching deliveries are selected."
        select = "Select all {number:,} matching deliveries"
    return Selection(
        is_all=is_all,
        sentence=text(sentence, number=number) if is_all else "",
        select=text(select, number=number),
        resend=text("Resend {number:,} deliveries …", number=number),
    )


def resend_problem(impact: ResendImpact) -> str:
    """Return why matching deliveries can't be resent; empty if they can."""
    if impact.matching > MAX_MATCHING:
        return text(
            "More than {count:,} deliveries match. Add a filter, such as a webhook or dates.",
            count=MAX_MATCHING,
        )
    if impact.due:
        return ""
    return _left_out(impact.disabled) if impact.disabled else COUNT.no_match


def resend_question(impact: ResendImpact, filters: Mapping[str, str]) -> Question:
    """Return the question before all that match ``filters`` are resent."""
    return Question(
        title=text("Resend {count:,} delivery?", "Resend {count:,} deliveries?", count=impact.due),
        action=text("Resend {count:,} delivery", "Resend {count:,} deliveries", count=impact.due),
        endpoint="console.deliveries.redeliver_matching",
        arguments=filters,
        consequences=tuple(_consequences(impact)),
        is_harmless=True,
    )


def _consequences(impact: ResendImpact) -> Iterator[Consequence]:
    yield Consequence(
        "ok",
        "Each is sent again with its original message ID, so that the app can recognize "
        "duplicates.",
    )
    if impact.delivered:
        yield Consequence(
            "warn",
            text(
                "{count:,} delivery was delivered before.",
                "{count:,} deliveries were delivered before.",
                count=impact.delivered,
            ),
        )
    if impact.disabled:
        yield Consequence("bad", _left_out(impact.disabled))


def _left_out(deliveries: int) -> str:
    return text(
        "{count:,} delivery isn't resent: its webhook is disabled or its app inactive.",
        "{count:,} deliveries aren't resent: their webhook is disabled or its app inactive.",
        count=deliveries,
    )


def replay_result(replayed: ReplayResult, *, missing: bool) -> str:
    """Return what a replay of missed events, or else of failed deliveries, came to."""
    if not (replayed.missing if missing else replayed.failed):
        return "No missed events." if missing else "No failed deliveries."
    if missing:
        return text(
            "Sending {count:,} missed event.",
            "Sending {count:,} missed events.",
            count=replayed.missing,
        )
    return text(
        "Resending {count:,} failed delivery.",
        "Resending {count:,} failed deliveries.",
        count=replayed.failed,
    )


def resend_result(resent: Resent) -> tuple[tuple[str, str], ...]:
    """Return what resending came to: a message's state, and the message."""
    sent = text(
        "Resending {count:,} delivery.", "Resending {count:,} deliveries.", count=resent.due
    )
    left_out = _left_out(resent.disabled)
    messages = (("ok", sent, resent.due), ("bad", left_out, resent.disabled))
    outcomes = tuple((state, message) for state, message, count in messages if count)
    return outcomes or (("bad", "The selected deliveries can't be resent: they have no payload."),)


def _latest(rows: Sequence[DeliveryRow]) -> str:
    """Return what a screen reader says when the list has changed."""
    if not rows:
        return "No deliveries"
    latest = max(rows, key=lambda row: row.id)
    return text("Latest delivery: {title}, {status}", title=latest.title, status=latest.status)


def delivery_row(line: DeliveryLine, names: Mapping[str, ObjectName]) -> DeliveryRow:
    """Return the row of a delivery; ``names`` are those of objects."""
    title = title_of(line, names)
    state, status = status_words(line)
    return DeliveryRow(
        id=line.id,
        title=title,
        event="" if title == line.event.label else line.event.label,
        checkbox_label=text(
            "Select {title} to {receiver}, {moment}",
            title=title,
            receiver=line.webhook_name or line.app_name,
            moment=exact(line.created_at),
        ),
        state=state,
        status=status,
        result=_result(line),
        detail=_detail(line),
        webhook=line.webhook_name or _UNNAMED,
        app=line.app_name,
        attempts=_attempts(line),
        made_at=line.created_at,
        next_attempt_at=line.next_attempt_at if line.attempts and can_be_sent(line) else None,
    )


def _result(line: DeliveryLine) -> str:
    """Return the last response's status, or why there was none."""
    if line.response_status is not None:
        return status_line(line.response_status)
    return line.last_response or line.given_up or _NO_NUMBER


def _cause(line: DeliveryLine) -> str:
    """Return why a delivery isn't delivered, in one line."""
    parts = (_result(line), _detail(line))
    return ": ".join(part for part in parts if part and part != _NO_NUMBER)


def _detail(line: DeliveryLine) -> str:
    """Return the response's own words, and why no further attempt is made."""
    if line.status is DeliveryStatus.SUCCESS:
        return ""
    status = line.response_status
    detail = "" if status is None else response_detail(status, line.last_response)
    return detail or (line.given_up if was_answered(line) else "")


def _attempts(line: DeliveryLine) -> str:
    if line.status is DeliveryStatus.PENDING and line.attempts:
        return text("{number} of {most}", number=line.attempts, most=len(SCHEDULE))
    return str(line.attempts) if line.attempts else _NO_NUMBER
