"""``flask webhook deliveries``: list deliveries, or follow new ones."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from datetime import datetime
from itertools import islice

import click

from app.commands.name_completion import complete_webhook
from app.commands.terminal.field_selection import fields_option
from app.commands.terminal.output import Column, output
from app.commands.terminal.time_options import read_moment
from app.commands.webhooks.fields import complete_event, event_names
from app.commands.webhooks.follow import DeliveryFollower, WebhookDelivery
from app.commands.webhooks.instance_option import instance, webhook_command
from app.commands.webhooks.output import DELIVERIES, find_webhook, payload_of
from app.domain.deliveries.deliveries import DeliveryStatus
from app.ports.instance import DeliveryQuery, Instance, InstanceDelivery, InstanceWebhook
from app.web.installation import remote_access

_PAGE = 50
_MAX_DELIVERIES = 10_000


def _of_delivery(column: Column[InstanceDelivery]) -> Column[WebhookDelivery]:
    return Column(column.name, column.title, lambda row: column.read(row.delivery), column.short)


COLUMNS = (
    *map(_of_delivery, DELIVERIES),
    Column[WebhookDelivery]("webhook", "Webhook", lambda row: row.webhook.name or row.webhook.id),
    Column[WebhookDelivery]("webhookId", "Webhook ID", lambda row: row.webhook.id),
)
_WITH_PAYLOAD = (
    *COLUMNS,
    Column[WebhookDelivery]("payload", "Payload", lambda sent: payload_of(sent.delivery)),
    Column[WebhookDelivery](
        "response",
        "Answered",
        lambda sent: None if sent.delivery.attempt is None else sent.delivery.attempt.response,
    ),
)
status_option = click.option(
    "--status",
    type=click.Choice([status.value for status in DeliveryStatus], case_sensitive=False),
    help="Only deliveries with this status.",
)


@webhook_command(
    "deliveries",
    examples=[
        ("flask webhook deliveries hook --status FAILED --since 2h", "recent failures"),
        (
            ("flask webhook deliveries --code 500 --payload --json"),
            "with payloads and responses, as JSON",
        ),
        ("flask webhook deliveries --follow", "follow new deliveries until Ctrl-C"),
    ],
)
@click.argument("webhook", required=False, shell_complete=complete_webhook)
@status_option
@click.option("--event", shell_complete=complete_event, help="Only deliveries of this event.")
@click.option(
    "--code",
    type=click.IntRange(100, 599),
    help="Only deliveries whose last response had this HTTP status.",
)
@click.option("--since", help="Only deliveries since then: 30m, 2h, 3d or a date.")
@click.option(
    "--limit",
    type=click.IntRange(1, _MAX_DELIVERIES),
    default=_PAGE,
    show_default=True,
    help="Maximum number of results.",
)
@click.option("--payload", is_flag=True, help="Include payloads and responses.")
@click.option(
    "--follow",
    is_flag=True,
    help="Keep printing new deliveries until Ctrl-C. With --json, one object per line.",
)
@fields_option(_WITH_PAYLOAD)
def deliveries(  # noqa: PLR0913 - one for each option
    webhook: str | None,
    status: str | None,
    event: str | None,
    code: int | None,
    since: str | None,
    limit: int,
    *,
    payload: bool,
    follow: bool,
) -> None:
    """List deliveries of one webhook or all webhooks, newest first.

    Deliveries are kept for 14 days.
    """
    now = remote_access().clock.now()
    start = read_moment(since, now) if since else None
    chosen = instance()
    filter_ = DeliveryQuery(status or "", event_names(chosen, [event])[0] if event else "", _PAGE)
    webhooks = [find_webhook(chosen, webhook)] if webhook else list(chosen.webhooks())
    columns = _WITH_PAYLOAD if payload else COLUMNS
    out = output()
    if follow:
        follower = DeliveryFollower(chosen, webhooks, start or now, 1.0, filter_, say=out.say)
        for sent in follower.forever():
            if code is None or _code(sent.delivery) == code:
                out.next(sent, columns)
        return
    every = heapq.merge(
        *(_all(chosen, webhook, filter_, start) for webhook in webhooks),
        key=lambda sent: sent.delivery.created_at,
        reverse=True,
    )
    fitting = (sent for sent in every if code is None or _code(sent.delivery) == code)
    out.rows(list(islice(fitting, limit)), columns, empty="No deliveries.")


def _all(
    instance: Instance, webhook: InstanceWebhook, filter_: DeliveryQuery, since: datetime | None
) -> Iterator[WebhookDelivery]:
    """Yield a webhook's deliveries, newest first, fetching pages as they are needed."""
    after = ""
    while True:
        page = instance.deliveries(
            webhook.id, DeliveryQuery(filter_.status, filter_.event, filter_.size, after)
        )
        for item in page.items:
            if since is not None and item.created_at < since:
                return
            yield WebhookDelivery(webhook, item)
        after = page.next
        if not after:
            return


def _code(delivery: InstanceDelivery) -> int | None:
    return delivery.attempt.response_status if delivery.attempt else None
