"""``flask webhook listen``: what is sent, as it is sent, on the developer's own machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import click

from app.commands.terminal.field_selection import fields_option
from app.commands.terminal.output import Column, Displayable, Form, output
from app.commands.webhooks.event_lines import EventLines
from app.commands.webhooks.fields import complete_event, event_names
from app.commands.webhooks.follow import DeliveryFollower, DeliveryKey, WebhookDelivery, state_of
from app.commands.webhooks.forwarding import Answer, Forwarder
from app.commands.webhooks.instance_option import instance, webhook_command
from app.commands.webhooks.output import find_webhook, payload_of
from app.domain.urls.web_urls import is_web_url
from app.ports.instance import DeliveryQuery, InstanceAttempt
from app.web.remote_instances import remote_access


@dataclass(frozen=True, slots=True)
class ReceivedEvent:
    """A delivery, and what the local URL answered if it was forwarded."""

    sent: WebhookDelivery
    answer: Answer | None = None


def _answered(read: Callable[[Answer], Displayable]) -> Callable[[ReceivedEvent], Displayable]:
    """Return a field of what the local URL answered, if it was asked."""
    return lambda event: None if event.answer is None else read(event.answer)


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
def listen(
    names: tuple[str, ...],
    event: str | None,
    forward_to: str | None,
    count: int | None,
    interval: float,
    *,
    verbose: bool,
) -> None:
    """Show deliveries as they are sent, until Ctrl-C. With --json, one object per line.

    Prints a line (-->) for each event that is sent and a line (<--) for the answer of its
    endpoint, or of the --forward-to URL. Events that no webhook subscribes to aren't shown.
    """
    if forward_to is not None and not is_web_url(forward_to):
        raise click.UsageError(
            "--forward-to must be a full URL, such as http://localhost:3000/hook"
        )
    chosen = instance()
    webhooks = [find_webhook(chosen, name) for name in names] or list(chosen.webhooks())
    query = DeliveryQuery(event=event_names(chosen, [event])[0] if event else "")
    out = output()
    forwarder = None
    if forward_to is not None:
        forwarder = Forwarder(remote_access().http, forward_to, out.say)
    is_text = out.form in (Form.TABLE, Form.PLAIN) and not out.selected
    follower = DeliveryFollower(
        chosen,
        webhooks,
        remote_access().clock.now(),
        interval,
        query,
        _delivery_key(forwarder, is_text=is_text),
        out.say,
    )
    webhook_count = "1 webhook" if len(webhooks) == 1 else f"{len(webhooks)} webhooks"
    out.say(f"Listening to {webhook_count}. Press Ctrl-C to stop.")
    events = _received_events(follower, forwarder)
    if is_text:
        _print_lines(events, EventLines(verbose), count)
        return
    columns = (*_COLUMNS, _RESPONSE) if verbose else _COLUMNS
    for received in islice(events, count):
        out.next(received, columns)


def _delivery_key(forwarder: Forwarder | None, *, is_text: bool) -> DeliveryKey:
    """Return the key function of the deliveries to report.

    What is forwarded is reported once it is signed; lines for people, with every status.
    """
    if forwarder is not None:
        return lambda delivery: "" if delivery.attempt is None else delivery.id
    return state_of if is_text else lambda delivery: delivery.id


def _received_events(
    follower: DeliveryFollower, forwarder: Forwarder | None
) -> Iterator[ReceivedEvent]:
    for sent in follower.forever():
        yield ReceivedEvent(sent, None if forwarder is None else forwarder.forward(sent))


def _print_lines(events: Iterator[ReceivedEvent], lines: EventLines, count: int | None) -> None:
    for received in events:
        lines.print_sent(received.sent)
        attempt = received.sent.delivery.attempt
        if received.answer is not None:
            lines.print_answer(received.sent, received.answer, remote_access().clock.now())
        elif attempt is not None:
            answer = _endpoint_answer(received.sent.webhook.target_url, attempt)
            lines.print_answer(received.sent, answer, attempt.created_at)
        if lines.count == count:
            return


def _endpoint_answer(url: str, attempt: InstanceAttempt) -> Answer:
    """Return what the webhook's own endpoint answered."""
    if attempt.response_status is None:
        return Answer(url, None, attempt.duration, problem=attempt.response)
    return Answer(url, attempt.response_status, attempt.duration, attempt.response)
