"""Deliveries: what was sent to apps, searched, shown and resent."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

from flask import abort, flash, request
from werkzeug.wrappers import Response as BaseResponse

from app.console.frame.navigation import Entry, Heading, PageGroup
from app.console.frame.page_layout import page, redirect_to, redirect_with_progress
from app.console.frame.parts import Question
from app.console.frame.session import actor, now, ports
from app.console.integrations import deliveries_page
from app.console.integrations.delivery_page import make_delivery_page
from app.console.integrations.event_subjects import object_called
from app.console.integrations.missing_permissions import withheld_note
from app.console.lists import filters
from app.console.lists.list_page import EmptyState, ListPage, RowCount, reader
from app.domain.deliveries.deliveries import RETENTION, DeliveryStatus, ReplayScope
from app.domain.events import EVENTS, EventType
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.domain.values.pages import Range, with_items
from app.domain.values.text import translatable
from app.services.deliveries import replays
from app.services.deliveries.details import name_objects, show_delivery_details
from app.services.deliveries.lists import (
    NO_ANSWER,
    DeliveryLine,
    DeliverySearch,
    search_deliveries,
)
from app.services.webhooks.failing_webhooks import list_failing_webhooks
from app.services.webhooks.lists import list_webhook_names, show_webhook
from app.web.converters import one_of, row_key
from app.web.translation import refused_text, text, texts

_STATUS_LABELS = {
    "failed": translatable("Failed"),
    "arrived": translatable("Delivered"),
    "waiting": translatable("Waiting"),
    "retrying": translatable("Retrying"),
}
_STATUSES = {
    "failed": {"status": DeliveryStatus.FAILED},
    "arrived": {"status": DeliveryStatus.SUCCESS},
    "waiting": {"status": DeliveryStatus.PENDING},
    "retrying": {"is_retrying": True},
}
"""The conditions of a search by the filter's value."""


def _event_type(name: str) -> EventType:
    """Return the event of that name; nothing delivers ``ANY_EVENTS``."""
    return EventType(one_of(EVENTS)(name))


def _response_code(code: str) -> int:
    return NO_ANSWER if code.lower() == "none" else row_key(code)


def _search(
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    state: Mapping[str, Any] = MappingProxyType({}),
    **values: Any,
) -> DeliverySearch:
    return DeliverySearch(created=Range(since, until), **state, **values)


DELIVERIES = ListPage[DeliveryLine](
    template="deliveries/index.html",
    title="Deliveries",
    label="Deliveries",
    filter_label="Filter deliveries",
    caption="Deliveries, newest first",
    count=RowCount(
        none="No deliveries",
        no_match="No matching deliveries",
        one="1 delivery",
        many="{count} deliveries",
        some="{matching} of {total} deliveries",
    ),
    read=reader(search_deliveries, _search),
    filters=(
        filters.search("Text", "Payload or message ID", argument="text"),
        filters.Filter(
            "object",
            "Object",
            lambda called: object_called(ports(), actor(), called),
            argument="object_id",
            title="Number, name, email or ID",
            placeholder="Order #44",
            attributes={"spellcheck": "false", "maxlength": "256"},
        ),
        filters.choice("webhook", "Webhook", {}, row_key, argument="webhook_id"),
        filters.choice("event", "Event", {event: event for event in EVENTS}, _event_type),
        filters.choice("status", "Status", _STATUS_LABELS, _STATUSES, argument="state"),
        filters.Filter(
            "code",
            "Response code",
            _response_code,
            argument="response_status",
            placeholder="503, none",
            attributes={"inputmode": "numeric"},
        ),
        *filters.day_filters(),
    ),
    sorts=(
        filters.Sort("newest", "Newest first", order=filters.ListOrder.NEWEST_FIRST),
        filters.Sort(
            "oldest",
            "Oldest first",
            {"oldest_first": True},
            filters.ListOrder.OLDEST_FIRST,
            "Deliveries, oldest first",
        ),
    ),
    file="deliveries",
    file_columns={
        "id": lambda line: to_global_id("EventDelivery", line.id),
        "event": lambda line: line.event.value,
        "object_id": lambda line: line.object_id,
        "webhook": lambda line: line.webhook_name,
        "app": lambda line: line.app_name,
        "status": lambda line: line.status.value,
        "response_code": lambda line: line.response_status,
        "cause": lambda line: (
            "" if line.status is DeliveryStatus.SUCCESS else deliveries_page.cause_of(line)
        ),
        "attempts": lambda line: line.attempts,
        "created_at": lambda line: line.created_at,
        "next_attempt_at": lambda line: line.next_attempt_at,
        "message_id": lambda line: line.message_id,
    },
    empty=EmptyState(
        "send",
        "No deliveries yet",
        "Events that your webhooks subscribe to appear here once they are sent.",
        "flask webhook trigger --help",
        "console.webhooks.index",
        "View webhooks",
    ),
)

blueprint = PageGroup(
    "deliveries",
    __name__,
    Entry(
        "Deliveries",
        "send",
        "attempts redeliver replay resend retry webhook failures failed errors",
        Heading.INTEGRATIONS,
        needs=search_deliveries,
    ),
    url_prefix="/deliveries",
    list_name="deliveries",
)


@blueprint.get("/")
def index() -> BaseResponse:
    """List deliveries by time, filtered by the query string."""
    requested = DELIVERIES.requested()
    try:
        found = DELIVERIES.load_page(requested)
    except Refused:
        requested = DELIVERIES.requested(rejected=("object",))
        found = DELIVERIES.load_page(requested)
    hooks = list_webhook_names(ports(), actor())
    webhooks = deliveries_page.webhook_names(hooks)
    names = name_objects(ports(), actor(), found.items)
    rows = [deliveries_page.delivery_row(line, names) for line in found.items]
    replay = _replay(requested, webhooks)
    replay_counts = None if replay is None else _replay_counts(replay, webhooks)
    selection = deliveries_page.make_selection(
        found.counts, is_all=request.args.get("select") == "all", is_valid=not requested.invalid
    )
    return DELIVERIES.show(
        with_items(found, rows),
        requested=requested,
        columns=deliveries_page.delivery_columns(selection),
        words={"webhook": {str(hook.id): hook.name or hook.app_name for hook in hooks}},
        options={"webhook": webhooks},
        selection=selection,
        refresh_seconds=None if selection.is_all else deliveries_page.REFRESH_SECONDS,
        table_attributes={
            "id": "delivery-list",
            "data-refresh": None if selection.is_all and rows else deliveries_page.REFRESH_SECONDS,
            "data-announcement": deliveries_page.latest_words(rows),
        },
        replay=None if replay_counts else replay,
        question=replay_counts or _question(requested),
        webhooks=webhooks,
        since=texts(deliveries_page.SINCE),
        kept_days=RETENTION.days,
    )


blueprint.add_url_rule("/export.csv", "export", DELIVERIES.export)


@blueprint.get("/<key:key>")
def show(key: int) -> BaseResponse:
    """Show one delivery: the request, the response, and its attempts."""
    found = show_delivery_details(ports(), actor(), key)
    if found is None:
        abort(404)
    attempt_id = request.args.get("attempt", type=row_key)
    names = name_objects(ports(), actor(), (found.line,))
    line = found.line
    withheld = withheld_note(ports(), actor(), line.app_name, line.lacking, now())
    delivery = make_delivery_page(found, now(), names, attempt_id, withheld)
    return page("deliveries/show.html", delivery=delivery)


@blueprint.post("/<key:key>/redeliver")
def redeliver(key: int) -> BaseResponse:
    """Resend one delivery now, after enabling its webhook if the form says so."""
    try:
        enables = request.form.get("enable") == "yes"
        delivery = to_global_id("EventDelivery", key)
        retried = replays.retry_delivery(ports(), actor(), delivery, enables_webhook=enables)
    except Refused as refused:
        flash(refused_text(refused), "bad")
        return redirect_to("console.deliveries.show", key=key)
    webhook = show_webhook(ports(), actor(), retried.webhook_id)
    if webhook is not None and webhook.is_paused:
        flash(deliveries_page.waits_for_resume(1), "warn")
        return redirect_to("console.deliveries.show", key=key)
    return redirect_with_progress(text("Resending now."), "console.deliveries.show", key=key)


@blueprint.post("/redeliver")
def redeliver_chosen() -> BaseResponse:
    """Resend the selected deliveries."""
    keys = request.form.getlist("id", type=row_key)
    if not keys:
        flash(text("Select a delivery."), "warn")
        return redirect_to("console.deliveries.index", **DELIVERIES.requested().params)
    return _resend(lambda: replays.retry_deliveries(ports(), actor(), keys))


@blueprint.post("/redeliver-matching")
def redeliver_matching() -> BaseResponse:
    """Resend all deliveries that match the query string."""
    requested = DELIVERIES.requested()
    if requested.invalid:
        flash(text("Some filters aren't valid. No deliveries were resent."), "bad")
        return redirect_to("console.deliveries.index", **requested.params)
    return _resend(lambda: replays.resend_matching(ports(), actor(), _search(**requested.values)))


def _resend(resend: Callable[[], replays.Resent]) -> BaseResponse:
    """Return to the list with its filter, and say what resending came to."""
    try:
        for state, message in deliveries_page.resend_result(resend()):
            flash(message, state)
    except Refused as refused:
        flash(refused_text(refused), "bad")
    return redirect_to("console.deliveries.index", **DELIVERIES.requested().params)


@blueprint.post("/replay")
def replay() -> BaseResponse:
    """Resend what failed, or send events that a webhook missed, since a time."""
    hook = request.form.get("webhook", 0, type=row_key)
    hours = int(
        request.form.get(
            "since", deliveries_page.DEFAULT_SINCE, type=one_of(deliveries_page.SINCE)
        )
    )
    missing = request.form.get("what") == "missing"
    since = now() - timedelta(hours=hours)
    try:
        scope = ReplayScope(failed=not missing, missing=missing)
        made = replays.replay_deliveries(ports(), actor(), hook, since, scope)
    except Refused as refused:
        if any(problem.code == "NOT_FOUND" for problem in refused.problems):
            raise
        flash(refused_text(refused), "bad")
        return redirect_to("console.deliveries.index", webhook=hook)
    if made.has_more:
        message = text("There are more missed events. Replay again to send the next ones.")
        flash(message, "warn")
    flash(deliveries_page.replay_result(made, missing=missing), "warn" if made.is_paused else "ok")
    return redirect_to("console.deliveries.index", webhook=hook)


def _replay(
    requested: filters.Requested, webhooks: Mapping[str, str]
) -> deliveries_page.Replay | None:
    """Return the replay that is asked for; it begins with the filter's or a failing webhook."""
    name = request.args.get("ask", "")
    chosen = request.args.get("replayed") or requested.params.get("webhook", "")
    since = request.args.get(
        "within", deliveries_page.DEFAULT_SINCE, type=one_of(deliveries_page.SINCE)
    )
    found = deliveries_page.replay_of(name, chosen, since)
    if found is None or chosen in webhooks:
        return found
    failing = list_failing_webhooks(ports(), actor(), limit=1)
    return replace(found, webhook=str(failing[0].id) if failing else "")


def _replay_counts(replay: deliveries_page.Replay, webhooks: Mapping[str, str]) -> Question | None:
    """Return the question before a replay once its webhook is chosen, with what it would send."""
    if request.args.get("replayed") not in webhooks:
        return None
    missing = replay.name == deliveries_page.REPLAY_MISSING
    scope = ReplayScope(failed=not missing, missing=missing)
    since = now() - timedelta(hours=int(replay.since))
    try:
        found = replays.preview_replay(ports(), actor(), int(replay.webhook), since, scope)
    except Refused as refused:
        flash(refused_text(refused), "bad")
        return None
    question = deliveries_page.replay_question(replay, found, webhooks[replay.webhook])
    if question is None:
        flash(deliveries_page.replay_result(found, missing=missing), "info")
    return question


def _question(requested: filters.Requested) -> Question | None:
    """Return the question before all matching deliveries are resent, if it is asked."""
    if request.args.get("ask") != "resend" or requested.invalid:
        return None
    impact = replays.show_resend_impact(ports(), actor(), _search(**requested.values))
    problem = deliveries_page.resend_problem(impact)
    if problem:
        flash(problem, "bad")
        return None
    return deliveries_page.resend_question(impact, requested.params)
