"""Check subscription queries before they are saved."""

from dataclasses import dataclass

from app.domain.authorization.actor import Actor
from app.domain.events import EventType
from app.domain.values.errors import Problem, Refused
from app.ports import Ports
from app.services.authorization.register import staff_only


@dataclass(frozen=True, slots=True)
class CheckedQuery:
    """The events that a query is about, or why it cannot be used."""

    events: tuple[EventType, ...] = ()
    problem: Problem | None = None


@staff_only
def check_query(ports: Ports, actor: Actor, query: str) -> CheckedQuery:
    """Check ``query`` as ``create_webhook`` does, without running it."""
    try:
        return CheckedQuery(ports.payloads.check(query).events)
    except Refused as refused:
        return CheckedQuery(problem=refused.problems[0])
