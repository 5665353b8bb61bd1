"""Which second factors an account has."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, exists, func, or_, select
from sqlalchemy.orm import Session

from app.domain.second_factors import SecondFactorType
from app.models import AuthenticatorAppRecord, PasskeyRecord, RecoveryCodeRecord, UserRecord
from app.ports import NamedRow
from app.services.authorization.register import part


@dataclass(frozen=True, slots=True)
class FactorCounts:
    """How many passkeys and unused recovery codes an account has, and whether it has an app."""

    passkeys: int = 0
    has_authenticator_app: bool = False
    recovery_codes: int = 0

    @property
    def is_active(self) -> bool:
        """Whether a password alone doesn't sign in: recovery codes don't count by themselves."""
        return self.passkeys > 0 or self.has_authenticator_app

    @property
    def types(self) -> tuple[SecondFactorType, ...]:
        """The ways to answer a challenge; none for an account without a second factor."""
        if not self.is_active:
            return ()
        has = {
            SecondFactorType.PASSKEY: self.passkeys > 0,
            SecondFactorType.AUTHENTICATOR_APP: self.has_authenticator_app,
            SecondFactorType.RECOVERY_CODES: self.recovery_codes > 0,
        }
        return tuple(kind for kind in SecondFactorType if has[kind])


_has_passkey = exists().where(PasskeyRecord.user_id == UserRecord.id)
_has_app = exists().where(
    AuthenticatorAppRecord.user_id == UserRecord.id,
    AuthenticatorAppRecord.confirmed_at.is_not(None),
)
HAS_SECOND_FACTOR = or_(_has_passkey, _has_app)
"""The condition of users who have a second factor, for queries of ``UserRecord``."""


def _number(*conditions: ColumnElement[bool]) -> ColumnElement[int]:
    return select(func.count()).where(*conditions).correlate(UserRecord).scalar_subquery()


FACTOR_COLUMNS = (
    _number(PasskeyRecord.user_id == UserRecord.id).label("factor_passkeys"),
    _number(
        AuthenticatorAppRecord.user_id == UserRecord.id,
        AuthenticatorAppRecord.confirmed_at.is_not(None),
    ).label("factor_apps"),
    _number(
        RecoveryCodeRecord.user_id == UserRecord.id, RecoveryCodeRecord.used_at.is_(None)
    ).label("factor_codes"),
)
"""What ``factors_in`` expects in a row of a query of ``UserRecord``."""


@part
def factors_in(row: NamedRow) -> FactorCounts:
    """Return the second factors in a row that has ``FACTOR_COLUMNS``."""
    return FactorCounts(row.factor_passkeys, bool(row.factor_apps), row.factor_codes)


@part
def read_factors(session: Session, user_id: int) -> FactorCounts:
    """Return which second factors an account has; one statement."""
    passkeys = select(func.count(PasskeyRecord.id)).where(PasskeyRecord.user_id == user_id)
    app = select(func.count(AuthenticatorAppRecord.user_id)).where(
        AuthenticatorAppRecord.user_id == user_id,
        AuthenticatorAppRecord.confirmed_at.is_not(None),
    )
    codes = select(func.count(RecoveryCodeRecord.selector)).where(
        RecoveryCodeRecord.user_id == user_id, RecoveryCodeRecord.used_at.is_(None)
    )
    row = session.execute(
        select(passkeys.scalar_subquery(), app.scalar_subquery(), codes.scalar_subquery())
    ).one()
    return FactorCounts(row[0], bool(row[1]), row[2])
