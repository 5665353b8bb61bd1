"""Confirming an account by the link of a mail."""

from sqlalchemy.orm import Session

from app.domain.accounts.email_links import LinkPurpose
from app.domain.accounts.emails import normalize_email
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.events import AccountConfirmed
from app.models import UserRecord
from app.ports import Ports
from app.ports.database import Subject, SubjectKind
from app.services.accounts.email_links import open_link, require_owner
from app.services.audit.log import Change, record
from app.services.authorization.register import input_decides, part
from app.services.identity.account_trust import confirm_email
from app.services.identity.users import load_user
from app.services.outbox.publisher import add_event

_PURPOSES = (LinkPurpose.CONFIRM_ACCOUNT,)


@input_decides
def confirm_account(ports: Ports, actor: Actor, *, email: str, token: str) -> User:
    """Confirm an account by the token of a mailed link (`confirmAccount`); opens no session.

    Refuses INVALID on ``token`` for a bad, used, expired or foreign one and for an unknown email
    alike.
    """
    with ports.database.transaction(Subject(SubjectKind.EMAIL, normalize_email(email))) as session:
        opened = open_link(ports, session, _PURPOSES, token)
        require_owner(opened, email)
        confirm(ports, actor, session, opened.user)
        return load_user(session, opened.user.id)


@part
def confirm(ports: Ports, actor: Actor, session: Session, user: UserRecord) -> None:
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
    change = Change(
        "account.confirm",
        "User",
        user.id,
        user.email,
        before={"is_confirmed": False},
        after={"is_confirmed": True},
    )
    record(ports, actor, session, change)
