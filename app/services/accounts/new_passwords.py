"""Set new passwords: check their quality and end what the old one opened."""

from collections.abc import Collection

from sqlalchemy.orm import Session

from app.domain.accounts.email_links import LinkPurpose
from app.domain.authorization.actor import Actor
from app.domain.mails.mail import MailKind
from app.domain.passwords.passwords import normalize_password, own_words, password_problems
from app.domain.values.errors import Problem, refuse_any
from app.models import ShopRecord, UserRecord
from app.models.shop import SHOP_ID
from app.ports import Ports
from app.services.accounts.email_links import drop_links, find_link, require_owner
from app.services.audit.log import Change, record
from app.services.authorization.register import part
from app.services.outbox.security_notices import notify
from app.services.sign_in.imported_passwords import leave_imported_password
from app.services.sign_in.sessions import end_sessions

_NO_SESSION = 0
"""No session has this key, so all but this one are all."""


@part
def weaknesses(
    ports: Ports, password: str, words: Collection[str], field: str = "password"
) -> tuple[Problem, ...]:
    """Return what is wrong with ``password`` as a new one (PASSWORD_…, INVALID), on ``field``.

    ``words`` are those that others know about the account: ``own_words``.
    """
    strength = ports.password_strength.estimate(normalize_password(password), words)
    return password_problems(password, strength, field, words)


@part
def hash_for_link(
    ports: Ports, purposes: Collection[LinkPurpose], *, email: str, token: str, password: str
) -> str:
    """Hash ``password`` for the holder of the link with that token, which stays valid.

    Refuses a weak one on ``password`` (PASSWORD_…) and INVALID on ``token``. The account's names
    are compared only after the link proved valid, so they don't leak.
    """
    refuse_any(*weaknesses(ports, password, own_words(email)))
    with ports.database.reading() as reading:
        opened = find_link(ports, reading, purposes, token)
        require_owner(opened, email)
        user, shop = opened.user, reading.get_one(ShopRecord, SHOP_ID)
        words = own_words(user.email, user.first_name, user.last_name, shop.name)
    refuse_any(*weaknesses(ports, password, words))
    return ports.passwords.hash(password)


@part
def replace_password(
    ports: Ports,
    actor: Actor,
    session: Session,
    user: UserRecord,
    hashed: str,
    *,
    but: int | None = None,
) -> None:
    """Set a new password for ``user``, whose row is locked; end all sessions, or all ``but`` one.

    Tokens of identity providers stay valid: no password opened them. All links of the user stop
    working, and they get a mail unless they had no password before.
    """
    now = ports.clock.now()
    is_first = user.password_hash is None
    user.password_hash = hashed
    leave_imported_password(session, user.id)
    user.updated_at = now
    drop_links(session, user.id)
    ended = end_sessions(ports, session, user.id, but=but or _NO_SESSION)
    if not is_first:
        notify(ports, actor, session, user.id, MailKind.PASSWORD_CHANGED)
    after = {"sessions_ended": ended}
    record(ports, actor, session, Change("password.set", "User", user.id, user.email, after=after))
