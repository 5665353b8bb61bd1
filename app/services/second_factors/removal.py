"""What follows the removal of a second factor."""

from sqlalchemy.orm import Session

from app.domain.shop.settings import StaffSecondFactor
from app.domain.values.errors import Problem, Refused
from app.models import ShopRecord, UserRecord
from app.models.shop import SHOP_ID
from app.services.authorization.register import part
from app.services.second_factors.challenges import drop_challenges
from app.services.second_factors.recovery_codes import drop_codes
from app.services.second_factors.stored_factors import read_factors

LAST_FACTOR = Problem(
    "REQUIRED",
    "This shop requires a second factor for staff. Add another one before you remove this one.",
)


@part
def settle_removal(session: Session, user: UserRecord) -> None:
    """Refuse the removal of the last factor while staff need one; else drop unusable codes.

    Called in the transaction of the removal, after it, with the user's row locked: what it refuses
    (REQUIRED) is rolled back. Without another factor, recovery codes open nothing. Unfinished
    sign-ins end: one may just have been answered with what is removed.
    """
    drop_challenges(session, user.id)
    if read_factors(session, user.id).is_active:
        return
    shop = session.get_one(ShopRecord, SHOP_ID)
    is_required = shop.staff_second_factor == StaffSecondFactor.REQUIRED.value
    if is_required and user.is_staff:
        raise Refused(LAST_FACTOR)
    drop_codes(session, user.id)
