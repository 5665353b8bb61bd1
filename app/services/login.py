"""Signing in with email and password."""

from dataclasses import dataclass
from datetime import timedelta
from math import ceil

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.domain.actor import Actor, SessionOrigin
from app.domain.emails import normalize_email
from app.domain.errors import Problem, Refused
from app.domain.shop import PasswordLoginMode, Switches
from app.models import ShopRecord, UserRecord
from app.models.shop import SHOP_ID
from app.ports import Ports
from app.ports.throttle import ThrottleUnavailable
from app.services.access import part, public
from app.services.callers import USER_COLUMNS, SessionFound, find_door, read_user, switches_of
from app.services.identity import as_seen
from app.services.sessions import TokenPair, open_session, sign_pair

DISABLED = Problem(
    "DISABLED_AUTHENTICATION_METHOD",
    "Signing in with a password is switched off here. Use single sign-on.",
)
_WRONG = Problem("INVALID_CREDENTIALS", "Please, enter valid credentials", "email")
_INACTIVE = Problem("INACTIVE", "This account is not active.", "email")
_UNCONFIRMED = Problem(
    "ACCOUNT_NOT_CONFIRMED", "Confirm the account by the link in the mail first.", "email"
)
_NO_ADDRESS = Problem("UNKNOWN_IP_ADDRESS", "Cannot tell which address this request comes from.")


@dataclass(frozen=True, slots=True)
class _Candidate:
    """Who has the address that was typed, as far as the comparison needs it."""

    id: int
    password_hash: str | None
    is_active: bool
    is_confirmed: bool


@public
def create_token(
    ports: Ports, actor: Actor, *, email: str | None, password: str | None, audience: str = ""
) -> TokenPair:
    """Open a session by password (`tokenCreate`).

    Refuses, in this order: the mode DISABLED; a missing argument (REQUIRED); a caller without an
    address; a throttled address (LOGIN_ATTEMPT_DELAYED); a wrong password, an unknown email or a
    user without a password, all three alike (INVALID_CREDENTIALS); then an account that is
    inactive or unconfirmed. Contract, "`tokenCreate` and friends: codes".
    """
    require_password_login(find_door(ports).switches)
    if email is None or password is None:
        raise Refused(*_missing(email=email, password=password))
    candidate = _prove(ports, actor, email, password)
    new_hash = _fresh_hash(ports, candidate, password)
    with ports.database.transaction() as session:
        shop = session.get_one(ShopRecord, SHOP_ID)
        switches = switches_of(shop)
        require_password_login(switches)
        _sign_in(ports, session, candidate, new_hash)
        opened = open_session(ports, actor, session, candidate.id, SessionOrigin.PASSWORD)
        row = session.execute(select(*USER_COLUMNS).where(UserRecord.id == candidate.id)).one()
    user = read_user(tuple(row))
    seen = as_seen(SessionFound(0, opened.origin, user, user.permissions), switches)
    return sign_pair(ports, actor, opened, seen, audience)


@part
def require_password_login(switches: Switches) -> None:
    """Refuse while the password login mode is DISABLED."""
    if switches.password_login_mode is PasswordLoginMode.DISABLED:
        raise Refused(DISABLED)


def _missing(**arguments: str | None) -> list[Problem]:
    return [
        Problem("REQUIRED", "This is required.", name)
        for name, value in arguments.items()
        if value is None
    ]


def _prove(ports: Ports, actor: Actor, email: str, password: str) -> _Candidate:
    """Whose password it is, after one attempt that the throttle has counted."""
    if actor.address is None:
        raise Refused(_NO_ADDRESS)
    lease = _begin(ports, actor.address)
    try:
        candidate = _find(ports, email)
        right = ports.passwords.verify(candidate.password_hash if candidate else None, password)
    except BaseException:
        ports.throttle.release(actor.address, lease)
        raise
    now = ports.clock.timestamp()
    if candidate is None or not right:
        known = None if candidate is None else candidate.id
        ports.throttle.fail(actor.address, lease, known, now)
        raise Refused(_WRONG)
    problem = _standing(ports, candidate)
    if problem is not None:
        ports.throttle.release(actor.address, lease)
        raise Refused(problem)
    ports.throttle.succeed(actor.address, lease, candidate.id, now)
    return candidate


def _begin(ports: Ports, address: str) -> str:
    try:
        attempt = ports.throttle.begin(address, ports.clock.timestamp())
    except ThrottleUnavailable as error:
        # Without the counters nobody could be held off guessing, so nobody gets in meanwhile.
        raise Refused(
            Problem("LOGIN_ATTEMPT_DELAYED", "Signing in is not possible right now; try again.")
        ) from error
    if attempt.lease:
        return attempt.lease
    until = ports.clock.now() + timedelta(seconds=ceil(attempt.wait))
    raise Refused(
        Problem(
            "LOGIN_ATTEMPT_DELAYED",
            f"Too many attempts from this address. Try again after {until:%Y-%m-%d %H:%M:%S} UTC "
            f"(in {ceil(attempt.wait)} s).",
        )
    )


def _find(ports: Ports, email: str) -> _Candidate | None:
    with ports.database.reading() as session:
        row = session.execute(
            select(
                UserRecord.id,
                UserRecord.password_hash,
                UserRecord.is_active,
                UserRecord.is_confirmed,
            ).where(UserRecord.email == normalize_email(email))
        ).one_or_none()
    return None if row is None else _Candidate(*row)


def _standing(ports: Ports, candidate: _Candidate) -> Problem | None:
    """Why somebody with the right password may not come in all the same."""
    if not candidate.is_active:
        return _INACTIVE
    if candidate.is_confirmed:
        return None
    with ports.database.reading() as session:
        shop = session.get_one(ShopRecord, SHOP_ID)
    needed = (
        shop.enable_account_confirmation_by_email and not shop.allow_login_without_confirmation
    )
    return _UNCONFIRMED if needed else None


def _fresh_hash(ports: Ports, candidate: _Candidate, password: str) -> str | None:
    stored = candidate.password_hash
    if stored is None or not ports.passwords.needs_rehash(stored):
        return stored
    return ports.passwords.hash(password)


def _sign_in(ports: Ports, session: Session, candidate: _Candidate, new_hash: str | None) -> None:
    """Note the login, unless the account changed while the password was being compared."""
    noted = session.scalar(
        update(UserRecord)
        .where(
            UserRecord.id == candidate.id,
            UserRecord.is_active.is_(True),
            UserRecord.password_hash == candidate.password_hash,
        )
        .values(last_login=ports.clock.now(), password_hash=new_hash)
        .returning(UserRecord.id)
    )
    if noted is None:
        raise Refused(_WRONG)
