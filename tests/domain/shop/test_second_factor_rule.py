"""When staff need a second factor."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from app.domain.shop.settings import (
    ShopSettings,
    ShopUpdate,
    StaffSecondFactor,
    changes_second_factor,
    with_second_factor,
)
from tests.builders.shop import shop_settings
from tests.fixtures.cases import cases

NOW = datetime(2026, 1, 1, tzinfo=UTC)
OPTIONAL, REQUIRED = StaffSecondFactor.OPTIONAL, StaffSecondFactor.REQUIRED


def day(number: int) -> datetime:
    return NOW + timedelta(days=number)


@cases(
    ("before", "after", "begins"),
    [
        ((OPTIONAL, 14, None), (OPTIONAL, 30, None), None),
        ((OPTIONAL, 14, None), (REQUIRED, 14, None), day(14)),
        ((OPTIONAL, 14, None), (REQUIRED, 0, None), day(0)),
        ((REQUIRED, 14, day(9)), (OPTIONAL, 14, day(9)), None),
        ((REQUIRED, 14, day(9)), (REQUIRED, 14, day(9)), day(9)),
        ((REQUIRED, 14, day(9)), (REQUIRED, 30, day(9)), day(25)),
        ((REQUIRED, 14, day(9)), (REQUIRED, 0, day(9)), day(-5)),
        ((REQUIRED, 0, day(-20)), (REQUIRED, 14, day(-20)), day(-6)),
        ((REQUIRED, 14, None), (REQUIRED, 14, None), day(14)),
    ],
)
def test_grace_period_begins_when_a_second_factor_becomes_required(
    before: tuple[StaffSecondFactor, int, datetime | None],
    after: tuple[StaffSecondFactor, int, datetime | None],
    begins: datetime | None,
) -> None:
    def settings(rule: StaffSecondFactor, days: int, begins: datetime | None) -> ShopSettings:
        return replace(
            shop_settings(),
            staff_second_factor=rule,
            second_factor_grace_days=days,
            second_factor_from=begins,
        )

    changed = with_second_factor(settings(*before), settings(*after), NOW)
    assert changed.second_factor_from == begins


@cases(
    ("update", "changes"),
    [
        (ShopUpdate(), False),
        (ShopUpdate(name="New"), False),
        (ShopUpdate(staff_second_factor=OPTIONAL), True),
        (ShopUpdate(second_factor_grace_days=3), True),
    ],
)
def test_change_of_either_setting_changes_the_rule(update: ShopUpdate, changes: bool) -> None:
    assert changes_second_factor(update) is changes
