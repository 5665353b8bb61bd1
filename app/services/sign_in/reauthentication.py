"""Check passwords again before an account changes, and passwords that were imported.

An imported password is replaced at the first sign-in. Refusals take as long for every account.
"""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, literal, select, text, update
from sqlalchemy.orm import Session

from app import models
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Caller
from app.domain.imports.runs import digest_of_text
from app.domain.passwords.imported_hashes import ImportedPasswordState, UnusableHash, parse_hash
from app.domain.sign_in.login_throttle import MAX_GUESSES
from app.domain.values.errors import PermissionDenied, Problem, Refused
from app.domain.values.text import Sentence
from app.ports import Ports
from app.ports.database import account
from app.ports.passwords import Match, PasswordsBusy
from app.ports.process_cache import ImportedCost
from app.ports.throttle import ThrottleUnavailable
from app.services.audit.log import Change, record
from app.services.authorization.register import building_block
from app.services.lists.paging import columns_for, record_from
from app.services.second_factors.stored_factors import HAS_SECOND_FACTOR
from app.services.sign_in.login_throttle import UNCOUNTABLE, count_guess

_SAMPLE = 200
"""Hashes that are looked at from either end, the oldest accounts and the newest."""

_GOOD_FOR = 60.0
"""Seconds after which they are looked at again."""

_TOO_MANY = Problem(
    "LOGIN_ATTEMPT_DELAYED",
    "Too many incorrect passwords. Try again in {count} minute.",
    plural="Too many incorrect passwords. Try again in {count} minutes.",
)


@building_block
def imported_seconds(ports: Ports) -> float:
    """Return what checking an imported password costs, 0 if none waits for its first sign-in.

    For ``PasswordHasher.verify`` wherever someone without a session waits for a refusal. It is the
    most expensive one of a sample, as each process last saw it.
    """
    now = ports.clock.timestamp()
    known = ports.cache.imported_cost
    if known is None or abs(now - known.read_at) >= _GOOD_FOR:
        known = ImportedCost(_read_seconds(ports), now)
        ports.cache.imported_cost = known
    return known.seconds


@building_block
def renew_hash(ports: Ports, user_id: int, stored: str, password: str, match: Match) -> None:
    """Replace ``stored``, which matches ``password``, unless a new hash would be like it.

    A new one is Latchkey's, at today's cost, of the password's NFC form. The next sign-in does it
    if the hasher is busy. Never inside a transaction.
    """
    if not ports.passwords.needs_rehash(stored, match):
        return
    try:
        renewed = ports.passwords.hash(password)
    except PasswordsBusy:
        return
    unchanged = (models.User.id == user_id, models.User.password_hash == stored)
    with ports.database.transaction(account(user_id)) as session:
        locked = select(models.User.id).where(*unchanged, models.User.is_active)
        if session.scalar(locked.with_for_update()) is None:
            return
        session.execute(
            update(models.User).where(models.User.id == user_id).values(password_hash=renewed)
        )
        _follow(session, user_id, stored, renewed, ports.clock.now())


@building_block
def leave_imported_password(session: Session, user_id: int) -> None:
    """Record that the user has another password, or none, than was imported."""
    session.execute(
        update(models.ImportedPassword)
        .where(models.ImportedPassword.user_id == user_id)
        .values(state=ImportedPasswordState.CHANGED.value)
    )


def _follow(session: Session, user_id: int, stored: str, renewed: str, now: datetime) -> None:
    """Keep the digest of an imported password in step, so that it doesn't count as edited."""
    imported = models.ImportedPassword
    session.execute(
        update(imported)
        .where(imported.user_id == user_id, imported.written_digest == digest_of_text(stored))
        .values(
            state=ImportedPasswordState.REPLACED.value,
            written_digest=digest_of_text(renewed),
            replaced_at=func.coalesce(
                imported.replaced_at, literal(now, imported.replaced_at.type)
            ),
        )
    )


def _read_seconds(ports: Ports) -> float:
    imported = models.ImportedPassword
    waiting = (
        select(models.User.password_hash)
        .join(imported, imported.user_id == models.User.id)
        .where(text(models.WAITING))
        .limit(_SAMPLE)
    )
    with ports.database.reading() as session:
        hashes = session.scalars(waiting.order_by(imported.user_id.desc())).all()
        if len(hashes) == _SAMPLE:
            hashes = [*hashes, *session.scalars(waiting.order_by(imported.user_id))]
    return max(map(_seconds, hashes), default=0)


def _seconds(password_hash: str | None) -> float:
    try:
        return parse_hash(password_hash or "").seconds
    except UnusableHash:
        return 0


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


@building_block
def own_id(actor: Actor) -> int:
    """Return the key of the caller of an ``account_owner_only`` use case.

    Raises ``PermissionDenied`` for the operator, who passes every declaration and has no account.
    """
    if actor.user_id is None:
        raise PermissionDenied(Caller.USER)
    return actor.user_id


@building_block
def own_session(actor: Actor) -> int:
    """Return the key of the caller's session.

    Raises ``PermissionDenied`` for an extension, and for a provider's own token, which has none.
    """
    if not actor.is_account_owner or actor.session_id is None:
        raise PermissionDenied(Caller.USER)
    return actor.session_id


@building_block
def lock_own_account(session: Session, actor: Actor) -> models.User:
    """Lock and return the caller's account; raises as ``own_id`` does, also if it is deleted."""
    user = session.get(models.User, own_id(actor), with_for_update=True)
    if user is None:
        raise PermissionDenied(Caller.USER)
    return user


@building_block
def own_account(ports: Ports, actor: Actor) -> OwnAccount:
    """Return the account of the person who is calling; raises as ``own_id`` does."""
    has_factor = HAS_SECOND_FACTOR.label("has_second_factor")
    columns = (*columns_for(OwnAccount, models.User), has_factor)
    with ports.database.reading() as session:
        row = session.execute(
            select(*columns).where(models.User.id == own_id(actor))
        ).one_or_none()
        name = session.get_one(models.Shop, models.SHOP_ID).name
    if row is None:
        raise PermissionDenied(Caller.USER)
    return record_from(OwnAccount, row, shop_name=name)


@building_block
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
        number = count_guess(ports, account.id, _TOO_MANY)
        match = _compare(ports, account, password)
        if not match:
            if number >= MAX_GUESSES:
                end_current_session(ports, actor, f"{MAX_GUESSES} incorrect passwords in a row.")
            raise Refused(Problem("INVALID_CREDENTIALS", _password_problem(account), field))
        if account.has_second_factor:
            # The guesses at its codes count on: who has the password could guess them freely.
            ports.throttle.undo_guess(account.id)
        else:
            ports.throttle.reset_guesses(account.id)
    except ThrottleUnavailable as error:
        raise Refused(UNCOUNTABLE) from error
    if renews and account.password_hash is not None:
        renew_hash(ports, account.id, account.password_hash, password, match)


def _compare(ports: Ports, account: OwnAccount, password: str) -> Match:
    try:
        return ports.passwords.verify(account.password_hash, password)
    except Exception:
        ports.throttle.undo_guess(account.id)  # nothing was compared
        raise


def _password_problem(account: OwnAccount) -> Sentence:
    if account.password_hash is None:
        return "This account has no password. Request a link to set one."
    return "Incorrect password."


@building_block
def end_current_session(ports: Ports, actor: Actor, reason: str = "") -> None:
    """End the caller's session; the audit log has the ``reason``, such as that someone guesses."""
    if actor.session_id is None:
        return  # a provider's token: it cannot be ended here, and gets no further guess
    with ports.database.transaction() as session:
        session.execute(delete(models.Session).where(models.Session.id == actor.session_id))
        why = {"reason": reason} if reason else {}
        change = Change("session.end", "User", actor.user_id or 0, actor.name, after=why)
        record(ports, actor, session, change)
