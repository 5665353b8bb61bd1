"""Password resets: requested in constant time, processed by the worker, or sent by staff.

A request only stores what was typed. The worker looks up the account and decides whether a link
may be sent, so neither the response nor its time reveals which emails are known.
"""

import hashlib
from datetime import timedelta

from sqlalchemy import ColumnElement, delete, or_, select, update
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.email_links import LinkPurpose
from app.domain.accounts.emails import email_problem, normalize_email
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.events import AccountSetPasswordRequested, StaffSetPasswordRequested
from app.domain.mails.mail import Mail, MailKind
from app.domain.mails.values import lifetime_values
from app.domain.shop.settings import PasswordLoginMode
from app.domain.sign_in.rate_limits import RESET_EMAIL
from app.domain.urls.redirects import with_query
from app.domain.urls.web_urls import normalize_url
from app.domain.values.errors import Problem, Refused
from app.ports import Ports
from app.services.accounts.email_links import make_link, require_redirect
from app.services.audit.log import record, requester, store_requester, user_change
from app.services.authorization.rate_limits import within_rate
from app.services.authorization.register import building_block, input_decides, internal, requires
from app.services.authorization.session_rights import stored_switches
from app.services.identity.users import find_manageable, stored_email
from app.services.outbox.base_url import base_url
from app.services.outbox.publisher import add_link_mail
from app.services.sign_in.email_codes import require_room, send_code
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
        found = find_manageable(session, actor, user_id)
        if not found.is_active:
            raise Refused(Problem("INACTIVE", "Activate this account first.", "id"))
        user = claim_reset(ports, session, models.User.id == user_id)
        if user is None:
            raise Refused(too_early(ports))
        _create_link(ports, actor, session, user, redirect_url)


@building_block
def claim_reset(ports: Ports, session: Session, who: ColumnElement[bool]) -> models.User | None:
    """Lock and return the user who can get a link now; ``None`` if there is none.

    At most one link per user and ``RESET_PASSWORD_LOCK_TIME`` across processes.
    """
    now = ports.clock.now()
    before = now - timedelta(seconds=ports.configuration.reset_password_lock_time)
    taken = session.scalar(
        update(models.User)
        .where(
            who,
            models.User.is_active.is_(True),
            or_(
                models.User.reset_requested_at.is_(None), models.User.reset_requested_at <= before
            ),
        )
        .values(reset_requested_at=now)
        .returning(models.User.id)
    )
    return None if taken is None else session.get_one(models.User, taken, populate_existing=True)


def _create_link(
    ports: Ports, requested_by: Actor, session: Session, user: models.User, redirect_url: str
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
    record(ports, requested_by, session, user_change("password.reset_link", user))


@building_block
def too_early(ports: Ports) -> Problem:
    minutes = -(-ports.configuration.reset_password_lock_time // 60)
    message = (
        "A link was sent within the last {minutes} minutes. "
        "It still works; wait before you send another."
    )
    return Problem("PASSWORD_RESET_ALREADY_REQUESTED", message, "id", values={"minutes": minutes})


_BATCH = 100
_MAX_REMOVED = 1000


@needs_password_login
@input_decides
def request_password_reset(ports: Ports, actor: Actor, *, email: str, redirect_url: str) -> None:
    """Ask for a link to set a new password (`requestPasswordReset`); the same for every address.

    Refuses DISABLED_AUTHENTICATION_METHOD, and INVALID on ``redirectUrl`` when mails may not lead
    there. Nothing else is ever said: unknown, inactive, locked and known users get one answer,
    and so does an email for which more is asked than its limit allows, whatever clients ask.
    Raises ``TooManyRequests`` as ``require_room`` does.
    """
    require_redirect(ports, redirect_url)
    address = normalize_email(email)
    if email_problem(address) is not None:
        return  # no account can have it, so there is nothing to hide
    if not within_rate(ports, RESET_EMAIL, hashlib.sha256(address.encode()).hexdigest()):
        return  # no more than a link in a while is made for it anyway
    with ports.database.transaction() as session:
        require_room(session)
        session.add(
            models.ResetRequest(
                email=stored_email(session, email),
                redirect_url=redirect_url,
                caller=store_requester(actor),
                created_at=ports.clock.now(),
            )
        )


@internal
def set_password_page(ports: Ports, actor: Actor) -> str:
    return f"{base_url(ports)}/console/set-password"


@internal
def answer_reset_requests(ports: Ports, actor: Actor) -> int:
    """Create the requested links with their mails and events; return the number of requests.

    At most one link per user and ``RESET_PASSWORD_LOCK_TIME`` across processes; none for unknown
    emails or inactive accounts, nor while passwords are disabled.
    """
    removed, after, answered = _remove_without_account(ports), 0, 0
    faults: list[Exception] = []
    while answered < _BATCH and (key := _next(ports, after)) is not None:
        after = key
        try:
            answered += _answer(ports, key)
        except Exception as fault:  # noqa: BLE001 - raised below: one that faults keeps up no other
            faults.append(fault)
    if faults:
        raise faults[0]
    return removed + answered


def _remove_without_account(ports: Ports) -> int:
    """Delete requests for emails without an active account in bulk; return how many.

    Those of codes that make an account stay.

    Keeps a flood of invented emails from delaying other people's links.
    """
    removed = 0
    while (dropped := _drop_without_account(ports)) > 0:
        removed += dropped
    return removed


def _drop_without_account(ports: Ports) -> int:
    someone = select(models.User.id).where(
        models.User.email == models.ResetRequest.email, models.User.is_active.is_(True)
    )
    registers = select(models.EmailCode.id).where(
        models.EmailCode.id == models.ResetRequest.code_id, models.EmailCode.new_account != ""
    )
    without_account = (
        select(models.ResetRequest.id)
        .where(~someone.exists(), ~registers.exists())
        .order_by(models.ResetRequest.id)
        .limit(_MAX_REMOVED)
    )
    with ports.database.reading() as reading:
        keys = reading.scalars(without_account).all()
    if not keys:
        return 0
    with ports.database.transaction() as session:
        gone = session.scalars(
            delete(models.ResetRequest)
            .where(models.ResetRequest.id.in_(keys))
            .returning(models.ResetRequest.id)
        ).all()
    return len(gone)


def _next(ports: Ports, after: int) -> int | None:
    query = select(models.ResetRequest.id).where(models.ResetRequest.id > after)
    if ports.cache.hold is not None:
        query = query.where(models.ResetRequest.created_at >= ports.cache.hold.since)
    with ports.database.reading() as session:
        return session.scalar(query.order_by(models.ResetRequest.id).limit(1))


def _answer(ports: Ports, key: int) -> bool:
    with ports.database.transaction() as session:
        request = session.scalar(
            select(models.ResetRequest)
            .where(models.ResetRequest.id == key)
            .with_for_update(skip_locked=True)
        )
        if request is None:
            return False  # another process has it
        session.delete(request)
        if request.code_id is not None:
            send_code(ports, session, request)
            return True
        mode = stored_switches(ports, session).password_login_mode
        if mode is not PasswordLoginMode.DISABLED:
            user = claim_reset(ports, session, models.User.email == request.email)
            if user is not None:
                requested_by = requester(request.caller)
                _create_link(ports, requested_by, session, user, request.redirect_url)
    return True
