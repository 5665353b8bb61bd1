"""Refuse changes of a provider that no one could undo, at the console and the shell.

GraphQL doesn't use it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.domain.authorization.actor import Actor, anonymous
from app.domain.shop.lockouts import (
    AccessChange,
    Lockout,
    LockoutRefused,
    SettingsManagers,
    check_lockout,
    locking_problem,
    locking_setting,
)
from app.domain.shop.settings import PasswordLoginMode
from app.domain.single_sign_on.providers import Provider
from app.models import ShopRecord, UserRecord
from app.ports import Ports
from app.services.authorization.register import part
from app.services.shop.lockout_guard import read_settings_managers, settings_manager_columns
from app.services.shop.sign_in_counts import MAX_COUNTED
from app.services.single_sign_on.provider_coverage import people_of, signed_in_with


@dataclass(frozen=True, slots=True)
class _AccessState:
    """Who can undo changes now, and how many people use a provider."""

    mode: PasswordLoginMode
    managers: SettingsManagers
    people: int
    staff: int


@part
@contextmanager
def prevent_lockout(
    ports: Ports,
    actor: Actor,
    session: Session,
    before: Provider,
    after: Provider,
) -> Iterator[None]:
    """Raise ``LockoutRefused`` (INVALID on the setting) if no one could undo the block's change.

    The block changes ``before`` to ``after``. The operator is refused too. A change is allowed if
    no one could have undone anything before: it may be the repair.
    """
    setting = locking_setting(before, after)
    if not setting:
        yield
        return
    who = anonymous() if actor.is_trusted else actor
    was = _count(ports, session, before)
    yield
    # Whom another client knows, only the provider can tell; another issuer's people stand here.
    now = _count(ports, session, before, without=before.slug if setting == "client_id" else None)
    judged = _check_lockout(who, now, AccessChange(provider_off=before.slug))
    reason = judged.unless_before(_check_lockout(who, was, AccessChange())).reason
    if reason is not None:
        raise LockoutRefused(
            locking_problem(setting, before, was.people, was.staff, reason, most=MAX_COUNTED)
        )


def _check_lockout(who: Actor, access_state: _AccessState, change: AccessChange) -> Lockout:
    return check_lockout(who, access_state.managers, access_state.mode, change)


def _count(
    ports: Ports, session: Session, provider: Provider, *, without: str | None = None
) -> _AccessState:
    staff = select(func.count()).select_from(UserRecord)
    staff = staff.where(UserRecord.is_staff, UserRecord.is_active, signed_in_with(provider))
    query = select(
        ShopRecord.password_login_mode,
        people_of(provider).label("people"),
        staff.scalar_subquery().label("staff"),
        *settings_manager_columns(ports, without=without),
    )
    row = session.execute(query).one()
    mode = PasswordLoginMode(row.password_login_mode)
    return _AccessState(mode, read_settings_managers(row), row.people, row.staff)
