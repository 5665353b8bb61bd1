"""Whom each identity provider lets in, and who would stand outside without it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, and_, func, or_, select

from app.domain.actor import Actor
from app.domain.errors import Problem, Refused
from app.domain.permissions import Permission
from app.domain.providers import Provider
from app.domain.shop import PasswordLoginMode
from app.models import ExternalIdentityRecord, SessionRecord, ShopRecord, UserRecord
from app.ports import Ports
from app.services.access import requires
from app.services.door_numbers import COUNTED, Tally
from app.services.providers import known_providers
from app.services.sign_on_reach import has_sign_on

_NAMED = 5


@dataclass(frozen=True, slots=True)
class ProviderReach:
    """How many people have come in by a provider, and how many of its sessions are open."""

    people: Tally
    sessions: Tally


@dataclass(frozen=True, slots=True)
class ProviderClosing:
    """What switching a provider off would do, counted just now.

    ``people`` have come in by it; ``shut_out`` of them are active and have no other way in, nor a
    password that lets them in at present. ``staff_shut_out`` are those of the staff who could not
    work any more, ``named`` some of their addresses. ``sessions`` began there and are open.
    """

    people: Tally
    sessions: Tally
    shut_out: Tally
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
    columns = [column for one in known for column in (_people(one), _sessions(ports, one))]
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
    out = _shut_out(provider)
    staff = out.where(UserRecord.is_staff).order_by(UserRecord.email)
    named = staff.with_only_columns(UserRecord.email).limit(_NAMED).subquery()
    query = select(
        _people(provider),
        _sessions(ports, provider),
        _up_to(out),
        select(func.count()).select_from(staff.order_by(None).subquery()).scalar_subquery(),
        select(func.aggregate_strings(named.c.email, "\n")).scalar_subquery(),
    )
    with ports.database.reading() as session:
        people, sessions, shut_out, staff_out, emails = session.execute(query).one()
    return ProviderClosing(
        _tally(people),
        _tally(sessions),
        _tally(shut_out),
        staff_out,
        tuple(sorted(str(emails).split("\n"))) if emails else (),
    )


def _shut_out(provider: Provider) -> Select[int]:
    """Active people who come in by ``provider`` and have no other way in at present."""
    mode = select(ShopRecord.password_login_mode).scalar_subquery()
    no_password = or_(
        UserRecord.password_hash.is_(None),
        mode == PasswordLoginMode.DISABLED.value,
        and_(mode == PasswordLoginMode.CUSTOMERS_ONLY.value, UserRecord.is_staff),
    )
    here = select(ExternalIdentityRecord.user_id).where(_told_by(provider))
    return select(UserRecord.id).where(
        UserRecord.id.in_(here),
        UserRecord.is_active,
        no_password,
        ~has_sign_on(without=provider.slug),
    )


def _told_by(provider: Provider) -> ColumnElement[bool]:
    """As ``Provider.issuer_here`` has it, in a form that the index answers."""
    issuer = ExternalIdentityRecord.issuer
    if provider.issuer:
        return issuer == provider.issuer
    below, above = f"{provider.slug}|", f"{provider.slug}}}"
    return and_(issuer >= below, issuer < above, issuer.startswith(below, autoescape=True))


def _people(provider: Provider) -> ColumnElement[int]:
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
