"""``flask webhook listen``: what is sent, as it is sent, on the developer's own machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

import click

from app.commands.terminal.output import Column, output
from app.commands.webhooks.fields import complete_event, event_names
from app.commands.webhooks.follow import DeliveryFollower, WebhookDelivery
from app.commands.webhooks.instance_option import instance, webhook_command
from app.commands.webhooks.output import find_webhook, payload_of
from app.domain.deliveries.deliveries import TIMEOUT
from app.domain.urls.web_urls import is_web_url
from app.ports.http import CallFailed, HttpRequest
from app.ports.instance import DeliveryQuery, InstanceDelivery
from app.web.remote_instances import remote_access

_OWN_HEADERS = ("content-length", "host", "user-agent", "accept-encoding", "connection")
"""Headers that belong to one request only and are not forwarded."""


@dataclass(frozen=True, slots=True)
class ReceivedEvent:
    """A delivery, and what the local address said to it if it was forwarded."""

    sent: WebhookDelivery
    answered: int | None = None
    problem: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


_COLUMNS = (
    Column[ReceivedEvent](
        "createdAt", "Created", lambda event: event.sent.delivery.created_at, short=True
    ),
    Column[ReceivedEvent]("event", "Event", lambda event: event.sent.delivery.event, short=True),
    Column[ReceivedEvent](
        "webhook", "Webhook", lambda event: event.sent.webhook.name or event.sent.webhook.id
    ),
    Column[ReceivedEvent]("id", "Delivery", lambda event: event.sent.delivery.id, short=True),
    Column[ReceivedEvent]("forwarded", "Answered", lambda event: event.answered, short=True),
    Column[ReceivedEvent]("problem", "Problem", lambda event: event.problem or None),
    Column[ReceivedEvent]("payload", "Payload", lambda event: payload_of(event.sent.delivery)),
)


@webhook_command(
    "listen",
    examples=[
        ("flask webhook listen", "deliveries of all webhooks"),
        (
            "flask webhook listen --forward-to http://localhost:3000/hook",
            "and forward them to this URL",
        ),
        (
            "flask webhook listen --webhook hook --event ORDER_PAID --count 1 --json",
            "wait for one delivery",
        ),
    ],
)
@click.option(
    "--webhook", "names", multiple=True, help="Only deliveries of this webhook. Repeatable."
)
@click.option("--event", shell_complete=complete_event, help="Only deliveries of this event.")
@click.option(
    "--forward-to",
    metavar="URL",
    help="Forward each delivery to this URL with the same body, headers and signature.",
)
@click.option("--count", type=click.IntRange(1), help="Stop after this many deliveries.")
@click.option(
    "--interval",
    type=click.FloatRange(0.1, 3600),
    default=1.0,
    show_default=True,
    help="Polling interval in seconds.",
)
def listen(
    names: tuple[str, ...],
    event: str | None,
    forward_to: str | None,
    count: int | None,
    interval: float,
) -> None:
    """Show deliveries as they are sent, until Ctrl-C. With --json, one object per line.

    Events that no webhook subscribes to aren't shown.
    """
    if forward_to is not None and not is_web_url(forward_to):
        raise click.UsageError(
            "--forward-to must be a full URL, such as http://localhost:3000/hook"
        )
    chosen = instance()
    webhooks = [find_webhook(chosen, name) for name in names] or list(chosen.webhooks())
    query = DeliveryQuery(event=event_names(chosen, [event])[0] if event else "")
    out = output()
    follower = DeliveryFollower(
        chosen,
        webhooks,
        remote_access().clock.now(),
        interval,
        query,
        _delivery_key(is_forwarded=bool(forward_to)),
        out.say,
    )
    webhook_count = "1 webhook" if len(webhooks) == 1 else f"{len(webhooks)} webhooks"
    out.say(f"Listening to {webhook_count}. Press Ctrl-C to stop.")
    for received in islice(_received_events(follower, forward_to), count):
        out.next(received, _COLUMNS)
        if received.problem:
            out.say(f"Error: {received.problem}")


def _delivery_key(*, is_forwarded: bool) -> Callable[[InstanceDelivery], str]:
    """Return the key function: the ID, empty for a delivery to forward that isn't signed yet."""
    return lambda delivery: delivery.id if delivery.attempt is not None or not is_forwarded else ""


def _received_events(
    follower: DeliveryFollower, forward_to: str | None
) -> Iterator[ReceivedEvent]:
    for sent in follower.forever():
        yield ReceivedEvent(sent) if forward_to is None else _forwarded(sent, forward_to)


def _forwarded(sent: WebhookDelivery, url: str) -> ReceivedEvent:
    headers = _headers(sent)
    body = sent.delivery.payload.encode()
    try:
        response = remote_access().http.send(
            HttpRequest(url, "POST", headers, body, timeout=TIMEOUT)
        )
    except CallFailed as failed:
        return ReceivedEvent(
            sent, None, f"{sent.delivery.id} was not forwarded: {failed}", headers
        )
    return ReceivedEvent(sent, response.status, "", headers)


def _headers(sent: WebhookDelivery) -> dict[str, str]:
    """Return the headers of the real delivery, with the webhook's custom headers put back."""
    attempt = sent.delivery.attempt
    signed = {} if attempt is None else attempt.request_headers
    own = {name.lower(): value for name, value in sent.webhook.custom_headers.items()}
    return {
        name: own.get(name.lower(), value)
        for name, value in signed.items()
        if name.lower() not in _OWN_HEADERS
    }
