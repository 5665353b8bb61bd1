"""The caller's own account, and the password that is asked for again before it changes."""

from dataclasses import dataclass

from sqlalchemy import delete, select, update

from app.domain.actor import Actor
from app.domain.errors import PermissionDenied, Problem, Refused
from app.domain.permissions import Caller
from app.models import SessionRecord, ShopRecord, UserRecord
from app.models.shop import SHOP_ID
from app.ports import Ports
from app.services.access import part
from app.services.audit import Change, record

MOST_WRONG_PASSWORDS = 5
"""In a row; whoever has got hold of somebody's session has so many guesses before it ends."""


@dataclass(frozen=True, slots=True)
class OwnAccount:
    """The caller as stored, with the hash that a password is compared with."""

    id: int
    email: str
    first_name: str
    last_name: str
    password_hash: str | None
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
    )
    with ports.database.reading() as session:
        row = session.execute(select(*columns).where(UserRecord.id == own_id(actor))).one_or_none()
        name = session.get_one(ShopRecord, SHOP_ID).name
    if row is None:
        raise PermissionDenied(Caller.USER)
    return OwnAccount(*row, shop_name=name)


@part
def prove_password(
    ports: Ports, actor: Actor, account: OwnAccount, password: str | None, field: str
) -> None:
    """Refuse INVALID_CREDENTIALS on ``field`` unless ``password`` is the account's own.

    The last wrong one of ``MOST_WRONG_PASSWORDS`` in a row ends the session it came in. Never
    called inside a transaction: comparing is slow on purpose.
    """
    if password is None:
        raise Refused(Problem("INVALID_CREDENTIALS", "The present password is needed.", field))
    right = ports.passwords.verify(account.password_hash, password)
    if account.password_hash is None:
        message = "This account has no password yet. Ask for a link to set one."
        raise Refused(Problem("INVALID_CREDENTIALS", message, field))
    if not right:
        _count_wrong(ports, actor)
        raise Refused(Problem("INVALID_CREDENTIALS", "This is not the present password.", field))
    _forget_wrong(ports, actor)


def _count_wrong(ports: Ports, actor: Actor) -> None:
    with ports.database.transaction() as session:
        wrong = session.scalar(
            update(SessionRecord)
            .where(SessionRecord.id == actor.session_id)
            .values(wrong_passwords=SessionRecord.wrong_passwords + 1)
            .returning(SessionRecord.wrong_passwords)
        )
        if wrong is None or wrong < MOST_WRONG_PASSWORDS:
            return
        session.execute(delete(SessionRecord).where(SessionRecord.id == actor.session_id))
        why = {"reason": f"{wrong} wrong passwords in a row."}
        change = Change("session.end", "User", actor.user_id or 0, actor.name, after=why)
        record(ports, actor, session, change)


def _forget_wrong(ports: Ports, actor: Actor) -> None:
    with ports.database.transaction() as session:
        session.execute(
            update(SessionRecord)
            .where(SessionRecord.id == actor.session_id, SessionRecord.wrong_passwords > 0)
            .values(wrong_passwords=0)
        )
