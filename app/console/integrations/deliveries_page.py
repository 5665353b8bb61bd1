"""The view model of the list of deliveries: its rows, and the question before a replay."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from app.console.frame.formatting import exact, html_text, shortened
from app.console.frame.parts import Consequence, Pill, Question, lines, link, moment, pill, small
from app.console.integrations.delivery_page import (
    can_be_sent,
    response_words,
    status_words,
    was_answered,
)
from app.console.integrations.event_subjects import title_of
from app.console.lists.list_page import Column
from app.domain.deliveries.deliveries import (
    SCHEDULE,
    DeliveryStatus,
    ReplayResult,
    response_detail,
    status_line,
)
from app.domain.values.pages import Counts
from app.domain.values.text import translatable
from app.services.deliveries.details import ObjectName
from app.services.deliveries.lists import DeliveryLine
from app.services.deliveries.replays import MAX_MATCHING, ResendImpact, Resent
from app.services.webhooks.lists import WebhookName
from app.web.translation import reason_text, text

SINCE = {
    "1": translatable("Last hour"),
    "24": translatable("Last 24 hours"),
    "72": translatable("Last 3 days"),
    "336": translatable("Last 14 days"),
}
"""How far back a replay looks: hours as forms send them, and their words."""

DEFAULT_SINCE = "24"

REFRESH_SECONDS = 5
"""How often an open list looks for new deliveries and states."""

_UNNAMED = translatable("Unnamed webhook")
_NO_NUMBER = "\N{EN DASH}"


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    line: DeliveryLine
    title: str
    event: str
    checkbox_label: str
    state: str
    status: str
    result: str
    detail: str
    webhook: str
    attempts: str
    next_attempt_at: datetime | None

    @property
    def id(self) -> int:
        """The key by which a list finds its row again after a refresh."""
        return self.line.id


@dataclass(frozen=True, slots=True)
class Replay:
    """What a replay is about; ``webhook`` and ``since`` are chosen at first.

    ``name`` asks for it in the URL.
    """

    name: str
    title: str
    detail: str
    webhook: str
    since: str


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


_SAME_ID = translatable(
    "Each is sent again with its original message ID, so that the app can recognize duplicates."
)
REPLAY_MISSING = "replay-missing"
REPLAY_FAILED = "replay-failed"
_REPLAYS = {
    REPLAY_MISSING: (
        translatable("Replay missed events?"),
        translatable(
            "Events this webhook should have received but didn't, because it was disabled or not "
            "subscribed yet."
        ),
    ),
    REPLAY_FAILED: (translatable("Resend failed deliveries?"), _SAME_ID),
}


def webhook_names(webhooks: Iterable[WebhookName]) -> dict[str, str]:
    """Return what webhooks are called in the filter and in the question before a replay."""
    return {
        str(webhook.id): text(
            "{name} ({app})", name=webhook.name or text(_UNNAMED), app=webhook.app_name
        )
        for webhook in webhooks
    }


def delivery_columns(selection: Selection) -> tuple[Column[DeliveryRow], ...]:
    return (
        Column(
            "Select",
            lambda row: _checkbox(row, is_all=selection.is_all),
            ("is-choice",),
            has_buttons=True,
            heading=Markup() if selection.is_all else _select_all(),
        ),
        Column(
            "Event",
            lambda row: (
                link(row.title, "console.deliveries.show", key=row.line.id) + small(row.event)
            ),
            ("is-cut",),
            is_title=True,
        ),
        Column("Result", _result_cell, ("is-cut",)),
        Column("Status", lambda row: pill(Pill(row.state, row.status)), ("is-state",)),
        Column("Webhook", lambda row: row.webhook, ("is-name", "is-wide")),
        Column("Attempts", lambda row: row.attempts, ("is-num", "is-extra", "is-wide")),
        Column("Created", lambda row: moment(row.line.created_at), ("is-num", "is-when")),
    )


def _checkbox(row: DeliveryRow, *, is_all: bool) -> Markup:
    return Markup(
        '<label class="lk-check"><input class="form-check-input" type="checkbox" name="id"'
        ' value="{}"{} aria-label="{}"></label>'
    ).format(row.line.id, Markup(" checked disabled") if is_all else "", row.checkbox_label)


def _select_all() -> Markup:
    return Markup(
        '<label class="lk-check lk-js"><input class="form-check-input" type="checkbox"'
        ' data-selects="id" aria-label="{}"></label>'
    ).format(text("Select all on this page"))


def _result_cell(row: DeliveryRow) -> Markup:
    detail = shortened(row.detail, 80)
    if row.next_attempt_at is None:
        return lines(shortened(row.result, 80), detail)
    next_attempt = html_text("next attempt {moment}", moment=moment(row.next_attempt_at))
    return lines(shortened(row.result, 80), detail, next_attempt)


def replay_of(name: str, webhook: str, since: str) -> Replay | None:
    """Return the replay of that name, if it is one, for a webhook that is chosen at first."""
    if name not in _REPLAYS:
        return None
    title, detail = map(text, _REPLAYS[name])
    return Replay(name, title, detail, webhook, since)


def replay_question(replay: Replay, found: ReplayResult, webhook: str) -> Question | None:
    """Return the question before a replay to ``webhook``; ``None`` if it would send nothing."""
    count, is_missing = (
        (found.missing, True) if replay.name == REPLAY_MISSING else (found.failed, False)
    )
    if not count:
        return None
    title = text(
        "Resend {count:,} failed delivery?", "Resend {count:,} failed deliveries?", count=count
    )
    action = text("Resend {count:,} delivery", "Resend {count:,} deliveries", count=count)
    if is_missing:
        title = text("Send {count:,} missed event?", "Send {count:,} missed events?", count=count)
        action = text("Send {count:,} event", "Send {count:,} events", count=count)
    return Question(
        title=title,
        action=action,
        endpoint="console.deliveries.replay",
        consequences=tuple(_replay_consequences(found, is_missing=is_missing)),
        detail=f"{webhook} · {text(SINCE[replay.since])}",
        hidden=(
            ("what", "missing" if is_missing else "failed"),
            ("webhook", replay.webhook),
            ("since", replay.since),
        ),
        is_harmless=True,
    )


def _replay_consequences(found: ReplayResult, *, is_missing: bool) -> Iterator[Consequence]:
    if not is_missing:
        yield Consequence("ok", text(_SAME_ID))
    if found.has_more:
        more = text("There are more missed events. Replay again to send the next ones.")
        yield Consequence("warn", more)
    if found.earlier:
        yield Consequence(
            "warn",
            text(
                "{count:,} event is left out: it is older than the webhook.",
                "{count:,} events are left out: they are older than the webhook.",
                count=found.earlier,
            ),
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
    sentence = text("All {number:,} deliveries are selected.", number=number)
    select = text("Select all {number:,} deliveries", number=number)
    if is_filtered:
        sentence = text("All {number:,} matching deliveries are selected.", number=number)
        select = text("Select all {number:,} matching deliveries", number=number)
    return Selection(
        is_all=is_all,
        sentence=sentence if is_all else "",
        select=select,
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
    left_out = tuple(_left_out(impact.disabled, impact.denied))
    return " ".join(left_out) or text("No matching deliveries")


def resend_question(impact: ResendImpact, filters: Mapping[str, str]) -> Question:
    return Question(
        title=text("Resend {count:,} delivery?", "Resend {count:,} deliveries?", count=impact.due),
        action=text("Resend {count:,} delivery", "Resend {count:,} deliveries", count=impact.due),
        endpoint="console.deliveries.redeliver_matching",
        arguments=filters,
        consequences=tuple(_consequences(impact)),
        is_harmless=True,
    )


def _consequences(impact: ResendImpact) -> Iterator[Consequence]:
    yield Consequence("ok", text(_SAME_ID))
    if impact.delivered:
        yield Consequence(
            "warn",
            text(
                "{count:,} delivery was delivered before.",
                "{count:,} deliveries were delivered before.",
                count=impact.delivered,
            ),
        )
    for sentence in _left_out(impact.disabled, impact.denied):
        yield Consequence("bad", sentence)


def _left_out(disabled: int, denied: int) -> Iterator[str]:
    """Yield why how many deliveries aren't resent."""
    if disabled:
        yield text(
            "{count:,} delivery isn't resent: its webhook is disabled or its app inactive.",
            "{count:,} deliveries aren't resent: their webhook is disabled or its app inactive.",
            count=disabled,
        )
    if denied:
        yield text(
            "{count:,} delivery isn't resent: its app has permissions that you don't have.",
            "{count:,} deliveries aren't resent: their app has permissions that you don't have.",
            count=denied,
        )


def replay_result(replayed: ReplayResult, *, missing: bool) -> str:
    """Return what a replay of missed events, or else of failed deliveries, came to."""
    if not (replayed.missing if missing else replayed.failed):
        return text("No missed events.") if missing else text("No failed deliveries.")
    if replayed.is_paused:
        return waits_for_resume(replayed.missing if missing else replayed.failed)
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


def waits_for_resume(count: int) -> str:
    """Say that deliveries that were to be sent wait for the end of a pause."""
    return text(
        "Paused: {count:,} delivery is sent when its webhook is resumed.",
        "Paused: {count:,} deliveries are sent when their webhook is resumed.",
        count=count,
    )


def resend_result(resent: Resent) -> tuple[tuple[str, str], ...]:
    """Return what resending came to: a message's state, and the message."""
    now = resent.due - resent.paused
    sent = text("Resending {count:,} delivery.", "Resending {count:,} deliveries.", count=now)
    left_out = (("bad", sentence) for sentence in _left_out(resent.disabled, resent.denied))
    waiting = (("warn", waits_for_resume(resent.paused)),) if resent.paused else ()
    outcomes = (*((("ok", sent),) if now else ()), *waiting, *left_out)
    no_payload = text("The selected deliveries can't be resent: they have no payload.")
    return outcomes or (("bad", no_payload),)


def latest_words(rows: Sequence[DeliveryRow]) -> str:
    """Return what a screen reader says when the list has changed."""
    if not rows:
        return text("No deliveries")
    latest = max(rows, key=lambda row: row.line.id)
    return text("Latest delivery: {title}, {status}", title=latest.title, status=latest.status)


def delivery_row(line: DeliveryLine, names: Mapping[str, ObjectName]) -> DeliveryRow:
    """Return the row of a delivery; ``names`` are those of objects."""
    title = title_of(line, names)
    event = text(line.event.label)
    state, status = status_words(line)
    return DeliveryRow(
        line=line,
        title=title,
        event="" if title == event else event,
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
        webhook=line.webhook_name or text(_UNNAMED),
        attempts=_attempts(line),
        next_attempt_at=line.next_attempt_at if line.attempts and can_be_sent(line) else None,
    )


def _result(line: DeliveryLine) -> str:
    """Return the last response's status, or why there was none."""
    if line.response_status is not None:
        return status_line(line.response_status)
    return reason_text(line.last_response or line.given_up) or _NO_NUMBER


def cause_of(line: DeliveryLine) -> str:
    """Return why a delivery isn't delivered, in one line; English in every language's file."""
    reasons = [line.last_response, line.given_up]
    if line.response_status is not None:
        detail = response_detail(line.response_status, line.last_response)
        reasons = [status_line(line.response_status), detail or line.given_up]
    return ": ".join(filter(None, reasons))


def _detail(line: DeliveryLine) -> str:
    """Return the response's own words, and why no further attempt is made."""
    if line.status is DeliveryStatus.SUCCESS:
        return ""
    status = line.response_status
    detail = "" if status is None else response_words(status, line.last_response)
    return detail or (reason_text(line.given_up) if was_answered(line) else "")


def _attempts(line: DeliveryLine) -> str:
    if line.status is not DeliveryStatus.SUCCESS and line.attempts:
        return text("{number} of {most}", number=line.attempts, most=len(SCHEDULE))
    return str(line.attempts) if line.attempts else _NO_NUMBER
