"""The installation that a webhook command works on: this one, or another by ``--instance``.

``LocalInstance`` is this one as the port ``Instance``, through its use cases as the operator.
"""

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

import click

from app.commands.terminal.command import Command, standalone
from app.commands.terminal.options import ApiAddress, FilePath, choice_of, read_file
from app.domain.apps.apps import App
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.deliveries.deliveries import (
    Attempt,
    DeliveryStatus,
    EventDelivery,
    ReplayResult,
    ReplayScope,
)
from app.domain.deliveries.redaction import REDACTED
from app.domain.events import EventType
from app.domain.sign_in.jws import make_jwk
from app.domain.values.errors import PermissionDenied, Problem, Refused
from app.domain.values.ids import key_of, to_global_id
from app.domain.values.inputs import ABSENT, Absent
from app.domain.values.installation import OnProgress, ignore_progress
from app.domain.values.pages import MAX_PAGE_SIZE, PageRequest, every_item, read_cursor
from app.domain.webhooks import Webhook, editable_facts
from app.ports import Ports
from app.ports.instance import (
    DeliveryPage,
    DeliveryQuery,
    Instance,
    InstanceApp,
    InstanceAttempt,
    InstanceDelivery,
    InstanceWebhook,
    WebhookDraft,
)
from app.services.apps.app_changes import NewApp, create_app, delete_app
from app.services.apps.app_lists import list_apps, show_app
from app.services.deliveries.dry_runs import dry_run_webhook, trigger_webhook
from app.services.deliveries.lists import (
    DeliveryFilter,
    attempts_of_deliveries,
    deliveries_of_webhooks,
)
from app.services.deliveries.replays import (
    preview_replay,
    replay_deliveries,
    retry_delivery,
    send_waiting_deliveries,
)
from app.services.keys import published_keys
from app.services.webhooks.changes import (
    WebhookInput,
    create_webhook,
    delete_webhook,
    update_webhook,
)
from app.services.webhooks.lists import webhooks_of_apps
from app.web.installation import installation, remote_access


class LocalInstance:
    """The installation behind ``ports``; the operator has every permission."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._actor = OPERATOR

    def apps(self) -> tuple[InstanceApp, ...]:
        return tuple(map(_to_app, self._apps()))

    def own_app(self) -> InstanceApp | None:
        return None

    def permissions(self) -> frozenset[str]:
        return frozenset(permission.value for permission in self._actor.permissions)

    def create_app(self, name: str, permissions: Collection[str]) -> InstanceApp:
        granted = frozenset(Permission(permission) for permission in permissions)
        return _to_app(create_app(self._ports, self._actor, NewApp(name, granted)).app)

    def delete_app(self, app: InstanceApp) -> None:
        delete_app(self._ports, self._actor, key_of(app.id, "App"))

    def webhooks(self) -> tuple[InstanceWebhook, ...]:
        apps = {app.id: _to_app(app) for app in self._apps()}
        by_app = webhooks_of_apps(self._ports, self._actor, list(apps))
        return tuple(
            _to_webhook(webhook, app) for key, app in apps.items() for webhook in by_app[key]
        )

    def event_types(self) -> Mapping[str, str]:
        return {event.value: event.description for event in EventType}

    def create(self, app_id: str, draft: WebhookDraft) -> InstanceWebhook:
        key = key_of(app_id, "App", field="app")
        created = create_webhook(self._ports, self._actor, _input(draft), key)
        return _to_webhook(created, self._app(created.app_id))

    def change(self, webhook: InstanceWebhook, draft: WebhookDraft) -> InstanceWebhook:
        return self._change(webhook, _input(draft))

    def change_unchanged(self, webhook: InstanceWebhook, draft: WebhookDraft) -> InstanceWebhook:
        return self._change(webhook, replace(_input(draft), seen=webhook.facts))

    def _change(self, webhook: InstanceWebhook, input_: WebhookInput) -> InstanceWebhook:
        changed = update_webhook(self._ports, self._actor, webhook.id, "", input_)
        return _to_webhook(changed, webhook.app)

    def delete(self, webhook: InstanceWebhook) -> None:
        delete_webhook(self._ports, self._actor, webhook.id)

    def dry_run(
        self, *, object_id: str | None = None, query: str | None = None, app_id: str | None = None
    ) -> str:
        ran = dry_run_webhook(
            self._ports, self._actor, object_id=object_id, query=query, app=app_id
        )
        return ran.payload

    def trigger(self, webhook_id: str, object_id: str | None, event: str = "") -> InstanceDelivery:
        kind = EventType(event) if event else None
        sent = trigger_webhook(self._ports, self._actor, webhook_id, object_id, kind)
        return self._to_delivery(sent)

    def deliveries(self, webhook_id: str, query: DeliveryQuery) -> DeliveryPage:
        request = PageRequest(
            query.size, cursor=read_cursor(query.after, "after") if query.after else ()
        )
        status = DeliveryStatus(query.status) if query.status else None
        chosen = DeliveryFilter(status, query.event)
        key = key_of(webhook_id, "Webhook")
        pages = deliveries_of_webhooks(self._ports, self._actor, [key], request, chosen)
        page = pages[key]
        return DeliveryPage(
            items=self._with_attempts(page.items), next=page.cursors[-1] if page.has_next else ""
        )

    def retry(self, delivery_id: str) -> InstanceDelivery:
        return self._to_delivery(retry_delivery(self._ports, self._actor, delivery_id))

    def replay(
        self,
        webhook_id: str,
        since: datetime,
        scope: ReplayScope,
        *,
        preview: bool = False,
        on_progress: OnProgress = ignore_progress,
    ) -> ReplayResult:
        key = key_of(webhook_id, "Webhook")
        if preview:
            return preview_replay(self._ports, self._actor, key, since, scope)
        return replay_deliveries(
            self._ports, self._actor, key, since, scope, on_progress=on_progress
        )

    def send_waiting(self, webhook_id: str) -> int:
        return send_waiting_deliveries(self._ports, self._actor, key_of(webhook_id, "Webhook"))

    def key_set(self) -> bytes:
        return json.dumps({"keys": list(map(make_jwk, published_keys(self._ports)))}).encode()

    def _apps(self) -> list[App]:
        read = partial(list_apps, self._ports, self._actor)
        return list(every_item(read, MAX_PAGE_SIZE))

    def _app(self, key: int) -> InstanceApp:
        app = show_app(self._ports, self._actor, key)
        if app is None:
            raise Refused(Problem("NOT_FOUND", "App not found.", "app"))
        return _to_app(app)

    def _to_delivery(self, delivery: EventDelivery) -> InstanceDelivery:
        (shown,) = self._with_attempts((delivery,))
        return shown

    def _with_attempts(
        self, deliveries: tuple[EventDelivery, ...]
    ) -> tuple[InstanceDelivery, ...]:
        """Return the deliveries with the newest attempt at each."""
        keys = [delivery.id for delivery in deliveries]
        newest = attempts_of_deliveries(self._ports, self._actor, keys, PageRequest(1))
        return tuple(_instance_delivery(one, newest[one.id].items) for one in deliveries)


def _instance_delivery(delivery: EventDelivery, newest: tuple[Attempt, ...]) -> InstanceDelivery:
    attempts = [
        InstanceAttempt(
            created_at=attempt.created_at,
            status=attempt.status.value,
            response_status=attempt.response_status,
            duration=attempt.duration,
            response=attempt.response,
            request_headers={name: str(value) for name, value in attempt.request_headers.items()},
        )
        for attempt in newest
    ]
    return InstanceDelivery(
        id=to_global_id("EventDelivery", delivery.id),
        event=delivery.event,
        status=delivery.status.value,
        created_at=delivery.created_at,
        payload=delivery.payload,
        attempt=attempts[0] if attempts else None,
    )


def _to_app(app: App) -> InstanceApp:
    permissions = frozenset(permission.value for permission in app.permissions)
    return InstanceApp(to_global_id("App", app.id), app.name, app.is_active, permissions)


def _to_webhook(webhook: Webhook, app: InstanceApp) -> InstanceWebhook:
    return InstanceWebhook(
        id=to_global_id("Webhook", webhook.id),
        app=app,
        name=webhook.name,
        target_url=webhook.target_url,
        is_active=webhook.is_active,
        events=tuple(event.value for event in webhook.events),
        query=webhook.query,
        custom_headers=_headers(webhook),
        has_secret=webhook.has_secret,
        is_paused=webhook.is_paused,
        max_rate=webhook.max_rate,
        facts=editable_facts(webhook),
    )


def _headers(webhook: Webhook) -> Mapping[str, str]:
    """Return the headers; hidden ones if they were encrypted with another key."""
    try:
        return webhook.reveal_headers()
    except Refused:
        return dict.fromkeys(webhook.header_names, REDACTED)


def _input(draft: WebhookDraft) -> WebhookInput:
    return WebhookInput(
        name=draft.name,
        target_url=draft.target_url,
        events=_events(draft.events),
        is_active=draft.is_active,
        is_paused=draft.is_paused,
        max_rate=draft.max_rate,
        query=draft.query,
        custom_headers=draft.custom_headers,
        secret_key=draft.secret_key,
    )


def _events(names: tuple[str, ...] | Absent) -> tuple[EventType, ...] | Absent:
    return ABSENT if isinstance(names, Absent) else tuple(EventType(name) for name in names)


def webhook_command(
    name: str, *, examples: list[tuple[str, str]]
) -> Callable[[Callable[..., Any]], Command]:
    """Declare a command of the group, with the options that all of them share."""

    def declare(function: Callable[..., Any]) -> Command:
        _add_options(function)
        return standalone(name, examples)(function)

    return declare


def _add_options(function: Callable[..., Any]) -> None:
    """Add the options that select another instance."""
    address = click.Option(
        ["-u", "--instance", "--url", "instance_url"],
        type=ApiAddress(),
        expose_value=False,
        callback=_remember_url,
        help="API URL of another instance, such as https://shop.example.com/graphql/. Default: "
        "this installation.",
    )
    token_file = click.Option(
        ["--token-file"],
        type=FilePath(),
        expose_value=False,
        callback=_remember_token_file,
        help="File with the token for the instance. Default: LATCHKEY_TOKEN, then the login "
        "stored by `flask login`.",
    )
    # They are read from behind: so these come after those of the command itself.
    declared: list[click.Parameter] = function.__dict__.setdefault("__click_params__", [])
    declared[:0] = [token_file, address]


def instance() -> Instance:
    """Return the instance of the running command.

    Raises ``PermissionDenied`` without a login there, and ``click.UsageError`` for a token file
    that can't be read.
    """
    choice = choice_of(click.get_current_context())
    if not choice.url:
        if choice.token_file:
            raise click.UsageError("--token-file requires --instance.")
        return LocalInstance(installation().ports)
    access = remote_access()
    token = access.token
    if choice.token_file:
        token = read_file(choice.token_file).strip()
    if token:
        return access.connect_by_token(choice.url, token)
    profile = access.profiles.find(choice.url)
    if profile is None:
        message = (
            f"Not signed in to {choice.url}. Sign in with: flask login {choice.url}, or "
            "provide a token with --token-file or LATCHKEY_TOKEN."
        )
        raise PermissionDenied(message=message)
    return access.connect_by_profile(profile)


def _remember_url(context: click.Context, _option: click.Parameter, value: str | None) -> None:
    choice_of(context).url = value or ""


def _remember_token_file(
    context: click.Context, _option: click.Parameter, value: str | None
) -> None:
    choice_of(context).token_file = value or ""
