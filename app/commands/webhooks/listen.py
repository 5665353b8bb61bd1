"""``flask webhook listen``: what is sent, as it is sent, on the developer's own machine."""

import hashlib
import os
import platform
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice

import click
from rich.console import Console
from rich.text import Text

from app.commands.name_completion import complete_webhook
from app.commands.terminal.exit_codes import ended_by_signals, failure_of
from app.commands.terminal.options import fields_option
from app.commands.terminal.output import (
    Column,
    Form,
    json_text,
    output,
    visible,
    visible_lines,
    write,
)
from app.commands.webhooks.edit import warn_of_missing_permission
from app.commands.webhooks.fields import (
    complete_event,
    event_names,
    find_webhook,
    payload_of,
    secret_value,
)
from app.commands.webhooks.follow import (
    Answer,
    DeliveryFollower,
    DeliveryKey,
    Forwarder,
    WebhookDelivery,
    state_of,
)
from app.commands.webhooks.instance_option import instance, webhook_command
from app.domain.events import EVENTS, EventType, LinkRequested
from app.domain.urls.web_urls import is_web_url
from app.domain.values.inputs import ABSENT
from app.domain.values.times import in_zone
from app.domain.webhooks import (
    MAX_TEMPORARY_AGE,
    TEMPORARY_NAME,
    TEMPORARY_URL,
    has_own_app,
    is_temporary,
    required_permission,
)
from app.ports.instance import (
    DeliveryQuery,
    Instance,
    InstanceApp,
    InstanceAttempt,
    InstanceWebhook,
    WebhookDraft,
)
from app.web.installation import remote_access

_SENT, _BACK = "-->", "<--"
_GOOD, _FAILED = "green", "red"
_MAX_BODY = 2_000
_INDENT = "    "


@dataclass(slots=True)
class EventLines:
    """Prints lines, coloured where terminal and ``NO_COLOR`` allow; ``verbose`` adds bodies."""

    verbose: bool
    _console: Console = field(default_factory=lambda: Console(highlight=False))
    _sent: dict[str, None] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many deliveries were printed."""
        return len(self._sent)

    def print_sent(self, sent: WebhookDelivery) -> None:
        """Print that an event was sent to a webhook, once for each delivery."""
        delivery = sent.delivery
        if delivery.id in self._sent:
            return
        self._sent[delivery.id] = None
        webhook = sent.webhook.name or sent.webhook.id
        if is_temporary(sent.webhook.target_url):
            webhook = ""
        self._print(
            delivery.created_at,
            (_SENT, "bold"),
            (delivery.event, "cyan"),
            (f"[{delivery.id}]", "dim"),
            (webhook, ""),
        )
        if self.verbose:
            self._print_body(json_text(payload_of(delivery), indent=2))

    def print_answer(self, sent: WebhookDelivery, answer: Answer, at: datetime) -> None:
        """Print what the endpoint answered to ``sent``, and how long that took."""
        is_good = answer.status is not None and 200 <= answer.status < 300  # noqa: PLR2004
        status = f"[{'failed' if answer.status is None else answer.status}]"
        duration = "" if answer.duration is None else _duration(answer.duration)
        self._print(
            at,
            (_BACK, "bold"),
            (status, _GOOD if is_good else _FAILED),
            (f"POST {answer.url}", ""),
            (f"[{sent.delivery.id}]", "dim"),
            (duration, ""),
        )
        if self.verbose:
            self._print_body(answer.problem or answer.body)

    def _print(self, at: datetime, *parts: tuple[str, str]) -> None:
        line = Text().append(f"{in_zone(at, UTC):%Y-%m-%d %H:%M:%S} UTC", "dim")
        for text, style in parts:
            if text:
                line.append(" ")
                line.append(visible(text), style)
        with self._console.capture() as capture:
            self._console.print(line, soft_wrap=True, end="")
        write(capture.get(), or_end=True)

    def _print_body(self, body: str) -> None:
        for line in _lines(body):
            write(f"{_INDENT}{line}", or_end=True)


def _lines(body: str) -> Iterator[str]:
    yield from visible_lines(body[:_MAX_BODY].expandtabs()).splitlines()
    if len(body) > _MAX_BODY:
        yield f"… {len(body) - _MAX_BODY} more characters"


def _duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{round(seconds * 1000)} ms"


_NO_APP_HOLDS = "MANAGE_APPS"
_DEFAULT_EVENTS = tuple(
    event.value for event, kind in EVENTS.items() if not issubclass(kind, LinkRequested)
)
"""All but those whose links give access to an account."""


@contextmanager
def temporary_endpoint(
    instance: Instance, events: Sequence[str], secret: str, say: Callable[[str], None]
) -> Iterator[InstanceWebhook]:
    """Create a webhook for ``events``, by default all that the caller can receive.

    ``secret`` signs its deliveries, or the shop's keys if it is empty. It belongs to an app of its
    own, or to the app whose token is used. It is deleted at the end of the block, also at SIGTERM
    and SIGHUP, or else by a later call or the worker's cleanup.
    """
    with ended_by_signals():
        own_app = instance.own_app()
        for app in instance.apps() if own_app is None else ():
            if _is_abandoned(app.name):
                instance.delete_app(app)
        owner = own_app or instance.create_app(_name(), _permissions(instance, events))
        try:
            yield instance.create(owner.id, _draft(owner, events, secret))
        finally:
            _remove(instance, owner, say)


def remove_abandoned(
    instance: Instance, webhooks: Iterable[InstanceWebhook]
) -> list[InstanceWebhook]:
    """Return ``webhooks`` without temporary endpoints; delete those of ended processes here."""
    others = []
    for webhook in webhooks:
        if not is_temporary(webhook.target_url):
            others.append(webhook)
        elif _is_abandoned(webhook.name):
            _delete(instance, webhook)
    return others


def _draft(owner: InstanceApp, events: Sequence[str], secret: str) -> WebhookDraft:
    held = owner.permissions or frozenset()
    chosen = events or [name for name in _DEFAULT_EVENTS if required_permission(name) in held]
    return WebhookDraft(
        name=_name(), target_url=TEMPORARY_URL, events=tuple(chosen), secret_key=secret or ABSENT
    )


def _permissions(instance: Instance, events: Sequence[str]) -> set[str]:
    """Return what an app needs for ``events``, as far as the caller can grant it."""
    is_any = EventType.ANY_EVENTS.value in events
    names = _DEFAULT_EVENTS if is_any or not events else events
    needed: set[str] = {permission for name in names if (permission := required_permission(name))}
    return (needed & instance.permissions()) - {_NO_APP_HOLDS}


def _remove(instance: Instance, owner: InstanceApp, say: Callable[[str], None]) -> None:
    try:
        if owner.name == _name():
            instance.delete_app(owner)
            return
        for webhook in instance.webhooks():
            if is_temporary(webhook.target_url) and webhook.name == _name():
                instance.delete(webhook)
    except Exception as error:
        failure = failure_of(error)
        if failure is None:
            raise
        hours = round(MAX_TEMPORARY_AGE.total_seconds() / 3600)
        say(
            f"The temporary endpoint wasn't removed: {failure.errors[0].message} The next `flask "
            f"webhook listen` removes it, or the worker after {hours} hours."
        )


def _delete(instance: Instance, webhook: InstanceWebhook) -> None:
    if has_own_app(webhook.name, webhook.app.name):
        instance.delete_app(webhook.app)
    else:
        instance.delete(webhook)


def _name() -> str:
    return f"flask webhook listen (temporary, {_machine()}-{os.getpid()})"


def _machine() -> str:
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def _is_abandoned(name: str) -> bool:
    """Return whether ``name`` is that of an endpoint whose process has ended on this machine."""
    match = TEMPORARY_NAME.fullmatch(name)
    if match is None or match[1] != _machine():
        return False
    try:
        os.kill(int(match[2]), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False  # it runs, for another user
    return False


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


_EVER = datetime.min.replace(tzinfo=UTC)
"""All deliveries of a temporary endpoint are new, even if the clocks of both machines differ."""

_ANSWER: tuple[Column[Answer], ...] = (
    Column("forwarded", "Answered", lambda answer: answer.status, short=True),
    Column("duration", "Seconds", lambda answer: answer.duration and round(answer.duration, 3)),
    Column("problem", "Problem", lambda answer: answer.problem or None),
)
_COLUMNS: tuple[Column[ReceivedEvent], ...] = (
    Column("createdAt", "Created", lambda event: event.sent.delivery.created_at, short=True),
    Column("event", "Event", lambda event: event.sent.delivery.event, short=True),
    Column("webhook", "Webhook", lambda event: event.sent.webhook.name or event.sent.webhook.id),
    Column("id", "Delivery", lambda event: event.sent.delivery.id, short=True),
    *(column.of(lambda event: event.answer) for column in _ANSWER),
    Column("payload", "Payload", lambda event: payload_of(event.sent.delivery)),
)
_RESPONSE: Column[ReceivedEvent] = Column(
    "response", "Response", lambda event: None if event.answer is None else event.answer.body
)


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
        out.show_next(received, columns)


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
    return (sent for sent in follower.stream() if not events or sent.delivery.event in events)


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
