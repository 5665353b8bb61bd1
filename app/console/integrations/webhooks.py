"""Webhooks of all apps: their health, one webhook, a test, disabling and deleting."""

from collections.abc import Mapping

from flask import Response, abort, flash, request
from werkzeug.wrappers import Response as BaseResponse

from app.console.lists import asked_page, tags, told, turns
from app.console.navigation import Entry, Heading, PageGroup
from app.console.page_layout import done, go, page
from app.console.session import actor, ports
from app.domain.events import EventType
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.domain.webhooks.webhooks import Webhook
from app.services.deliveries.dry_runs import trigger_webhook
from app.services.deliveries.search import DeliverySearch, search_deliveries
from app.services.webhooks.changes import WebhookInput, delete_webhook, update_webhook
from app.services.webhooks.lists import (
    ListedWebhook,
    WebhookFilter,
    WebhookSort,
    list_webhooks,
    show_listed_webhook,
)
from app.web.converters import one_of, row_key

_NAMES = {"q": "Text", "app": "App", "event": "Event", "state": "State"}
_STATES = {"trouble": "In trouble", "on": "On", "off": "Off"}
_SORTS: Mapping[str, str] = {WebhookSort.NAME: "Name", WebhookSort.APP: "App"}
_ASKED = ("delete", "pause", "test")
_LATEST = 8

blueprint = PageGroup(
    "webhooks",
    __name__,
    Entry("Webhooks", "broadcast", "events subscription", Heading.INTEGRATIONS),
    url_prefix="/webhooks",
)


@blueprint.get("/")
def index() -> BaseResponse:
    """All webhooks; those that fare badly are a state to narrow by, which an index finds."""
    state = request.args.get("state", "")
    wanted = WebhookFilter(
        search=request.args.get("q", "").strip(),
        app_id=request.args.get("app", type=row_key),
        is_active={"on": True, "off": False}.get(state),
        event=request.args.get("event", type=EventType),
        is_failing=state == "trouble",
    )
    sort = request.args.get("sort", WebhookSort.NEWEST, type=WebhookSort)
    found = list_webhooks(ports(), actor(), asked_page(), wanted, sort)
    apps = {str(hook.app_id): hook.app_name for hook in found.items}
    return page(
        "webhooks/index.html",
        found=found,
        turns=turns(found) if sort is WebhookSort.NEWEST else turns(found, "Before", "More"),
        told=told(*_NAMES, "sort"),
        tags=tags(_NAMES, {"state": _STATES, "app": apps}),
        sorts=_SORTS,
        states=_STATES,
        events=list(EventType),
        health_words=health_words,
    )


@blueprint.get("/<key:key>")
def show(key: int) -> BaseResponse:
    """Show one webhook: its events, its health and its last deliveries."""
    return show_webhook_page(key)


@blueprint.post("/<key:key>/pause")
def pause(key: int) -> BaseResponse:
    """Disable the webhook until it is enabled again."""
    hook = _change(key, WebhookInput(is_active=False))
    return done(
        f"{_called(hook)} is off: nothing is sent to it.", "console.webhooks.show", key=key
    )


@blueprint.post("/<key:key>/resume")
def resume(key: int) -> BaseResponse:
    """Send what happens from now on."""
    hook = _change(key, WebhookInput(is_active=True))
    told_ = f"{_called(hook)} is on. What it missed can be replayed under Deliveries."
    return done(told_, "console.webhooks.show", key=key)


@blueprint.post("/<key:key>/delete")
def delete(key: int) -> BaseResponse:
    """Remove it with its deliveries."""
    hook = delete_webhook(ports(), actor(), to_global_id("Webhook", key))
    return done(f"{_called(hook)} was deleted.", "console.webhooks.index")


@blueprint.post("/<key:key>/test")
def test(key: int) -> BaseResponse:
    """Send the webhook its payload for an object now."""
    chosen = request.form.get("object", "").strip()
    try:
        sent = trigger_webhook(ports(), actor(), to_global_id("Webhook", key), chosen)
    except Refused as refused:
        flash(str(refused), "bad")
        return go("console.webhooks.show", key=key)
    return done(
        "A test is on its way; this is its delivery.", "console.deliveries.show", key=sent.id
    )


def show_webhook_page(key: int) -> Response:
    """The page of the webhook with that key."""
    hook = listed_or_404(key)
    latest = search_deliveries(
        ports(), actor(), asked_page(_LATEST), DeliverySearch(webhook_id=key)
    )
    return page(
        "webhooks/show.html",
        hook=hook,
        latest=latest.items,
        asked=request.args.get("ask", type=one_of(_ASKED)),
        api_id=to_global_id("Webhook", key),
        health_words=health_words,
    )


def listed_or_404(key: int) -> ListedWebhook:
    """The webhook of that key."""
    hook = show_listed_webhook(ports(), actor(), key)
    if hook is None:
        abort(404)
    return hook


def health_words(hook: ListedWebhook) -> tuple[str, str]:
    """How a webhook fares: its pill's colour, and the word in it."""
    if hook.disabled_reason:
        return "bad", "Switched off"
    if not hook.is_active:
        return "off", "Off"
    if not hook.is_app_active:
        return "off", "App is inactive"
    if hook.failing_since is not None:
        return "bad", "Failing"
    return ("ok", "Healthy") if hook.health.delivered else ("", "Quiet")


def _change(key: int, said: WebhookInput) -> Webhook:
    return update_webhook(ports(), actor(), to_global_id("Webhook", key), "", said)


def _called(hook: Webhook) -> str:
    return f"“{hook.name}”" if hook.name else "The webhook"
