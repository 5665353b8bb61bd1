"""Making an account trusted: confirmed, or a staff member's."""

from sqlalchemy import delete
from sqlalchemy.orm import Session

from app.domain.authorization.actor import Actor
from app.models import (
    AuthenticatorAppRecord,
    ExternalIdentityRecord,
    PasskeyRecord,
    RecoveryCodeRecord,
    SecondFactorChallengeRecord,
    SessionRecord,
    UserRecord,
)
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import part


@part
def confirm_email(ports: Ports, actor: Actor, session: Session, user: UserRecord) -> None:
    """Mark the email of ``user``, whose row is locked, as confirmed.

    Unverified identities and second factors of the account are dropped, as in ``make_staff``.
    """
    _drop_unverified(ports, actor, session, user)
    user.is_confirmed = True


@part
def make_staff(
    ports: Ports, actor: Actor, session: Session, user: UserRecord, by_identity: int | None = None
) -> None:
    """Make ``user``, whose row is locked, a staff member.

    Every identity whose email its provider hasn't verified is dropped, with its sessions and
    tokens: it may belong to someone who only claimed the address. So may the second factors of an
    unconfirmed account, which go with their sessions. ``by_identity`` is the key of an identity
    that stays, because its provider made the person staff.

    This function and ``confirm_email`` are the only ones that make an existing account trusted
    (``tests/house/test_account_trust.py``).
    """
    user.is_staff = True
    _drop_unverified(ports, actor, session, user, by_identity)


def _drop_unverified(
    ports: Ports, actor: Actor, session: Session, user: UserRecord, but: int | None = None
) -> None:
    subjects = session.scalars(
        delete(ExternalIdentityRecord)
        .where(
            ExternalIdentityRecord.user_id == user.id,
            ExternalIdentityRecord.is_verified.is_(False),
            ExternalIdentityRecord.id != (but or 0),
        )
        .returning(ExternalIdentityRecord.subject)
    ).all()
    if subjects:
        before = {"subjects": sorted(subjects)}
        change = Change("user.unlink", "User", user.id, user.email, before)
        record(ports, actor, session, change)
    if not user.is_confirmed:
        _drop_factors(ports, actor, session, user)


def _drop_factors(ports: Ports, actor: Actor, session: Session, user: UserRecord) -> None:
    """Remove the second factors of an unconfirmed account, and what they opened."""
    passkeys, apps = (
        len(session.scalars(delete(kind).where(kind.user_id == user.id).returning(key)).all())
        for kind, key in (
            (PasskeyRecord, PasskeyRecord.id),
            (AuthenticatorAppRecord, AuthenticatorAppRecord.user_id),
        )
    )
    if not (passkeys or apps):
        return
    opened = SessionRecord.user_id == user.id, SessionRecord.amr != ""
    session.execute(delete(SessionRecord).where(*opened))
    for kind in (RecoveryCodeRecord, SecondFactorChallengeRecord):
        session.execute(delete(kind).where(kind.user_id == user.id))
    before = {"passkeys": passkeys, "authenticator_app": bool(apps)}
    record(
        ports, actor, session, Change("second_factor.reset", "User", user.id, user.email, before)
    )
