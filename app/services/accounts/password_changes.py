"""Set new passwords: the caller's own, or by a link from a mail. Sessions of the old one end."""

from collections.abc import Collection

from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.email_links import LinkPurpose
from app.domain.accounts.emails import normalize_email
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.mails.mail import MailKind
from app.domain.passwords.passwords import normalize_password, own_words, password_problems
from app.domain.sign_in.sign_in_log import SignInMethod, SignInPlace, SignInReason
from app.domain.values.errors import Problem, Refused, refuse_any
from app.ports import Ports
from app.ports.database import Subject, SubjectKind
from app.services.accounts.email_changes import confirm
from app.services.accounts.email_links import drop_links, find_link, open_link, require_owner
from app.services.audit.log import record, user_change
from app.services.authorization.register import account_owner_only, building_block, input_decides
from app.services.authorization.session_rights import stored_switches
from app.services.authorization.shop_state import load_shop_state
from app.services.identity.users import load_caller
from app.services.outbox.security_notices import notify
from app.services.second_factors.challenges import PendingSession
from app.services.sign_in.password_login import needs_password_login
from app.services.sign_in.reauthentication import (
    leave_imported_password,
    own_account,
    prove_password,
)
from app.services.sign_in.sessions import (
    PasswordSignIn,
    UnfinishedSignIn,
    begin_session,
    end_sessions,
    require_password_login,
)
from app.services.sign_in.tokens import TokenPair, sign_pair
from app.services.sign_in_log.recording import SignInEntry, logged_sign_in


@building_block
def weaknesses(
    ports: Ports, password: str, words: Collection[str], field: str = "password"
) -> tuple[Problem, ...]:
    """Return what is wrong with ``password`` as a new one (PASSWORD_…, INVALID), on ``field``.

    ``words`` are those that others know about the account: ``own_words``.
    """
    strength = ports.password_strength.estimate(normalize_password(password), words)
    return password_problems(password, strength, field, words)


def _hash_for_link(
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
        user, shop = opened.user, reading.get_one(models.Shop, models.SHOP_ID)
        words = own_words(user.email, user.first_name, user.last_name, shop.name)
    refuse_any(*weaknesses(ports, password, words))
    return ports.passwords.hash(password)


def _replace_password(
    ports: Ports, actor: Actor, session: Session, user: models.User, hashed: str, *, but: int = 0
) -> None:
    """Set a new password for ``user``, whose row is locked; end all sessions, or all ``but`` one.

    Tokens of identity providers stay valid: no password opened them. All links of the user stop
    working, and they get a mail unless they had no password before.
    """
    is_first = user.password_hash is None
    user.password_hash = hashed
    leave_imported_password(session, user.id)
    user.updated_at = ports.clock.now()
    drop_links(session, user.id)
    ended = end_sessions(ports, session, user.id, but=but)
    if not is_first:
        notify(ports, actor, session, user.id, MailKind.PASSWORD_CHANGED)
    after = {"sessions_ended": ended}
    record(ports, actor, session, user_change("password.set", user, after=after))


_PURPOSES = (LinkPurpose.SET_PASSWORD, LinkPurpose.INVITATION)
_CHANGED_MEANWHILE = Problem(
    "INVALID_CREDENTIALS", "The password was changed in the meantime. Try again.", "oldPassword"
)


@needs_password_login
@account_owner_only
def change_password(
    ports: Ports, actor: Actor, *, old_password: str | None, new_password: str
) -> User:
    """Change the caller's own password (`passwordChange`); end every other session.

    Refuses DISABLED_AUTHENTICATION_METHOD before anything else; INVALID_CREDENTIALS on
    ``oldPassword`` when that is missing or wrong; a weak one on ``newPassword`` (PASSWORD_…). The
    user gets a mail.
    """
    account = own_account(ports, actor)
    words = own_words(account.email, account.first_name, account.last_name, account.shop_name)
    problems = weaknesses(ports, new_password, words, "newPassword")
    if problems and old_password is not None:
        raise Refused(*problems)
    prove_password(ports, actor, account, old_password, "oldPassword", renews=False)
    hashed = ports.passwords.hash(new_password)
    with ports.database.transaction() as session:
        # As it is now: hashing takes its time, and the mode may have changed.
        require_password_login(stored_switches(ports, session))
        user = session.get(models.User, account.id, with_for_update=True)
        if user is None or user.password_hash != account.password_hash:
            raise Refused(_CHANGED_MEANWHILE)
        # A provider's token belongs to no session here: then every session here is another.
        _replace_password(ports, actor, session, user, hashed, but=actor.session_id or 0)
        return load_caller(ports, session, actor, user.id)


@needs_password_login
@input_decides
def set_password(
    ports: Ports, actor: Actor, *, email: str, password: str, token: str
) -> TokenPair:
    """Set a password by a mailed link and sign in (`setPassword`); end all other sessions.

    Refuses DISABLED_AUTHENTICATION_METHOD; a weak one on ``password`` (PASSWORD_…), which leaves
    the link valid; INVALID on ``token`` for a bad, used, expired or foreign one and for an unknown
    email alike. Opening the link confirms the account. Raises ``SecondFactorRequired``, after the
    password is set, for an account with a second factor.
    """
    begins = PendingSession(SignInMethod.LINK)
    entered = sign_in_with_link(ports, actor, begins, email=email, password=password, token=token)
    return sign_pair(ports, actor, entered.opened, entered.user, entered.switches)


@building_block
def sign_in_with_link(
    ports: Ports, actor: Actor, begins: PendingSession, *, email: str, password: str, token: str
) -> PasswordSignIn:
    """Open a session after setting a password by a link; refuses as ``set_password`` does."""
    entry = SignInEntry(
        begins.method,
        email=normalize_email(email),
        in_console=begins.place is SignInPlace.CONSOLE,
        reason=SignInReason.LINK_INVALID,
    )
    with logged_sign_in(ports, actor, entry):
        require_password_login(load_shop_state(ports).switches)
        hashed = _hash_for_link(ports, _PURPOSES, email=email, token=token, password=password)
        with ports.database.transaction(Subject(SubjectKind.EMAIL, entry.email)) as session:
            require_password_login(stored_switches(ports, session))
            opened = open_link(ports, session, _PURPOSES, token)
            require_owner(opened, email)
            user = opened.user
            _replace_password(ports, actor, session, user, hashed)
            confirm(ports, actor, session, user)
            entered = begin_session(ports, actor, session, user, entry, begins)
        if isinstance(entered, UnfinishedSignIn):
            raise entered.refusal()
        return entered
