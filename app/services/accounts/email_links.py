"""Emailed links: made with a change, opened once; and notices that only a mailbox's owner gets."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, delete, select
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.email_links import NOT_ME_PURPOSES, LinkPurpose, digest_of, state_of
from app.domain.accounts.emails import normalize_email
from app.domain.mails.mail import Mail, MailKind
from app.domain.urls.redirects import redirect_problem
from app.domain.urls.web_urls import resolved_path
from app.domain.values.errors import Problem, Refused, refuse_any
from app.ports import Ports
from app.services.authorization.register import building_block
from app.services.outbox.publisher import add_mail
from app.services.outbox.security_notices import account_state, store_link

_OWN_PAGES = ("/console/", "/account/")
WORTHLESS = Problem(
    "INVALID", "This link doesn't work. It was used, has expired or is incomplete.", "token"
)


@dataclass(frozen=True, slots=True)
class OpenedLink:
    """A valid link and its user; ``new_email`` for a change of the email.

    ``notice`` is what the mail of a link "This wasn't me" was about, ``created_at`` its time.
    """

    id: int
    purpose: LinkPurpose
    user: models.User
    new_email: str
    notice: Mapping[str, object]
    created_at: datetime


@building_block
def make_link(
    ports: Ports, session: Session, user: models.User, purpose: LinkPurpose, new_email: str = ""
) -> str:
    """Store a link for ``user``, whose row is locked or new; return its token, which isn't stored.

    Earlier links for the same purpose stop working.
    """
    session.flush()
    link = models.AccountLink
    earlier = link.user_id == user.id, link.purpose == purpose.value
    session.execute(delete(link).where(*earlier))
    return store_link(ports, session, user, purpose, new_email)


@building_block
def find_link(
    ports: Ports, session: Session, purposes: Collection[LinkPurpose], token: str
) -> OpenedLink:
    """Return the valid link with that token; it stays usable.

    Refuses INVALID on ``token``, without saying why it is invalid.
    """
    link = session.scalar(select(models.AccountLink).where(*_is_of_token(token, purposes)))
    user = None if link is None else session.get(models.User, link.user_id)
    if link is None or user is None or not _is_valid(ports, link, user):
        raise Refused(WORTHLESS)
    return _opened(link, user)


@building_block
def open_link(
    ports: Ports, session: Session, purposes: Collection[LinkPurpose], token: str
) -> OpenedLink:
    """Use up the link with that token, and lock its user's row; refuses as ``find_link`` does.

    Of two that come at once, one gets it. Rows are locked in the order user, link, as everywhere.
    """
    is_it = _is_of_token(token, purposes)
    owner = session.scalar(select(models.AccountLink.user_id).where(*is_it))
    user = None if owner is None else session.get(models.User, owner, with_for_update=True)
    used = delete(models.AccountLink).where(*is_it).returning(models.AccountLink)
    link: models.AccountLink | None = session.scalar(used)
    if link is None or user is None or not _is_valid(ports, link, user):
        raise Refused(WORTHLESS)
    return _opened(link, user)


@building_block
def drop_links(session: Session, user_id: int) -> None:
    """Forget every link of a person, except "This wasn't me" in security notices."""
    link, kept = models.AccountLink, [purpose.value for purpose in NOT_ME_PURPOSES]
    session.execute(delete(link).where(link.user_id == user_id, link.purpose.not_in(kept)))


@building_block
def require_owner(opened: OpenedLink, email: str) -> None:
    """Refuse a link that is not the one of ``email``, as one that does not work."""
    if normalize_email(opened.user.email) != normalize_email(email):
        raise Refused(WORTHLESS)


@building_block
def redirect_refusal(ports: Ports, url: str, field: str = "redirectUrl") -> Problem | None:
    """Why links in mails can't lead to ``url``, or ``None``: REQUIRED, INVALID on ``field``.

    Pages of the console and hosted pages of this installation are always allowed.
    """
    if _is_own_page(ports.configuration.public_url, url):
        return None
    return client_url_problem(ports, url, field)


@building_block
def client_url_problem(ports: Ports, url: str, field: str) -> Problem | None:
    """Return why browsers can't be sent to ``url``, see ``redirect_problem``."""
    hosts, development = ports.configuration.allowed_client_hosts, ports.configuration.development
    return redirect_problem(url, hosts, development=development, field=field)


@building_block
def require_redirect(ports: Ports, url: str) -> None:
    """Refuse as ``redirect_refusal`` says."""
    refuse_any(redirect_refusal(ports, url))


def _is_own_page(public_url: str, url: str) -> bool:
    if not public_url or not url.startswith(f"{public_url}/"):
        return False
    return (resolved_path(url.removeprefix(public_url)) or "").startswith(_OWN_PAGES)


def _is_of_token(
    token: str, purposes: Collection[LinkPurpose]
) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    link = models.AccountLink
    return link.digest == digest_of(token), link.purpose.in_([one.value for one in purposes])


def _opened(link: models.AccountLink, user: models.User) -> OpenedLink:
    purpose = LinkPurpose(link.purpose)
    return OpenedLink(link.id, purpose, user, link.new_email, link.notice, link.created_at)


def _is_valid(ports: Ports, link: models.AccountLink, user: models.User) -> bool:
    now_state = state_of(LinkPurpose(link.purpose), account_state(user))
    return link.expires_at > ports.clock.now() and link.state == now_state


@building_block
@contextmanager
def roll_back_unless(session: Session, keep: bool) -> Iterator[None]:  # noqa: FBT001 - reads as it is meant
    """Run the block; unless ``keep``, roll back its changes to the transaction."""
    point = session.begin_nested()
    yield
    session.flush()
    if keep:
        point.commit()
    else:
        point.rollback()


@building_block
def notify_account_owner(ports: Ports, session: Session, user: models.User) -> None:
    """Mail ``user``, whose row is locked, that someone tried to use their email.

    Only the mailbox's owner learns that the account exists. Inactive accounts, and accounts that
    got a mail within the lock time, get none, after the same work.
    """
    was_notified = was_mailed(ports, session, user.id, LinkPurpose.NOTICE)
    with roll_back_unless(session, user.is_active and not was_notified):
        make_link(ports, session, user, LinkPurpose.NOTICE)
        mail = Mail(MailKind.ACCOUNT_EXISTS, user.email)
        add_mail(ports, session, mail, user_id=user.id)


@building_block
def was_mailed(ports: Ports, session: Session, user_id: int, purpose: LinkPurpose) -> bool:
    """Whether a link for ``purpose`` was created within ``RESET_PASSWORD_LOCK_TIME``.

    Keeps strangers from flooding someone's mailbox.
    """
    lock = timedelta(seconds=ports.configuration.reset_password_lock_time)
    recent = select(models.AccountLink.id).where(
        models.AccountLink.user_id == user_id,
        models.AccountLink.purpose == purpose.value,
        models.AccountLink.created_at > ports.clock.now() - lock,
    )
    return session.scalar(recent) is not None
