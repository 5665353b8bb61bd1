"""Check whether anyone can sign in, and whether they can manage the shop."""

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import func, or_, select

from app.domain.accounts.emails import normalize_email
from app.domain.shop.lockouts import SettingsManagers
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values.installation import CheckResult, CheckState
from app.domain.values.text import text
from app.models import ShopRecord, UserRecord
from app.ports import Ports
from app.services.authorization.register import part
from app.services.identity.sso_coverage import has_sign_on
from app.services.shop.lockout_guard import read_settings_managers, settings_manager_columns
from app.services.shop.second_factor_impact import staff_without_second_factor

_SUBJECT = "sign-in"
_FACTOR = "second factor"
_EMAIL = "emails"
_NAMED = 5
"""Twins that a finding names: more don't help."""
_NO_FACTOR = "flask shop set staff-second-factor OPTIONAL"
_ENABLE = "flask shop set password-login-mode ENABLED"
_NO_PROVIDER = {
    PasswordLoginMode.DISABLED: (
        "No one can sign in: password login is disabled and no identity provider works."
    ),
    PasswordLoginMode.CUSTOMERS_ONLY: (
        "No staff can sign in: password login is for customers only, and no identity provider "
        "works."
    ),
}


@dataclass(frozen=True, slots=True)
class _StaffSignIns:
    """Counts of active staff; ``with_password`` and ``with_sign_on`` can sign in that way."""

    mode: PasswordLoginMode
    active: int
    with_either: int
    with_sign_on: int
    managers: SettingsManagers

    @property
    def able(self) -> int:
        """How many can sign in as staff."""
        is_open = self.mode is PasswordLoginMode.ENABLED
        return self.with_either if is_open else self.with_sign_on

    @property
    def able_managers(self) -> int:
        """How many of them can manage settings."""
        if self.mode is PasswordLoginMode.ENABLED:
            return self.managers.people
        return self.managers.by_sign_on + self.managers.by_grant


@part
def sign_in_finding(ports: Ports, *, has_working_provider: bool) -> CheckResult:
    """Whether staff can sign in with the current password login mode, and manage settings."""
    found = _count(ports)
    if found.mode is not PasswordLoginMode.ENABLED and not has_working_provider:
        return CheckResult(_SUBJECT, CheckState.FAILED, _NO_PROVIDER[found.mode], _ENABLE)
    if not found.active:
        message, remedy = "There are no active staff.", "flask user create EMAIL --superuser"
        return CheckResult(_SUBJECT, CheckState.WARNING, message, remedy)
    if not found.able:
        return CheckResult(_SUBJECT, CheckState.WARNING, *_unable(found))
    if not found.able_managers:
        message = "No one who can sign in can manage settings."
        return CheckResult(
            _SUBJECT, CheckState.WARNING, message, "flask user create EMAIL --superuser"
        )
    message = text(
        "{able:,} of {active:,} active staff can sign in; {managers:,} can manage settings.",
        able=found.able,
        active=found.active,
        managers=found.able_managers,
    )
    return CheckResult(_SUBJECT, CheckState.FINE, message)


@part
def second_factor_findings(ports: Ports) -> Iterator[CheckResult]:
    """Whether all staff have the second factor that the shop requires; none while it doesn't."""
    query = select(
        ShopRecord.second_factor_from,
        staff_without_second_factor().label("without"),
    )
    with ports.database.reading() as session:
        row = session.execute(query).one()
    begins = row.second_factor_from
    if begins is None:
        return
    if not row.without:
        message = "All active staff have the second factor that is required of them."
        yield CheckResult(_FACTOR, CheckState.FINE, message)
        return
    message = text(
        "{count:,} active staff member has no second factor, which is required from "
        "{begins:%Y-%m-%d %H:%M} UTC.",
        "{count:,} active staff have no second factor, which is required from "
        "{begins:%Y-%m-%d %H:%M} UTC.",
        count=row.without,
        begins=begins,
    )
    remedy = f"Let them add one when they sign in to the console, or: {_NO_FACTOR}"
    yield CheckResult(_FACTOR, CheckState.WARNING, message, remedy)


@part
def email_twin_findings(ports: Ports) -> Iterator[CheckResult]:
    """Report accounts that have the same email in two spellings; nothing without any.

    They are from when those were different emails.
    """
    encoded = select(UserRecord.email).where(UserRecord.email.like("%@%xn--%"))
    with ports.database.reading() as session:
        others = {normalize_email(email): email for email in session.scalars(encoded)}
        stored = select(UserRecord.email).where(UserRecord.email.in_(others))
        twins = sorted(email for email in session.scalars(stored) if others[email] != email)
    if not twins:
        return
    named = ", ".join(f"{email} and {others[email]}" for email in twins[:_NAMED])
    message = text(
        "{count:,} email has two accounts, in two spellings of its domain: {named}.",
        "{count:,} emails have two accounts each, in two spellings of the domain: {named}.",
        count=len(twins),
        named=named,
    )
    remedy = "Give one of them another email: flask user update EMAIL --email NEW, or delete it"
    yield CheckResult(_EMAIL, CheckState.WARNING, message, remedy)


def _unable(found: _StaffSignIns) -> tuple[str, str]:
    """Return why no staff can sign in, and what to do."""
    if found.mode is PasswordLoginMode.ENABLED:
        message = text(
            "No staff can sign in: {count:,} active staff member has neither a password nor an "
            "SSO identity.",
            "No staff can sign in: {count:,} active staff have neither a password nor an SSO "
            "identity.",
            count=found.active,
        )
        return message, "flask user reset-password EMAIL"
    message = text(
        "No staff have signed in with SSO yet: {count:,} active staff member has no SSO identity.",
        "No staff have signed in with SSO yet: {count:,} active staff have no SSO identity.",
        count=found.active,
    )
    return message, f"Let staff sign in with SSO, or: {_ENABLE}"


def _count(ports: Ports) -> _StaffSignIns:
    staff = (
        select(func.count())
        .select_from(UserRecord)
        .where(UserRecord.is_staff, UserRecord.is_active)
    )
    has_either = or_(UserRecord.password_hash.is_not(None), has_sign_on())
    query = select(
        ShopRecord.password_login_mode,
        staff.scalar_subquery().label("active"),
        staff.where(has_either).scalar_subquery().label("with_either"),
        staff.where(has_sign_on()).scalar_subquery().label("with_sign_on"),
        *settings_manager_columns(ports),
    )
    with ports.database.reading() as session:
        row = session.execute(query).one()
    mode = PasswordLoginMode(row.password_login_mode)
    managers = read_settings_managers(row)
    return _StaffSignIns(mode, row.active, row.with_either, row.with_sign_on, managers)
