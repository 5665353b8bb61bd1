"""A change of a provider that nobody could undo, for whoever is to be told before they make it.

That is the console and the shell: what GraphQL answers does not depend on it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.domain.authorization.actor import Actor, anonymous
from app.domain.shop.lockouts import (
    DoorChange,
    Lockout,
    LockoutReason,
    LocksOut,
    Undoers,
    estrangement,
    estranging_setting,
    judge_lockout,
)
from app.domain.shop.settings import PasswordLoginMode
from app.domain.single_sign_on.providers import Provider
from app.domain.values.errors import Problem
from app.models import ShopRecord, UserRecord
from app.ports import Ports
from app.services.authorization.register import part
from app.services.shop.lockout_guard import undoer_columns
from app.services.shop.sign_in_counts import COUNTED
from app.services.single_sign_on.provider_coverage import comes_by, people_of


@dataclass(frozen=True, slots=True)
class _Doors:
    """Who could undo something now, and how many people a provider lets in."""

    mode: PasswordLoginMode
    undoers: Undoers
    people: int
    staff: int


@part
@contextmanager
def way_back_kept(
    ports: Ports,
    actor: Actor,
    session: Session,
    before: Provider,
    after: Provider,
) -> Iterator[None]:
    """Raise ``LocksOut`` (INVALID on the setting) if nobody could undo what the block does.

    It is to make ``after`` of ``before``, and refused to the operator too, who is never locked
    out. What nobody could have undone anyway is let be: it may be the repair.
    """
    setting = estranging_setting(before, after)
    if not setting:
        yield
        return
    who = anonymous() if actor.is_trusted else actor
    was = _count(ports, session, before)
    yield
    # Whom another client knows, only the provider can tell; another issuer's people stand here.
    now = _count(ports, session, before, without=before.slug if setting == "client_id" else None)
    judged = _judge(who, now, DoorChange(provider_off=before.slug))
    reason = judged.unlike(_judge(who, was, DoorChange())).reason
    if reason is not None:
        raise LocksOut(Problem("INVALID", _told(setting, before, was, reason), setting))


def _judge(who: Actor, doors: _Doors, change: DoorChange) -> Lockout:
    return judge_lockout(who, doors.undoers, doors.mode, change)


def _count(
    ports: Ports, session: Session, provider: Provider, *, without: str | None = None
) -> _Doors:
    staff = select(func.count()).select_from(UserRecord)
    staff = staff.where(UserRecord.is_staff, UserRecord.is_active, comes_by(provider))
    asked = select(
        ShopRecord.password_login_mode,
        people_of(provider),
        staff.scalar_subquery(),
        *undoer_columns(ports, without=without),
    )
    mode, people, of_staff, *counted = session.execute(asked).one()
    return _Doors(PasswordLoginMode(mode), Undoers(*counted), people, of_staff)


def _told(setting: str, provider: Provider, doors: _Doors, reason: LockoutReason) -> str:
    number = f"More than {COUNTED:,}" if doors.people > COUNTED else f"{doors.people:,}"
    people = f"{number} {'person' if doors.people == 1 else 'people'}"
    return estrangement(setting, provider.name, people, doors.staff, reason)
