"""Whom each identity provider lets in, and who would stand outside without it."""

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
from app.ports import Ports
from app.services.authorization.register import part, requires
from app.services.identity.providers import known_providers
from app.services.identity.sso_coverage import has_sign_on, works
from app.services.shop.sign_in_counts import COUNTED, Tally

_NAMED = 5


@dataclass(frozen=True, slots=True)
class ProviderReach:
    """How many people have come in by a provider, and how many of its sessions are open."""

    people: Tally
    sessions: Tally


@dataclass(frozen=True, slots=True)
class ProviderClosing:
    """What switching a provider off would do, counted just now.

    ``people`` have come in by it; ``shut_out`` of them (of the first ``COUNTED``, where they are
    more) are active and lose their only way in: no other provider knows them, and no password
    lets them in at present. Whoever has none now, because this one lacks a setting, loses none.
    ``staff_shut_out`` are all those of the staff who could not work any more, ``named`` some of
    their addresses. ``sessions`` began there and are open.
    """

    people: Tally
    sessions: Tally
    shut_out: int
    staff_shut_out: int
    named: tuple[str, ...]


@requires(Permission.MANAGE_PLUGINS)
def show_provider_reach(
    ports: Ports, actor: Actor, slugs: Sequence[str]
) -> Mapping[str, ProviderReach]:
    """People and open sessions of each of these providers, by slug; two statements.

    What grows without bound is counted up to ``COUNTED``. A slug that none has is left out.
    """
    known = [one for one in known_providers(ports) if one.slug in slugs]
    if not known:
        return {}
    columns = [column for one in known for column in (people_of(one), _sessions(ports, one))]
    with ports.database.reading() as session:
        row = tuple(session.execute(select(*columns)).one())
    counted = [_tally(int(number)) for number in row]
    pairs = zip(counted[::2], counted[1::2], strict=True)
    return {one.slug: ProviderReach(*pair) for one, pair in zip(known, pairs, strict=True)}


@requires(Permission.MANAGE_PLUGINS)
def show_provider_closing(ports: Ports, actor: Actor, slug: str) -> ProviderClosing:
    """What switching the provider ``slug`` off would do; two statements.

    Refuses NOT_FOUND on ``provider``.
    """
    provider = next((one for one in known_providers(ports) if one.slug == slug), None)
    if provider is None:
        raise Refused(Problem("NOT_FOUND", f"There is no provider {slug}.", "provider"))
    staff = _shut_out(provider).where(UserRecord.is_staff, comes_by(provider))
    named = staff.with_only_columns(UserRecord.email).order_by(UserRecord.email).limit(_NAMED)
    some = select(ExternalIdentityRecord.user_id).where(_told_by(provider)).limit(COUNTED)
    query = select(
        people_of(provider),
        _sessions(ports, provider),
        _up_to(_shut_out(provider).where(UserRecord.id.in_(select(some.subquery().c.user_id)))),
        select(func.count()).select_from(staff.subquery()).scalar_subquery(),
        select(func.aggregate_strings(named.subquery().c.email, "\n")).scalar_subquery(),
    )
    with ports.database.reading() as session:
        people, sessions, shut_out, staff_out, emails = session.execute(query).one()
    return ProviderClosing(
        _tally(people),
        _tally(sessions),
        max(shut_out, staff_out),
        staff_out,
        tuple(sorted(str(emails).split("\n"))) if emails else (),
    )


def _shut_out(provider: Provider) -> Select[int]:
    """Active people who have no other way in than ``provider``; nobody, if that is none."""
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
def comes_by(provider: Provider) -> ColumnElement[bool]:
    """Whether the person of ``UserRecord`` has come in by ``provider``."""
    of_person = ExternalIdentityRecord.user_id == UserRecord.id
    return exists().where(of_person, _told_by(provider)).correlate(UserRecord)


def _told_by(provider: Provider) -> ColumnElement[bool]:
    """As ``Provider.issuer_here`` has it, in a form that the index answers."""
    issuer = ExternalIdentityRecord.issuer
    if provider.issuer:
        return issuer == provider.issuer
    below, above = f"{provider.slug}|", f"{provider.slug}}}"
    return and_(issuer >= below, issuer < above, issuer.startswith(below, autoescape=True))


@part
def people_of(provider: Provider) -> ColumnElement[int]:
    """How many people have come in by ``provider``, counted up to one beyond ``COUNTED``."""
    return _up_to(select(ExternalIdentityRecord.id).where(_told_by(provider)))


def _sessions(ports: Ports, provider: Provider) -> ColumnElement[int]:
    return _up_to(
        select(SessionRecord.id).where(
            SessionRecord.provider_id == provider.id,
            SessionRecord.provider_id.is_not(None),
            SessionRecord.expires_at > ports.clock.now(),
        )
    )


def _up_to(query: Select[int]) -> ColumnElement[int]:
    some = query.limit(COUNTED + 1).subquery()
    return select(func.count()).select_from(some).scalar_subquery()


def _tally(counted: int) -> Tally:
    return Tally(min(counted, COUNTED), counted > COUNTED)
