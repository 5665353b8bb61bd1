"""The devices and networks that staff sign in from, and the notice of a new one."""

from datetime import timedelta

from sqlalchemy import case, delete, func, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from app.domain.authorization.actor import Actor
from app.domain.mails.mail import MailKind
from app.domain.sign_in.devices import device_of, network_of, without_version
from app.models import KnownDeviceRecord
from app.ports import Ports
from app.services.authorization.register import part
from app.services.outbox.security_notices import notify

MAX_NEW_PER_HOUR = 5
"""New devices of an account in an hour that are mailed: programs can name themselves anything."""

_MAX_USER_AGENT_LENGTH = 256
_MAX_DEVICE_LENGTH = 64


@part
def note_device(ports: Ports, actor: Actor, session: Session, user_id: int) -> None:
    """Note where a staff member signs in from, and mail them if it is new.

    The first device of an account gets no mail. Of parallel sign-ins from a new one, one sends it.
    """
    if not _add(ports, actor, session, user_id):
        return
    device = KnownDeviceRecord
    hour_ago = ports.clock.now() - timedelta(hours=1)
    recent = func.sum(case((device.first_used_at > hour_ago, 1), else_=0))
    devices, new_ones = session.execute(
        select(func.count(), recent).where(device.user_id == user_id)
    ).one()
    if devices > 1 and new_ones <= MAX_NEW_PER_HOUR:
        notify(ports, actor, session, user_id, MailKind.NEW_DEVICE)


def _add(ports: Ports, actor: Actor, session: Session, user_id: int) -> bool:
    """Note the use of the device; return whether it is new."""
    now = ports.clock.now()
    device = device_of(actor.user_agent[:_MAX_USER_AGENT_LENGTH])
    key = _key(user_id, device, actor.address or "")
    dialect = postgresql if session.get_bind().dialect.name == "postgresql" else sqlite
    added = session.scalar(
        dialect.insert(KnownDeviceRecord)
        .values(**key, first_used_at=now, last_used_at=now)
        .on_conflict_do_nothing()
        .returning(KnownDeviceRecord.user_id)
    )
    if added is None:
        used = update(KnownDeviceRecord).filter_by(**key)
        session.execute(used.values(last_used_at=now))
    return added is not None


@part
def forget_device(session: Session, user_id: int, device: str, address: str) -> None:
    """Forget a device, so that the next sign-in from it is new."""
    forget = delete(KnownDeviceRecord).filter_by(**_key(user_id, device, address))
    session.execute(forget)


def _key(user_id: int, device: str, address: str) -> dict[str, object]:
    return {
        "user_id": user_id,
        "device": without_version(device)[:_MAX_DEVICE_LENGTH],
        "network": network_of(address),
    }
