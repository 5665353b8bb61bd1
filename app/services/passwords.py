"""Changing a password, and setting one by a link from a mail."""

from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.domain.actor import Actor, SessionOrigin
from app.domain.errors import Problem, Refused
from app.domain.events import AccountConfirmed
from app.domain.links import LinkPurpose
from app.domain.mail import Mail, MailKind
from app.domain.passwords import own_words, password_problems
from app.domain.shop import Switches
from app.domain.users import User
from app.models import ShopRecord, UserRecord
from app.models.shop import SHOP_ID
from app.ports import Ports
from app.services.access import part, public, users_only
from app.services.audit import Change, record
from app.services.callers import USER_COLUMNS, read_user, switches_of
from app.services.identity import as_seen
from app.services.links import drop_links, find_link, open_link, require_owner
from app.services.login import needs_password_login, require_password_login
from app.services.outbox import put_event, put_mail
from app.services.proofs import own_account, prove_password
from app.services.sessions import TokenPair, end_sessions, open_session, sign_pair

_SETTING = (LinkPurpose.SET_PASSWORD, LinkPurpose.INVITATION)
_CHANGED_MEANWHILE = Problem(
    "INVALID_CREDENTIALS", "The password was changed meanwhile; try again.", "oldPassword"
)


@needs_password_login
@users_only
def change_password(
    ports: Ports, actor: Actor, *, old_password: str | None, new_password: str
) -> User:
    """Change the caller's own password (`passwordChange`); every other session ends.

    Refuses DISABLED_AUTHENTICATION_METHOD before it looks at the caller; INVALID_CREDENTIALS on
    ``oldPassword`` when that is missing or wrong; a weak one on ``newPassword`` (PASSWORD_…). The
    owner is told by mail.
    """
    account = own_account(ports, actor)
    words = own_words(account.email, account.first_name, account.last_name, account.shop_name)
    problems = password_problems(new_password, "newPassword", words)
    if problems and old_password is not None:
        raise Refused(*problems)
    prove_password(ports, actor, account, old_password, "oldPassword")
    hashed = ports.passwords.hash(new_password)
    with ports.database.transaction() as session:
        switches = _open_switches(session)
        user = session.get(UserRecord, account.id, with_for_update=True)
        if user is None or user.password_hash != account.password_hash:
            raise Refused(_CHANGED_MEANWHILE)
        _set(ports, actor, session, user, hashed)
        # A provider's token belongs to no session of ours: then every one of ours is another.
        ended = end_sessions(ports, session, user.id, but=actor.session_id or 0)
        change = Change(
            "password.change", "User", user.id, user.email, after={"sessions_ended": ended}
        )
        record(ports, actor, session, change)
        return as_seen(_read(session, user.id), actor.origin, switches)


@needs_password_login
@public
def set_password(
    ports: Ports, actor: Actor, *, email: str, password: str, token: str
) -> TokenPair:
    """Set a password by the link of a mail, and sign in (`setPassword`); all sessions end.

    Refuses DISABLED_AUTHENTICATION_METHOD; a weak one on ``password`` (PASSWORD_…), which leaves
    the link good; INVALID on ``token`` for a bad, used, expired or foreign one and for an unknown
    email alike. Whoever opens the link has shown that the mailbox is theirs: the account counts as
    confirmed.
    """
    _require_quality(password, own_words(email))
    with ports.database.reading() as reading:
        opened = find_link(ports, reading, _SETTING, token)
        require_owner(opened, email)
        words = _words_of(reading, opened.user)
    _require_quality(password, words)
    hashed = ports.passwords.hash(password)
    with ports.database.transaction() as session:
        switches = _open_switches(session)
        opened = open_link(ports, session, _SETTING, token)
        require_owner(opened, email)
        user = opened.user
        _set(ports, actor, session, user, hashed, quietly=opened.purpose is LinkPurpose.INVITATION)
        confirm(ports, actor, session, user)
        user.last_login = ports.clock.now()
        ended = end_sessions(ports, session, user.id)
        change = Change(
            "password.set", "User", user.id, user.email, after={"sessions_ended": ended}
        )
        record(ports, actor, session, change)
        begun = open_session(ports, actor, session, user.id, SessionOrigin.PASSWORD)
        seen = _read(session, user.id)
    return sign_pair(ports, actor, begun, seen, switches)


@part
def confirm(ports: Ports, actor: Actor, session: Session, user: UserRecord) -> None:
    """Note that the mailbox of ``user`` has been shown to be theirs, if nobody had yet."""
    if user.is_confirmed:
        return
    user.is_confirmed = True
    user.updated_at = ports.clock.now()
    put_event(ports, actor, session, AccountConfirmed(user.id))
    change = Change(
        *("account.confirm", "User", user.id, user.email),
        before={"is_confirmed": False},
        after={"is_confirmed": True},
    )
    record(ports, actor, session, change)


@part
def in_words(moment: datetime) -> str:
    """A moment as mails say it."""
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def _require_quality(password: str, words: tuple[str, ...]) -> None:
    problems = password_problems(password, "password", words)
    if problems:
        raise Refused(*problems)


def _words_of(session: Session, user: UserRecord) -> tuple[str, ...]:
    shop = session.get_one(ShopRecord, SHOP_ID)
    return own_words(user.email, user.first_name, user.last_name, shop.name)


def _open_switches(session: Session) -> Switches:
    """The switches as they are now: hashing takes its time, and the mode may have changed."""
    switches = switches_of(session.get_one(ShopRecord, SHOP_ID))
    require_password_login(switches)
    return switches


def _set(
    ports: Ports,
    actor: Actor,
    session: Session,
    user: UserRecord,
    hashed: str,
    *,
    quietly: bool = False,
) -> None:
    now = ports.clock.now()
    user.password_hash = hashed
    user.updated_at = now
    drop_links(session, user.id)
    if not quietly:
        values = {"when": in_words(now), "address": actor.address or ""}
        put_mail(ports, session, Mail(MailKind.PASSWORD_CHANGED, user.email, values))


def _read(session: Session, user_id: int) -> User:
    session.flush()
    row = session.execute(select(*USER_COLUMNS).where(UserRecord.id == user_id)).one()
    return read_user(tuple(row))
