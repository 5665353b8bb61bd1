"""Deliveries: what was sent to apps, searched, shown and resent."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from flask import abort, flash, request
from werkzeug.wrappers import Response as BaseResponse

from app.console.frame.navigation import Entry, Heading, PageGroup
from app.console.frame.page_layout import done, go, page
from app.console.frame.parts import Question
from app.console.frame.session import actor, now, ports
from app.console.integrations.deliveries_page import (
    COLUMNS,
    DEFAULT_SINCE,
    SINCE,
    make_deliveries_page,
    make_selection,
    replay_result,
    resend_problem,
    resend_question,
    resend_result,
)
from app.console.integrations.delivery_page import make_delivery_page
from app.console.integrations.missing_permissions import withheld_note
from app.console.lists.files import export_list
from app.console.lists.list_page import (
    invalid_filter_messages,
    invalid_filters,
    query_params,
    requested_days,
    requested_page,
    tags,
    time_turns,
)
from app.domain.deliveries.deliveries import RETENTION, DeliveryStatus
from app.domain.events import EVENTS, EventType
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.domain.values.text import translatable
from app.services.deliveries.details import name_objects, show_delivery_details
from app.services.deliveries.lists import (
    NO_ANSWER,
    DeliverySearch,
    search_deliveries,
    show_delivery,
)
from app.services.deliveries.replays import (
    replay_deliveries,
    resend_matching,
    retry_deliveries,
    retry_delivery,
    show_resend_impact,
)
from app.services.webhooks.changes import WebhookInput, update_webhook
from app.services.webhooks.lists import WebhookName, list_webhook_names
from app.web.converters import day, one_of, row_key
from app.web.translation import refused_text, text, texts

_NAMES = {
    "q": translatable("Text"),
    "webhook": translatable("Webhook"),
    "event": translatable("Event"),
    "status": translatable("Status"),
    "code": translatable("Response code"),
    "from": translatable("From"),
    "to": translatable("To"),
    "object": translatable("Object ID"),
}
_STATUS = {
    "failed": (DeliveryStatus.FAILED, translatable("Failed")),
    "arrived": (DeliveryStatus.SUCCESS, translatable("Delivered")),
    "waiting": (DeliveryStatus.PENDING, translatable("Waiting")),
}

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
)


@blueprint.get("/")
def index() -> BaseResponse:
    """List deliveries by time, filtered by the query string."""
    invalid = invalid_filters(_CONVERTERS)
    search = _search()
    try:
        found = search_deliveries(ports(), actor(), requested_page(), search)
    except Refused:
        invalid = (*invalid, "object")
        search = replace(search, object_id="")
        found = search_deliveries(ports(), actor(), requested_page(), search)
    hooks = list_webhook_names(ports(), actor())
    names = texts(_NAMES)
    applied = {name: label for name, label in names.items() if name not in invalid}
    statuses = {value: text(label) for value, (_, label) in _STATUS.items()}
    return page(
        "deliveries/index.html",
        deliveries=make_deliveries_page(
            found.items,
            hooks,
            name_objects(ports(), actor(), found.items),
            request.args.get("ask", ""),
            counts=found.counts,
            question=_question(search, invalid),
            oldest_first=search.oldest_first,
        ),
        turns=time_turns(found, oldest_first=search.oldest_first),
        selection=make_selection(
            found.counts, is_all=request.args.get("select") == "all", is_valid=not invalid
        ),
        params=query_params(*_NAMES, "sort"),
        tags=tags(applied, {"webhook": _called(hooks), "status": statuses}),
        events={event: event for event in EVENTS},
        statuses=statuses,
        sorts={"oldest": text("Oldest first")},
        since=texts(SINCE),
        default_since=DEFAULT_SINCE,
        invalid=invalid_filter_messages(names, invalid),
        kept_days=RETENTION.days,
    )


@blueprint.get("/export.csv")
def export() -> BaseResponse:
    """Export every matching delivery, streamed while it is read."""
    search = _search()
    return export_list(
        "deliveries", COLUMNS, lambda page: search_deliveries(ports(), actor(), page, search)
    )


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
        if request.form.get("enable") == "yes":
            _enable_webhook(key)
        retry_delivery(ports(), actor(), to_global_id("EventDelivery", key))
    except Refused as refused:
        flash(refused_text(refused), "bad")
        return go("console.deliveries.show", key=key)
    return done(text("Resending now."), "console.deliveries.show", key=key)


def _enable_webhook(delivery_id: int) -> None:
    delivery = show_delivery(ports(), actor(), delivery_id)
    if delivery is None:
        abort(404)
    webhook = to_global_id("Webhook", delivery.webhook_id)
    update_webhook(ports(), actor(), webhook, "", WebhookInput(is_active=True))


@blueprint.post("/redeliver")
def redeliver_chosen() -> BaseResponse:
    """Resend the selected deliveries."""
    keys = request.form.getlist("id", type=row_key)
    if not keys:
        flash(text("Select a delivery."), "warn")
        return go("console.deliveries.index", **query_params(*_NAMES, "sort"))
    try:
        resent = retry_deliveries(ports(), actor(), keys)
    except Refused as refused:
        flash(refused_text(refused), "bad")
        return go("console.deliveries.index", **query_params(*_NAMES, "sort"))
    for state, message in resend_result(resent):
        flash(message, state)
    return go("console.deliveries.index", **query_params(*_NAMES, "sort"))


@blueprint.post("/redeliver-matching")
def redeliver_matching() -> BaseResponse:
    """Resend all deliveries that match the query string."""
    back = query_params(*_NAMES, "sort")
    if invalid_filters(_CONVERTERS):
        flash(text("Some filters aren't valid. No deliveries were resent."), "bad")
        return go("console.deliveries.index", **back)
    try:
        resent = resend_matching(ports(), actor(), _search())
    except Refused as refused:
        flash(refused_text(refused), "bad")
        return go("console.deliveries.index", **back)
    for state, message in resend_result(resent):
        flash(message, state)
    return go("console.deliveries.index", **back)


@blueprint.post("/replay")
def replay() -> BaseResponse:
    """Resend what failed, or send events that a webhook missed, since a time."""
    hook = request.form.get("webhook", 0, type=row_key)
    hours = int(request.form.get("since", DEFAULT_SINCE, type=one_of(SINCE)))
    missing = request.form.get("what") == "missing"
    since = now() - timedelta(hours=hours)
    try:
        made = replay_deliveries(
            ports(), actor(), hook, since, failed=not missing, missing=missing
        )
    except Refused as refused:
        if any(problem.code == "NOT_FOUND" for problem in refused.problems):
            raise
        flash(refused_text(refused), "bad")
        return go("console.deliveries.index", webhook=hook)
    if made.has_more:
        message = text("There are more missed events. Replay again to send the next ones.")
        flash(message, "warn")
    return done(replay_result(made, missing=missing), "console.deliveries.index", webhook=hook)


def _question(search: DeliverySearch, invalid: Sequence[str]) -> Question | None:
    """Return the question before all matching deliveries are resent, if it is asked."""
    if request.args.get("ask") != "resend" or invalid:
        return None
    impact = show_resend_impact(ports(), actor(), search)
    problem = resend_problem(impact)
    if problem:
        flash(problem, "bad")
        return None
    return resend_question(impact, query_params(*_NAMES, "sort"))


def _kind(name: str) -> EventType:
    """The event of that name; nothing delivers ``ANY_EVENTS``."""
    return EventType(one_of(EVENTS)(name))


def _response_code(code: str) -> int:
    return NO_ANSWER if code.lower() == "none" else row_key(code)


_CONVERTERS: Mapping[str, Callable[[str], object]] = {
    "webhook": row_key,
    "event": _kind,
    "status": one_of(_STATUS),
    "code": _response_code,
    "from": day,
    "to": day,
}
"""The filters whose values can be invalid, but for the object, which the search itself reads."""


def _search() -> DeliverySearch:
    args = request.args
    status = _STATUS.get(args.get("status", ""))
    return DeliverySearch(
        webhook_id=args.get("webhook", type=row_key),
        event=args.get("event", type=_kind),
        status=None if status is None else status[0],
        response_status=args.get("code", type=_response_code),
        created=requested_days(),
        object_id=args.get("object", "").strip(),
        text=args.get("q", "").strip(),
        oldest_first=args.get("sort") == "oldest",
    )


def _called(hooks: tuple[WebhookName, ...]) -> dict[str, str]:
    """Return the webhooks' names by key, as URLs have them."""
    return {str(hook.id): hook.name or hook.app_name for hook in hooks}
