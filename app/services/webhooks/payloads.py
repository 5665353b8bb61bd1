"""Make payloads: run a webhook's query, or the event's default, as its app."""

from dataclasses import dataclass, field
from datetime import datetime

from app.domain.authorization.actor import Actor
from app.domain.events import Event, default_query
from app.domain.events.occurrence import Occurrence
from app.domain.values.errors import PermissionDenied, Refused
from app.ports import Ports
from app.services.authorization.register import part

_REQUEST_ID_LENGTH = 16


@dataclass(frozen=True, slots=True)
class Payload:
    """The JSON text, or the ``problem`` that prevented it.

    ``fault`` is set for an error of ours, which may pass and belongs in the log.
    """

    text: str = field(default="", repr=False)
    problem: str = ""
    fault: Exception | None = None


@part
def make_payload(
    ports: Ports,
    app: Actor,
    event: Event,
    query: str,
    *,
    issued_at: datetime,
    principal: tuple[str, int | None],
) -> Payload:
    """Make the payload of ``event`` for ``app``; never inside a transaction.

    What the rules refuse is a problem of this payload alone. An unreachable store raises:
    everything is tried again.
    """
    happened = Occurrence(
        event=event,
        issued_at=issued_at,
        principal_type=principal[0],
        principal_id=principal[1],
        recipient_id=app.app_id,
    )
    try:
        text = ports.payloads.make(ports, app, query or default_query(type(event)), happened)
    except (Refused, PermissionDenied) as refused:
        return Payload(problem=str(refused))
    return Payload(text)


@part
def try_payload(
    ports: Ports,
    app: Actor,
    event: Event,
    query: str,
    *,
    issued_at: datetime,
    principal: tuple[str, int | None],
) -> Payload:
    """Make a payload as ``make_payload`` does, with faults of ours returned under a request id.

    The caller raises the fault after handling the others.
    """
    try:
        return make_payload(ports, app, event, query, issued_at=issued_at, principal=principal)
    except Exception as fault:  # noqa: BLE001 - raised by the caller once the others are told
        problem = problem_of(ports, fault, f"{event.type.value} for the app {app.name!r}")
        return Payload(problem=problem, fault=fault)


@part
def problem_of(
    ports: Ports, fault: Exception, what: str, spoiled: str = "the payload from being made"
) -> str:
    """Return the public description of a fault; the fault is logged under the same id."""
    request_id = ports.randomness.token(_REQUEST_ID_LENGTH)
    fault.add_note(f"Request id {request_id}: {what}.")
    return f"A fault of ours kept {spoiled}. Request id: {request_id}"
