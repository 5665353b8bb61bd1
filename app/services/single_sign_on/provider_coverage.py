"""Count who would lose access without a provider, and refuse changes that no one could undo.

The console and the shell ask ``prevent_lockout``; GraphQL doesn't.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, and_, exists, func, or_, select
from sqlalchemy.orm import Session

from app import models
from app.domain.authorization.actor import Actor, anonymous
from app.domain.authorization.permissions import Permission
from app.domain.shop import lockouts
from app.domain.shop.settings import PasswordLoginMode
from app.domain.single_sign_on.providers import Provider
from app.domain.values.pages import MAX_COUNTED
from app.models.json_arrays import json_array_text
from app.ports import Ports
from app.services.authorization.register import building_block, requires
from app.services.identity.providers import find_provider, has_sign_on, known_providers, works
from app.services.shop.impact import BoundedCount, bounded_count, count_bounded
from app.services.shop.lockout_guard import read_settings_managers, settings_manager_columns

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
    0 while the provider lacks a setting, because no one can sign in with it then.
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
        for column in (_people_of(provider), _sessions(ports, provider))
    ]
    with ports.database.reading() as session:
        row = tuple(session.execute(select(*columns)).one())
    counted = [bounded_count(int(number)) for number in row]
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
    provider = find_provider(ports, slug)
    staff = _losing_access(provider).where(models.User.is_staff, signed_in_with(provider))
    named = staff.with_only_columns(models.User.email).order_by(models.User.email).limit(_NAMED)
    some = (
        select(models.ExternalIdentity.user_id).where(_matches_issuer(provider)).limit(MAX_COUNTED)
    )
    query = select(
        _people_of(provider),
        _sessions(ports, provider),
        count_bounded(
            _losing_access(provider).where(models.User.id.in_(select(some.subquery().c.user_id)))
        ),
        select(func.count()).select_from(staff.subquery()).scalar_subquery(),
        select(json_array_text(named.subquery().c.email)).scalar_subquery(),
    )
    with ports.database.reading() as session:
        people, sessions, losing_access, staff_out, emails = session.execute(query).one()
    return ProviderDisableImpact(
        bounded_count(people),
        bounded_count(sessions),
        max(losing_access, staff_out),
        staff_out,
        tuple(sorted(json.loads(emails))),
    )


def _losing_access(provider: Provider) -> Select[int]:
    """Select active people whose only sign-in method is ``provider``."""
    mode = select(models.Shop.password_login_mode).scalar_subquery()
    no_password = or_(
        models.User.password_hash.is_(None),
        mode == PasswordLoginMode.DISABLED.value,
        and_(mode == PasswordLoginMode.CUSTOMERS_ONLY.value, models.User.is_staff),
    )
    lets_in = exists().where(models.IdentityProvider.slug == provider.slug, works())
    return select(models.User.id).where(
        lets_in, models.User.is_active, no_password, ~has_sign_on(without=provider.slug)
    )


@building_block
def signed_in_with(provider: Provider) -> ColumnElement[bool]:
    """Whether the person of ``models.User`` has signed in with ``provider``."""
    of_person = models.ExternalIdentity.user_id == models.User.id
    return exists().where(of_person, _matches_issuer(provider)).correlate(models.User)


def _matches_issuer(provider: Provider) -> ColumnElement[bool]:
    """As ``Provider.issuer_here`` has it, in a form that the index answers."""
    issuer = models.ExternalIdentity.issuer
    if provider.issuer:
        return issuer == provider.issuer
    below, above = f"{provider.slug}|", f"{provider.slug}}}"
    return and_(issuer >= below, issuer < above, issuer.startswith(below, autoescape=True))


def _people_of(provider: Provider) -> ColumnElement[int]:
    """Count people who signed in with ``provider``, up to one more than ``MAX_COUNTED``."""
    return count_bounded(select(models.ExternalIdentity.id).where(_matches_issuer(provider)))


def _sessions(ports: Ports, provider: Provider) -> ColumnElement[int]:
    return count_bounded(
        select(models.Session.id).where(
            models.Session.provider_id == provider.id,
            models.Session.provider_id.is_not(None),
            models.Session.expires_at > ports.clock.now(),
        )
    )


@dataclass(frozen=True, slots=True)
class _AccessState:
    """Who can undo changes now, and how many people use a provider."""

    mode: PasswordLoginMode
    managers: lockouts.SettingsManagers
    people: int
    staff: int


@building_block
@contextmanager
def prevent_lockout(
    ports: Ports, actor: Actor, session: Session, before: Provider, after: Provider
) -> Iterator[None]:
    """Raise ``LockoutRefused`` (INVALID on the setting) if no one could undo the block's change.

    The block changes ``before`` to ``after``. The operator is refused too. A change is allowed if
    no one could have undone anything before: it may be the repair.
    """
    setting = lockouts.locking_setting(before, after)
    if not setting:
        yield
        return
    who = anonymous() if actor.is_trusted else actor
    was = _count(ports, session, before)
    yield
    # Whom another client knows, only the provider can tell; another issuer's people stand here.
    now = _count(ports, session, before, without=before.slug if setting == "client_id" else None)
    judged = _check_lockout(who, now, lockouts.AccessChange(provider_off=before.slug))
    reason = judged.unless_before(_check_lockout(who, was, lockouts.AccessChange())).reason
    if reason is not None:
        raise lockouts.LockoutRefused(
            lockouts.locking_problem(
                setting, before, was.people, was.staff, reason, most=MAX_COUNTED
            )
        )


def _check_lockout(
    who: Actor, access_state: _AccessState, change: lockouts.AccessChange
) -> lockouts.Lockout:
    return lockouts.check_lockout(who, access_state.managers, access_state.mode, change)


def _count(
    ports: Ports, session: Session, provider: Provider, *, without: str | None = None
) -> _AccessState:
    staff = select(func.count()).select_from(models.User)
    staff = staff.where(models.User.is_staff, models.User.is_active, signed_in_with(provider))
    query = select(
        models.Shop.password_login_mode,
        _people_of(provider).label("people"),
        staff.scalar_subquery().label("staff"),
        *settings_manager_columns(ports, without=without),
    )
    row = session.execute(query).one()
    mode = PasswordLoginMode(row.password_login_mode)
    return _AccessState(mode, read_settings_managers(row), row.people, row.staff)
