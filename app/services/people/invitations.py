"""Invite people by mail to choose their first password."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.domain.accounts.email_links import LinkPurpose
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.events import AccountSetPasswordRequested, StaffSetPasswordRequested
from app.domain.mails.mail import Mail, MailKind
from app.domain.mails.values import lifetime_values
from app.domain.urls.redirects import with_query
from app.domain.urls.web_urls import normalize_url
from app.domain.values.errors import Problem, Refused
from app.models import UserRecord
from app.ports import Ports
from app.ports.database import account
from app.services.accounts.email_links import make_link, require_redirect
from app.services.accounts.password_resets import claim_reset, too_early
from app.services.audit.log import Change, record
from app.services.authorization.register import fresh_proof, part, requires_person
from app.services.identity.users import find_user_by_key, require_manageable
from app.services.outbox.publisher import add_link_mail
from app.services.sign_in.password_login import needs_password_login

_NOT_INVITED = Problem(
    "INVALID", "Only people who haven't chosen a password yet can be invited.", "id"
)
_INVITED = {True: "staff.invite", False: "customer.invite"}


@needs_password_login
@requires_person(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def resend_invitation(ports: Ports, actor: Actor, user_id: int, redirect_url: str) -> None:
    """Mail a person without a password a new link; earlier links stop working.

    Refuses DISABLED_AUTHENTICATION_METHOD; INVALID on ``redirectUrl``; on ``id`` NOT_FOUND,
    OUT_OF_SCOPE_USER for a user with permissions that the caller lacks, INACTIVE, INVALID for
    those who aren't invited, and PASSWORD_RESET_ALREADY_REQUESTED within
    ``RESET_PASSWORD_LOCK_TIME`` of the last link.
    """
    require_redirect(ports, redirect_url)
    with ports.database.transaction(account(user_id)) as session:
        _require_invited(actor, session, user_id)
        user = claim_reset(ports, session, UserRecord.id == user_id)
        if user is None:
            raise Refused(too_early(ports))
        invite(ports, actor, session, user, redirect_url)
        action = _INVITED[user.is_staff]
        record(ports, actor, session, Change(action, "User", user_id, user.email))


@needs_password_login
@fresh_proof("always", lambda *_args: True)
@requires_person(Permission.MANAGE_STAFF)
def create_invitation_link(ports: Ports, actor: Actor, user_id: int, redirect_url: str) -> str:
    """Return a new link for a staff member without a password; earlier links stop working.

    Anyone who opens it can choose the password. Refuses as ``resend_invitation`` does, but can be
    called at any time.
    """
    require_redirect(ports, redirect_url)
    with ports.database.transaction(account(user_id)) as session:
        user = _require_invited(actor, session, user_id)
        if not user.is_staff:
            raise Refused(_NOT_INVITED)
        token = make_link(ports, session, user, LinkPurpose.INVITATION)
        record(ports, actor, session, Change("staff.invite_link", "User", user_id, user.email))
        return with_query(normalize_url(redirect_url), email=user.email, token=token)


@part
def invite(
    ports: Ports, actor: Actor, session: Session, user: UserRecord, redirect_url: str
) -> None:
    """Mail ``user``, whose row is locked or new, a link to choose a password.

    ``redirect_url`` is one that mails may lead to; the link adds ``email`` and ``token``.
    """
    purpose = LinkPurpose.INVITATION
    token = make_link(ports, session, user, purpose)
    page = normalize_url(redirect_url)
    values = {
        "link": with_query(page, email=user.email, token=token),
        **lifetime_values(purpose),
    }
    if user.is_staff:
        values["inviter"] = "" if actor.is_trusted else actor.name
        mail = Mail(MailKind.STAFF_INVITATION, user.email, values)
    else:
        mail = Mail(MailKind.CUSTOMER_INVITATION, user.email, values)
    requested = StaffSetPasswordRequested if user.is_staff else AccountSetPasswordRequested
    event = requested(user.id, token=token, redirect_url=page)
    add_link_mail(ports, actor, session, mail, event, redirect_url=page)


def _require_invited(actor: Actor, session: Session, user_id: int) -> UserRecord:
    """Lock and return a person without a password, managed by the caller."""
    found = find_user_by_key(session, user_id)
    require_manageable(actor, found)
    user = session.scalars(
        select(UserRecord).where(UserRecord.id == user_id).with_for_update()
    ).one()
    if not user.is_active:
        raise Refused(Problem("INACTIVE", "Activate this account first.", "id"))
    if user.password_hash is not None:
        raise Refused(_NOT_INVITED)
    return user
