"""Customers who leave: asked for from within a session, done by a link."""

from app.domain.accounts.email_links import LinkPurpose
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Caller
from app.domain.events import AccountDeleted, CustomerDeleted
from app.domain.mails.mail import Mail, MailKind
from app.domain.mails.values import lifetime_values
from app.domain.urls.redirects import with_query
from app.domain.values.errors import PermissionDenied, Problem, Refused
from app.models import UserRecord
from app.ports import Ports
from app.services.accounts.email_links import WORTHLESS, make_link, open_link, require_redirect
from app.services.audit.log import Change, record
from app.services.authorization.register import account_owner_only
from app.services.identity.users import BeforeDeletion, ignore_deletion, load_user, snapshot_of
from app.services.outbox.publisher import add_event, add_mail
from app.services.sign_in.reauthentication import own_id

_PURPOSES = (LinkPurpose.DELETE_ACCOUNT,)
_STAFF = Problem(
    "DELETE_STAFF_ACCOUNT", "Staff accounts can only be deleted by someone who manages staff."
)


@account_owner_only
def request_account_deletion(ports: Ports, actor: Actor, *, redirect_url: str) -> None:
    """Mail the caller a link that deletes their account (`accountRequestDeletion`).

    Refuses REQUIRED and INVALID on ``redirectUrl``, DELETE_STAFF_ACCOUNT for staff.
    """
    user_id = own_id(actor)
    require_redirect(ports, redirect_url)
    with ports.database.transaction() as session:
        user = session.get(UserRecord, user_id, with_for_update=True)
        if user is None:
            raise PermissionDenied(Caller.USER)
        if user.is_staff:
            raise Refused(_STAFF)
        purpose = LinkPurpose.DELETE_ACCOUNT
        link = with_query(redirect_url, token=make_link(ports, session, user, purpose))
        values = {"link": link, **lifetime_values(purpose)}
        mail = Mail(MailKind.ACCOUNT_DELETION_REQUEST, user.email, values)
        add_mail(ports, session, mail, user_id=user.id)
        change = Change("account.deletion_request", "User", user.id, user.email)
        record(ports, actor, session, change)


@account_owner_only
def delete_account(
    ports: Ports, actor: Actor, *, token: str, before: BeforeDeletion = ignore_deletion
) -> User:
    """Delete the caller's account by the token of a mailed link (`accountDelete`).

    Returns what it was. Refuses DELETE_STAFF_ACCOUNT for staff; INVALID on ``token`` for a bad,
    used, expired or foreign one.
    """
    user_id = own_id(actor)
    with ports.database.transaction() as session:
        user = session.get(UserRecord, user_id)
        if user is not None and user.is_staff:
            raise Refused(_STAFF)
        opened = open_link(ports, session, _PURPOSES, token)
        if opened.user.id != user_id:
            raise Refused(WORTHLESS)
        gone = load_user(session, opened.user.id)
        before(gone)
        snapshot = snapshot_of(gone, opened.user.external_reference)
        add_event(ports, actor, session, AccountDeleted(gone.id, snapshot=snapshot))
        add_event(ports, actor, session, CustomerDeleted(gone.id, snapshot=snapshot))
        change = Change("account.delete", "User", gone.id, gone.email, before=snapshot)
        record(ports, actor, session, change)
        session.delete(opened.user)
        return gone
