"""Forward deliveries to a URL of the developer's machine, as they were signed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from app.commands.webhooks.follow import WebhookDelivery
from app.domain.deliveries.deliveries import MAX_RESPONSE_SIZE, TIMEOUT
from app.ports.http import CallFailed, Http, HttpRequest

_OWN_HEADERS = ("content-length", "host", "user-agent", "accept-encoding", "connection")
"""Headers that belong to one request only and are not forwarded."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What an endpoint answered, in ``duration`` seconds; ``problem`` is why it didn't."""

    url: str
    status: int | None = None
    duration: float | None = None
    body: str = ""
    problem: str = ""


@dataclass(slots=True)
class Forwarder:
    """Forwards to ``url``. ``say`` prints a problem once, until it is over or another one."""

    http: Http
    url: str
    say: Callable[[str], None]
    _problem: str = ""

    def forward(self, sent: WebhookDelivery) -> Answer:
        """Send the request of ``sent`` again, with the same body, headers and signature."""
        request = HttpRequest(
            self.url,
            "POST",
            _headers(sent),
            sent.delivery.payload.encode(),
            timeout=TIMEOUT,
            max_size=MAX_RESPONSE_SIZE,
            status_suffices=True,
        )
        began = monotonic()
        try:
            response = self.http.send(request)
        except CallFailed as failed:
            answer = Answer(self.url, duration=monotonic() - began, problem=str(failed))
        else:
            body = response.body.decode("utf-8", "replace")
            answer = Answer(self.url, response.status, monotonic() - began, body)
        self._tell(answer.problem)
        return answer

    def _tell(self, problem: str) -> None:
        if problem and problem != self._problem:
            self.say(f"Error: Not forwarded to {self.url}: {problem}")
        elif self._problem and not problem:
            self.say(f"Forwarding to {self.url} works again.")
        self._problem = problem


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
