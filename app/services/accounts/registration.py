"""Register accounts: people create their own, and get a link to confirm it."""

from dataclasses import dataclass, field, replace

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.email_links import LinkPurpose
from app.domain.accounts.emails import email_problem, normalize_email
from app.domain.accounts.users import NO_KEY, User, name_problems
from app.domain.authorization.actor import Actor
from app.domain.events import AccountConfirmationRequested
from app.domain.mails.mail import Mail, MailKind
from app.domain.mails.values import lifetime_values
from app.domain.passwords.passwords import own_words
from app.domain.urls.redirects import with_query
from app.domain.urls.web_urls import normalize_url
from app.domain.values.errors import Problem, Refused, refuse_any
from app.domain.values.inputs import ABSENT, Absent, present
from app.domain.values.metadata import metadata_problems
from app.ports import Ports
from app.ports.database import Subject, SubjectKind
from app.services.accounts.email_links import (
    make_link,
    notify_account_owner,
    redirect_refusal,
    roll_back_unless,
    was_mailed,
)
from app.services.accounts.password_changes import weaknesses
from app.services.authorization.register import account_owner_only, input_decides
from app.services.identity.users import add_registered, stored_email
from app.services.outbox.publisher import add_link_mail
from app.services.sign_in.reauthentication import imported_seconds, lock_own_account
from app.services.sign_in.sessions import needs_confirmation

_DECOY_LENGTH = 16


@dataclass(frozen=True, slots=True)
class NewAccount:
    """The input of a registration; ``redirect_url`` is the page of the confirmation link."""

    email: str
    password: str = field(repr=False)
    first_name: str = ""
    last_name: str = ""
    redirect_url: str = ""
    metadata: tuple[tuple[str, str], ...] = ()
    language_code: str | Absent = ABSENT


@dataclass(frozen=True, slots=True)
class _Work:
    """The work that every registration does for any email: one hash made, one compared.

    ``is_same`` if the email has an account with this password.
    """

    password_hash: str = field(repr=False)
    is_same: bool


@dataclass(frozen=True, slots=True)
class Registered:
    """The answer to a registration, which depends on the input and the shop alone.

    ``user`` is what was registered, without a key; the same if the email has an account.
    """

    needs_confirmation: bool
    user: User


@input_decides
def register_account(ports: Ports, actor: Actor, new: NewAccount) -> Registered:
    """Register a customer (`accountRegister`).

    The response and the work are the same for new and for known emails: an existing account
    doesn't change, and its owner gets a mail. Refuses REQUIRED and INVALID on ``email``; a weak
    one on ``password`` (PASSWORD_…); INVALID on ``firstName``, ``lastName``; REQUIRED and INVALID
    on ``metadata`` and, where accounts are confirmed by mail, on ``redirectUrl``. Opens no session
    and works in every login mode. An account is confirmed only by opening a mailed link, whatever
    the setting.
    """
    typed = new.email
    new = replace(new, email=normalize_email(typed))
    with ports.database.reading() as reading:
        shop = reading.get_one(models.Shop, models.SHOP_ID)
        refuse_any(*_problems(ports, new, shop))
        new = replace(new, email=stored_email(reading, typed))
    work = _work(ports, new)
    try:
        _register(ports, actor, new, work)
    except IntegrityError:
        # Another request has registered this address since it was looked for. Whether by
        # the same password makes no difference: its mail has just been sent.
        _register(ports, actor, new, replace(work, is_same=False))
    return Registered(shop.enable_account_confirmation_by_email, _described(ports, new, shop))


def _described(ports: Ports, new: NewAccount, shop: models.Shop) -> User:
    now = ports.clock.now()
    return User(
        id=NO_KEY,
        email=new.email,
        first_name=new.first_name,
        last_name=new.last_name,
        is_staff=False,
        is_active=True,
        is_confirmed=False,
        is_superuser=False,
        date_joined=now,
        updated_at=now,
        last_login=None,
        language_code=present(new.language_code, shop.default_language),
    )


def _problems(ports: Ports, new: NewAccount, shop: models.Shop) -> list[Problem | None]:
    words = own_words(new.email, new.first_name, new.last_name, shop.name)
    problems = [
        email_problem(new.email),
        *weaknesses(ports, new.password, words),
        *name_problems(new.first_name, new.last_name),
        *metadata_problems(new.metadata),
    ]
    if shop.enable_account_confirmation_by_email:
        problems.append(redirect_refusal(ports, new.redirect_url))
    return problems


def _work(ports: Ports, new: NewAccount) -> _Work:
    with ports.database.reading() as reading:
        stored = reading.scalar(
            select(models.User.password_hash).where(models.User.email == new.email)
        )
    hashed = ports.passwords.hash(new.password)
    match = ports.passwords.verify(stored, new.password, imported_seconds(ports))
    return _Work(hashed, is_same=bool(match))


def _register(ports: Ports, actor: Actor, new: NewAccount, work: _Work) -> None:
    """Create an account and notify an existing one's owner; keep one of both."""
    with ports.database.transaction(Subject(SubjectKind.EMAIL, new.email)) as session:
        shop = session.get_one(models.Shop, models.SHOP_ID)
        existing = session.scalar(
            select(models.User).where(models.User.email == new.email).with_for_update()
        )
        if existing is None:
            user = _create(ports, actor, session, shop, new, work)
            with roll_back_unless(session, keep=False):
                _register_again(ports, actor, session, shop, user, new, is_same=work.is_same)
        else:
            decoy = replace(new, email=f"{ports.randomness.token(_DECOY_LENGTH)}@decoy.invalid")
            with roll_back_unless(session, keep=False):
                _create(ports, actor, session, shop, decoy, work)
            _register_again(ports, actor, session, shop, existing, new, is_same=work.is_same)


def _create(
    ports: Ports, actor: Actor, session: Session, shop: models.Shop, new: NewAccount, work: _Work
) -> models.User:
    user = models.User(
        email=new.email,
        password_hash=work.password_hash,
        first_name=new.first_name,
        last_name=new.last_name,
        public_metadata=dict(new.metadata),
        language_code=present(new.language_code, shop.default_language),
    )
    add_registered(ports, actor, session, user)
    if shop.enable_account_confirmation_by_email:
        _ask_to_confirm(ports, actor, session, user, new.redirect_url)
    return user


def _register_again(
    ports: Ports,
    actor: Actor,
    session: Session,
    shop: models.Shop,
    existing: models.User,
    new: NewAccount,
    *,
    is_same: bool,
) -> None:
    """Handle a registration for an email that has an account.

    With the password of an unconfirmed account, the confirmation is mailed again. Otherwise the
    owner gets a notice without a confirmation link: it could confirm an account that a stranger
    created with a password of their own.
    """
    mailed = was_mailed(ports, session, existing.id, LinkPurpose.CONFIRM_ACCOUNT)
    waiting = existing.is_active and not existing.is_confirmed and needs_confirmation(shop)
    with roll_back_unless(session, keep=not mailed):
        if waiting and is_same:
            _ask_to_confirm(ports, actor, session, existing, new.redirect_url)
        else:
            notify_account_owner(ports, session, existing)


@account_owner_only
def send_confirmation(ports: Ports, actor: Actor, redirect_url: str) -> None:
    """Mail the caller, whose account isn't confirmed, a link (`sendConfirmationEmail`).

    Refuses INVALID on ``redirectUrl`` and where accounts aren't confirmed by email,
    ACCOUNT_CONFIRMED, and CONFIRMATION_ALREADY_REQUESTED within ``RESET_PASSWORD_LOCK_TIME`` of
    the last link.
    """
    refusal = redirect_refusal(ports, redirect_url)
    if refusal is not None:
        raise Refused(replace(refusal, code="INVALID"))
    with ports.database.transaction() as session:
        shop = session.get_one(models.Shop, models.SHOP_ID)
        if not shop.enable_account_confirmation_by_email:
            raise Refused(Problem("INVALID", "Accounts aren't confirmed by email in this shop."))
        user = lock_own_account(session, actor)
        if user.is_confirmed:
            raise Refused(Problem("ACCOUNT_CONFIRMED", "This account is already confirmed."))
        if was_mailed(ports, session, user.id, LinkPurpose.CONFIRM_ACCOUNT):
            message = "A link was sent recently. Check your mailbox, or try again later."
            raise Refused(Problem("CONFIRMATION_ALREADY_REQUESTED", message))
        _ask_to_confirm(ports, actor, session, user, redirect_url)


def _ask_to_confirm(
    ports: Ports, actor: Actor, session: Session, user: models.User, redirect_url: str
) -> None:
    purpose = LinkPurpose.CONFIRM_ACCOUNT
    token = make_link(ports, session, user, purpose)
    link = with_query(redirect_url, email=user.email, token=token)
    values = {"link": link, **lifetime_values(purpose)}
    page = normalize_url(redirect_url)
    mail = Mail(MailKind.ACCOUNT_CONFIRMATION, user.email, values)
    event = AccountConfirmationRequested(user.id, token=token, redirect_url=page)
    add_link_mail(ports, actor, session, mail, event, redirect_url=page)
