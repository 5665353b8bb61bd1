"""A person's own account: its details and avatar changed, and the account deleted by a link.

Staff who manage customers change details too.
"""

from dataclasses import dataclass, field

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.addresses import AddressChange, DefaultAddresses
from app.domain.accounts.email_links import LinkPurpose
from app.domain.accounts.users import (
    AVATAR_NAME_LENGTH,
    AVATAR_SIZES,
    MAX_AVATAR_SIZE,
    User,
    name_problems,
    time_zone_problem,
)
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Caller, Permission
from app.domain.events import (
    AccountDeleted,
    AccountDeleteRequested,
    CustomerDeleted,
    CustomerUpdated,
    StaffUpdated,
)
from app.domain.mails.mail import Mail, MailKind, MailSender
from app.domain.mails.values import lifetime_values
from app.domain.urls.redirects import with_query
from app.domain.urls.web_urls import normalize_url
from app.domain.values.errors import PermissionDenied, Problem, Refused, refuse_any
from app.domain.values.ids import key_of
from app.domain.values.inputs import ABSENT, Absent, Seen, Upload, present, require_unchanged
from app.ports import Ports
from app.ports.database import account
from app.ports.images import InvalidImage
from app.services.accounts.email_links import WORTHLESS, make_link, open_link, require_redirect
from app.services.accounts.stored_addresses import save_defaults
from app.services.audit.log import record, user_change
from app.services.authorization.register import (
    account_owner_only,
    building_block,
    public,
    users_or,
)
from app.services.identity.stored_metadata import save_sent_metadata
from app.services.identity.users import (
    BeforeDeletion,
    ignore_deletion,
    load_caller,
    load_user,
    snapshot_of,
)
from app.services.outbox.publisher import add_event, add_mail
from app.services.sign_in.reauthentication import lock_own_account, own_id


@dataclass(frozen=True, slots=True)
class Details:
    """New names, default addresses, keys of public metadata and language.

    ``ABSENT`` keeps a name, an address or the language; other keys of the metadata stay. A name or
    language that isn't as ``seen`` anymore makes ``Stale``.
    """

    first_name: str | Absent = ABSENT
    last_name: str | Absent = ABSENT
    shipping_address: AddressChange | Absent = ABSENT
    billing_address: AddressChange | Absent = ABSENT
    metadata: tuple[tuple[str, str], ...] = ()
    language_code: str | Absent = ABSENT
    seen: Seen = field(default_factory=dict, compare=False)


@users_or(Permission.IMPERSONATE_USER)
def update_account(
    ports: Ports, actor: Actor, details: Details, customer_id: str | None = None
) -> User:
    """Change the caller's own details, or those of the customer an app acts for.

    (`accountUpdate`.) Refuses INVALID on each name, REQUIRED and INVALID on ``metadata``, what
    ``key_acted_for``, ``lock_acted_for`` and ``checked_address`` do.
    """
    key = key_acted_for(actor, customer_id)
    with ports.database.transaction(account(key)) as session:
        user = lock_acted_for(actor, session, key)
        names = ("first_name", "last_name", "language_code")
        require_unchanged(details.seen, {name: getattr(user, name) for name in names})
        _update(ports, actor, session, user, details)
        return load_acted_for(ports, session, actor, user.id)


@account_owner_only
def set_time_zone(ports: Ports, actor: Actor, name: str | None, seen: Seen | None = None) -> None:
    """Choose the time zone in which the console shows times to the caller; ``None`` is UTC.

    Refuses INVALID on ``timeZone`` for a name that isn't an IANA time zone. Raises ``Stale`` if it
    isn't as ``seen`` anymore.
    """
    refuse_any(time_zone_problem(name))
    with ports.database.transaction() as session:
        user = lock_own_account(session, actor)
        require_unchanged(seen, {"time_zone": user.time_zone})
        if user.time_zone != name:
            before, after = {"time_zone": user.time_zone}, {"time_zone": name}
            user.time_zone = name
            record(ports, actor, session, user_change("account.update", user, before, after))


@building_block
def key_acted_for(actor: Actor, customer_id: str | None) -> int:
    """Return the key of the account that a change is for: the caller's, or an app's customer.

    ``customer_id`` is a global ID. Only apps name a customer: refuses on ``customerId`` REQUIRED
    to an app that names none, INVALID to a person who does, NOT_FOUND for an ID of another type.
    An app needs IMPERSONATE_USER; the use case declares it.
    """
    if not actor.is_user:
        if not customer_id:
            message = "Apps must name the customer they act for."
            raise Refused(Problem("REQUIRED", message, "customerId"))
        return key_of(customer_id, "User", field="customerId")
    if customer_id:
        message = "Only apps can use this field."
        raise Refused(Problem("INVALID", message, "customerId"))
    if not actor.is_account_owner:
        raise PermissionDenied(Caller.USER)
    return own_id(actor)


@building_block
def lock_acted_for(actor: Actor, session: Session, user_id: int) -> models.User:
    """Lock and return the account of ``key_acted_for``; an app finds only customers."""
    user = session.get(models.User, user_id, with_for_update=True)
    if actor.user_id == user_id:
        if user is None:
            raise PermissionDenied(Caller.USER)
        return user
    if user is None or user.is_staff:
        raise Refused(Problem("NOT_FOUND", "No customer has this ID.", "customerId"))
    return user


@building_block
def load_acted_for(ports: Ports, session: Session, actor: Actor, user_id: int) -> User:
    """Return the account of ``key_acted_for`` as the caller sees it."""
    if actor.user_id == user_id:
        return load_caller(ports, session, actor, user_id)
    return load_user(session, user_id)


@building_block
def add_user_updated(ports: Ports, actor: Actor, session: Session, user: models.User) -> None:
    """Write the event that ``user`` changed, for apps that keep customers or staff."""
    kind = StaffUpdated if user.is_staff else CustomerUpdated
    add_event(ports, actor, session, kind(user.id))


def _update(
    ports: Ports, actor: Actor, session: Session, user: models.User, details: Details
) -> None:
    values = {
        "first_name": present(details.first_name, user.first_name),
        "last_name": present(details.last_name, user.last_name),
        "language_code": present(details.language_code, user.language_code),
    }
    refuse_any(*name_problems(values["first_name"], values["last_name"]))
    after: dict[str, object] = {
        name: value for name, value in values.items() if getattr(user, name) != value
    }
    before: dict[str, object] = {name: getattr(user, name) for name in after}
    for name, value in after.items():
        setattr(user, name, value)
    addresses = DefaultAddresses(details.shipping_address, details.billing_address)
    after |= save_defaults(ports, actor, session, user.id, addresses)
    after |= save_sent_metadata(session, models.User, user.id, details.metadata)
    if after:
        user.updated_at = ports.clock.now()
        add_user_updated(ports, actor, session, user)
        record(ports, actor, session, user_change("account.update", user, before, after))


@account_owner_only
def update_avatar(ports: Ports, actor: Actor, image: Upload) -> User:
    """Replace the caller's avatar (`userAvatarUpdate`).

    The image is re-encoded from its pixels and gets a random name. Refuses
    FILE_SIZE_LIMIT_EXCEEDED on ``image``, and INVALID for a file that is not an image or has too
    many pixels.
    """
    image.require_at_most(MAX_AVATAR_SIZE)
    try:
        squares = ports.images.crop_squares(image.data, AVATAR_SIZES)
    except InvalidImage as reason:
        raise Refused(reason.problem) from None
    name = ports.randomness.token(AVATAR_NAME_LENGTH)
    with ports.database.transaction() as session:
        user = lock_own_account(session, actor)
        _replace(ports, actor, session, user, name)
        session.add_all(
            models.Avatar(name=name, size=size, user_id=user.id, data=data)
            for size, data in squares.items()
        )
        return load_caller(ports, session, actor, user.id)


@account_owner_only
def delete_avatar(ports: Ports, actor: Actor) -> User:
    """Show no picture of the caller any more (`userAvatarDelete`); none is no problem."""
    with ports.database.transaction() as session:
        user = lock_own_account(session, actor)
        if user.avatar:
            _replace(ports, actor, session, user, "")
        return load_caller(ports, session, actor, user.id)


@public
def show_avatar(ports: Ports, actor: Actor, name: str, size: int) -> bytes | None:
    """Return the avatar of that name and size as WebP; ``None`` if it doesn't exist."""
    query = select(models.Avatar.data).where(
        models.Avatar.name == name, models.Avatar.size == size
    )
    with ports.database.reading() as session:
        return session.scalar(query)


def _replace(ports: Ports, actor: Actor, session: Session, user: models.User, name: str) -> None:
    session.execute(delete(models.Avatar).where(models.Avatar.user_id == user.id))
    before, after = {"avatar": bool(user.avatar)}, {"avatar": bool(name)}
    user.avatar = name
    user.updated_at = ports.clock.now()
    add_user_updated(ports, actor, session, user)
    record(ports, actor, session, user_change("account.avatar", user, before, after))


_PURPOSES = (LinkPurpose.DELETE_ACCOUNT,)
_STAFF = Problem(
    "DELETE_STAFF_ACCOUNT", "Staff accounts can only be deleted by someone who manages staff."
)


@account_owner_only
def request_account_deletion(ports: Ports, actor: Actor, *, redirect_url: str) -> None:
    """Mail the caller a link that deletes their account (`accountRequestDeletion`).

    Refuses REQUIRED and INVALID on ``redirectUrl``, DELETE_STAFF_ACCOUNT for staff.
    """
    own_id(actor)
    require_redirect(ports, redirect_url)
    with ports.database.transaction() as session:
        user = lock_own_account(session, actor)
        if user.is_staff:
            raise Refused(_STAFF)
        purpose = LinkPurpose.DELETE_ACCOUNT
        token = make_link(ports, session, user, purpose)
        link = with_query(redirect_url, token=token)
        values = {"link": link, **lifetime_values(purpose)}
        mail = Mail(MailKind.ACCOUNT_DELETION_REQUEST, user.email, values)
        add_mail(ports, session, mail, user_id=user.id)
        event = AccountDeleteRequested(
            user.id,
            token=token,
            redirect_url=normalize_url(redirect_url),
            mail_kind=mail.kind.value,
            mail_sender=MailSender.OURS.value,
        )
        add_event(ports, actor, session, event)
        record(ports, actor, session, user_change("account.deletion_request", user))


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
        user = session.get(models.User, user_id)
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
        record(ports, actor, session, user_change("account.delete", gone, before=snapshot))
        session.delete(opened.user)
        return gone
