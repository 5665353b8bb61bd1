"""Emails that tell people what changed at their account, each with a link "This wasn't me"."""

from collections.abc import Mapping
from types import MappingProxyType

from sqlalchemy import delete
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts import email_links
from app.domain.authorization.actor import Actor, ActorKind
from app.domain.mails.mail import Mail, MailKind, unlinked
from app.domain.mails.values import NO_DEVICE, device_values, moment_values
from app.ports import Ports
from app.services.authorization.register import building_block
from app.services.outbox.base_url import base_url_in
from app.services.outbox.publisher import add_mail

NOT_ME_PATH = "/console/not-me"
"""The page that links "This wasn't me" lead to."""

_OF_STRANGERS = ("device", "factor", "factor_name")
"""Values that a stranger in the account chooses freely."""

_NO_VALUES: Mapping[str, str] = MappingProxyType({})


@building_block
def notify(
    ports: Ports,
    actor: Actor,
    session: Session,
    user_id: int,
    kind: MailKind,
    values: Mapping[str, str] = _NO_VALUES,
) -> None:
    """Mail the owner of an account what ``actor`` changed, in the transaction of ``session``.

    ``values`` are those that ``kind`` names. The mail has a link "This wasn't me" that ends all
    sessions and removes the password, unless someone else reset the second factors. Everything
    else is done with the account's own password, link or session: another person's token that
    comes with the request doesn't make it that person's change.
    """
    user = session.get_one(models.User, user_id)
    in_its_name = kind is not MailKind.SECOND_FACTORS_RESET
    notice = {"kind": kind.value, **_time_and_place(ports, actor, known=in_its_name), **values}
    token = ""
    if in_its_name and kind is not MailKind.ACCOUNT_SECURED:
        token = store_link(ports, session, user, email_links.LinkPurpose.NOT_ME, notice=notice)
    _send(ports, session, user, user.email, notice, token)


@building_block
def notify_email_change(
    ports: Ports,
    actor: Actor,
    session: Session,
    user: models.User,
    old_email: str,
    *,
    can_restore: bool = True,
) -> None:
    """Mail ``old_email`` that the account has another one now: ``user.email``.

    Its link "This wasn't me" also restores the old email, unless someone else changed it: the old
    mailbox may be the reason. ``can_restore``: a link can undo this change.
    """
    notice = {
        "kind": MailKind.EMAIL_CHANGED.value,
        **_time_and_place(ports, actor, known=_is_by_owner(actor, user)),
        "old_email": old_email,
        "new_email": user.email,
    }
    token = ""
    if not _is_by_owner(actor, user):
        _drop_notice_links(session, user.id)
    elif can_restore:
        purpose = email_links.LinkPurpose.RESTORE_EMAIL
        token = store_link(ports, session, user, purpose, old_email, notice)
    _send(ports, session, user, old_email, notice, token)


def _drop_notice_links(session: Session, user_id: int) -> None:
    """Forget the links "This wasn't me" of an account, which survive all changes by its owner."""
    session.execute(
        delete(models.AccountLink).where(
            models.AccountLink.user_id == user_id,
            models.AccountLink.purpose.in_(
                [purpose.value for purpose in email_links.NOT_ME_PURPOSES]
            ),
        )
    )


def _is_by_owner(actor: Actor, user: models.User) -> bool:
    """Whether the email was changed in the account's name: by its session or a link."""
    return actor.kind is ActorKind.ANONYMOUS or actor.user_id == user.id


def _time_and_place(ports: Ports, actor: Actor, *, known: bool) -> dict[str, str]:
    """Return when, and where from; not where from if someone else changed the account."""
    moment = moment_values(ports.clock.now())
    if not known:
        return {**moment, "address": "", **NO_DEVICE}
    return {**moment, "address": actor.address or "", **device_values(actor.user_agent)}


@building_block
def store_link(
    ports: Ports,
    session: Session,
    user: models.User,
    purpose: email_links.LinkPurpose,
    email: str = "",
    notice: Mapping[str, str] = _NO_VALUES,
) -> str:
    """Store a link of ``user`` and return its token, which isn't stored; earlier ones stay.

    ``email`` is the one that the link gives to the account, ``notice`` what its mail is about.
    """
    token = ports.randomness.token(email_links.TOKEN_LENGTH)
    now = ports.clock.now()
    session.add(
        models.AccountLink(
            user_id=user.id,
            purpose=purpose.value,
            digest=email_links.digest_of(token),
            state=email_links.state_of(purpose, account_state(user)),
            new_email=email,
            notice=dict(notice),
            created_at=now,
            expires_at=now + email_links.LIFETIMES[purpose],
        )
    )
    return token


@building_block
def account_state(user: models.User) -> email_links.AccountState:
    """Return what links to the account of ``user`` depend on."""
    return email_links.AccountState(
        email=user.email,
        password_hash=user.password_hash,
        is_active=user.is_active,
        is_confirmed=user.is_confirmed,
        is_staff=user.is_staff,
        signed_out_at=user.tokens_valid_after,
    )


def _send(
    ports: Ports,
    session: Session,
    user: models.User,
    recipient: str,
    notice: Mapping[str, str],
    token: str,
) -> None:
    link = f"{base_url_in(ports, session)}{NOT_ME_PATH}?token={token}" if token else ""
    values = {name: value for name, value in notice.items() if name != "kind"}
    values |= {name: unlinked(values[name]) for name in _OF_STRANGERS if name in values}
    mail = Mail(MailKind(notice["kind"]), recipient, values | {"not_me": link})
    add_mail(ports, session, mail, user_id=user.id)
