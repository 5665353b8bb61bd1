"""Make payloads: run a webhook's query, or the event's default, as its app; check queries."""

from dataclasses import dataclass, field

from app.domain.authorization.actor import Actor
from app.domain.events import EventType, Occurrence, default_query
from app.domain.values.errors import PermissionDenied, Problem, Refused
from app.ports import Ports
from app.services.authorization.register import building_block, staff_only

_REQUEST_ID_LENGTH = 16


@dataclass(frozen=True, slots=True)
class Payload:
    """The JSON text, or the ``problem`` that prevented it.

    ``fault`` is set for an internal error, which may pass and belongs in the log.
    """

    text: str = field(default="", repr=False)
    problem: str = ""
    fault: Exception | None = None


@building_block
def make_payload(ports: Ports, app: Actor, query: str, occurrence: Occurrence) -> Payload:
    """Make the payload of ``occurrence`` for ``app``; never inside a transaction.

    What the rules refuse is a problem of this payload alone. An unreachable store raises:
    everything is tried again.
    """
    document = query or default_query(type(occurrence.event))
    try:
        text = ports.payloads.make(ports, app, document, occurrence)
    except (Refused, PermissionDenied) as refused:
        return Payload(problem=str(refused))
    return Payload(text)


@building_block
def try_payload(ports: Ports, app: Actor, query: str, occurrence: Occurrence) -> Payload:
    """Make a payload as ``make_payload`` does; return Latchkey's own errors under a request ID.

    The caller raises the fault after handling the others.
    """
    try:
        return make_payload(ports, app, query, occurrence)
    except Exception as fault:  # noqa: BLE001 - raised by the caller once the others are told
        event = occurrence.event.type.value
        problem = problem_of(ports, fault, f"{event} for the app {app.name!r}")
        return Payload(problem=problem, fault=fault)


@building_block
def problem_of(
    ports: Ports, fault: Exception, what: str, spoiled: str = "the payload from being made"
) -> str:
    """Return the public description of a fault; the fault is logged under the same id."""
    request_id = ports.randomness.token(_REQUEST_ID_LENGTH)
    fault.add_note(f"Request id {request_id}: {what}.")
    return f"A fault of ours kept {spoiled}. Request id: {request_id}"


@dataclass(frozen=True, slots=True)
class CheckedQuery:
    """The events that a query is about, or why it cannot be used."""

    events: tuple[EventType, ...] = ()
    problem: Problem | None = None


@staff_only
def check_query(ports: Ports, actor: Actor, query: str) -> CheckedQuery:
    """Check ``query`` as ``create_webhook`` does, without running it."""
    try:
        return CheckedQuery(ports.payloads.check(query))
    except Refused as refused:
        return CheckedQuery(problem=refused.problems[0])
