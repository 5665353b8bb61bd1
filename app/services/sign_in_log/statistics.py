"""Sign-in attempts in figures: counted for a list, and by time for its chart."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import ScalarSelect, Select, func, literal, select, union_all

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.sign_in.sign_in_events import SignInFilter, SignInReason
from app.domain.sign_in.sign_in_statistics import MAX_COUNTED, Period, SignInCount, SignInSpan
from app.domain.values.text_rules import is_storable
from app.models import SignInEventRecord
from app.ports import Ports
from app.services.authorization.register import requires_person
from app.services.sign_in_log.events import narrow

_SUCCESS = ""


@requires_person(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def count_sign_ins(ports: Ports, actor: Actor, wanted: SignInFilter) -> SignInCount:
    """Count the entries of a filter, and all of its period; one statement."""
    if not is_storable(wanted.text + wanted.address):
        wanted = SignInFilter(since=wanted.since, until=wanted.until, user_id=0)
    period = SignInFilter(since=wanted.since, until=wanted.until)
    counted = select(
        _count(ports, actor, wanted).label("matching"), _count(ports, actor, period).label("total")
    )
    with ports.database.reading() as session:
        row = session.execute(counted).one()
    return SignInCount(row.matching, row.total)


@requires_person(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def chart_sign_ins(ports: Ports, actor: Actor, period: Period) -> tuple[SignInSpan, ...]:
    """Return the attempts of the period by time and reason, oldest first; one statement."""
    begins = period.begins(ports.clock.now())
    counted: defaultdict[int, dict[str, int]] = defaultdict(dict)
    with ports.database.reading() as session:
        for row in session.execute(union_all(*_spans(ports, actor, begins, period.step))):
            counted[row.place][row.reason] = int(row.attempts)
    return tuple(
        SignInSpan(
            began,
            counted[place].get(_SUCCESS, 0),
            {
                SignInReason(reason): attempts
                for reason, attempts in counted[place].items()
                if reason != _SUCCESS
            },
        )
        for place, began in enumerate(begins)
    )


def _spans(
    ports: Ports, actor: Actor, begins: Sequence[datetime], step: timedelta
) -> list[Select[*tuple[object, ...]]]:
    """Return a query for each span, which reads its part of an index only."""
    event = SignInEventRecord
    spans: list[Select[*tuple[object, ...]]] = []
    for place, began in enumerate(begins):
        query: Select[*tuple[object, ...]] = select(
            literal(place).label("place"),
            event.reason,
            func.sum(event.attempts).label("attempts"),
        ).group_by(event.reason)
        # Times are stored to the microsecond.
        ended = began + step - timedelta(microseconds=1)
        spans.append(narrow(ports, actor, query, SignInFilter(since=began, until=ended)))
    return spans


def _count(ports: Ports, actor: Actor, wanted: SignInFilter) -> ScalarSelect[int]:
    query: Select[*tuple[object, ...]] = select(SignInEventRecord.id)
    found = narrow(ports, actor, query, wanted).limit(MAX_COUNTED + 1).subquery()
    return select(func.count()).select_from(found).scalar_subquery()
