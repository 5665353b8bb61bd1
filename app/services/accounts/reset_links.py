"""Password reset links: created on request, or sent by staff who manage people."""

from datetime import timedelta

from sqlalchemy import ColumnElement, or_, update
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
from app.services.accounts.email_links import make_link, require_redirect
from app.services.audit.log import Change, record
from app.services.authorization.register import part, requires
from app.services.identity.manageable_users import require_manageable
from app.services.identity.users import find_user_by_key
from app.services.outbox.publisher import add_link_mail
from app.services.sign_in.password_login import needs_password_login


@needs_password_login
@requires(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def send_reset_link(ports: Ports, actor: Actor, user_id: int, *, redirect_url: str) -> None:
    """Mail a user a link to set a new password, as if they had requested it.

    Refuses DISABLED_AUTHENTICATION_METHOD; INVALID on ``redirectUrl``; on ``id`` NOT_FOUND,
    OUT_OF_SCOPE_USER for a user with permissions that the caller lacks, INACTIVE, and
    PASSWORD_RESET_ALREADY_REQUESTED within ``RESET_PASSWORD_LOCK_TIME`` of the last link.
    """
    require_redirect(ports, redirect_url)
    with ports.database.transaction() as session:
        found = find_user_by_key(session, user_id)
        require_manageable(actor, found)
        if not found.is_active:
            raise Refused(Problem("INACTIVE", "Activate this account first.", "id"))
        user = claim_reset(ports, session, UserRecord.id == user_id)
        if user is None:
            raise Refused(too_early(ports))
        create_link(ports, actor, session, user, redirect_url)


@part
def claim_reset(ports: Ports, session: Session, who: ColumnElement[bool]) -> UserRecord | None:
    """Lock and return the user who can get a link now; ``None`` if there is none.

    At most one link per user and ``RESET_PASSWORD_LOCK_TIME`` across processes.
    """
    now = ports.clock.now()
    before = now - timedelta(seconds=ports.configuration.reset_password_lock_time)
    taken = session.scalar(
        update(UserRecord)
        .where(
            who,
            UserRecord.is_active.is_(True),
            or_(
                UserRecord.reset_requested_at.is_(None),
                UserRecord.reset_requested_at <= before,
            ),
        )
        .values(reset_requested_at=now)
        .returning(UserRecord.id)
    )
    return None if taken is None else session.get_one(UserRecord, taken, populate_existing=True)


@part
def create_link(
    ports: Ports, requested_by: Actor, session: Session, user: UserRecord, redirect_url: str
) -> None:
    """Create the link that ``requested_by`` asked for, with its mail, event and audit entry."""
    purpose = LinkPurpose.SET_PASSWORD
    token = make_link(ports, session, user, purpose)
    link = with_query(redirect_url, email=user.email, token=token)
    values = {"link": link, **lifetime_values(purpose)}
    page = normalize_url(redirect_url)
    mail = Mail(MailKind.PASSWORD_RESET, user.email, values)
    kind = StaffSetPasswordRequested if user.is_staff else AccountSetPasswordRequested
    event = kind(user.id, token=token, redirect_url=page)
    add_link_mail(ports, requested_by, session, mail, event, redirect_url=page)
    change = Change("password.reset_link", "User", user.id, user.email)
    record(ports, requested_by, session, change)


@part
def too_early(ports: Ports) -> Problem:
    """Return why no other link can be sent yet."""
    minutes = -(-ports.configuration.reset_password_lock_time // 60)
    message = (
        "A link was sent within the last {minutes} minutes. "
        "It still works; wait before you send another."
    )
    return Problem("PASSWORD_RESET_ALREADY_REQUESTED", message, "id", values={"minutes": minutes})
