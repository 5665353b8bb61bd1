"""Confirm an account's email by a mailed link, and move the account to another one."""

from collections.abc import Callable, Collection
from dataclasses import replace

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.email_links import LinkPurpose
from app.domain.accounts.emails import email_problem, email_spellings, normalize_email
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.events import AccountChangeEmailRequested, AccountConfirmed, AccountEmailChanged
from app.domain.mails.mail import Mail, MailKind
from app.domain.mails.values import lifetime_values
from app.domain.urls.redirects import with_query
from app.domain.urls.web_urls import normalize_url
from app.domain.values.errors import Problem, Refused, refuse_any
from app.ports import Ports
from app.ports.database import Subject, SubjectKind
from app.services.accounts import email_links
from app.services.accounts.account_details import add_user_updated
from app.services.audit.log import record, user_change
from app.services.authorization.register import account_owner_only, building_block, input_decides
from app.services.identity.users import confirm_email, find_owner, load_caller, load_user
from app.services.outbox.publisher import add_event, add_link_mail
from app.services.outbox.security_notices import notify_email_change
from app.services.sign_in.reauthentication import (
    lock_own_account,
    own_account,
    own_id,
    prove_password,
)

_CONFIRMATION = (LinkPurpose.CONFIRM_ACCOUNT,)


@input_decides
def confirm_account(ports: Ports, actor: Actor, *, email: str, token: str) -> User:
    """Confirm an account by the token of a mailed link (`confirmAccount`); opens no session.

    Refuses INVALID on ``token`` for a bad, used, expired or foreign one and for an unknown email
    alike.
    """
    with ports.database.transaction(Subject(SubjectKind.EMAIL, normalize_email(email))) as session:
        opened = email_links.open_link(ports, session, _CONFIRMATION, token)
        email_links.require_owner(opened, email)
        confirm(ports, actor, session, opened.user)
        return load_user(session, opened.user.id)


@building_block
def confirm(ports: Ports, actor: Actor, session: Session, user: models.User) -> None:
    """Mark the account as confirmed, if it isn't yet.

    Identities with this email that their provider hadn't verified are dropped: they may belong to
    someone else.
    """
    was_confirmed = user.is_confirmed
    confirm_email(ports, actor, session, user)
    if was_confirmed:
        return
    user.updated_at = ports.clock.now()
    add_event(ports, actor, session, AccountConfirmed(user.id))
    before, after = {"is_confirmed": False}, {"is_confirmed": True}
    record(ports, actor, session, user_change("account.confirm", user, before, after))


_CHANGE = (LinkPurpose.CHANGE_EMAIL,)
_SAME = Problem("UNIQUE", "This is already your email.", "newEmail")
_WORTHLESS = replace(email_links.WORTHLESS, code="JWT_INVALID_TOKEN")
_TAKEN = Problem("UNIQUE", "Another account uses this email now.", "newEmail")


@account_owner_only
def request_email_change(
    ports: Ports, actor: Actor, *, new_email: str, password: str, redirect_url: str
) -> User:
    """Mail a link to the new email (`requestEmailChange`); nothing changes until it is opened.

    Refuses REQUIRED and INVALID on ``newEmail``, UNIQUE for the current one; REQUIRED and INVALID
    on ``redirectUrl``; INVALID_CREDENTIALS on ``password``. If another account has the email, its
    owner gets a mail; neither the result nor the time it takes shows it to the caller.
    """
    account = own_account(ports, actor)
    email = normalize_email(new_email)
    problems = [
        email_problem(email, "newEmail"),
        email_links.redirect_refusal(ports, redirect_url),
    ]
    if account.email in email_spellings(new_email)[:2]:
        problems.append(_SAME)
    refuse_any(*problems)
    prove_password(ports, actor, account, password, "password")
    with ports.database.transaction() as session:
        user = lock_own_account(session, actor)
        owner = find_owner(session, email, but=account.id)
        with email_links.roll_back_unless(session, keep=owner is None):
            _send_link(ports, actor, session, user, email, redirect_url)
        record(ports, actor, session, user_change("account.email_change_request", user))
        caller = load_caller(ports, session, actor, user.id)
    # On its own: two people who want each other's address must not wait for one another. Where
    # no one has it, the same work is done for the caller, and undone.
    _notify(ports, account.id if owner is None else owner, keep=owner is not None)
    return caller


@account_owner_only
def find_email_change(ports: Ports, actor: Actor, *, token: str) -> str:
    """Return the email that the caller's account would get by the token of a mailed link.

    Refuses JWT_INVALID_TOKEN on ``token`` for a bad, used, expired or foreign one, not an email
    that another account has. The link stays usable.
    """
    with ports.database.reading() as session:
        return _open(ports, actor, session, token, email_links.find_link).new_email


@account_owner_only
def confirm_email_change(ports: Ports, actor: Actor, *, token: str) -> User:
    """Change the caller's email by the token of a mailed link (`confirmEmailChange`).

    Refuses JWT_INVALID_TOKEN on ``token`` for a bad, used, expired or foreign one, as Saleor does;
    UNIQUE on ``newEmail`` if it was taken meanwhile. The old email gets a mail; links mailed to it
    stop working.
    """
    try:
        with ports.database.transaction() as session:
            opened = _open(ports, actor, session, token, email_links.open_link)
            if find_owner(session, opened.new_email, but=opened.user.id) is not None:
                raise Refused(_TAKEN)
            _move(ports, actor, session, opened.user, opened.new_email)
            return load_caller(ports, session, actor, opened.user.id)
    except IntegrityError:
        raise Refused(_TAKEN) from None


def _open(
    ports: Ports,
    actor: Actor,
    session: Session,
    token: str,
    open_: Callable[[Ports, Session, Collection[LinkPurpose], str], email_links.OpenedLink],
) -> email_links.OpenedLink:
    try:
        opened = open_(ports, session, _CHANGE, token)
    except Refused:
        raise Refused(_WORTHLESS) from None
    if opened.user.id != own_id(actor):
        raise Refused(_WORTHLESS)
    return opened


def _send_link(
    ports: Ports, actor: Actor, session: Session, user: models.User, email: str, redirect_url: str
) -> None:
    purpose = LinkPurpose.CHANGE_EMAIL
    token = email_links.make_link(ports, session, user, purpose, email)
    values = {
        "link": with_query(redirect_url, token=token),
        **lifetime_values(purpose),
        "old_email": user.email,
        "new_email": email,
    }
    mail = Mail(MailKind.EMAIL_CHANGE_REQUEST, email, values)
    page = normalize_url(redirect_url)
    event = AccountChangeEmailRequested(user.id, token=token, redirect_url=page, new_email=email)
    add_link_mail(ports, actor, session, mail, event)


def _notify(ports: Ports, owner: int, *, keep: bool) -> None:
    with ports.database.transaction() as session:
        user = session.get(models.User, owner, with_for_update=True)
        if user is not None:
            with email_links.roll_back_unless(session, keep):
                email_links.notify_account_owner(ports, session, user)


def _move(ports: Ports, actor: Actor, session: Session, user: models.User, email: str) -> None:
    old = user.email
    user.email = email
    # The link was opened, so the new address works.
    confirm_email(ports, actor, session, user)
    user.updated_at = ports.clock.now()
    session.flush()
    email_links.drop_links(session, user.id)
    notify_email_change(ports, actor, session, user, old)
    add_event(ports, actor, session, AccountEmailChanged(user.id))
    add_user_updated(ports, actor, session, user)
    change = user_change("account.email_change", user, {"email": old}, {"email": email})
    record(ports, actor, session, change)
