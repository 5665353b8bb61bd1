"""Count the staff whom the rule about second factors affects."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, func, literal, select

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.models import UserRecord
from app.ports import Ports
from app.services.authorization.register import part, requires
from app.services.identity.providers import has_sign_on
from app.services.lists.paging import record_from
from app.services.second_factors.stored_factors import HAS_SECOND_FACTOR


@dataclass(frozen=True, slots=True)
class SecondFactorCounts:
    """Counts of active staff.

    ``without`` have no second factor, ``without_by_password`` of them no SSO identity either.
    ``caller_without``: the caller is one of them.
    """

    staff: int
    without: int
    without_by_password: int
    caller_without: bool = False


@requires(Permission.MANAGE_SETTINGS)
def count_second_factors(ports: Ports, actor: Actor) -> SecondFactorCounts:
    """Return how many staff have no second factor; one statement."""
    without = ~HAS_SECOND_FACTOR
    is_caller = UserRecord.id == actor.user_id if actor.is_user else literal(value=False)
    query = select(
        _count().label("staff"),
        _count(without).label("without"),
        _count(without, ~has_sign_on()).label("without_by_password"),
        _count(without, is_caller).label("caller_without"),
    )
    with ports.database.reading() as session:
        row = session.execute(query).one()
    return record_from(SecondFactorCounts, row, caller_without=row.caller_without > 0)


@part
def staff_without_second_factor() -> ColumnElement[int]:
    """Count active staff without a second factor, for a statement that counts other things too."""
    return _count(~HAS_SECOND_FACTOR)


def _count(*conditions: ColumnElement[bool]) -> ColumnElement[int]:
    return (
        select(func.count())
        .select_from(UserRecord)
        .where(and_(UserRecord.is_staff, UserRecord.is_active, *conditions))
        .scalar_subquery()
    )
