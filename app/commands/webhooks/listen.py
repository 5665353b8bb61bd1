"""``flask webhook listen``: what is sent, as it is sent, on the developer's own machine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice

import click

from app.commands.name_completion import complete_webhook
from app.commands.terminal.field_selection import fields_option
from app.commands.terminal.output import Column, Displayable, Form, output
from app.commands.webhooks.event_lines import EventLines
from app.commands.webhooks.fields import complete_event, event_names, secret_value
from app.commands.webhooks.follow import DeliveryFollower, DeliveryKey, WebhookDelivery, state_of
from app.commands.webhooks.forwarding import Answer, Forwarder
from app.commands.webhooks.instance_option import instance, webhook_command
from app.commands.webhooks.output import find_webhook, payload_of
from app.commands.webhooks.permission_warnings import warn_of_missing_permission
from app.commands.webhooks.temporary_endpoint import remove_abandoned, temporary_endpoint
from app.domain.events import EventType
from app.domain.urls.web_urls import is_web_url
from app.domain.webhooks import is_temporary
from app.ports.instance import DeliveryQuery, Instance, InstanceAttempt, InstanceWebhook
from app.web.installation import remote_access


@dataclass(frozen=True, slots=True)
class ReceivedEvent:
    """A delivery, and what the local URL answered if it was forwarded."""

    sent: WebhookDelivery
    answer: Answer | None = None


@dataclass(frozen=True, slots=True)
class _Settings:
    forward_to: str | None
    count: int | None
    interval: float
    events: tuple[str, ...]
    verbose: bool


def _answered(read: Callable[[Answer], Displayable]) -> Callable[[ReceivedEvent], Displayable]:
    """Return a field of what the local URL answered, if it was asked."""
    return lambda event: None if event.answer is None else read(event.answer)


_EVER = datetime.min.replace(tzinfo=UTC)
"""All deliveries of a temporary endpoint are new, whatever the clocks of both machines say."""

_COLUMNS = (
    Column[ReceivedEvent](
        "createdAt", "Created", lambda event: event.sent.delivery.created_at, short=True
    ),
    Column[ReceivedEvent]("event", "Event", lambda event: event.sent.delivery.event, short=True),
    Column[ReceivedEvent](
        "webhook", "Webhook", lambda event: event.sent.webhook.name or event.sent.webhook.id
    ),
    Column[ReceivedEvent]("id", "Delivery", lambda event: event.sent.delivery.id, short=True),
    Column[ReceivedEvent](
        "forwarded", "Answered", _answered(lambda answer: answer.status), short=True
    ),
    Column[ReceivedEvent](
        "duration",
        "Seconds",
        _answered(lambda answer: answer.duration and round(answer.duration, 3)),
    ),
    Column[ReceivedEvent]("problem", "Problem", _answered(lambda answer: answer.problem or None)),
    Column[ReceivedEvent]("payload", "Payload", lambda event: payload_of(event.sent.delivery)),
)
_RESPONSE = Column[ReceivedEvent]("response", "Response", _answered(lambda answer: answer.body))


@webhook_command(
    "listen",
    examples=[
        ("flask webhook listen", "deliveries of all webhooks"),
        (
            "flask webhook listen --temporary --event ORDER_PAID",
            "with a temporary endpoint for this event",
        ),
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
    "--webhook",
    "names",
    multiple=True,
    shell_complete=complete_webhook,
    help="Only deliveries of this webhook. Repeatable.",
)
@click.option(
    "--event",
    "--events",
    "events",
    multiple=True,
    shell_complete=complete_event,
    help="Only deliveries of this event. Repeatable, or a list with commas.",
)
@click.option(
    "--temporary",
    is_flag=True,
    help="Listen to a temporary endpoint for these events, by default for all that you can "
    "receive except account links. It is the default when there are no webhooks, needs "
    "MANAGE_APPS and no public URL, and is removed at the end, at the latest after 24 hours.",
)
@click.option(
    "--secret",
    help="Secret of the temporary endpoint: 'generate' for a new one, which is printed, @FILE or "
    "- to read it. Default: the shop's keys sign.",
)
@click.option(
    "--forward-to",
    metavar="URL",
    help="Forward each delivery to this URL with the same body, headers and signature.",
)
@click.option("--verbose", is_flag=True, help="Print payloads and responses, too.")
@click.option("--count", type=click.IntRange(1), help="Stop after this many deliveries.")
@click.option(
    "--interval",
    type=click.FloatRange(0.1, 3600),
    default=1.0,
    show_default=True,
    help="Polling interval in seconds.",
)
@fields_option((*_COLUMNS, _RESPONSE))
def listen(  # noqa: PLR0913 - one for each option
    names: tuple[str, ...],
    events: tuple[str, ...],
    secret: str | None,
    forward_to: str | None,
    count: int | None,
    interval: float,
    *,
    temporary: bool,
    verbose: bool,
) -> None:
    """Show deliveries as they are sent, until Ctrl-C. With --json, one object per line.

    Prints a line (-->) for each event that is sent and a line (<--) for the answer of its
    endpoint, or of the --forward-to URL. Listens to all webhooks, or to a temporary endpoint if
    there are none.
    """
    if forward_to is not None and not is_web_url(forward_to):
        raise click.UsageError(
            "--forward-to must be a full URL, such as http://localhost:3000/hook"
        )
    if names and temporary:
        raise click.UsageError("Use either --webhook or --temporary, not both.")
    chosen = instance()
    listed = [name for name in ",".join(events).split(",") if name.strip()]
    wanted = event_names(chosen, listed) if listed else ()
    webhooks = [find_webhook(chosen, name) for name in names]
    if not names:
        webhooks = remove_abandoned(chosen, chosen.webhooks())
    shown = () if EventType.ANY_EVENTS.value in wanted else wanted
    settings = _Settings(forward_to, count, interval, shown, verbose)
    is_temporary_endpoint = temporary or not webhooks
    if secret and not is_temporary_endpoint:
        raise click.UsageError("--secret requires --temporary.")
    if not is_temporary_endpoint:
        _listen(chosen, webhooks, settings, since=remote_access().clock.now())
        return
    key = secret_value(secret) if secret else ""
    with temporary_endpoint(chosen, wanted, key, output().say) as endpoint:
        if secret == "generate":  # noqa: S105 - the word that asks for one
            output().say(f"Secret of the endpoint: {key}")
        warn_of_missing_permission(endpoint)
        _listen(chosen, [endpoint], settings, since=_EVER)


def _listen(
    instance: Instance,
    webhooks: Sequence[InstanceWebhook],
    settings: _Settings,
    *,
    since: datetime,
) -> None:
    out = output()
    forwarder = None
    if settings.forward_to is not None:
        forwarder = Forwarder(remote_access().http, settings.forward_to, out.say)
    is_text = out.form in (Form.TABLE, Form.PLAIN) and not out.selected
    follower = DeliveryFollower(
        instance,
        webhooks,
        since,
        settings.interval,
        DeliveryQuery(event=settings.events[0] if len(settings.events) == 1 else ""),
        _delivery_key(forwarder, is_text=is_text),
        out.say,
    )
    out.say(f"Listening to {_described(webhooks)}. Press Ctrl-C to stop.")
    deliveries = _wanted(follower, settings.events)
    if is_text:
        _print_lines(deliveries, forwarder, EventLines(settings.verbose), settings.count)
        return
    events = (
        ReceivedEvent(sent, None if forwarder is None else forwarder.forward(sent))
        for sent in deliveries
    )
    columns = (*_COLUMNS, _RESPONSE) if settings.verbose else _COLUMNS
    for received in islice(events, settings.count):
        out.next(received, columns)


def _described(webhooks: Sequence[InstanceWebhook]) -> str:
    if len(webhooks) > 1:
        return f"{len(webhooks)} webhooks"
    [webhook] = webhooks
    if not is_temporary(webhook.target_url):
        return "1 webhook"
    events = "1 event" if len(webhook.events) == 1 else f"{len(webhook.events)} events"
    return f"a temporary endpoint for {events}"


def _delivery_key(forwarder: Forwarder | None, *, is_text: bool) -> DeliveryKey:
    """Return the key function of the deliveries to report.

    What is forwarded is reported once it is signed; lines for people, with every status.
    """
    if forwarder is not None:
        return lambda delivery: "" if delivery.attempt is None else delivery.id
    return state_of if is_text else lambda delivery: delivery.id


def _wanted(follower: DeliveryFollower, events: Collection[str]) -> Iterator[WebhookDelivery]:
    return (sent for sent in follower.forever() if not events or sent.delivery.event in events)


def _print_lines(
    deliveries: Iterator[WebhookDelivery],
    forwarder: Forwarder | None,
    lines: EventLines,
    count: int | None,
) -> None:
    for sent in deliveries:
        lines.print_sent(sent)
        attempt = sent.delivery.attempt
        if forwarder is not None:
            lines.print_answer(sent, forwarder.forward(sent), remote_access().clock.now())
        elif attempt is not None and not is_temporary(sent.webhook.target_url):
            answer = _endpoint_answer(sent.webhook.target_url, attempt)
            lines.print_answer(sent, answer, attempt.created_at)
        if lines.count == count:
            return


def _endpoint_answer(url: str, attempt: InstanceAttempt) -> Answer:
    """Return what the webhook's own endpoint answered."""
    if attempt.response_status is None:
        return Answer(url, None, attempt.duration, problem=attempt.response)
    return Answer(url, attempt.response_status, attempt.duration, attempt.response)
