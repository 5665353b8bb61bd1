"""Follow deliveries, each reported once, oldest first; forward them to a developer's machine."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import Event
from time import monotonic

from app.domain.deliveries.deliveries import MAX_RESPONSE_SIZE, TIMEOUT
from app.domain.values.errors import Refused
from app.domain.values.installation import Fault
from app.ports.http import CallFailed, Http, HttpRequest
from app.ports.instance import DeliveryQuery, Instance, InstanceDelivery, InstanceWebhook

_PAGE_SIZE = 20
_MAX_REPORTED = 500
"""How many reported deliveries are remembered per webhook."""

DeliveryKey = Callable[[InstanceDelivery], str]


def state_of(delivery: InstanceDelivery) -> str:
    """A key that changes with every status, so that each is reported."""
    tried = delivery.attempt.created_at.isoformat() if delivery.attempt else ""
    return f"{delivery.id} {delivery.status} {tried}"


@dataclass(frozen=True, slots=True)
class WebhookDelivery:
    """A delivery and the webhook that it is for."""

    webhook: InstanceWebhook
    delivery: InstanceDelivery


def delivery_pages(
    instance: Instance, webhook: InstanceWebhook, query: DeliveryQuery
) -> Iterator[tuple[InstanceDelivery, ...]]:
    """Yield a webhook's deliveries by pages, newest first, each fetched when it is needed."""
    while True:
        page = instance.deliveries(webhook.id, query)
        yield page.items
        if not page.next:
            return
        query = replace(query, after=page.next)


@dataclass(slots=True)
class DeliveryFollower:
    """Poll for new deliveries every ``interval`` seconds.

    Deliveries with the same ``key`` are reported once; one with an empty key is not reported yet.
    ``say`` prints why there are none, for example during an outage.
    """

    instance: Instance
    webhooks: Sequence[InstanceWebhook]
    since: datetime
    interval: float
    query: DeliveryQuery = field(default_factory=DeliveryQuery)
    key: DeliveryKey = state_of
    say: Callable[[str], None] = lambda _reported: None
    _is_unreachable: bool = False
    _reported: dict[str, list[str]] = field(default_factory=dict)

    def stream(self) -> Iterator[WebhookDelivery]:
        """Yield new deliveries for ever, waiting ``interval`` seconds between looks.

        An instance that becomes unreachable or fails after the first look is waited for, too.
        """
        waiting = Event()
        yield from self.new_deliveries()
        while True:
            waiting.wait(self.interval)
            yield from self._new_or_none()

    def _new_or_none(self) -> list[WebhookDelivery]:
        try:
            new = self.new_deliveries()
        except Fault as error:
            if not self._is_unreachable:
                self.say(f"{error} Retrying.")
            self._is_unreachable = True
            return []
        if self._is_unreachable:
            self.say("Reconnected.")
        self._is_unreachable = False
        return new

    def new_deliveries(self) -> list[WebhookDelivery]:
        """Return the deliveries not reported yet, oldest first."""
        deliveries = [
            WebhookDelivery(webhook, delivery)
            for webhook in self.webhooks
            for delivery in self._new_if_exists(webhook)
        ]
        return sorted(deliveries, key=lambda delivery: delivery.delivery.created_at)

    def _new_if_exists(self, webhook: InstanceWebhook) -> list[InstanceDelivery]:
        """Return new deliveries; none for a deleted webhook, if others are left."""
        try:
            return self._new_of_webhook(webhook)
        except Refused:
            others = [other for other in self.webhooks if other.id != webhook.id]
            if not others:
                raise
            self.webhooks = others
            self.say(f"{webhook.name or webhook.id} was deleted.")
            return []

    def _new_of_webhook(self, webhook: InstanceWebhook) -> list[InstanceDelivery]:
        reported = self._reported.setdefault(webhook.id, [])
        new: list[InstanceDelivery] = []
        query = replace(self.query, size=_PAGE_SIZE)
        for page in delivery_pages(self.instance, webhook, query):
            recent = [delivery for delivery in page if delivery.created_at >= self.since]
            by_key = {self.key(delivery): delivery for delivery in recent}
            new_keys = {
                key: delivery for key, delivery in by_key.items() if key and key not in reported
            }
            new += new_keys.values()
            reported += new_keys
            if len(new_keys) < len(page):
                break  # behind what is known, or too old, there is nothing new
        del reported[:-_MAX_REPORTED]
        return new


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
