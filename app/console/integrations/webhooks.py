"""Webhooks of all apps: the list, one webhook, testing, disabling and deleting."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from flask import abort, flash, request
from werkzeug.wrappers import Response as BaseResponse

from app.console.frame.formatting import time_zone
from app.console.frame.navigation import Entry, Heading, PageGroup
from app.console.frame.page_layout import done, go, page, refused_page
from app.console.frame.session import actor, now, ports
from app.console.integrations.event_subjects import WebhookDialog, sample_header, send_sample
from app.console.integrations.missing_permissions import (
    missing_permissions,
    refusal_text,
    withheld_note,
)
from app.console.integrations.webhook_charts import make_webhook_charts
from app.console.integrations.webhook_page import (
    COLUMNS,
    make_webhook_page,
    make_webhooks_page,
)
from app.console.lists.files import export_list
from app.console.lists.list_page import (
    ListOrder,
    invalid_filter_messages,
    invalid_filters,
    query_params,
    requested_page,
    tags,
    turns,
)
from app.domain.deliveries.statistics import ChartPeriod
from app.domain.events import EventType
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.domain.values.pages import PageRequest
from app.domain.values.text import translatable
from app.domain.webhooks import Webhook
from app.services.apps.app_changes import AppChange, update_app
from app.services.authorization.register import may
from app.services.deliveries.details import name_objects
from app.services.deliveries.lists import DeliverySearch, search_deliveries
from app.services.deliveries.statistics import chart_webhook
from app.services.webhooks.changes import WebhookInput, delete_webhook, update_webhook
from app.services.webhooks.lists import (
    WebhookFilter,
    WebhookSort,
    list_webhooks,
    show_listed_webhook,
)
from app.web.converters import one_of, row_key
from app.web.translation import problem_text, text, texts

_NAMES = {
    "q": translatable("Text"),
    "app": translatable("App"),
    "event": translatable("Event"),
    "state": translatable("State"),
}
_STATES = {
    "failing": translatable("Failing"),
    "on": translatable("Enabled"),
    "off": translatable("Disabled"),
}
_CONVERTERS: Mapping[str, Callable[[str], object]] = {
    "app": row_key,
    "event": EventType,
    "state": one_of(_STATES),
}
"""The filters whose values can be invalid."""
_SORTS: Mapping[str, str] = {
    WebhookSort.NAME: translatable("Name"),
    WebhookSort.APP: translatable("App"),
}
_ORDERS = {WebhookSort.NEWEST: ListOrder.NEWEST_FIRST}
_DIALOGS = ("delete", "pause", "test")
_LATEST = 8
_DONE = {
    "disabled": (translatable("“{webhook}” disabled."), translatable("Webhook disabled.")),
    "enabled": (
        translatable("“{webhook}” enabled. You can replay events it missed from Deliveries."),
        translatable("Webhook enabled. You can replay events it missed from Deliveries."),
    ),
    "deleted": (translatable("“{webhook}” deleted."), translatable("Webhook deleted.")),
}
"""What a change says, of a webhook with a name and of one without."""


blueprint = PageGroup(
    "webhooks",
    __name__,
    Entry(
        "Webhooks", "broadcast", "events subscription", Heading.INTEGRATIONS, needs=list_webhooks
    ),
    url_prefix="/webhooks",
)


@blueprint.get("/")
def index() -> BaseResponse:
    """List webhooks, filtered by the query string."""
    sort = request.args.get("sort", WebhookSort.NEWEST, type=WebhookSort)
    invalid = invalid_filters(_CONVERTERS)
    names, states = texts(_NAMES), texts(_STATES)
    events = {event.value: text(event.label) for event in EventType}
    applied = {name: label for name, label in names.items() if name not in invalid}
    found = list_webhooks(ports(), actor(), requested_page(), _filter(), sort)
    apps = {str(hook.app_id): hook.app_name for hook in found.items}
    return page(
        "webhooks/index.html",
        webhooks=make_webhooks_page(found.items, found.counts),
        turns=turns(found, _ORDERS.get(sort, ListOrder.OTHER)),
        params=query_params(*_NAMES, "sort"),
        tags=tags(applied, {"state": states, "app": apps}),
        invalid=invalid_filter_messages(names, invalid),
        sorts=texts(_SORTS),
        states=states,
        events=events,
    )


@blueprint.get("/export.csv")
def export() -> BaseResponse:
    """Export every matching webhook, streamed while it is read."""
    filter_ = _filter()
    sort = request.args.get("sort", WebhookSort.NEWEST, type=WebhookSort)
    return export_list(
        "webhooks", COLUMNS, lambda page: list_webhooks(ports(), actor(), page, filter_, sort)
    )


@blueprint.get("/<key:key>")
def show(key: int) -> BaseResponse:
    """Show one webhook: its events, its health and its last deliveries."""
    dialog = WebhookDialog(
        request.args.get("ask", "", type=one_of(_DIALOGS)), request.args.get("event", "")
    )
    return _show(key, dialog)


def _show(key: int, dialog: WebhookDialog) -> BaseResponse:
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
    charts = make_webhook_charts(spans, period)
    webhook = make_webhook_page(hook, latest.items, charts, now(), dialog, missing, names)
    withheld = withheld_note(ports(), actor(), hook.app_name, hook.lacking, now())
    webhook = replace(webhook, withheld=withheld)
    shown = refused_page if dialog.problem else page
    return shown("webhooks/show.html", webhook=webhook, sample_header=sample_header())


@blueprint.post("/<key:key>/pause")
def pause(key: int) -> BaseResponse:
    """Disable the webhook until it is enabled again."""
    hook = _change(key, WebhookInput(is_active=False))
    return done(_done_text("disabled", hook), "console.webhooks.show", key=key)


@blueprint.post("/<key:key>/resume")
def resume(key: int) -> BaseResponse:
    """Enable the webhook."""
    hook = _change(key, WebhookInput(is_active=True))
    return done(_done_text("enabled", hook), "console.webhooks.show", key=key)


@blueprint.post("/<key:key>/grant")
def grant(key: int) -> BaseResponse:
    """Grant the app the permissions that the webhook's events require."""
    hook = show_listed_webhook(ports(), actor(), key)
    if hook is None:
        abort(404)
    lacking = missing_permissions(actor(), hook.app_name, hook.events, hook.app_permissions)
    if lacking is None:
        return go("console.webhooks.show", key=key)
    change = AppChange(permissions=hook.app_permissions | lacking.permissions)
    try:
        update_app(ports(), actor(), hook.app_id, change)
    except Refused as refused:
        flash(refusal_text(refused), "bad")
        return go("console.webhooks.show", key=key)
    granted = text("Permissions of {app} saved.", app=hook.app_name)
    return done(granted, "console.webhooks.show", key=key)


@blueprint.post("/<key:key>/delete")
def delete(key: int) -> BaseResponse:
    """Delete the webhook with its deliveries."""
    hook = delete_webhook(ports(), actor(), to_global_id("Webhook", key))
    return done(_done_text("deleted", hook), "console.webhooks.index")


@blueprint.post("/<key:key>/test")
def test(key: int) -> BaseResponse:
    """Send the webhook a sample of an event now."""
    event = request.form.get("event", type=EventType)
    wanted = request.form.get("object", "").strip()
    try:
        return send_sample(key, event, wanted)
    except Refused as refused:
        problem = " ".join(map(problem_text, refused.problems))
        if not may(actor(), show_listed_webhook):
            flash(problem, "bad")
            return go("console.home.index")
        return _show(
            key, WebhookDialog("test", "" if event is None else event.value, wanted, problem)
        )


def _filter() -> WebhookFilter:
    state = request.args.get("state", "")
    return WebhookFilter(
        search=request.args.get("q", "").strip(),
        app_id=request.args.get("app", type=row_key),
        is_active={"on": True, "off": False}.get(state),
        event=request.args.get("event", type=EventType),
        is_failing=state == "failing",
    )


def _change(key: int, values: WebhookInput) -> Webhook:
    return update_webhook(ports(), actor(), to_global_id("Webhook", key), "", values)


def _done_text(what: str, hook: Webhook) -> str:
    named, unnamed = _DONE[what]
    return text(named, webhook=hook.name) if hook.name else text(unnamed)
