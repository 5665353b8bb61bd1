"""When staff need a second factor: the settings of the rule and the end of its grace period."""

from dataclasses import replace
from datetime import datetime, timedelta

from app.domain.shop.settings import ShopSettings, ShopUpdate, StaffSecondFactor
from app.domain.values.unset import ABSENT


def with_second_factor(before: ShopSettings, after: ShopSettings, now: datetime) -> ShopSettings:
    """Return ``after`` with the moment from which staff need a second factor.

    The grace period begins when one becomes required; another length moves its end.
    """
    if after.staff_second_factor is StaffSecondFactor.OPTIONAL:
        return replace(after, second_factor_from=None)
    grace = timedelta(days=after.second_factor_grace_days)
    was_required = before.staff_second_factor is StaffSecondFactor.REQUIRED
    if not was_required or before.second_factor_from is None:
        return replace(after, second_factor_from=now + grace)
    moved = grace - timedelta(days=before.second_factor_grace_days)
    return replace(after, second_factor_from=before.second_factor_from + moved)


def changes_second_factor(update: ShopUpdate) -> bool:
    """Whether ``update`` names a setting of the rule about second factors."""
    named = update.staff_second_factor, update.second_factor_grace_days
    return any(value is not ABSENT for value in named)
