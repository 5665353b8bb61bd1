"""What the link "This wasn't me" in a security notice does.

It takes an account back from a stranger who has the password or a session. It never adds or
removes a second factor: a stranger who reads the mailbox must not get past it. Those that came
with the reported change, or later, stop working, and SSO identities that were linked since then
are unlinked.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import ColumnElement, and_, delete, exists, or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.email_links import NOT_ME_PURPOSES, LinkPurpose
from app.domain.authorization.actor import Actor
from app.domain.events import AccountEmailChanged
from app.domain.mails.mail import MailKind
from app.domain.shop.settings import PasswordLoginMode
from app.ports import Ports
from app.services.accounts.account_details import add_user_updated
from app.services.accounts.email_links import (
    OpenedLink,
    drop_links,
    find_link,
    make_link,
    open_link,
)
from app.services.audit.log import record, user_change
from app.services.authorization.register import input_decides, public
from app.services.authorization.session_rights import stored_switches
from app.services.identity.users import confirm_email
from app.services.outbox.publisher import add_event
from app.services.outbox.security_notices import notify, notify_email_change
from app.services.second_factors.stored_factors import SAME_MOMENT, list_reported, stop_reported
from app.services.sign_in.reauthentication import leave_imported_password
from app.services.sign_in.sessions import end_sessions
from app.services.sign_in_log.recording import forget_device


@dataclass(frozen=True, slots=True)
class ReportedNotice:
    """What the mail of a link was about; ``values`` are those of the mail.

    ``restores`` is the email that the link restores, "" if it restores none, ``stops`` the second
    factors that stop working. ``unlinks``: SSO identities are unlinked.
    """

    kind: MailKind
    email: str
    values: Mapping[str, str]
    restores: str = ""
    stops: tuple[str, ...] = ()
    unlinks: bool = False


@dataclass(frozen=True, slots=True)
class SecuredAccount:
    """An account whose sessions ended; ``password_token`` is for the link that sets a password.

    That is empty if the account had no password or password login is off. ``restored`` is the old
    email that the account has again, ``taken`` the old email that another account uses now,
    ``stopped`` the second factors that don't work anymore.
    """

    email: str
    password_token: str = field(repr=False)
    restored: str = ""
    taken: str = ""
    stopped: tuple[str, ...] = ()


@public
def show_reported_notice(ports: Ports, actor: Actor, *, token: str) -> ReportedNotice:
    """Return what the mail of the link was about; the link stays usable.

    Refuses INVALID on ``token`` for one that doesn't work.
    """
    with ports.database.reading() as session:
        opened = find_link(ports, session, NOT_ME_PURPOSES, token)
        values = {name: str(value) for name, value in opened.notice.items()}
        kind = MailKind(values.pop("kind"))
        restores = opened.new_email if opened.user.email != opened.new_email else ""
        stops = list_reported(session, opened.user.id, opened.notice, opened.created_at)
        unlinks = session.scalar(select(exists().where(*_linked_since(opened)))) is True
        return ReportedNotice(kind, opened.user.email, values, restores, stops, unlinks)


@input_decides
def secure_account(ports: Ports, actor: Actor, *, token: str) -> SecuredAccount:
    """Use the link: end all sessions and sign-ins, remove the password, restore the old email.

    Second factors since the reported notice stop working, as ``stop_reported`` says.
    Refuses INVALID on ``token`` for a bad, used or expired one, and for a deactivated account. The
    person gets a mail. Links of later mails stop working; those of earlier email changes don't: a
    stranger who changed the email can't take it back with a mail that they got afterwards.
    """
    with ports.database.transaction() as session:
        opened = open_link(ports, session, NOT_ME_PURPOSES, token)
        user, replaced = opened.user, opened.user.email
        taken = _restore_email(ports, actor, session, opened)
        had_password = user.password_hash is not None
        user.password_hash = None
        leave_imported_password(session, user.id)
        user.updated_at = ports.clock.now()
        session.flush()
        _drop_links(session, opened)
        stopped = stop_reported(session, user.id, opened.notice, opened.created_at)
        unlink = delete(models.ExternalIdentity).where(*_linked_since(opened))
        unlinked = len(session.scalars(unlink.returning(models.ExternalIdentity.id)).all())
        session.flush()  # factors before challenges, as where an answer is stored
        ended = end_sessions(ports, session, user.id)
        _forget_device(session, opened)
        after: dict[str, object] = {"notice": opened.notice["kind"], "sessions_ended": ended}
        if user.email != replaced:
            after["email"] = user.email
        if stopped:
            after["stopped"] = list(stopped)
        if unlinked:
            after["identities_unlinked"] = unlinked
        before = {"email": replaced} if user.email != replaced else {}
        record(ports, actor, session, user_change("account.secure", user, before, after))
        notify(ports, actor, session, user.id, MailKind.ACCOUNT_SECURED)
        restored = user.email if user.email != replaced else ""
        sets_password = had_password and _allows_passwords(ports, session)
        password_token = (
            make_link(ports, session, user, LinkPurpose.SET_PASSWORD) if sets_password else ""
        )
        return SecuredAccount(user.email, password_token, restored, taken, stopped)


def _restore_email(ports: Ports, actor: Actor, session: Session, opened: OpenedLink) -> str:
    """Restore the email that the link is about; return it if another account uses it now."""
    user, email = opened.user, opened.new_email
    if opened.purpose is not LinkPurpose.RESTORE_EMAIL or user.email == email:
        return ""
    replaced = user.email
    try:
        with session.begin_nested():
            user.email = email
            session.flush()
    except IntegrityError:
        session.refresh(user)
        return email
    # The link was opened, so the old address works.
    confirm_email(ports, actor, session, user)
    notify_email_change(ports, actor, session, user, replaced, can_restore=False)
    add_event(ports, actor, session, AccountEmailChanged(user.id))
    add_user_updated(ports, actor, session, user)
    return ""


def _linked_since(opened: OpenedLink) -> tuple[ColumnElement[bool], ...]:
    """Select the identities that were linked in this account since the reported notice."""
    identity = models.ExternalIdentity
    is_new = identity.created_at >= opened.created_at - SAME_MOMENT
    return identity.user_id == opened.user.id, identity.by_owner.is_(True), is_new


def _drop_links(session: Session, opened: OpenedLink) -> None:
    """Forget the links of later email changes, and all others except those of earlier ones."""
    drop_links(session, opened.user.id)
    link = models.AccountLink
    is_later = and_(link.purpose == LinkPurpose.RESTORE_EMAIL.value, link.id > opened.id)
    is_dropped = or_(link.purpose == LinkPurpose.NOT_ME.value, is_later)
    session.execute(delete(link).where(link.user_id == opened.user.id, is_dropped))


def _forget_device(session: Session, opened: OpenedLink) -> None:
    """Let the next sign-in from the reported device be mailed again."""
    if opened.notice["kind"] == MailKind.NEW_DEVICE:
        device, address = str(opened.notice["device"]), str(opened.notice["address"])
        forget_device(session, opened.user.id, device, address)


def _allows_passwords(ports: Ports, session: Session) -> bool:
    mode = stored_switches(ports, session).password_login_mode
    return mode is not PasswordLoginMode.DISABLED
