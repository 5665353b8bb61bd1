"""What an identity provider can assert about a person, right now.

Each way to sign in with a provider builds its person here: by access token, by code, in the
preview. While a change of the provider's settings waits for confirmation, whoever made it could
assert anything: so its emails count as unverified (no existing account is linked, no domain or
group makes staff), no groups change, its scopes grant at most what those who made the changes
hold, it asserts no second factor, and only links that were made by the very same settings are
honoured.
"""

from dataclasses import dataclass, replace

from sqlalchemy import select
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.users import User
from app.domain.authorization.permissions import ScopeGrant
from app.domain.single_sign_on.provider_tokens import ProviderTokenRejected
from app.domain.single_sign_on.provider_users import ExternalPerson
from app.domain.single_sign_on.providers import Provider
from app.domain.single_sign_on.waiting_changes import gets_codes, waits_for
from app.domain.values.errors import Problem, Refused
from app.ports import Ports
from app.services.authorization.register import building_block
from app.services.authorization.session_rights import (
    grant_while_waiting,
    permissions_while_waiting,
)
from app.services.identity.providers import known_providers

_UNSTATED_SECONDS = 24 * 3600.0
"""For how long tokens that state no time of issue are valid, as providers usually have it."""

WAITS = Problem(
    "INVALID",
    "The identity provider's settings were changed, and the change isn't confirmed yet. Until a "
    "superuser confirms it, this account can't sign in with the provider.",
)
_NO_CODES = Problem(
    "INVALID",
    "The identity provider's settings were changed, and the change isn't confirmed yet. Until a "
    "superuser confirms it, no one can sign in on its login page.",
)
_CHANGED = Problem("INVALID", "The identity provider's settings have changed. Sign in again.")


@dataclass(frozen=True, slots=True)
class ProviderPerson:
    """A person as a provider can assert them; ``assert_person`` makes it.

    ``grant`` holds their permissions if the provider rules them. ``serves_staff`` is false for
    who brings a token of an unknown client: they are served as a customer.
    """

    provider: Provider
    issuer: str
    person: ExternalPerson
    grant: ScopeGrant | None = None
    serves_staff: bool = True
    amr: tuple[str, ...] = ()

    @property
    def is_staff(self) -> bool:
        """Whether the provider's word makes them staff.

        That is a scope, or with a verified email its domain or a group.
        """
        by_scope = self.grant is not None and self.grant.is_staff
        by_domain = self.provider.makes_staff(self.person.email) or bool(self.person.groups)
        return self.serves_staff and (by_scope or (self.person.is_verified and by_domain))

    @property
    def groups(self) -> frozenset[str] | None:
        """Return the groups of the provider's table that staff are in; ``None`` keeps theirs."""
        return self.person.groups if self.serves_staff else None

    @property
    def first_group(self) -> str:
        """Return the group that new staff join; empty if there is none or the table has it."""
        name = self.provider.default_group_name_for_new_staff_users
        is_mapped = self.groups is not None and name in self.provider.mapped_groups
        return "" if is_mapped else name

    @property
    def groups_to_leave(self) -> frozenset[str]:
        """Return the groups of the provider's table that staff with its word aren't in."""
        if self.groups is None:
            return frozenset()
        return self.provider.mapped_groups - self.groups

    @property
    def rights(self) -> ScopeGrant | None:
        """The provider's grant; staff by email domain are staff in it."""
        if not self.serves_staff:
            return ScopeGrant()
        return None if self.grant is None else replace(self.grant, is_staff=self.is_staff)


@building_block
def assert_person(ports: Ports, said: ProviderPerson) -> ProviderPerson:
    """Return what the provider can assert of what it ``said``."""
    waiting = said.provider.waiting_changes
    if not waiting:
        return said
    grant = None if said.grant is None else grant_while_waiting(ports, waiting, said.grant)
    person = replace(said.person, is_verified=False, groups=None)
    return replace(said, person=person, grant=grant, amr=())


@building_block
def require_honoured(ports: Ports, provider: Provider, issuer: str, subject: str | None) -> None:
    """Raise ``ProviderTokenRejected`` if the person's link isn't honoured while settings wait.

    To be called before their token goes to a URL that waits for confirmation. A token without a
    subject can be anyone's.
    """
    if not provider.waits:
        return
    if subject is None:
        raise ProviderTokenRejected(WAITS.message)
    marks = select(models.ExternalIdentity.waiting_mark).where(
        models.ExternalIdentity.issuer.in_(provider.issuers_here(issuer)),
        models.ExternalIdentity.subject == subject,
    )
    with ports.database.reading() as session:
        if any(mark != provider.link_mark for mark in session.scalars(marks)):
            raise ProviderTokenRejected(WAITS.message)


@building_block
def require_opaque_allowed(provider: Provider) -> None:
    """Raise ``ProviderTokenRejected`` if the provider's opaque tokens can't be accepted."""
    if provider.audience or provider.accepted_clients or provider.use_oauth_scope_permissions:
        raise ProviderTokenRejected("An opaque token doesn't show its audience or client.")
    if waits_for(provider, "user_info_url"):
        reason = "Opaque tokens aren't sent to a user info URL that waits for confirmation."
        raise ProviderTokenRejected(reason)


@building_block
def require_codes_allowed(ports: Ports, provider: Provider) -> None:
    """Refuse INVALID if the provider's token URL can't be sent codes, because it waits."""
    if not gets_codes(provider, known_providers(ports)):
        raise Refused(_NO_CODES)


@building_block
def require_issued_since(provider: Provider, issued: float | None, first_seen: float) -> None:
    """Raise ``ProviderTokenRejected`` for a token that a URL nobody confirmed may have kept.

    One that doesn't state when it was ``issued`` can be a day older than ``first_seen``.
    """
    earliest = first_seen - _UNSTATED_SECONDS if issued is None else issued
    if earliest <= provider.tokens_valid_after:
        reason = "It was issued before the provider's settings were corrected."
        raise ProviderTokenRejected(reason)


@building_block
def lock_settings(session: Session, provider: Provider) -> None:
    """Keep the settings of a provider that waits as they are until the transaction ends.

    Refuses INVALID if they have changed: what they asserted isn't theirs any more.
    """
    if not provider.waits:
        return
    version = select(models.IdentityProvider.trust_version).where(
        models.IdentityProvider.id == provider.id
    )
    if session.scalar(version.with_for_update(read=True)) != provider.trust_version:
        raise Refused(_CHANGED)


@building_block
def waiting_problem(
    ports: Ports, provider: Provider, user: User | None, waiting_mark: str | None
) -> Problem | None:
    """Return why ``provider`` can't sign in ``user`` while its settings wait, or ``None``.

    ``waiting_mark`` is the link's, ``None`` if there is no link, ``user`` the account that is
    linked or has the person's email.
    """
    if not provider.waits or user is None:
        return None
    if waiting_mark != provider.link_mark or user.is_staff:
        return WAITS
    held = permissions_while_waiting(ports, provider.waiting_changes)
    return None if user.permissions <= held else WAITS
