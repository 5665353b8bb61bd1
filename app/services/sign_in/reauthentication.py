"""The caller's own account, and the password that is asked for again before it changes."""

from dataclasses import dataclass
from math import ceil

from sqlalchemy import delete, select

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Caller
from app.domain.sign_in.login_throttle import MAX_GUESSES
from app.domain.values.errors import PermissionDenied, Problem, Refused
from app.domain.values.text import Sentence
from app.models import SessionRecord, ShopRecord, UserRecord
from app.models.shop import SHOP_ID
from app.ports import Ports
from app.ports.passwords import Match
from app.ports.throttle import ThrottleUnavailable
from app.services.audit.log import Change, record
from app.services.authorization.register import part
from app.services.lists.records import record_from
from app.services.second_factors.stored_factors import HAS_SECOND_FACTOR
from app.services.sign_in.imported_passwords import renew_hash
from app.services.sign_in.login_attempts import UNCOUNTABLE


@dataclass(frozen=True, slots=True)
class OwnAccount:
    """The caller as stored, with the hash that a password is compared with."""

    id: int
    email: str
    first_name: str
    last_name: str
    password_hash: str | None
    has_second_factor: bool
    shop_name: str


@part
def own_id(actor: Actor) -> int:
    """Return the key of the caller of an ``account_owner_only`` use case.

    Raises ``PermissionDenied`` for the operator, who passes every declaration and has no account.
    """
    if actor.user_id is None:
        raise PermissionDenied(Caller.USER)
    return actor.user_id


@part
def own_account(ports: Ports, actor: Actor) -> OwnAccount:
    """The account of the person who is calling; raises as ``own_id`` does."""
    columns = (
        UserRecord.id,
        UserRecord.email,
        UserRecord.first_name,
        UserRecord.last_name,
        UserRecord.password_hash,
        HAS_SECOND_FACTOR.label("has_second_factor"),
    )
    with ports.database.reading() as session:
        row = session.execute(select(*columns).where(UserRecord.id == own_id(actor))).one_or_none()
        name = session.get_one(ShopRecord, SHOP_ID).name
    if row is None:
        raise PermissionDenied(Caller.USER)
    return record_from(OwnAccount, row, shop_name=name)


@part
def prove_password(
    ports: Ports,
    actor: Actor,
    account: OwnAccount,
    password: str | None,
    field: str,
    *,
    renews: bool = True,
) -> None:
    """Refuse INVALID_CREDENTIALS on ``field`` unless ``password`` is the account's own.

    An imported hash is then replaced if it ``renews``.

    Guesses are counted per person before they are compared, with any credential: after
    ``MAX_GUESSES`` wrong ones in a row, LOGIN_ATTEMPT_DELAYED for an hour. The last wrong one also
    ends its session. Never inside a transaction: comparing is slow by design.
    """
    if password is None:
        raise Refused(Problem("INVALID_CREDENTIALS", "Enter your current password.", field))
    try:
        number = _count_guess(ports, account)
        match = _compare(ports, account, password)
        if not match:
            if number >= MAX_GUESSES:
                end_guessed_session(ports, actor, f"{MAX_GUESSES} incorrect passwords in a row.")
            raise Refused(Problem("INVALID_CREDENTIALS", _wrong(account), field))
        if account.has_second_factor:
            # The guesses at its codes count on: who has the password could guess them freely.
            ports.throttle.undo_guess(account.id)
        else:
            ports.throttle.reset_guesses(account.id)
    except ThrottleUnavailable as error:
        raise Refused(UNCOUNTABLE) from error
    if renews and account.password_hash is not None:
        renew_hash(ports, account.id, account.password_hash, password, match)


def _count_guess(ports: Ports, account: OwnAccount) -> int:
    guess = ports.throttle.guess(account.id, ports.throttle.timestamp(ports.shared_clock))
    if not guess.number:
        minutes = ceil(guess.wait / 60)
        raise Refused(
            Problem(
                "LOGIN_ATTEMPT_DELAYED",
                "Too many incorrect passwords. Try again in {count} minute.",
                plural="Too many incorrect passwords. Try again in {count} minutes.",
                values={"count": minutes},
            )
        )
    return guess.number


def _compare(ports: Ports, account: OwnAccount, password: str) -> Match:
    try:
        return ports.passwords.verify(account.password_hash, password)
    except Exception:
        ports.throttle.undo_guess(account.id)  # nothing was compared
        raise


def _wrong(account: OwnAccount) -> Sentence:
    if account.password_hash is None:
        return "This account has no password. Request a link to set one."
    return "Incorrect password."


@part
def end_guessed_session(ports: Ports, actor: Actor, reason: str) -> None:
    """End the caller's session, in which someone guesses; ``reason`` is for the audit log."""
    if actor.session_id is None:
        return  # a provider's token: it cannot be ended here, and gets no further guess
    with ports.database.transaction() as session:
        session.execute(delete(SessionRecord).where(SessionRecord.id == actor.session_id))
        why = {"reason": reason}
        change = Change("session.end", "User", actor.user_id or 0, actor.name, after=why)
        record(ports, actor, session, change)
