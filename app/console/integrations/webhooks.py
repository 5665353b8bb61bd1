"""Webhooks of all apps: the list, one webhook, testing, disabling and deleting."""

from typing import Any

from flask import abort, flash, request
from werkzeug.wrappers import Response as BaseResponse

from app.console.frame.formatting import shortened, time_zone
from app.console.frame.navigation import Entry, Heading, PageGroup
from app.console.frame.page_layout import (
    page,
    redirect_to,
    redirect_with_message,
    redirect_with_success,
    refused_page,
)
from app.console.frame.parts import lines, make_tabs, moment, pill
from app.console.frame.session import actor, now, ports
from app.console.frame.submissions import CreatingForm
from app.console.integrations import webhook_page
from app.console.integrations.event_subjects import sample_header, send_sample
from app.console.integrations.missing_permissions import (
    missing_permissions,
    refusal_text,
    withheld_note,
)
from app.console.lists.filters import Control, Filter, ListOrder, Sort, choice, search
from app.console.lists.list_page import Column, EmptyState, ListPage, RowCount
from app.domain.deliveries.deliveries import status_of
from app.domain.deliveries.statistics import ChartPeriod
from app.domain.events import EventType
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.domain.values.pages import Page, PageRequest
from app.domain.values.text import translatable
from app.domain.webhooks import Webhook
from app.services.apps.app_changes import grant_events
from app.services.authorization.register import can_call
from app.services.deliveries.backlog import count_retrying
from app.services.deliveries.details import name_objects
from app.services.deliveries.lists import DeliverySearch, search_deliveries
from app.services.deliveries.replays import send_waiting_deliveries
from app.services.deliveries.statistics import chart_webhook
from app.services.webhooks.changes import WebhookInput, delete_webhook, update_webhook
from app.services.webhooks.lists import (
    ListedWebhook,
    WebhookFilter,
    WebhookSort,
    list_webhooks,
    show_listed_webhook,
)
from app.web.converters import one_of, row_key
from app.web.translation import reason_text, reasons_text, refused_text, text

_STATES = {
    "failing": translatable("Failing"),
    "paused": translatable("Paused"),
    "on": translatable("Enabled"),
    "off": translatable("Disabled"),
}
_DIALOGS = ("delete", "disable", "test")
_ASKED_IN_SETTINGS = ("delete", "disable")
_LATEST = 8
_DONE = {
    "disabled": (translatable("“{webhook}” disabled."), translatable("Webhook disabled.")),
    "enabled": (
        translatable("“{webhook}” enabled. You can replay events it missed from Deliveries."),
        translatable("Webhook enabled. You can replay events it missed from Deliveries."),
    ),
    "paused": (
        translatable("“{webhook}” paused. Its events wait until you resume it."),
        translatable("Webhook paused. Its events wait until you resume it."),
    ),
    "resumed": (
        translatable("“{webhook}” resumed. What waited is being sent, in order."),
        translatable("Webhook resumed. What waited is being sent, in order."),
    ),
    "deleted": (translatable("“{webhook}” deleted."), translatable("Webhook deleted.")),
}
"""What a change says, of a webhook with a name and of one without."""


def _read(
    request: PageRequest, *, state: str = "", sort: WebhookSort = WebhookSort.NEWEST, **values: Any
) -> Page[ListedWebhook]:
    is_active = {"on": True, "off": False}.get(state)
    filter_ = WebhookFilter(
        is_active=is_active, is_failing=state == "failing", is_paused=state == "paused", **values
    )
    return list_webhooks(ports(), actor(), request, filter_, sort)


WEBHOOKS = ListPage[ListedWebhook](
    template="webhooks/index.html",
    title="Webhooks",
    intro="Send events to your apps. Failed deliveries are retried for 3 days.",
    label="Webhooks",
    filter_label="Filter webhooks",
    caption="Webhooks of all apps",
    count=RowCount(
        none="No webhooks",
        no_match="No matching webhooks",
        one="1 webhook",
        many="{count} webhooks",
        some="{matching} of {total} webhooks",
    ),
    read=_read,
    filters=(
        search("Text", "Name, endpoint or app"),
        Filter("app", "App", row_key, Control.HIDDEN, "app_id"),
        choice("event", "Event", {event.value: event.label for event in EventType}, EventType),
        choice("state", "State", _STATES),
    ),
    sorts=(
        Sort("newest", "Newest first", order=ListOrder.NEWEST_FIRST),
        Sort(WebhookSort.NAME, "Name", {"sort": WebhookSort.NAME}),
        Sort(WebhookSort.APP, "App", {"sort": WebhookSort.APP}),
    ),
    columns=(
        Column("Webhook", webhook_page.webhook_title, ("is-cut",), is_title=True),
        Column("Events", webhook_page.events_cell, ("is-cut", "is-some")),
        Column(
            "Last 24 hours", webhook_page.traffic_cell, ("is-extra", "is-wide"), short="24 hours"
        ),
        Column(
            "Last failure",
            lambda hook: lines(
                moment(hook.last_failure_at, text("None")),
                shortened(reason_text(status_of(hook.last_failure))),
            ),
            ("is-extra", "is-name", "is-wide"),
        ),
        Column("Health", lambda hook: pill(webhook_page.webhook_health(hook)), ("is-state",)),
        Column("Actions", webhook_page.webhook_buttons, ("is-num", "is-wide"), has_buttons=True),
    ),
    file="webhooks",
    file_columns={
        "id": lambda hook: to_global_id("Webhook", hook.id),
        "name": lambda hook: hook.name,
        "app": lambda hook: hook.app_name,
        "endpoint_url": lambda hook: hook.target_url,
        "events": lambda hook: ", ".join(event.value for event in hook.events),
        "enabled": lambda hook: hook.is_active,
        "paused_since": lambda hook: hook.paused_at,
        "max_rate": lambda hook: hook.max_rate,
        "disabled_reason": lambda hook: hook.disabled_reason,
        "failing_since": lambda hook: hook.failing_since,
        "last_failure_at": lambda hook: hook.last_failure_at,
        "last_failure": lambda hook: hook.last_failure,
        "created_at": lambda hook: hook.created_at,
    },
    empty=EmptyState(
        "broadcast",
        "No webhooks yet",
        "A webhook sends events to an app, such as a paid order or a new product.",
        "flask webhook create --help",
        "console.webhook_editing.new",
        "Create webhook",
    ),
)

blueprint = PageGroup(
    "webhooks",
    __name__,
    Entry(
        "Webhooks", "broadcast", "events subscription", Heading.INTEGRATIONS, needs=list_webhooks
    ),
    url_prefix="/webhooks",
    list_name="webhooks",
)


@blueprint.get("/")
def index() -> BaseResponse:
    found = WEBHOOKS.load_page(WEBHOOKS.requested())
    apps = {str(hook.app_id): hook.app_name for hook in found.items}
    return WEBHOOKS.show(found, words={"app": apps})


blueprint.add_url_rule("/export.csv", "export", WEBHOOKS.export)


@blueprint.get("/<key:key>")
def show(key: int) -> BaseResponse:
    """Show one webhook: its events, its health and its last deliveries."""
    dialog = webhook_page.WebhookDialog(
        request.args.get("ask", "", type=one_of(_DIALOGS)), request.args.get("event", "")
    )
    return _show(key, dialog)


def _show(key: int, dialog: webhook_page.WebhookDialog) -> BaseResponse:
    hook = show_listed_webhook(ports(), actor(), key)
    if hook is None:
        abort(404)
    latest = search_deliveries(
        ports(), actor(), PageRequest(_LATEST), DeliverySearch(webhook_id=key)
    )
    missing = missing_permissions(actor(), hook.app_name, hook.events, hook.app_permissions)
    names = name_objects(ports(), actor(), latest.items)
    period = request.args.get("chart", ChartPeriod.TWO_WEEKS, type=ChartPeriod)
    spans = chart_webhook(ports(), actor(), key, period, time_zone())
    withheld = withheld_note(ports(), actor(), hook.app_name, hook.lacking, now())
    sends = hook.is_active and hook.paused_at is None and not withheld
    shown = refused_page if dialog.problem else page
    asked_in = "settings" if dialog.kind in _ASKED_IN_SETTINGS else "overview"
    view = request.args.get("view", type=one_of(webhook_page.VIEWS)) or asked_in
    return shown(
        "webhooks/show.html",
        hook=hook,
        webhook=webhook_page.make_webhook_page(hook, latest.items, now(), dialog, names),
        dialog=dialog,
        missing=missing,
        charts_shown=webhook_page.make_webhook_charts(spans, period),
        withheld=withheld,
        waiting=webhook_page.waiting_words(count_retrying(ports(), actor(), key)) if sends else "",
        sample_header=sample_header(),
        once=CreatingForm(formdata=None),
        view=view,
        tabs=make_tabs(
            webhook_page.VIEWS,
            view,
            {"events": len(hook.events)},
            "console.webhooks.show",
            key=key,
        ),
    )


@blueprint.post("/<key:key>/pause")
def pause(key: int) -> BaseResponse:
    """Let the webhook's events wait until it is resumed."""
    return _change(key, WebhookInput(is_paused=True), "paused")


@blueprint.post("/<key:key>/resume")
def resume(key: int) -> BaseResponse:
    """Send what waited, and what follows."""
    return _change(key, WebhookInput(is_paused=False), "resumed")


@blueprint.post("/<key:key>/disable")
def disable(key: int) -> BaseResponse:
    return _change(key, WebhookInput(is_active=False), "disabled")


@blueprint.post("/<key:key>/enable")
def enable(key: int) -> BaseResponse:
    return _change(key, WebhookInput(is_active=True), "enabled")


@blueprint.post("/<key:key>/send-waiting")
def send_waiting(key: int) -> BaseResponse:
    """Send the deliveries now that wait for a later attempt."""
    try:
        count = send_waiting_deliveries(ports(), actor(), key)
    except Refused as refused:
        if any(problem.code == "NOT_FOUND" for problem in refused.problems):
            raise
        flash(refused_text(refused), "bad")
        return redirect_to("console.webhooks.show", key=key)
    hook = show_listed_webhook(ports(), actor(), key)
    if hook is not None and hook.paused_at is not None:
        flash(text("The webhook is paused. What waits is sent when you resume it."), "warn")
        return redirect_to("console.webhooks.show", key=key)
    sent = text(
        "Sending {count:,} delivery now.", "Sending {count:,} deliveries now.", count=count
    )
    return redirect_with_success(sent, "console.webhooks.show", key=key)


@blueprint.post("/<key:key>/grant")
def grant(key: int) -> BaseResponse:
    """Grant the app the permissions that the webhook's events require."""
    hook = show_listed_webhook(ports(), actor(), key)
    if hook is None:
        abort(404)
    lacking = missing_permissions(actor(), hook.app_name, hook.events, hook.app_permissions)
    if lacking is None:
        return redirect_to("console.webhooks.show", key=key)
    try:
        grant_events(ports(), actor(), hook.app_id, hook.events)
    except Refused as refused:
        flash(refusal_text(refused), "bad")
        return redirect_to("console.webhooks.show", key=key)
    granted = text("Permissions of {app} saved.", app=hook.app_name)
    return redirect_with_success(granted, "console.webhooks.show", key=key)


@blueprint.post("/<key:key>/delete")
def delete(key: int) -> BaseResponse:
    """Delete the webhook with its deliveries."""
    hook = delete_webhook(ports(), actor(), to_global_id("Webhook", key))
    return redirect_with_success(_done_text("deleted", hook), "console.webhooks.index")


@blueprint.post("/<key:key>/test")
def test(key: int) -> BaseResponse:
    """Send the webhook a sample of an event now."""
    event = request.form.get("event", type=EventType)
    wanted = request.form.get("object", "").strip()
    try:
        return send_sample(key, event, wanted)
    except Refused as refused:
        problem = reasons_text(refused)
        if not can_call(actor(), show_listed_webhook):
            return redirect_with_message(problem, "bad", "console.home.index")
        return _show(key, webhook_page.WebhookDialog("test", event or "", wanted, problem))


def _change(key: int, values: WebhookInput, done: str) -> BaseResponse:
    hook = update_webhook(ports(), actor(), to_global_id("Webhook", key), "", values)
    return redirect_with_success(_done_text(done, hook), "console.webhooks.show", key=key)


def _done_text(what: str, hook: Webhook) -> str:
    named, unnamed = _DONE[what]
    return text(named, webhook=hook.name) if hook.name else text(unnamed)
