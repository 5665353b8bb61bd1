"""One attempt at a delivery: a signed request and its stored response."""

from collections.abc import Mapping

from app.domain.deliveries.deliveries import (
    MAX_HEADERS_SIZE,
    MAX_RESPONSE_SIZE,
    NOT_STORED,
    TIMEOUT,
    read_retry_after,
)
from app.domain.deliveries.redaction import REDACTED, Redactor
from app.domain.webhooks import is_temporary
from app.ports import Ports
from app.ports.http import CallFailed, HttpRequest, HttpResponse
from app.ports.monitoring import SpanKind
from app.services.authorization.register import part
from app.services.deliveries.attempt_results import AttemptResult, Delivery, TracedDelivery
from app.services.deliveries.signing import Endpoint, sign_delivery
from app.services.outbox.link_secrets import holds_secret
from app.services.webhooks.payloads import problem_of

_PRIVATE = frozenset(("set-cookie", "authorization", "proxy-authorization", "cookie"))
_KEPT = HttpResponse(202, body=b"Not sent: temporary endpoint, read through the API.")
"""What a temporary endpoint answers: its deliveries wait until they are read."""


@part
def send_attempt(ports: Ports, endpoint: Endpoint, delivery: Delivery) -> AttemptResult:
    """Send ``delivery`` once, in a span of its event's trace, which goes on to the endpoint."""
    name = f"webhook {delivery.event}"
    parent = delivery.traceparent if isinstance(delivery, TracedDelivery) else ""
    with ports.traces.span(name, SpanKind.CLIENT, traceparent=parent) as span:
        result = _send_attempt(ports, endpoint, delivery)
        span.add({"http.response.status_code": result.answered or 0})
    return result


def _send_attempt(ports: Ports, endpoint: Endpoint, delivery: Delivery) -> AttemptResult:
    """Send ``delivery`` once; whatever goes wrong on the way is what the attempt came to.

    So nothing that an endpoint answers, and no fault of ours in reading it, can lead to the same
    attempt again and again.
    """
    at = ports.clock.now()
    body = delivery.payload.encode()
    headers: dict[str, str] = {}
    response, problem, fault = None, "", None
    try:
        headers = _headers(ports, endpoint, delivery, body, int(at.timestamp()))
        response = _sent(ports, endpoint, headers, body)
    except CallFailed as failed:
        problem = str(failed)
    except Exception as error:  # noqa: BLE001 - raised by the caller once all is written down
        what = f"the delivery {delivery.id} of {delivery.event}"
        problem, fault = problem_of(ports, error, what, "the delivery from being made"), error
    kept_headers, kept_body = _redacted(endpoint, delivery, response)
    return AttemptResult(
        delivery=delivery,
        at=at,
        # A clock that is put back meanwhile makes no time negative.
        duration=max(0.0, (ports.clock.now() - at).total_seconds()),
        request_headers=endpoint.shown(headers),
        answered=None if response is None else response.status,
        response_headers=kept_headers,
        response=problem if response is None else kept_body,
        retry_after=_retry_after(ports, response),
        fault=fault,
    )


def _headers(
    ports: Ports, endpoint: Endpoint, delivery: Delivery, body: bytes, timestamp: int
) -> dict[str, str]:
    headers = sign_delivery(ports, endpoint, delivery, body, timestamp)
    traceparent = ports.traces.traceparent()
    if traceparent:
        headers.setdefault("traceparent", traceparent)
    return headers


def _sent(
    ports: Ports, endpoint: Endpoint, headers: Mapping[str, str], body: bytes
) -> HttpResponse:
    if is_temporary(endpoint.url):
        return _KEPT
    request = HttpRequest(
        endpoint.url,
        "POST",
        headers,
        body,
        timeout=TIMEOUT,
        max_size=MAX_RESPONSE_SIZE,
        status_suffices=True,
    )
    return ports.http.send(request)


def _retry_after(ports: Ports, response: HttpResponse | None) -> float | None:
    header = None if response is None else response.headers.get("retry-after")
    return read_retry_after(header, ports.clock.now())


def _redacted(
    endpoint: Endpoint, delivery: Delivery, response: HttpResponse | None
) -> tuple[dict[str, str], str]:
    """Return a response's headers and body as stored, without the request's secrets.

    An endpoint may echo what it got in any form. For events with a link nothing is stored: the
    link gives access to an account.
    """
    if response is None:
        return {}, ""
    if holds_secret(delivery.event):
        return {}, NOT_STORED
    redact = endpoint.redactor
    body = response.body.decode("utf-8", "replace")
    is_cut = len(response.body) >= MAX_RESPONSE_SIZE
    return _shown(response.headers, redact), _storable(redact(body, is_cut=is_cut))


def _shown(headers: Mapping[str, str], redact: Redactor) -> dict[str, str]:
    """The headers of an answer as they may be kept: without what an endpoint proves itself by.

    What is beyond ``MAX_HEADERS_SIZE`` is left out.
    """
    shown = {}
    room = MAX_HEADERS_SIZE
    for name, value in headers.items():
        room -= len(name) + len(value)
        if room < 0:
            break
        text = REDACTED if name.lower() in _PRIVATE else _storable(redact(value))
        shown[_storable(redact(name))] = text
    return shown


def _storable(text: str) -> str:
    # PostgreSQL keeps no NUL in a text, and an endpoint may answer anything.
    return text.replace("\x00", "\ufffd")
