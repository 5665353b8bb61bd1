"""Begin a session by password, or ask for the account's second factor first."""

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor, SessionOrigin
from app.domain.second_factors import Challenge, ChallengePurpose
from app.domain.shop.settings import PasswordLoginMode, Switches
from app.domain.sign_in.sign_in_log import SignInReason
from app.domain.values.errors import Problem, Refused
from app.models import ShopRecord, UserRecord
from app.models.shop import SHOP_ID
from app.ports import Ports
from app.services.authorization.live_sessions import USER_COLUMNS, read_user, switches_of
from app.services.authorization.register import part
from app.services.second_factors.challenges import PendingSession, SecondFactorRequired, ask
from app.services.sign_in.sessions import (
    OpenedSession,
    SecondFactorSkipped,
    SessionStart,
    open_session,
)
from app.services.sign_in_log.recording import SignInEntry, record_sign_in

DISABLED = Problem(
    "DISABLED_AUTHENTICATION_METHOD",
    "Password login is disabled. Sign in with SSO.",
)
NO_STAFF = Problem(
    "INVALID",
    "This is a customer account. The console is for staff. Ask someone who "
    "manages staff to make you a staff member.",
    "email",
)
_INACTIVE = Problem("INACTIVE", "This account is not active.", "email")
_UNCONFIRMED = Problem(
    "ACCOUNT_NOT_CONFIRMED", "Confirm your account with the link in the email first.", "email"
)


@dataclass(frozen=True, slots=True)
class PasswordSignIn:
    """A session that has just begun: whose it is, as stored, and the switches of that moment."""

    opened: OpenedSession
    user: User
    switches: Switches


@dataclass(frozen=True, slots=True)
class UnfinishedSignIn:
    """The first factor was right; ``challenge`` asks for the second."""

    challenge: Challenge
    for_staff: bool

    def refusal(self) -> SecondFactorRequired:
        """Return what ends the use case, once the challenge is committed."""
        return SecondFactorRequired(self.challenge, for_staff=self.for_staff)


@part
def require_password_login(switches: Switches) -> None:
    """Refuse while the password login mode is DISABLED."""
    if switches.password_login_mode is PasswordLoginMode.DISABLED:
        raise Refused(DISABLED)


@part
def require_account(shop: ShopRecord, user: UserRecord, entry: SignInEntry) -> None:
    """Refuse accounts that can't sign in by password: INACTIVE, ACCOUNT_NOT_CONFIRMED.

    At the console also INVALID on ``email`` for customers.
    """
    if not user.is_active:
        raise Refused(_INACTIVE)
    if not user.is_confirmed and needs_confirmation(shop):
        raise Refused(_UNCONFIRMED)
    if entry.in_console and not user.is_staff:
        entry.reason = SignInReason.NOT_STAFF
        raise Refused(NO_STAFF)


@part
def needs_confirmation(shop: ShopRecord) -> bool:
    """Whether an unconfirmed account can't sign in."""
    return shop.enable_account_confirmation_by_email and not shop.allow_login_without_confirmation


@part
def begin_session(
    ports: Ports,
    actor: Actor,
    session: Session,
    user: UserRecord,
    entry: SignInEntry,
    begins: PendingSession,
    amr: tuple[str, ...] = (),
) -> PasswordSignIn | UnfinishedSignIn:
    """Open a session of origin PASSWORD in the transaction of ``session``.

    For an account with a second factor that ``amr`` lacks, a challenge is stored instead: the
    caller raises its refusal after the commit.
    """
    start = SessionStart(
        SessionOrigin.PASSWORD, lifetime=begins.lifetime, amr=amr, in_console=begins.in_console
    )
    try:
        opened = open_session(ports, actor, session, user.id, start)
    except SecondFactorSkipped as skipped:
        purpose, types = ChallengePurpose.SIGN_IN, skipped.types
        challenge = ask(ports, session, purpose, user_id=user.id, types=types, pending=begins)
        return UnfinishedSignIn(challenge, user.is_staff)
    user.last_login = ports.clock.now()
    record_sign_in(ports, actor, session, entry, user)
    row = session.execute(select(*USER_COLUMNS).where(UserRecord.id == user.id)).one()
    switches = switches_of(session.get_one(ShopRecord, SHOP_ID), ports.clock.now())
    return PasswordSignIn(opened, read_user(row), switches)
