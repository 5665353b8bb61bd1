"""Record attempts to sign in, and tell staff by email of a new device or network.

Successes are written with their session, refusals are counted in memory.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from sqlalchemy import case, delete, func, select, update
from sqlalchemy.orm import Session

from app import models
from app.domain.audit import SecurityEvent
from app.domain.authorization.actor import Actor
from app.domain.mails.mail import MailKind
from app.domain.second_factors import SecondFactorType
from app.domain.sign_in.devices import device_of, network_of, without_version
from app.domain.sign_in.sign_in_log import (
    AccountType,
    SignInMethod,
    SignInReason,
    SignInRefusal,
    mask_email,
)
from app.domain.values.errors import Problem, Refused
from app.domain.values.installation import Unreachable
from app.models.record import insert_into
from app.ports import Ports
from app.ports.http import CallFailed
from app.ports.monitoring import SIGN_INS
from app.ports.passwords import PasswordsBusy
from app.services.authorization.register import after_commit, building_block
from app.services.outbox.security_notices import notify

MAX_NEW_PER_HOUR = 5
"""New devices of an account in an hour that are mailed: programs can name themselves anything."""


def _remember_device(ports: Ports, actor: Actor, session: Session, user_id: int) -> None:
    """Note where a staff member signs in from, and mail them if it is new.

    The first device of an account gets no mail. Of parallel sign-ins from a new one, one sends it.
    """
    if not _add(ports, actor, session, user_id):
        return
    device = models.KnownDevice
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
    key = _key(user_id, device_of(actor.user_agent), actor.address or "")
    added = session.scalar(
        insert_into(session, models.KnownDevice)
        .values(**key, first_used_at=now, last_used_at=now)
        .on_conflict_do_nothing()
        .returning(models.KnownDevice.user_id)
    )
    if added is None:
        used = update(models.KnownDevice).filter_by(**key)
        session.execute(used.values(last_used_at=now))
    return added is not None


@building_block
def forget_device(session: Session, user_id: int, device: str, address: str) -> None:
    """Forget a device, so that the next sign-in from it is new."""
    forget = delete(models.KnownDevice).filter_by(**_key(user_id, device, address))
    session.execute(forget)


def _key(user_id: int, device: str, address: str) -> dict[str, object]:
    return {"user_id": user_id, "device": without_version(device), "network": network_of(address)}


_REASONS: Mapping[str, SignInReason] = {
    "ACCOUNT_NOT_CONFIRMED": SignInReason.NOT_CONFIRMED,
    "DISABLED_AUTHENTICATION_METHOD": SignInReason.PASSWORD_LOGIN_OFF,
    "INACTIVE": SignInReason.INACTIVE,
    "JWT_DECODE_ERROR": SignInReason.TOKEN_INVALID,
    "JWT_INVALID_TOKEN": SignInReason.TOKEN_INVALID,
    "JWT_SIGNATURE_EXPIRED": SignInReason.TOKEN_EXPIRED,
    "LOGIN_ATTEMPT_DELAYED": SignInReason.BLOCKED_IP,
    "UNKNOWN_IP_ADDRESS": SignInReason.OTHER,
}
_DEPENDS_ON_STEP = ("INVALID", "INVALID_CREDENTIALS")
_OF_SECOND_FACTOR = {
    ("INVALID", "challenge"): SignInReason.CHALLENGE_ENDED,
    ("INVALID_SECOND_FACTOR", "code"): SignInReason.INCORRECT_CODE,
    ("INVALID_SECOND_FACTOR", "credential"): SignInReason.PASSKEY_REFUSED,
}


@dataclass(slots=True)
class SignInEntry:
    """What is known of an attempt while it runs.

    ``reason`` is what a refusal for an invalid input means at this step; ``second_factor`` is what
    was right after the method.
    """

    method: SignInMethod
    email: str = ""
    user_id: int | None = None
    provider: str = ""
    in_console: bool = False
    reason: SignInReason = SignInReason.OTHER
    second_factor: SecondFactorType | None = None


@building_block
@contextmanager
def logged_sign_in(ports: Ports, actor: Actor, entry: SignInEntry) -> Iterator[SignInEntry]:
    """Run an attempt; count it as refused if the block raises ``Refused``.

    Incomplete requests and new passwords that are too weak are no attempts, nor are those that
    wait for a second factor.
    """
    try:
        yield entry
    except Refused as refused:
        reason = _reason(refused, entry)
        if reason is not None:
            refusal = SignInRefusal(
                method=entry.method,
                reason=reason,
                address=actor.address or "",
                email=entry.email,
                user_id=entry.user_id,
                provider=entry.provider,
                in_console=entry.in_console,
                detail=refused.problems[0].message if entry.provider else "",
            )
            count_refusal(ports, refusal, actor.user_agent)
        raise


@building_block
def count_refusal(ports: Ports, refusal: SignInRefusal, user_agent: str) -> None:
    """Count a refused attempt in the sign-in log, the metrics and the security log."""
    ports.sign_in_log.count_refusal(refusal, user_agent)
    ports.metrics.count(SIGN_INS, refusal.method.value, refusal.reason.value)
    ports.security_log.write(
        SecurityEvent.LOGIN_FAIL,
        method=refusal.method.value,
        reason=refusal.reason.value,
        subject=None if refusal.user_id is None else f"User:{refusal.user_id}",
        account=mask_email(refusal.email) if refusal.email else None,
        client_ip=refusal.address,
        provider=refusal.provider,
        in_console=refusal.in_console,
    )


@building_block
def record_sign_in(
    ports: Ports,
    actor: Actor,
    session: Session,
    entry: SignInEntry,
    user: models.User,
    *,
    is_staff: bool | None = None,
) -> None:
    """Add the success of ``user`` to the transaction that opens their session.

    ``is_staff`` is for this session, if that isn't what the account says. Staff get an email if
    they signed in from a device or network that is new.
    """
    now = ports.clock.now()
    as_staff = user.is_staff if is_staff is None else is_staff
    after_commit(session, partial(_report_success, ports, actor, entry, user.id))
    session.add(
        models.SignInEvent(
            at=now,
            first_at=now,
            attempts=1,
            method=entry.method.value,
            reason="",
            account_type=(AccountType.STAFF if as_staff else AccountType.CUSTOMER).value,
            user_id=user.id,
            name=user.email,
            provider=entry.provider[:256],
            address=actor.address or "",
            device=device_of(actor.user_agent),
            in_console=entry.in_console,
            second_factor=entry.second_factor or "",
        )
    )
    if user.is_staff:
        _remember_device(ports, actor, session, user.id)


def _report_success(ports: Ports, actor: Actor, entry: SignInEntry, user_id: int) -> None:
    ports.metrics.count(SIGN_INS, entry.method.value, "SUCCESS")
    ports.security_log.write(
        SecurityEvent.LOGIN_SUCCESS,
        method=entry.method.value,
        subject=f"User:{user_id}",
        client_ip=actor.address,
        provider=entry.provider,
        in_console=entry.in_console,
    )


def _reason(refused: Refused, entry: SignInEntry) -> SignInReason | None:
    if isinstance(refused, PasswordsBusy) or isinstance(
        refused.__cause__, Unreachable | CallFailed
    ):
        return SignInReason.UNAVAILABLE
    problem = refused.problems[0]
    of_second_factor = _OF_SECOND_FACTOR.get((problem.code, problem.field or ""))
    if of_second_factor is not None:
        return of_second_factor
    if problem.code in _DEPENDS_ON_STEP:
        return entry.reason
    if _is_ended_session(problem):
        return SignInReason.SESSION_ENDED
    return _REASONS.get(problem.code)


def _is_ended_session(problem: Problem) -> bool:
    """Contract, part 3: refreshing names the field for a bad token, and none for the session."""
    return problem.code == "JWT_INVALID_TOKEN" and problem.field is None
