"""The view models of one webhook: its page with its questions, and its charts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from flask import url_for
from markupsafe import Markup

from app.console.frame import charts
from app.console.frame.formatting import (
    amount,
    clock_element,
    html_text,
    milliseconds,
    percent,
    time_element,
)
from app.console.frame.parts import Consequence, Fact, Option, Pill, Question, lines, link, small
from app.console.integrations.deliveries_page import DeliveryRow, delivery_row
from app.domain.authorization.permissions import Permission, in_order
from app.domain.deliveries.deliveries import CATCH_UP_RATE, DISABLE_AFTER, RETENTION
from app.domain.deliveries.statistics import ChartPeriod, DeliverySpan, all_durations, success_rate
from app.domain.events import EVENTS, EventType
from app.domain.values.ids import to_global_id
from app.domain.values.text import translatable
from app.domain.webhooks import not_permitted
from app.services.deliveries.details import ObjectName
from app.services.deliveries.lists import DeliveryLine
from app.services.webhooks.lists import Health, ListedWebhook
from app.web.translation import enumeration, reason_text, text

PERIODS = {
    ChartPeriod.DAY: translatable("24 hours"),
    ChartPeriod.TWO_WEEKS: translatable("14 days"),
}
_TITLES = {
    ChartPeriod.DAY: translatable("Health by hour"),
    ChartPeriod.TWO_WEEKS: translatable("Health by day"),
}
_DELIVERIES = {
    ChartPeriod.DAY: translatable("Deliveries by hour"),
    ChartPeriod.TWO_WEEKS: translatable("Deliveries by day"),
}
_TIMES = {
    ChartPeriod.DAY: translatable("Response time by hour: {figures}."),
    ChartPeriod.TWO_WEEKS: translatable("Response time by day: {figures}."),
}
_NOTHING = {
    ChartPeriod.DAY: translatable("No events were sent in the last 24 hours."),
    ChartPeriod.TWO_WEEKS: translatable("No events were sent in the last 14 days."),
}
_KINDS = (
    charts.Kind("ok", translatable("Delivered"), translatable("{number:,} delivered")),
    charts.Kind("bad", translatable("Failed"), translatable("{number:,} failed")),
    charts.Kind("idle", translatable("Waiting"), translatable("{number:,} waiting")),
)
_NONE = "\N{EN DASH}"
_SECOND = 1000


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the lines' chart: its place, and what it says as a tooltip."""

    x: int
    title: str


@dataclass(frozen=True, slots=True)
class TimesChart:
    """Median and 95th percentile as lines: their classes and paths."""

    legend: tuple[charts.Legend, ...]
    paths: tuple[tuple[str, str], ...]
    columns: tuple[Column, ...]
    width: int
    top: str
    summary: str


@dataclass(frozen=True, slots=True)
class WebhookCharts:
    """The charts; ``times`` is ``None`` without responses, ``rate`` empty if none was sent."""

    title: str
    intervals: tuple[Option, ...]
    rate: str
    deliveries: charts.StackChart
    nothing: str
    times: TimesChart | None
    columns: tuple[str, ...]
    table: tuple[charts.FigureRow, ...]


def make_webhook_charts(spans: tuple[DeliverySpan, ...], period: ChartPeriod) -> WebhookCharts:
    """Return the charts of ``spans``, oldest first."""
    columns = [
        charts.Span(span.began, (span.delivered, span.failed, span.waiting)) for span in spans
    ]
    deliveries = charts.make_stack_chart(
        text(_DELIVERIES[period]),
        translatable("{label}: no deliveries"),
        _KINDS,
        columns,
        period.step,
    )
    table = tuple(_row(span, period.step) for span in reversed(spans))
    return WebhookCharts(
        title=text(_TITLES[period]),
        intervals=tuple(
            Option(value.value, text(label), value is period) for value, label in PERIODS.items()
        ),
        rate=_rate(success_rate(spans)),
        deliveries=deliveries,
        nothing=text(_NOTHING[period]),
        times=_times(spans, period),
        columns=tuple(label for label, _ in table[0].figures),
        table=table,
    )


def _rate(share: float | None) -> str:
    if share is None:
        return ""
    # Rounding up would call a webhook with failures faultless.
    return percent(share) if share in {0, 1} else percent(min(share, 0.999), 1)


def _row(span: DeliverySpan, step: timedelta) -> charts.FigureRow:
    figures = (
        (text("Delivered"), amount(span.delivered)),
        (text("Failed"), amount(span.failed)),
        (text("Waiting"), amount(span.waiting)),
        (text("Success rate"), _rate(success_rate((span,))) or _NONE),
        (text("Median"), _duration(span.median)),
        (text("95th percentile"), _duration(span.slowest)),
    )
    return charts.FigureRow(charts.span_label(span.began, step), figures)


def _duration(seconds: float | None) -> str:
    return _NONE if seconds is None else milliseconds(_SECOND * seconds)


def _times(spans: tuple[DeliverySpan, ...], period: ChartPeriod) -> TimesChart | None:
    together = all_durations(spans)
    if together.median is None:
        return None
    slowest = _in_milliseconds(one.slowest for one in spans)
    drawn = charts.line_paths([slowest, _in_milliseconds(one.median for one in spans)])
    legend = (
        charts.Legend("p50", text("{duration} median", duration=_duration(together.median))),
        charts.Legend(
            "p95", text("{duration} 95th percentile", duration=_duration(together.slowest))
        ),
    )
    figures = ", ".join(one.words for one in legend)
    return TimesChart(
        legend=legend,
        paths=tuple(zip(("p95", "p50"), drawn.paths, strict=True)),
        columns=tuple(_columns(spans, drawn.width, period.step)),
        width=drawn.width,
        top=milliseconds(drawn.top),
        summary=text(_TIMES[period], figures=figures),
    )


def _in_milliseconds(values: Iterable[float | None]) -> list[float | None]:
    return [None if value is None else _SECOND * value for value in values]


def _columns(spans: Sequence[DeliverySpan], width: int, step: timedelta) -> Iterable[Column]:
    for place, span in enumerate(spans):
        if span.median is not None:
            title = text(
                "{label}: median {median}, 95th percentile {slowest}",
                label=charts.span_label(span.began, step),
                median=_duration(span.median),
                slowest=_duration(span.slowest),
            )
            yield Column(place * width // len(spans), title)


VIEWS = {
    "overview": translatable("Overview"),
    "events": translatable("Events"),
    "settings": translatable("Settings"),
}
"""The tabs of a webhook's page."""

_SHOWN_EVENTS = 1
_UNNAMED = translatable("Unnamed webhook")
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Notice:
    """Why events don't reach the app, the cause first; with a button to enable or resume it."""

    state: str
    cause: str
    detail: str
    can_enable: bool = False
    can_resume: bool = False


@dataclass(frozen=True, slots=True)
class WebhookDialog:
    """The dialog on the page: test, disable, delete or none; a test has more fields."""

    kind: str = ""
    event: str = ""
    object: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class WebhookPage:
    """One webhook, and the question of its dialog; ``samples`` are the events to test it with."""

    name: str
    health: Pill
    notice: Notice | None
    latest: tuple[DeliveryRow, ...]
    payload: str
    facts: tuple[Fact, ...]
    delete_hint: str
    command: str
    question: Question | None
    samples: tuple[Option, ...]


def webhook_health(hook: ListedWebhook) -> Pill:
    if not hook.is_active:
        return Pill("bad" if hook.disabled_reason else "off", text("Disabled"))
    if not hook.is_app_active:
        return Pill("off", text("App inactive"))
    if hook.paused_at is not None:
        return Pill("warn", text("Paused"))
    if hook.failing_since is not None:
        return Pill("bad", text("Failing"))
    if hook.health.delivered:
        return Pill("ok", text("Healthy"))
    return Pill("", text("No recent events"))


def make_webhook_page(
    hook: ListedWebhook,
    latest: Iterable[DeliveryLine],
    now: datetime,
    dialog: WebhookDialog,
    names: Mapping[str, ObjectName],
) -> WebhookPage:
    return WebhookPage(
        name=hook.name or text(_UNNAMED),
        health=webhook_health(hook),
        notice=_notice(hook, now),
        latest=tuple(delivery_row(line, names) for line in latest),
        payload=_payload(hook),
        facts=tuple(_facts(hook, now)),
        delete_hint=_delete_hint(hook),
        command=f"flask webhook edit {to_global_id('Webhook', hook.id)}",
        question=_QUESTIONS[dialog.kind](hook) if dialog.kind in _QUESTIONS else None,
        samples=_samples(hook, dialog.event),
    )


def _samples(hook: ListedWebhook, chosen: str) -> tuple[Option, ...]:
    events = tuple(EVENTS) if EventType.ANY_EVENTS in hook.events else hook.events
    return tuple(Option(event.value, text(event.label), event.value == chosen) for event in events)


def waiting_words(count: int) -> str:
    """Return the label of the button that sends what waits for another attempt; "" for nothing."""
    if not count:
        return ""
    return text(
        "Send {count:,} waiting delivery now", "Send {count:,} waiting deliveries now", count=count
    )


def webhook_title(hook: ListedWebhook) -> Markup:
    """Return the title of a webhook's row: its name, its app and the endpoint's host."""
    host = urlsplit(hook.target_url).netloc
    receiver = text("{app} · {url}", app=hook.app_name, url=host)
    name = hook.name or text(_UNNAMED)
    return link(name, "console.webhooks.show", key=hook.id) + small(receiver)


def webhook_buttons(hook: ListedWebhook) -> Markup:
    """Return the buttons of a webhook that the viewer can test and edit."""
    if hook.lacking:
        return Markup()
    called = hook.name or text("webhook of {app}", app=hook.app_name)
    button = Markup('<a class="btn btn-sm btn-secondary" href="{}" aria-label="{}">{}</a>')
    test = button.format(
        url_for("console.webhooks.show", key=hook.id, ask="test"),
        text("Test {webhook}", webhook=called),
        text("Test"),
    )
    edit = button.format(
        url_for("console.webhook_editing.edit", key=hook.id),
        text("Edit {webhook}", webhook=called),
        text("Edit"),
    )
    return Markup('<div class="lk-actions">{}{}</div>').format(test, edit)


def events_cell(hook: ListedWebhook) -> Markup:
    """Return a webhook's first event, how many more, and the permission its app lacks for them."""
    missing = _missing(hook)
    warning = Markup('<small class="lk-warn">{}</small>').format(missing) if missing else ""
    return Markup("<span>{} {}</span>").format(warning, " ".join(_first_events(hook)))


def traffic_cell(hook: ListedWebhook) -> Markup:
    """Return the deliveries of the last 24 hours."""
    return lines(_traffic(hook.health), _waiting(hook.health))


def _first_events(hook: ListedWebhook) -> tuple[str, ...]:
    labels = tuple(text(event.label) for event in hook.events)
    if len(labels) <= _SHOWN_EVENTS:
        return labels or (text("No events"),)
    return (*labels[:_SHOWN_EVENTS], text("+{count}", count=len(labels) - _SHOWN_EVENTS))


def _missing(hook: ListedWebhook) -> str:
    lacking = frozenset(map(Permission, not_permitted(hook.events, hook.app_permissions)))
    if not lacking:
        return ""
    labels = enumeration([text(permission.label) for permission in in_order(lacking)])
    return text("Missing permission: {permissions}", permissions=labels)


def _traffic(health: Health) -> str:
    if not health.delivered and not health.failed:
        return "" if health.waiting else text("No events")
    if not health.failed:
        return text("{count:,} delivered", count=health.delivered)
    if not health.delivered:
        return text("{count:,} failed", count=health.failed)
    return text(
        "{delivered:,} delivered, {failed:,} failed",
        delivered=health.delivered,
        failed=health.failed,
    )


def _waiting(health: Health) -> str:
    return text("{count:,} waiting", count=health.waiting) if health.waiting else ""


def _notice(hook: ListedWebhook, now: datetime) -> Notice | None:
    if hook.disabled_reason:
        return _disabled_notice(hook, now)
    if hook.is_active and not hook.is_app_active:
        return Notice(
            "warn",
            text("{app} is inactive.", app=hook.app_name),
            text("Its webhooks don't send events until the app is activated."),
        )
    if hook.paused_at is not None:
        return _paused_notice(hook.paused_at, now)
    if hook.is_active and hook.failing_since is not None:
        return _failing_notice(hook, hook.failing_since, now)
    return None


def _paused_notice(since: datetime, now: datetime) -> Notice:
    detail = html_text(
        "Paused {since}. Events wait for up to {days} days and are sent in order, up to {rate} a "
        "second, once the webhook is resumed.",
        since=time_element(since, now),
        days=RETENTION.days,
        rate=CATCH_UP_RATE,
    )
    return Notice("warn", text("Events are waiting."), detail, can_resume=True)


def _disabled_notice(hook: ListedWebhook, now: datetime) -> Notice:
    reason = reason_text(hook.disabled_reason)
    cause = reason_text(hook.last_failure)
    if hook.disabled_at is None:
        return Notice("bad", cause or reason, reason, can_enable=True)
    detail = html_text(
        "{reason} The webhook was disabled {moment}.",
        reason=reason,
        moment=time_element(hook.disabled_at, now),
    )
    return Notice("bad", cause or text("Disabled after failures"), detail, can_enable=True)


def _failing_notice(hook: ListedWebhook, since: datetime, now: datetime) -> Notice:
    until = since + DISABLE_AFTER
    moments = {"since": clock_element(since, now), "until": time_element(until, now)}
    if until - now < _DAY:
        detail = html_text(
            "Failing since {since}. Failed deliveries are retried. The webhook will be disabled "
            "{until} if it keeps failing.",
            **moments,
        )
    else:
        detail = html_text(
            "Failing since {since}. Failed deliveries are retried. The webhook will be disabled "
            "on {until} if it keeps failing.",
            **moments,
        )
    cause = reason_text(hook.last_failure)
    return Notice("bad", cause or text("Deliveries are failing."), detail)


def _payload(hook: ListedWebhook) -> str:
    if hook.has_query:
        return text("Events and payload are defined by the subscription query.")
    if hook.events:
        return text("Each event is sent with its default payload.")
    return text("Add a subscription query or select events to receive.")


def _facts(hook: ListedWebhook, now: datetime) -> Iterable[Fact]:
    if hook.identifier:
        yield Fact(text("Identifier"), hook.identifier, is_copied=True)
    yield Fact(text("Last 24 hours"), _day(hook.health))
    signing = text("Secret (HMAC)") if hook.has_secret else text("Shop's signing key (JWS)")
    yield Fact(text("Signing"), signing)
    if hook.max_rate:
        yield Fact(
            text("Rate limit"),
            text("{count:,} request a second", "{count:,} requests a second", count=hook.max_rate),
        )
    yield Fact(text("Created"), time_element(hook.created_at, now))
    yield Fact(text("API ID"), to_global_id("Webhook", hook.id), is_copied=True)


def _day(health: Health) -> str:
    parts = [one for one in (_traffic(health), _waiting(health)) if one]
    return ", ".join(parts)


def _delete_hint(hook: ListedWebhook) -> str:
    if not hook.health.waiting:
        return text("Deletes its deliveries too.")
    return text(
        "Deletes its deliveries too, {count:,} of them waiting.", count=hook.health.waiting
    )


def _test(hook: ListedWebhook) -> Question:
    return Question(
        title=(
            text("Send a sample event to “{webhook}”?", webhook=hook.name)
            if hook.name
            else text("Send a sample event?")
        ),
        detail=text(
            "Sends a signed request with data of your shop to {url}. No data in the shop changes.",
            url=hook.target_url,
        ),
        action=text("Send sample event"),
        endpoint="console.webhooks.test",
        arguments={"key": hook.id},
        is_harmless=True,
    )


def _disable(hook: ListedWebhook) -> Question:
    return Question(
        title=(
            text("Disable “{webhook}”?", webhook=hook.name)
            if hook.name
            else text("Disable webhook?")
        ),
        action=text("Disable webhook"),
        endpoint="console.webhooks.disable",
        arguments={"key": hook.id},
        consequences=tuple(_disable_consequences(hook)),
    )


def _disable_consequences(hook: ListedWebhook) -> Iterable[Consequence]:
    sent = hook.health.delivered + hook.health.failed + hook.health.waiting
    yield Consequence(
        "bad", text("{app} won't receive events while it's disabled.", app=hook.app_name)
    )
    if sent:
        yield Consequence(
            "warn",
            text(
                "It was sent {count:,} event in the last 24 hours.",
                "It was sent {count:,} events in the last 24 hours.",
                count=sent,
            ),
        )
    yield Consequence(
        "ok",
        text(
            "Once enabled again, it can receive the events it missed in the last {days} days.",
            days=RETENTION.days,
        ),
    )
    yield Consequence("ok", text("To let events wait instead, pause the webhook."))


def _delete(hook: ListedWebhook) -> Question:
    return Question(
        title=(
            text("Delete “{webhook}”?", webhook=hook.name)
            if hook.name
            else text("Delete webhook?")
        ),
        action=text("Delete webhook"),
        endpoint="console.webhooks.delete",
        arguments={"key": hook.id},
        consequences=(
            Consequence(
                "bad",
                text(
                    "{app} won't receive these events anymore. The webhook's deliveries are "
                    "deleted too. This can't be undone.",
                    app=hook.app_name,
                ),
            ),
            Consequence("ok", text("The app, its tokens and its other webhooks aren't affected.")),
        ),
    )


_QUESTIONS = {"test": _test, "disable": _disable, "delete": _delete}
