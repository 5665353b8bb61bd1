"""What people lose by a change of the shop's two switches, before ``flask shop`` makes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from app.domain.shop.settings import PasswordLoginMode, ShopUpdate, StaffSecondFactor
from app.domain.values.text import text
from app.services.shop.impact import BoundedCount, Impact, LoginModeImpact, SecondFactorCounts

_CLOSING = "Customers and anonymous callers get an error at once."
_MODES = {
    PasswordLoginMode.CUSTOMERS_ONLY: "Staff who sign in with a password lose their permissions.",
    PasswordLoginMode.DISABLED: "No one can sign in with a password.",
}
_STAFF_LIMITED = (
    "{count:,} of {all:,} staff has no SSO identity and will lose staff access.",
    "{count:,} of {all:,} staff have no SSO identity and will lose staff access.",
)
_STAFF_REJECTED = (
    "{count:,} of {all:,} staff has no other way to sign in.",
    "{count:,} of {all:,} staff have no other way to sign in.",
)
_CUSTOMERS_REJECTED = (
    "{some} of {all} customers has no other way to sign in.",
    "{some} of {all} customers have no other way to sign in.",
)
_NOT_REFRESHED = (
    "{some} SSO session can't be refreshed by its identity provider.",
    "{some} SSO sessions can't be refreshed by their identity provider.",
)
_WITHOUT_FACTOR = (
    "{count:,} of {all:,} staff has no second factor.",
    "{count:,} of {all:,} staff have no second factor.",
)
_AFTER_GRACE = "They get customer-level access after the grace period."
_NONE = BoundedCount(0)
_ONLY_HERE = "No one could undo this in the console, only on the command line."


def restricted_mode(update: ShopUpdate) -> PasswordLoginMode | None:
    """Return the password login mode that ``update`` sets, if it takes access from anyone."""
    mode = update.password_login_mode
    return mode if isinstance(mode, PasswordLoginMode) and mode in _MODES else None


def closing_warning(update: ShopUpdate) -> str:
    """Return a warning if ``update`` closes the storefront; otherwise empty."""
    return _CLOSING if update.allow_storefront_traffic is False else ""


def requires_second_factor(update: ShopUpdate) -> bool:
    """Whether ``update`` makes a second factor required."""
    return update.staff_second_factor is StaffSecondFactor.REQUIRED


def second_factor_warning(counts: SecondFactorCounts) -> str:
    """Return how many staff a required second factor affects; empty for none."""
    if not counts.without:
        return ""
    sentence = text(*_WITHOUT_FACTOR, count=counts.without, all=counts.staff)
    return f"{sentence} {_AFTER_GRACE}"


def second_factor_lost(counts: SecondFactorCounts) -> Mapping[str, object]:
    """Return the same number for ``--json``."""
    return _lost(counts.without)


def mode_warning(found: Impact, mode: PasswordLoginMode) -> str:
    """Return who loses access by ``mode``, in numbers; empty if it is the current one."""
    impact = found.login_mode(mode)
    return "" if impact.is_current else " ".join(_sentences(found, impact))


def access_lost(found: Impact, mode: PasswordLoginMode) -> Mapping[str, object]:
    """Return the same numbers for ``--json``; ``more…`` if counting stopped there."""
    impact = found.login_mode(mode)
    if impact.is_current:
        return _lost()
    return _lost(
        impact.staff_losing_rights,
        impact.customers_losing_access,
        impact.sessions_without_refresh,
    )


def _lost(
    staff: int = 0, customers: BoundedCount = _NONE, without_refresh: BoundedCount = _NONE
) -> Mapping[str, object]:
    return {
        "staff": staff,
        "customers": customers.number,
        "moreCustomers": customers.is_more,
        "ssoSessionsWithoutRefresh": without_refresh.number,
        "moreSsoSessionsWithoutRefresh": without_refresh.is_more,
    }


def _sentences(found: Impact, impact: LoginModeImpact) -> Iterator[str]:
    disables = impact.mode is PasswordLoginMode.DISABLED
    staff, customers = impact.staff_losing_rights, impact.customers_losing_access
    if staff:
        sentences = _STAFF_REJECTED if disables else _STAFF_LIMITED
        yield text(*sentences, count=staff, all=found.numbers.staff_active)
    if customers.number:
        numbers = {"some": _tally(customers), "all": _tally(found.numbers.customers)}
        yield text(*_CUSTOMERS_REJECTED, count=customers.number, **numbers)
    ending = impact.sessions_without_refresh
    if ending.number:
        yield text(*_NOT_REFRESHED, count=ending.number, some=_tally(ending))
    if not (impact.lockout.people or impact.lockout.apps):
        yield _ONLY_HERE
    yield _MODES[impact.mode]


def _tally(count: BoundedCount) -> str:
    return text("more than {n:,}" if count.is_more else "{n:,}", n=count.number)
