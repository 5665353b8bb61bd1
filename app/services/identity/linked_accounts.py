"""Link people of identity providers to accounts, and update the accounts.

An existing account is linked by email only if both sides have verified it: someone may have
registered with another person's email here, or entered one at the provider (contract, "Single
sign-on"; the attack is known as pre-hijacking). An account without a password, as staff create
them, is linked unconfirmed: no one chose a password for it, and linking confirms it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from sqlalchemy import ColumnElement, Select, and_, or_, select
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor, ActorKind
from app.domain.events import (
    CustomerCreated,
    CustomerUpdated,
    PermissionGroupCreated,
    StaffCreated,
    StaffUpdated,
)
from app.domain.single_sign_on.provider_users import ExternalPerson
from app.domain.single_sign_on.providers import Provider
from app.domain.values.errors import Problem, Refused, refuse_any
from app.domain.values.text import Sentence, translatable
from app.ports import Ports
from app.services.audit.log import Change, record, user_change
from app.services.authorization.register import building_block
from app.services.identity import permission_holders
from app.services.identity.provider_assertions import (
    WAITS,
    ProviderPerson,
    lock_settings,
    waiting_problem,
)
from app.services.identity.users import confirm_email, find_owner, has_email, load_user, make_staff
from app.services.outbox.publisher import add_event
from app.services.outbox.security_notices import notify_email_change


@building_block
def make_user(
    ports: Ports, actor: Actor, session: Session, provider_person: ProviderPerson
) -> models.User:
    """Create an account without a password, confirmed if the provider has verified the email."""
    person, is_staff = provider_person.person, provider_person.is_staff
    now = ports.clock.now()
    user = models.User(
        email=person.email,
        first_name=person.first_name,
        last_name=person.last_name,
        is_staff=is_staff,
        is_active=True,
        is_confirmed=person.is_verified,
        date_joined=now,
        updated_at=now,
    )
    session.add(user)
    session.flush()
    add_event(ports, actor, session, (StaffCreated if is_staff else CustomerCreated)(user.id))
    after = {"is_staff": is_staff, "is_confirmed": user.is_confirmed, "has_password": False}
    change = user_change("user.create", user, after=after)
    _record(ports, actor, session, user, provider_person, change)
    return user


def _update_from_provider(
    ports: Ports,
    actor: Actor,
    session: Session,
    identity: models.ExternalIdentity,
    user: models.User,
    provider_person: ProviderPerson,
) -> None:
    """Update an account from its provider; the email only if verified and free.

    An identity that the owner linked changes nothing: it could take over the account's email.

    The old email gets a notice, without a link: the provider would change it again.
    A verified email equal to the account's verifies the ``identity`` and confirms the account.
    """
    if identity.by_owner:
        return
    person = provider_person.person
    details: dict[str, object] = {
        "first_name": person.first_name or user.first_name,
        "last_name": person.last_name or user.last_name,
    }
    if person.is_verified:
        if person.email != user.email and find_owner(session, person.email, but=user.id) is None:
            details["email"] = person.email
        if details.get("email", user.email) == person.email:
            identity.is_verified = True
            details["is_confirmed"] = True
    after = {name: value for name, value in details.items() if getattr(user, name) != value}
    if not after:
        return
    before = {name: getattr(user, name) for name in after}
    for name in after.keys() - {"is_confirmed"}:
        setattr(user, name, after[name])
    if "is_confirmed" in after:
        confirm_email(ports, _author(actor, user), session, user)
    user.updated_at = ports.clock.now()
    if "email" in after:
        session.flush()
        old_email = str(before["email"])
        notify_email_change(ports, actor, session, user, old_email, can_restore=False)
    kind = StaffUpdated if user.is_staff else CustomerUpdated
    add_event(ports, actor, session, kind(user.id))
    change = user_change("user.sync", user, before, after)
    _record(ports, actor, session, user, provider_person, change)


def _promote(
    ports: Ports,
    actor: Actor,
    session: Session,
    identity: models.ExternalIdentity,
    user: models.User,
    provider_person: ProviderPerson,
) -> None:
    """Make a customer staff because the provider of ``identity`` says so.

    They get what the provider's settings give. What is left of rights that they had as staff
    before is taken: no one gives it back by signing in. Signing in never makes staff a customer
    again: staff managers do that.
    """
    left = permission_holders.take_left_rights(session, user)
    make_staff(ports, _author(actor, user), session, user, identity.id)
    user.updated_at = ports.clock.now()
    add_event(ports, actor, session, StaffUpdated(user.id))
    before = {"is_staff": False, **left}
    after = {"is_staff": True, **{name: permission_holders.NO_RIGHTS[name] for name in left}}
    change = user_change("user.promote", user, before, after)
    _record(ports, actor, session, user, provider_person, change)


def _author(actor: Actor, user: models.User) -> Actor:
    """Return who makes a change while signing in: the person, whom the provider has identified."""
    if actor.kind is not ActorKind.ANONYMOUS:
        return actor
    return replace(actor, kind=ActorKind.USER, user_id=user.id, name=user.email)


def _record(
    ports: Ports,
    actor: Actor,
    session: Session,
    user: models.User,
    provider_person: ProviderPerson,
    change: Change,
) -> None:
    """Record what signing in with a provider changed of an account, with its name."""
    named = replace(change, after={**change.after, "provider": provider_person.provider.name})
    record(ports, _author(actor, user), session, named)


_NAMELESS = Problem("INVALID", "The identity provider didn't return an email.")
SIGNED_OUT: Sentence = "This person has signed out everywhere since the token was issued."
INACTIVE = Problem("INACTIVE", "This account is not active.")
_OF_CLIENT = Problem("INVALID", "This is the account of a client that is linked to an app.")
_TAKEN = Problem(
    "INVALID",
    "An account with this email exists, but the identity provider hasn't verified your email.",
)
TWINS = Problem(
    "INVALID",
    "Two accounts have this email in two spellings. Ask someone who manages the shop's users to "
    "change one of them.",
)
_OF_ANOTHER = Problem(
    "INVALID", "This SSO identity is already linked to another account. Nothing was changed."
)
KEPT: Sentence = translatable(
    "The claim no longer names the group, but no one else could manage its permissions."
)
_KEPT_AGAIN = timedelta(days=1)
_UNCONFIRMED = Problem(
    "ACCOUNT_NOT_CONFIRMED",
    "An account with this email isn't confirmed yet. Confirm it with the link "
    "in the email or reset its password, then sign in here again.",
)


@building_block
def find_or_create_account(
    ports: Ports, actor: Actor, session: Session, provider_person: ProviderPerson
) -> tuple[models.ExternalIdentity, models.User]:
    """Return the identity and account of a provider's person, creating them if necessary.

    Runs in the transaction of ``session``. Refuses INVALID for a new person without an email, for
    an existing account's email that the provider hasn't verified, and as
    ``linked_identity_problem`` does; ACCOUNT_NOT_CONFIRMED if the account's email isn't confirmed;
    INACTIVE. While the provider's settings wait for confirmation, INVALID for everyone whom
    ``waiting_problem`` names.
    """
    person, provider = provider_person.person, provider_person.provider
    can_leave = _lock_for_leaving(session, provider_person)
    lock_settings(session, provider)
    if session.scalar(_links_of(provider, provider_person.issuer, person.subject)) is not None:
        raise Refused(_OF_CLIENT)
    identity, user = _find_linked(session, provider_person)
    if identity is None or user is None:
        user = _account(ports, actor, session, provider_person)
    else:
        _require_usable(ports, session, provider_person, identity, user)
    if not user.is_active:
        raise Refused(INACTIVE)
    if identity is None:
        identity = _link(ports, actor, session, provider_person, user)
    _update_from_provider(ports, actor, session, identity, user, provider_person)
    if provider_person.is_staff and not user.is_staff:
        _promote(ports, actor, session, identity, user, provider_person)
        _join_default_group(ports, actor, session, provider_person, user)
    if user.is_staff and provider_person.groups is not None:
        _change_groups(ports, actor, session, provider_person, user, can_leave=can_leave)
    user.last_login = ports.clock.now()
    session.flush()
    return identity, user


def _require_usable(
    ports: Ports,
    session: Session,
    provider_person: ProviderPerson,
    identity: models.ExternalIdentity,
    user: models.User,
) -> None:
    """Refuse a linked identity whose account can't be used by it (now)."""
    problem: Problem | None = None
    if provider_person.provider.waits:
        linked = load_user(session, user.id)
        problem = waiting_problem(ports, provider_person.provider, linked, identity.waiting_mark)
    is_verified = identity.is_verified
    refuse_any(problem or linked_identity_problem(provider_person, user, is_verified=is_verified))


@building_block
def link_to_account(
    ports: Ports, actor: Actor, session: Session, provider_person: ProviderPerson, user_id: int
) -> models.ExternalIdentity | None:
    """Link a provider's person to the account of the caller, who has just signed in there.

    ``None`` if it was linked before. Refuses INVALID for the identity of another account or of an
    app's client, and while the provider's settings wait for confirmation.
    """
    if provider_person.provider.waits:
        raise Refused(WAITS)
    subject = provider_person.person.subject
    if session.scalar(_links_of(provider_person.provider, provider_person.issuer, subject)):
        raise Refused(_OF_CLIENT)
    identity, owner = _find_linked(session, provider_person)
    if owner is not None and owner.id != user_id:
        raise Refused(_OF_ANOTHER)
    if identity is not None and identity.is_verified:
        return None
    user = owner or session.get_one(models.User, user_id, with_for_update=True)
    if identity is None:
        identity = _link(ports, actor, session, provider_person, user)
    else:
        _record_link(ports, actor, session, provider_person, user)
    identity.is_verified = identity.by_owner = True
    session.flush()
    return identity


@building_block
def client_links(
    ports: Ports, provider: Provider, claims: Mapping[str, object]
) -> Sequence[models.AppClient]:
    """Return the links of apps to a client whose own account is the subject in ``claims``.

    Those of other providers with the same issuer are among them.
    """
    subject, issuer = claims.get("sub"), claims.get("iss")
    if not isinstance(subject, str) or not isinstance(issuer, str):
        return ()
    with ports.database.reading() as session:
        return session.scalars(_links_of(provider, issuer, subject)).all()


def _links_of(provider: Provider, issuer: str, subject: str) -> Select[models.AppClient]:
    of_provider = models.AppClient.provider_id == provider.id
    of_issuer = models.AppClient.issuer == issuer
    return select(models.AppClient).where(
        models.AppClient.subject == subject, or_(of_provider, of_issuer)
    )


@building_block
def new_identity_problem(
    person: ExternalPerson, *, is_known: bool, is_linkable: bool
) -> Problem | None:
    """Return why a person who is new here can't sign in, or ``None``.

    ``is_known`` is whether an account has their email, ``is_linkable`` whether it is confirmed or
    has no password.
    """
    if not person.email:
        return _NAMELESS
    if not is_known:
        return None
    if not person.is_verified:
        return _TAKEN
    return None if is_linkable else _UNCONFIRMED


@building_block
def linked_identity_problem(
    provider_person: ProviderPerson, user: models.User | User, *, is_verified: bool
) -> Problem | None:
    """Return why a person linked to ``user`` can't sign in, or ``None``.

    An identity whose email the provider hasn't verified (``is_verified``) gives access only while
    the account isn't trusted. Where the provider rules permissions it also decides who is staff,
    so only a confirmed account counts as trusted.
    """
    is_trusted = user.is_confirmed or (user.is_staff and provider_person.grant is None)
    vouched = provider_person.person.is_verified and provider_person.person.email == user.email
    return _TAKEN if is_trusted and not is_verified and not vouched else None


def _is_of(provider_person: ProviderPerson) -> ColumnElement[bool]:
    """Whether an identity is the person's, an imported one with the issuer of the import too."""
    issuers = provider_person.provider.issuers_here(provider_person.issuer)
    identity, subject = models.ExternalIdentity, provider_person.person.subject
    return and_(identity.issuer.in_(issuers), identity.subject == subject)


def _find_linked(
    session: Session, provider_person: ProviderPerson
) -> tuple[models.ExternalIdentity, models.User] | tuple[None, None]:
    """Return the identity and its account, locked first: under that lock identities are dropped.

    An imported identity gets the issuer of its first token. A link that another provider, or
    other settings, made while they waited for confirmation proves nothing: it goes, with its
    sessions.
    """
    identities = models.ExternalIdentity
    exact, _ = provider_person.provider.issuers_here(provider_person.issuer)
    is_it = _is_of(provider_person)
    exact_first = identities.issuer != exact
    found = session.execute(
        select(identities.id, identities.user_id).where(is_it).order_by(exact_first).limit(1)
    ).one_or_none()
    if found is None:
        return None, None
    user = session.get(models.User, found.user_id, with_for_update=True)
    is_same = and_(identities.id == found.id, identities.user_id == found.user_id)
    identity = session.scalar(select(identities).where(is_it, is_same))
    if identity is None or user is None:
        return None, None
    if identity.waiting_mark and not provider_person.provider.waits:
        session.delete(identity)
        session.flush()
        return None, None
    if not provider_person.provider.waits:
        identity.issuer = exact
    return identity, user


def _account(
    ports: Ports, actor: Actor, session: Session, provider_person: ProviderPerson
) -> models.User:
    """Return or create the account of a person whose identity is new."""
    person = provider_person.person
    query = select(models.User).where(has_email(person.email)).with_for_update()
    found = session.scalars(query).all() if person.email else ()
    if len(found) > 1:
        raise Refused(TWINS)
    user = found[0] if found else None
    is_linkable = user is not None and (user.is_confirmed or user.password_hash is None)
    problem = new_identity_problem(person, is_known=user is not None, is_linkable=is_linkable)
    if user is not None and provider_person.provider.waits:
        problem = WAITS
    refuse_any(problem)
    if user is None:
        user = make_user(ports, actor, session, provider_person)
        if provider_person.is_staff:
            _join_default_group(ports, actor, session, provider_person, user)
    return user


def _link(
    ports: Ports,
    actor: Actor,
    session: Session,
    provider_person: ProviderPerson,
    user: models.User,
) -> models.ExternalIdentity:
    identity = models.ExternalIdentity(
        user_id=user.id,
        issuer=provider_person.provider.issuer_here(provider_person.issuer),
        subject=provider_person.person.subject,
        is_verified=provider_person.person.is_verified,
        created_at=ports.clock.now(),
        waiting_mark=provider_person.provider.link_mark,
    )
    session.add(identity)
    _record_link(ports, actor, session, provider_person, user)
    return identity


def _record_link(
    ports: Ports,
    actor: Actor,
    session: Session,
    provider_person: ProviderPerson,
    user: models.User,
) -> None:
    after = {"subject": provider_person.person.subject}
    change = user_change("user.link", user, after=after)
    _record(ports, actor, session, user, provider_person, change)


def _join_default_group(
    ports: Ports,
    actor: Actor,
    session: Session,
    provider_person: ProviderPerson,
    user: models.User,
) -> None:
    """Add a user to the provider's default group, creating it without permissions if necessary."""
    name = provider_person.first_group
    if not name:
        return
    group = session.scalar(select(models.Group).where(models.Group.name == name))
    if group is None:
        group = models.Group(name=name)
        session.add(group)
        session.flush()
        add_event(ports, actor, session, PermissionGroupCreated(group.id))
        created = Change("group.create", "Group", group.id, name)
        record(ports, _author(actor, user), session, created)
    permission_holders.join(session, users=[user.id], groups=[group.id])
    joined = user_change("user.join", user, after={"group": name})
    _record(ports, actor, session, user, provider_person, joined)


def _lock_for_leaving(session: Session, provider_person: ProviderPerson) -> bool:
    """Lock grants, before any person, if signing in may take the person out of a group.

    Who was added to such a group since leaves it at the next sign-in.
    """
    groups, person = provider_person.groups_to_leave, provider_person.person
    if not groups:
        return False
    known = select(models.ExternalIdentity.user_id).where(_is_of(provider_person))
    by_email = select(models.User.id).where(has_email(person.email))
    member = (
        select(models.GroupMember.user_id)
        .join(models.Group, models.Group.id == models.GroupMember.group_id)
        .where(models.Group.name.in_(groups))
        .where(
            or_(models.GroupMember.user_id.in_(known), models.GroupMember.user_id.in_(by_email))
        )
    )
    if session.scalar(member.limit(1)) is None:
        return False
    permission_holders.lock_grants(session)
    return True


def _change_groups(
    ports: Ports,
    actor: Actor,
    session: Session,
    provider_person: ProviderPerson,
    user: models.User,
    *,
    can_leave: bool,
) -> None:
    """Let staff join the groups that their claim stands for, and leave the table's other groups.

    A group that doesn't exist is left out: what would be created has no permissions. One that
    keeps permissions manageable isn't left. ``can_leave``: grants are locked.
    """
    joining, leaving = provider_person.groups or frozenset(), provider_person.groups_to_leave
    changes = permission_holders.find_group_changes(session, user.id, joining, leaving)
    leaves, kept = (changes.leaves, changes.kept) if can_leave else ({}, {})
    permission_holders.join(session, users=[user.id], groups=changes.joins)
    permission_holders.leave(session, users=[user.id], groups=leaves)
    if kept:
        _record_kept_groups(ports, actor, session, provider_person, user, sorted(kept))
    before, after = changes.before, {*changes.before, *changes.joins} - leaves.keys()
    if after == before:
        return
    user.updated_at = ports.clock.now()
    add_event(ports, actor, session, StaffUpdated(user.id))
    old, new = {"groups": sorted(before)}, {"groups": sorted(after)}
    _record(ports, actor, session, user, provider_person, user_change("user.sync", user, old, new))


def _record_kept_groups(
    ports: Ports,
    actor: Actor,
    session: Session,
    provider_person: ProviderPerson,
    user: models.User,
    kept: list[int],
) -> None:
    """Record why a person stays in groups, once a day: they may sign in with every request."""
    action, now = "user.keep_groups", ports.clock.now()
    recent = (
        select(models.AuditEntry.after)
        .where(
            models.AuditEntry.subject_type == "User",
            models.AuditEntry.subject_id == str(user.id),
            models.AuditEntry.at > now - _KEPT_AGAIN,
            models.AuditEntry.action == action,
        )
        .order_by(models.AuditEntry.at.desc(), models.AuditEntry.id.desc())
    )
    last = session.scalar(recent.limit(1))
    if last is not None and last.get("groups") == kept:
        return
    after = {"groups": kept, "reason": KEPT}
    _record(ports, actor, session, user, provider_person, user_change(action, user, after=after))
