"""One attempt at a delivery: a signed request, and what may be kept of the answer."""

from collections.abc import Mapping

from app.domain.deliveries import LARGEST_ANSWER, LARGEST_HEADERS, TIMEOUT, read_retry_after
from app.ports import Ports
from app.ports.http import CallFailed, HttpAnswer, HttpRequest
from app.services.access import part
from app.services.outcomes import Delivery, Outcome
from app.services.payloads import problem_of
from app.services.signing import HIDDEN, Endpoint, sign_delivery

_PRIVATE = frozenset(("set-cookie", "authorization", "proxy-authorization", "cookie"))


@part
def make_attempt(ports: Ports, endpoint: Endpoint, delivery: Delivery) -> Outcome:
    """Send ``delivery`` once; whatever goes wrong on the way is what the attempt came to.

    So nothing that an endpoint answers, and no fault of ours in reading it, can lead to the same
    attempt again and again.
    """
    at = ports.clock.now()
    body = delivery.payload.encode()
    headers = sign_delivery(ports, endpoint, delivery, body, int(at.timestamp()))
    request = HttpRequest(
        endpoint.url,
        "POST",
        headers,
        body,
        timeout=TIMEOUT,
        largest=LARGEST_ANSWER,
        status_suffices=True,
    )
    answer, problem, fault = None, "", None
    try:
        answer = ports.http.send(request)
    except CallFailed as failed:
        problem = str(failed)
    except Exception as error:  # noqa: BLE001 - raised by the caller once all is written down
        what = f"the delivery {delivery.id} of {delivery.event}"
        problem, fault = problem_of(ports, error, what, "the delivery from being made"), error
    return Outcome(
        delivery=delivery,
        at=at,
        # A clock that is put back meanwhile makes no time negative.
        duration=max(0.0, (ports.clock.now() - at).total_seconds()),
        request_headers=endpoint.shown(headers),
        answered=None if answer is None else answer.status,
        response_headers={} if answer is None else _shown(answer.headers),
        response=problem if answer is None else _storable(answer.body.decode("utf-8", "replace")),
        retry_after=_retry_after(ports, answer),
        fault=fault,
    )


def _retry_after(ports: Ports, answer: HttpAnswer | None) -> float | None:
    asked = None if answer is None else answer.headers.get("retry-after")
    return read_retry_after(asked, ports.clock.now())


def _shown(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of an answer as they may be kept: without what an endpoint proves itself by.

    What is beyond ``LARGEST_HEADERS`` is left out.
    """
    shown = {}
    room = LARGEST_HEADERS
    for name, value in headers.items():
        room -= len(name) + len(value)
        if room < 0:
            break
        shown[_storable(name)] = HIDDEN if name.lower() in _PRIVATE else _storable(value)
    return shown


def _storable(text: str) -> str:
    # PostgreSQL keeps no NUL in a text, and an endpoint may answer anything.
    return text.replace("\x00", "\ufffd")
