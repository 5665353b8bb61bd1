"""Second factors that a person reported: they stop working, but still count.

They aren't removed. A stranger who reads the mailbox could report them as well, and would sign in
with a new password alone. Without their keys, such factors only keep everyone out, until an
administrator resets them or the person removes them with another factor.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, delete, or_, select
from sqlalchemy.orm import Session

from app.models import AuthenticatorAppRecord, PasskeyRecord, RecoveryCodeRecord
from app.services.authorization.register import part

PASSKEY = "passkey"
"""What a notice about a copied passkey has its ID under."""

AUTHENTICATOR_APP = "Authenticator app"
RECOVERY_CODES = "Recovery codes"

_SAME_MOMENT = timedelta(minutes=1)
"""How long before its notice a factor is stored at most: both are in one transaction."""


@part
def list_reported(
    session: Session, user_id: int, notice: Mapping[str, object], since: datetime
) -> tuple[str, ...]:
    """Return the names of what ``stop_reported`` would stop."""
    passkeys = select(PasskeyRecord.name).where(*_passkeys(user_id, notice, since))
    names = [f'Passkey "{name}"' for name in session.scalars(passkeys.order_by(PasskeyRecord.id))]
    app, code = AuthenticatorAppRecord, RecoveryCodeRecord
    if session.scalar(select(app.user_id).where(*_app(user_id, since))) is not None:
        names.append(AUTHENTICATOR_APP)
    if session.scalar(select(code.user_id).where(*_codes(user_id, since)).limit(1)) is not None:
        names.append(RECOVERY_CODES)
    return tuple(names)


@part
def stop_reported(
    session: Session, user_id: int, notice: Mapping[str, object], since: datetime
) -> tuple[str, ...]:
    """Stop the passkey that ``notice`` names, and all factors and codes that came ``since`` then.

    ``since`` is the moment of the reported notice: what came later may be the same stranger's.
    The user's row is locked. Returns the names.
    """
    names = list_reported(session, user_id, notice, since)
    for passkey in session.scalars(
        select(PasskeyRecord).where(*_passkeys(user_id, notice, since))
    ):
        passkey.public_key = ""
    for app in session.scalars(select(AuthenticatorAppRecord).where(*_app(user_id, since))):
        app.secret = app.pending_secret = ""
    session.execute(delete(RecoveryCodeRecord).where(*_codes(user_id, since)))
    return names


def _passkeys(
    user_id: int, notice: Mapping[str, object], since: datetime
) -> tuple[ColumnElement[bool], ...]:
    named = notice.get(PASSKEY)
    is_named = PasskeyRecord.id == (int(named) if isinstance(named, str) else 0)
    is_new = PasskeyRecord.created_at >= since - _SAME_MOMENT
    return PasskeyRecord.user_id == user_id, or_(is_named, is_new)


def _app(user_id: int, since: datetime) -> tuple[ColumnElement[bool], ...]:
    app = AuthenticatorAppRecord
    return app.user_id == user_id, app.confirmed_at >= since - _SAME_MOMENT


def _codes(user_id: int, since: datetime) -> tuple[ColumnElement[bool], ...]:
    code = RecoveryCodeRecord
    return code.user_id == user_id, code.created_at >= since - _SAME_MOMENT
