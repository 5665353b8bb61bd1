"""The view models of webhooks: the list, and one webhook's page with its questions."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from flask import url_for
from markupsafe import Markup

from app.console.frame.formatting import html_text, time_element
from app.console.frame.parts import Consequence, Fact, Pill, Question, lines, link, small
from app.console.integrations.deliveries_page import DeliveryRow, delivery_row
from app.console.integrations.event_subjects import (
    NO_DIALOG,
    SampleForm,
    WebhookDialog,
    make_sample_form,
)
from app.console.integrations.missing_permissions import MissingPermissions, WithheldNote
from app.console.integrations.webhook_charts import WebhookCharts
from app.domain.authorization.permissions import Permission, in_order
from app.domain.deliveries.deliveries import DISABLE_AFTER, RETENTION
from app.domain.values.ids import to_global_id
from app.domain.values.text import translatable
from app.domain.webhooks import not_permitted
from app.services.deliveries.details import ObjectName
from app.services.deliveries.lists import DeliveryLine
from app.services.webhooks.lists import Health, ListedWebhook
from app.web.translation import enumeration, reason_text, text

_SHOWN_EVENTS = 2
_UNNAMED = translatable("Unnamed webhook")
_NO_NAMES: Mapping[str, ObjectName] = {}
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Notice:
    """Why events don't reach the app, the cause first; ``can_enable`` offers to enable it."""

    state: str
    cause: str
    detail: str
    can_enable: bool = False


@dataclass(frozen=True, slots=True)
class ChosenEvent:
    """An event that the webhook subscribes to."""

    label: str
    name: str


@dataclass(frozen=True, slots=True)
class WebhookPage:
    """One webhook, and its dialog; ``sample`` are more fields of it.

    With ``withheld``, nothing can be changed on the page.
    """

    id: int
    name: str
    app_id: int
    app_name: str
    health: Pill
    is_active: bool
    notice: Notice | None
    missing: MissingPermissions | None
    charts: WebhookCharts
    latest: tuple[DeliveryRow, ...]
    events: tuple[ChosenEvent, ...]
    payload: str
    target_url: str
    facts: tuple[Fact, ...]
    delete_hint: str
    command: str
    question: Question | None
    sample: SampleForm | None
    withheld: WithheldNote | None = None


def webhook_health(hook: ListedWebhook) -> Pill:
    """Return how a webhook fares."""
    if hook.disabled_reason:
        return Pill("bad", text("Disabled"))
    if not hook.is_active:
        return Pill("off", text("Disabled"))
    if not hook.is_app_active:
        return Pill("off", text("App inactive"))
    if hook.failing_since is not None:
        return Pill("bad", text("Failing"))
    if hook.health.delivered:
        return Pill("ok", text("Healthy"))
    return Pill("", text("No recent events"))


def make_webhook_page(
    hook: ListedWebhook,
    latest: Iterable[DeliveryLine],
    charts: WebhookCharts,
    now: datetime,
    dialog: WebhookDialog = NO_DIALOG,
    missing: MissingPermissions | None = None,
    names: Mapping[str, ObjectName] = _NO_NAMES,
) -> WebhookPage:
    """Return the page of ``hook``."""
    api_id = to_global_id("Webhook", hook.id)
    return WebhookPage(
        id=hook.id,
        name=hook.name or text(_UNNAMED),
        app_id=hook.app_id,
        app_name=hook.app_name,
        health=webhook_health(hook),
        is_active=hook.is_active,
        notice=_notice(hook, now),
        missing=missing,
        charts=charts,
        latest=tuple(delivery_row(line, names) for line in latest),
        events=tuple(ChosenEvent(text(event.label), event.value) for event in hook.events),
        payload=_payload(hook),
        target_url=hook.target_url,
        facts=tuple(_facts(hook, now)),
        delete_hint=_delete_hint(hook),
        command=f"flask webhook edit {api_id}",
        question=_QUESTIONS[dialog.kind](hook) if dialog.kind in _QUESTIONS else None,
        sample=make_sample_form(hook.events, dialog) if dialog.kind == "test" else None,
    )


def webhook_title(hook: ListedWebhook) -> Markup:
    """Return the title of a webhook's row: its name above its app and URL."""
    receiver = text(
        "{app} · {url}", app=hook.app_name, url=hook.target_url.removeprefix("https://")
    )
    name = hook.name or text(_UNNAMED)
    return link(name, "console.webhooks.show", "lk-hit", key=hook.id) + small(receiver)


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
    """Return the first events of a webhook, and which permission its app lacks for them."""
    missing = _missing(hook)
    warning = Markup('<small class="lk-warn">{}</small>').format(missing) if missing else ""
    return Markup("<span>{}{}</span>").format(Markup("<br>").join(_first_events(hook)), warning)


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
    if hook.is_active and hook.failing_since is not None:
        return _failing_notice(hook, hook.failing_since, now)
    return None


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
    moments = {"since": time_element(since, now), "until": time_element(until, now)}
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
            "Sends a signed request with data of your shop to {url}. Nothing in the shop changes.",
            url=hook.target_url,
        ),
        action=text("Send sample event"),
        endpoint="console.webhooks.test",
        arguments={"key": hook.id},
        is_harmless=True,
    )


def _pause(hook: ListedWebhook) -> Question:
    return Question(
        title=(
            text("Disable “{webhook}”?", webhook=hook.name)
            if hook.name
            else text("Disable webhook?")
        ),
        action=text("Disable webhook"),
        endpoint="console.webhooks.pause",
        arguments={"key": hook.id},
        consequences=tuple(_pause_consequences(hook)),
    )


def _pause_consequences(hook: ListedWebhook) -> Iterable[Consequence]:
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


_QUESTIONS = {"test": _test, "pause": _pause, "delete": _delete}
