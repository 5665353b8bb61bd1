"""Count the people of each identity provider, and who would lose access without it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, and_, exists, func, or_, select

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode
from app.domain.single_sign_on.providers import Provider
from app.domain.values.errors import Problem, Refused
from app.models import (
    ExternalIdentityRecord,
    IdentityProviderRecord,
    SessionRecord,
    ShopRecord,
    UserRecord,
)
from app.models.json_arrays import json_array_text
from app.ports import Ports
from app.services.authorization.register import part, requires
from app.services.identity.providers import known_providers
from app.services.identity.sso_coverage import has_sign_on, works
from app.services.shop.sign_in_counts import MAX_COUNTED, BoundedCount

_NAMED = 5


@dataclass(frozen=True, slots=True)
class ProviderCoverage:
    """How many people have signed in with a provider, and its open sessions."""

    people: BoundedCount
    sessions: BoundedCount


@dataclass(frozen=True, slots=True)
class ProviderDisableImpact:
    """The impact of disabling a provider.

    ``people`` have signed in with it. ``losing_access`` counts the active ones (among the first
    ``MAX_COUNTED``) who have no other provider and no password that the login mode accepts; it is
    0 while the provider lacks a setting, because nobody can sign in with it then.
    ``staff_losing_access`` counts staff among all of them; ``named`` are some of their emails.
    ``sessions`` are the open ones that began there.
    """

    people: BoundedCount
    sessions: BoundedCount
    losing_access: int
    staff_losing_access: int
    named: tuple[str, ...]


@requires(Permission.MANAGE_PLUGINS)
def show_provider_coverage(
    ports: Ports, actor: Actor, slugs: Sequence[str]
) -> Mapping[str, ProviderCoverage]:
    """People and open sessions of each of these providers, by slug; two statements.

    What grows without bound is counted up to ``MAX_COUNTED``. A slug that none has is left out.
    """
    providers = [provider for provider in known_providers(ports) if provider.slug in slugs]
    if not providers:
        return {}
    columns = [
        column
        for provider in providers
        for column in (people_of(provider), _sessions(ports, provider))
    ]
    with ports.database.reading() as session:
        row = tuple(session.execute(select(*columns)).one())
    counted = [_bounded_count(int(number)) for number in row]
    pairs = zip(counted[::2], counted[1::2], strict=True)
    return {
        provider.slug: ProviderCoverage(*pair)
        for provider, pair in zip(providers, pairs, strict=True)
    }


@requires(Permission.MANAGE_PLUGINS)
def show_provider_disable_impact(ports: Ports, actor: Actor, slug: str) -> ProviderDisableImpact:
    """Return the impact of disabling the provider ``slug``; two statements.

    Refuses NOT_FOUND on ``provider``.
    """
    provider = next(
        (provider for provider in known_providers(ports) if provider.slug == slug), None
    )
    if provider is None:
        raise Refused(
            Problem("NOT_FOUND", "Unknown provider {slug}.", "provider", values={"slug": slug})
        )
    staff = _losing_access(provider).where(UserRecord.is_staff, signed_in_with(provider))
    named = staff.with_only_columns(UserRecord.email).order_by(UserRecord.email).limit(_NAMED)
    some = (
        select(ExternalIdentityRecord.user_id).where(_matches_issuer(provider)).limit(MAX_COUNTED)
    )
    query = select(
        people_of(provider),
        _sessions(ports, provider),
        _count_bounded(
            _losing_access(provider).where(UserRecord.id.in_(select(some.subquery().c.user_id)))
        ),
        select(func.count()).select_from(staff.subquery()).scalar_subquery(),
        select(json_array_text(named.subquery().c.email)).scalar_subquery(),
    )
    with ports.database.reading() as session:
        people, sessions, losing_access, staff_out, emails = session.execute(query).one()
    return ProviderDisableImpact(
        _bounded_count(people),
        _bounded_count(sessions),
        max(losing_access, staff_out),
        staff_out,
        tuple(sorted(json.loads(emails))),
    )


def _losing_access(provider: Provider) -> Select[int]:
    """Select active people whose only sign-in method is ``provider``."""
    mode = select(ShopRecord.password_login_mode).scalar_subquery()
    no_password = or_(
        UserRecord.password_hash.is_(None),
        mode == PasswordLoginMode.DISABLED.value,
        and_(mode == PasswordLoginMode.CUSTOMERS_ONLY.value, UserRecord.is_staff),
    )
    lets_in = exists().where(IdentityProviderRecord.slug == provider.slug, works())
    return select(UserRecord.id).where(
        lets_in, UserRecord.is_active, no_password, ~has_sign_on(without=provider.slug)
    )


@part
def signed_in_with(provider: Provider) -> ColumnElement[bool]:
    """Whether the person of ``UserRecord`` has signed in with ``provider``."""
    of_person = ExternalIdentityRecord.user_id == UserRecord.id
    return exists().where(of_person, _matches_issuer(provider)).correlate(UserRecord)


def _matches_issuer(provider: Provider) -> ColumnElement[bool]:
    """As ``Provider.issuer_here`` has it, in a form that the index answers."""
    issuer = ExternalIdentityRecord.issuer
    if provider.issuer:
        return issuer == provider.issuer
    below, above = f"{provider.slug}|", f"{provider.slug}}}"
    return and_(issuer >= below, issuer < above, issuer.startswith(below, autoescape=True))


@part
def people_of(provider: Provider) -> ColumnElement[int]:
    """Count people who signed in with ``provider``, up to one more than ``MAX_COUNTED``."""
    return _count_bounded(select(ExternalIdentityRecord.id).where(_matches_issuer(provider)))


def _sessions(ports: Ports, provider: Provider) -> ColumnElement[int]:
    return _count_bounded(
        select(SessionRecord.id).where(
            SessionRecord.provider_id == provider.id,
            SessionRecord.provider_id.is_not(None),
            SessionRecord.expires_at > ports.clock.now(),
        )
    )


def _count_bounded(query: Select[int]) -> ColumnElement[int]:
    some = query.limit(MAX_COUNTED + 1).subquery()
    return select(func.count()).select_from(some).scalar_subquery()


def _bounded_count(counted: int) -> BoundedCount:
    return BoundedCount(min(counted, MAX_COUNTED), counted > MAX_COUNTED)
