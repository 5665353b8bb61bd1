"""The fields of a webhook as options, and webhooks and deliveries as commands show them."""

import base64
import difflib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import click

from app.commands.terminal.options import is_read, read_text, warn_of_exposure
from app.commands.terminal.output import Column, visible
from app.domain.deliveries.deliveries import MAX_RATE
from app.domain.deliveries.signatures import SECRET_PREFIX
from app.domain.events import EventType
from app.domain.urls.web_urls import masked_url
from app.domain.values.errors import Problem, Refused
from app.domain.values.inputs import ABSENT, Absent, present
from app.ports.instance import (
    Instance,
    InstanceApp,
    InstanceAttempt,
    InstanceDelivery,
    InstanceWebhook,
    WebhookDraft,
)
from app.web.installation import remote_access

Named = TypeVar("Named", InstanceApp, InstanceWebhook)

_MAX_NAMED = 20


_LISTED_TARGET: Column[InstanceWebhook] = Column(
    "targetUrl", "Target", lambda webhook: masked_url(webhook.target_url), short=True
)
_TARGET: Column[InstanceWebhook] = Column(
    "targetUrl", "Target", lambda webhook: webhook.target_url, short=True
)
WEBHOOKS: tuple[Column[InstanceWebhook], ...] = (
    Column("id", "ID", lambda webhook: webhook.id, short=True),
    Column("name", "Name", lambda webhook: webhook.name, short=True),
    Column("app", "App", lambda webhook: webhook.app.name),
    _LISTED_TARGET,
    Column("isActive", "Active", lambda webhook: webhook.is_active, short=True),
    Column("events", "Events", lambda webhook: webhook.events),
    Column("isPaused", "Paused", lambda webhook: webhook.is_paused, short=True),
    Column("maxRate", "Requests a second", lambda webhook: webhook.max_rate or None),
)
"""The columns of a list, in which URLs have no keys."""

WEBHOOK: tuple[Column[InstanceWebhook], ...] = (
    *(_TARGET if column is _LISTED_TARGET else column for column in WEBHOOKS),
    Column("appId", "App ID", lambda webhook: webhook.app.id),
    Column("customHeaders", "Headers", lambda webhook: sorted(webhook.custom_headers)),
    Column("hasSecret", "Has a secret", lambda webhook: webhook.has_secret),
    Column("query", "Query", lambda webhook: webhook.query, has_lines=True),
)


_NEWEST_ATTEMPT: tuple[Column[InstanceAttempt], ...] = (
    Column("responseStatus", "Answer", lambda attempt: attempt.response_status),
    Column("duration", "Seconds", lambda attempt: attempt.duration and round(attempt.duration, 3)),
    Column("triedAt", "Tried", lambda attempt: attempt.created_at),
)
DELIVERIES: tuple[Column[InstanceDelivery], ...] = (
    Column("id", "ID", lambda delivery: delivery.id, short=True),
    Column("createdAt", "Created", lambda delivery: delivery.created_at, short=True),
    Column("event", "Event", lambda delivery: delivery.event, short=True),
    Column("status", "Status", lambda delivery: delivery.status, short=True),
    *(column.of(lambda delivery: delivery.attempt) for column in _NEWEST_ATTEMPT),
)


def find_webhook(instance: Instance, text: str) -> InstanceWebhook:
    """Return the webhook with that ID or unique name; raises ``Refused`` (NOT_FOUND)."""
    return _find_named(
        instance.webhooks(), text, "webhook", "List webhooks with: flask webhook list"
    )


def find_app(instance: Instance, text: str) -> InstanceApp:
    """Return the app with that ID or unique name; raises ``Refused`` (NOT_FOUND)."""
    apps = instance.apps()
    names = ", ".join(app.name for app in apps[:_MAX_NAMED])
    return _find_named(apps, text, "app", f"Available: {names}" if apps else "There are none yet.")


def _find_named(candidates: Sequence[Named], text: str, what: str, hint: str) -> Named:
    for candidate in candidates:
        if candidate.id == text:
            return candidate
    named = [candidate for candidate in candidates if candidate.name == text]
    if len(named) == 1:
        return named[0]
    if named:
        ids = ", ".join(candidate.id for candidate in named)
        message = "Several have this name. Use an ID: {ids}"
        raise Refused(Problem("NOT_FOUND", message, what, values={"ids": ids}))
    message = "No matching {what}. {hint}"
    raise Refused(Problem("NOT_FOUND", message, what, values={"what": what, "hint": hint}))


def payload_of(delivery: InstanceDelivery) -> Mapping[str, object] | None:
    """The payload as JSON; ``None`` where there was none to send."""
    payload = json.loads(delivery.payload) if delivery.payload else None
    return payload if isinstance(payload, dict) else None


Function = TypeVar("Function", bound=Callable[..., Any])

_SECRET_BYTES = 24
_LOOKS_SECRET = re.compile(r"[?&][^=&]*(?:token|secret|key|sig|auth|pass)[^=&]*=", re.IGNORECASE)
"""A URL with a query parameter that is called like a secret."""


@dataclass(frozen=True, slots=True)
class WebhookOptions:
    """The values of the options as typed; files are not read yet.

    ``typed_secret`` is a secret that was typed at a prompt.
    """

    name: str | None = None
    target_url: str | None = None
    events: tuple[str, ...] = ()
    query: str | None = None
    headers: tuple[str, ...] = ()
    no_headers: bool = False
    is_active: bool | None = None
    max_rate: int | None = None
    secret: str | None = None
    typed_secret: str | None = field(default=None, repr=False)

    @property
    def makes_secret(self) -> bool:
        """Return whether a new secret will be generated."""
        return self.secret == "generate"  # noqa: S105 - the word that asks for one

    def columns(self, draft: WebhookDraft) -> tuple[Column[InstanceWebhook], ...]:
        """Return the columns to show after ``draft``, with the secret if it was generated."""
        if not self.makes_secret:
            return WEBHOOK
        secret = present(draft.secret_key, "")
        return (*WEBHOOK, Column("secretKey", "Secret", lambda _: secret, short=True))

    def draft(self, instance: Instance) -> WebhookDraft:
        """Return the draft, with files read; raises ``click.UsageError`` for invalid values."""
        if self.events and self.query is not None:
            message = "A query defines its own events. Use either --query or --event, not both."
            raise click.UsageError(message)
        if [self.target_url, self.query, self.secret, *self.headers].count("-") > 1:
            message = (
                "Standard input can provide only one of endpoint URL, query, header and secret."
            )
            raise click.UsageError(message)
        return WebhookDraft(
            name=_or_absent(self.name),
            target_url=ABSENT if self.target_url is None else _target(self.target_url),
            events=event_names(instance, self.events) if self.events else ABSENT,
            query=ABSENT if self.query is None else _query(self.query),
            custom_headers=self._headers(),
            is_active=_or_absent(self.is_active),
            max_rate=_or_absent(self.max_rate),
            secret_key=self._secret_key(),
        )

    def _secret_key(self) -> str | Absent:
        if self.typed_secret is not None:
            return self.typed_secret
        return ABSENT if self.secret is None else secret_value(self.secret)

    def _headers(self) -> Mapping[str, str] | Absent:
        if self.no_headers and self.headers:
            raise click.UsageError("Use either --header or --no-headers, not both.")
        if not self.headers:
            return {} if self.no_headers else ABSENT
        return dict(_headers(self.headers))


def field_options(function: Function) -> Function:
    """An option for each field of a webhook; together they are the arguments of ``Given``."""
    options = [
        click.option("--name", help="Name of the webhook."),
        click.option(
            "--target-url",
            help="Endpoint URL, such as https://app.example.com/hook, or @FILE or - to read it.",
        ),
        click.option(
            "--event",
            "events",
            multiple=True,
            shell_complete=complete_event,
            help="An event to subscribe to. Repeatable. List events with: flask webhook events",
        ),
        click.option(
            "--query",
            help="A subscription query that defines events and payload: text, @FILE or - for "
            "standard input.",
        ),
        click.option(
            "--header",
            "headers",
            multiple=True,
            help="A custom header: 'X-Name: value', or @FILE or - to read headers line by line. "
            "Repeatable. Keep secrets in a file: other users can read the command line.",
        ),
        click.option("--no-headers", is_flag=True, help="Remove all custom headers."),
        click.option(
            "--active/--inactive",
            "is_active",
            default=None,
            help="Enable or disable the webhook. New webhooks are enabled.",
        ),
        click.option(
            "--max-rate",
            type=click.IntRange(0, MAX_RATE),
            help="Requests a second that the endpoint is sent at most; 0 for no limit.",
        ),
        click.option(
            "--secret",
            help="'generate' for a new secret, @FILE or - to read it, 'none' to sign with the "
            "shop's keys. The secret itself isn't accepted here: other users can read the "
            "command line.",
        ),
    ]
    for option in reversed(options):
        function = option(function)
    return function


def complete_event(
    _context: click.Context, _option: click.Parameter, incomplete: str
) -> list[str]:
    """Complete event names for the shell, without a request: it must be quick."""
    prefix = incomplete.upper().replace("-", "_")
    return [event.value for event in EventType if event.value.startswith(prefix)]


def event_names(instance: Instance, events: Iterable[str]) -> tuple[str, ...]:
    """Return the events by name; raises ``click.UsageError`` for an unknown one."""
    available = instance.event_types()
    names = [event.strip().upper().replace("-", "_") for event in events]
    for name in names:
        if name not in available:
            suggestions = difflib.get_close_matches(name, available, n=1)
            hint = (
                f"Did you mean {visible(suggestions[0])}?"
                if suggestions
                else "List events with: flask webhook events"
            )
            raise click.UsageError(f"Unknown event {name}. {hint}")
    return tuple(dict.fromkeys(names))


def new_secret() -> str:
    """A secret as Standard Webhooks write it."""
    random_bytes = remote_access().randomness.secret(_SECRET_BYTES)
    return f"{SECRET_PREFIX}{base64.b64encode(random_bytes).decode()}"


def _or_absent(value: Any) -> Any:
    return ABSENT if value is None else value


def _query(value: str) -> str:
    text = read_text(value)
    if not text.strip():
        # The API reads an empty query as absent, so nothing would change.
        raise click.UsageError("The query is empty. Omit --query to keep the current query.")
    return text


def _target(value: str) -> str:
    if is_read(value):
        return read_text(value).strip()
    if _LOOKS_SECRET.search(value):
        warn_of_exposure("--target-url")
    return value


def _headers(values: Iterable[str]) -> Iterator[tuple[str, str]]:
    if not all(map(is_read, values)):
        warn_of_exposure("--header")
    for value in values:
        lines = read_text(value).splitlines() if is_read(value) else [value]
        yield from (_header(line) for line in lines if line.strip() or not is_read(value))


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        # What follows the colon may be secret, and files are mistaken for others easily.
        raise click.UsageError(
            "Invalid header: the name or colon is missing. Use 'X-Name: value'."
        )
    return name.strip(), value.strip()


def secret_value(value: str) -> str:
    """Return the secret that ``--secret`` asks for; raises ``click.UsageError``."""
    if value == "generate":
        return new_secret()
    if value == "none":
        return ""
    if is_read(value):
        return read_text(value).strip()
    raise click.UsageError(
        "--secret must be generate, none, @FILE or -. A secret on the command line would "
        "stay in the shell's history."
    )
