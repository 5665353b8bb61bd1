"""Events as they come, for people: a line for what was sent, and one for the answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from rich.console import Console
from rich.text import Text

from app.commands.terminal.output import json_text, legible, visible, write
from app.commands.webhooks.follow import WebhookDelivery
from app.commands.webhooks.forwarding import Answer
from app.commands.webhooks.output import payload_of
from app.domain.values.times import in_zone
from app.domain.webhooks import is_temporary

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
    yield from legible(body[:_MAX_BODY].expandtabs()).splitlines()
    if len(body) > _MAX_BODY:
        yield f"… {len(body) - _MAX_BODY} more characters"


def _duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{round(seconds * 1000)} ms"
