"""The console's first page: the shop's state, the last day, and the setup checklist."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Select, exists, func, select, true, update
from sqlalchemy.orm import Session

from app import models
from app.domain.audit import AuditEntry
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.deliveries.statistics import DeliveryDay
from app.domain.mails.mail import MailKind
from app.domain.shop.settings import PasswordLoginMode, Switches, TrafficHour, TrafficKind
from app.domain.single_sign_on.providers import Provider, serves_any_client
from app.ports import NamedRow, Ports
from app.services.audit.entries import last_entries
from app.services.audit.log import Change, record
from app.services.authorization.register import building_block, requires, staff_only
from app.services.deliveries.statistics import delivery_columns, hour_spans, read_day
from app.services.identity.providers import known_providers
from app.services.lists.paging import record_from
from app.services.mails.mail_templates import template_fault_count
from app.services.outbox.base_url import is_anything_held
from app.services.shop.impact import (
    staff_sessions,
    staff_without_second_factor,
    staff_without_sign_on,
)
from app.services.shop.settings import Closing, closing_columns, read_closing
from app.services.shop.traffic import (
    read_traffic_hour,
    requests_since,
    traffic_columns,
    untrusted_peers,
)
from app.services.sign_in.login_throttle import blocked_count
from app.services.webhooks.failing_webhooks import FailingWebhook, list_failing_webhooks
from app.services.webhooks.subscribers import mails_without_app, sender_columns


@dataclass(frozen=True, slots=True)
class Setup:
    """Which steps are done; ``sends_mail`` is false while mail is written to a file."""

    sends_mail: bool
    has_staff: bool
    has_sign_on: bool
    has_app: bool
    has_webhook: bool

    @property
    def is_done(self) -> bool:
        return all(astuple(self))


def _setup_columns() -> tuple[ColumnElement[Any], ...]:
    staff = select(models.User.id).where(models.User.is_staff).limit(2).subquery()
    return (
        models.Shop.setup_dismissed.label("setup_dismissed"),
        select(func.count()).select_from(staff).scalar_subquery().label("setup_staff"),
        exists().where(models.IdentityProvider.active).label("setup_sign_on"),
        exists().where(models.App.id.is_not(None)).label("setup_app"),
        exists().where(models.Webhook.id.is_not(None)).label("setup_webhook"),
    )


@building_block
def read_setup(ports: Ports, row: NamedRow) -> Setup | None:
    """Return the checklist in a row that has ``_setup_columns``; ``None`` if dismissed."""
    if row.setup_dismissed:
        return None
    return Setup(
        sends_mail=ports.configuration.sends_mail,
        has_staff=row.setup_staff > 1,
        has_sign_on=row.setup_sign_on,
        has_app=row.setup_app,
        has_webhook=row.setup_webhook,
    )


@requires(Permission.MANAGE_SETTINGS)
def sends_mail(ports: Ports, actor: Actor) -> bool:
    """Whether mail is sent to its recipients, rather than written to a file."""
    return ports.configuration.sends_mail


@requires(Permission.MANAGE_SETTINGS)
def dismiss_setup(ports: Ports, actor: Actor) -> None:
    """Hide the setup checklist for everyone; safe to repeat."""
    dismissed = (
        update(models.Shop)
        .where(models.Shop.id == models.SHOP_ID, ~models.Shop.setup_dismissed)
        .values(setup_dismissed=True)
        .returning(models.Shop.name)
    )
    with ports.database.transaction() as session:
        name = session.scalar(dismissed)
        if name is not None:
            record(
                ports, actor, session, Change("shop.dismiss_setup", "Shop", models.SHOP_ID, name)
            )


_HOUR = timedelta(hours=1)
_CHANGES = 5
_NOT_STAFF = (TrafficKind.ANONYMOUS, TrafficKind.INVALID, TrafficKind.CUSTOMER)


@dataclass(frozen=True, slots=True)
class ProviderStatus:
    """An identity provider's state in this process's cache; no request is sent.

    ``answered_at`` is when its keys were fetched, ``None`` if never; ``is_paused`` while calls to
    it are paused after failures. ``waits``: a change waits for confirmation.
    """

    slug: str
    name: str
    is_active: bool
    answered_at: datetime | None
    is_paused: bool
    waits: bool = False
    serves_staff_of_any_client: bool = False


@dataclass(frozen=True, slots=True)
class PeopleCounts:
    """Staff who sign in with a password only, and counts for staff managers.

    ``second_factor_from`` is when staff need a second factor, ``None`` while it is optional.
    ``blocked_ips`` is ``None`` while the counters can't be read; ``untrusted_peers`` are machines
    that forwarded requests in the last week without being trusted proxies.
    """

    staff_without_sign_on: int
    staff_sessions: int
    blocked_ips: int | None
    untrusted_peers: int
    staff_without_second_factor: int = 0
    second_factor_from: datetime | None = None


@dataclass(frozen=True, slots=True)
class TrafficCounts:
    """API requests of the last day by hour and kind, without the last minute of each process.

    ``refused`` had an invalid credential. ``from_outside`` are those of the last hour that a
    closed storefront refuses: anonymous callers, customers, and invalid credentials. ``rejected``
    are those that the closed storefront has refused.
    """

    hours: tuple[TrafficHour, ...]
    from_outside: int
    rejected: int

    @property
    def by_kind(self) -> Mapping[TrafficKind, int]:
        return {kind: sum(hour.by_kind[kind] for hour in self.hours) for kind in TrafficKind}

    @property
    def requests(self) -> int:
        return sum(self.by_kind.values())

    @property
    def refused(self) -> int:
        return self.by_kind[TrafficKind.INVALID]


@dataclass(frozen=True, slots=True)
class Overview:
    """The installation's state; a part is ``None`` if the caller can't see it.

    ``people`` and ``last_changes`` need MANAGE_STAFF, ``traffic`` MANAGE_SETTINGS, ``deliveries``
    and ``webhooks`` (the failing ones) MANAGE_APPS. ``setup`` needs MANAGE_SETTINGS, and is
    ``None`` when it was dismissed. ``closing`` is ``None`` while the storefront
    is open. ``is_held``: something waits for an operator who says what to send.
    ``broken_templates`` are emails that are sent by our template, because the shop's
    can't be used, ``mails_without_app`` those that an app is to send though none can; both need
    MANAGE_SETTINGS.
    """

    at: datetime
    switches: Switches
    closing: Closing | None
    providers: tuple[ProviderStatus, ...]
    people: PeopleCounts | None
    traffic: TrafficCounts | None
    deliveries: DeliveryDay | None
    webhooks: tuple[FailingWebhook, ...] | None
    last_changes: tuple[AuditEntry, ...] | None
    setup: Setup | None
    broken_templates: int = 0
    is_held: bool = False
    mails_without_app: tuple[MailKind, ...] = ()
    manages_plugins: bool = False


@staff_only
def show_overview(ports: Ports, actor: Actor) -> Overview:
    """Return the installation's current state, in at most five statements.

    One more if apps are to send emails.
    """
    manages_staff = actor.holds(Permission.MANAGE_STAFF)
    manages_apps = actor.holds(Permission.MANAGE_APPS)
    manages_settings = actor.holds(Permission.MANAGE_SETTINGS)
    now = ports.clock.now()
    with ports.database.reading() as session:
        rows = session.execute(_numbers(ports, actor, now)).all()
        deliveries = read_day(session, now, rows) if manages_apps else None
        changes = _with_names(session, last_entries(session, _CHANGES)) if manages_staff else None
    found = rows[0]
    webhooks = list_failing_webhooks(ports, actor) if manages_apps else None
    providers = known_providers(ports, found.providers_version)
    return Overview(
        at=now,
        switches=Switches(PasswordLoginMode(found.mode), found.storefront),
        closing=read_closing(found),
        providers=tuple(_provider(ports, provider) for provider in providers),
        people=_people(found) if manages_staff else None,
        traffic=_traffic(rows) if manages_settings else None,
        deliveries=deliveries,
        webhooks=webhooks,
        last_changes=changes,
        setup=read_setup(ports, found) if manages_settings else None,
        is_held=manages_settings and bool(found.is_held),
        broken_templates=found.template_faults + len(ports.own_templates.faults())
        if manages_settings
        else 0,
        mails_without_app=mails_without_app(ports, found) if manages_settings else (),
        manages_plugins=actor.holds(Permission.MANAGE_PLUGINS),
    )


def _with_names(session: Session, entries: tuple[AuditEntry, ...]) -> tuple[AuditEntry, ...]:
    """Return the entries with the names of people who have one, instead of their emails."""
    keys = {entry.actor_user_id for entry in entries if entry.actor_user_id is not None}
    if not keys:
        return entries
    columns = (models.User.id, models.User.first_name, models.User.last_name)
    rows = session.execute(select(*columns).where(models.User.id.in_(keys)))
    names = {key: f"{first} {last}".strip() for key, first, last in rows}
    return tuple(
        replace(entry, actor_name=names.get(entry.actor_user_id or 0) or entry.actor_name)
        for entry in entries
    )


def _numbers(ports: Ports, actor: Actor, now: datetime) -> Select[*tuple[Any, ...]]:
    """Return the query for the shop's numbers, in a row for each hour if the caller sees any."""
    span = hour_spans(now)
    hourly: list[ColumnElement[int]] = []
    if actor.holds(Permission.MANAGE_APPS):
        hourly += delivery_columns(span)
    if actor.holds(Permission.MANAGE_SETTINGS):
        hourly += traffic_columns(span)
    query = select(*_shop_columns(ports, actor)).select_from(models.Shop)
    if not hourly:
        return query
    return query.join(span, true()).add_columns(span.c.began, *hourly).order_by(span.c.began)


def _shop_columns(ports: Ports, actor: Actor) -> list[ColumnElement[Any]]:
    columns: list[ColumnElement[Any]] = [
        models.Shop.password_login_mode.label("mode"),
        *closing_columns(),
        models.Shop.providers_version.label("providers_version"),
    ]
    if actor.holds(Permission.MANAGE_STAFF):
        columns += _people_columns(ports)
    if actor.holds(Permission.MANAGE_SETTINGS):
        columns.append(requests_since(ports, _HOUR, *_NOT_STAFF).label("from_outside"))
        columns += [*_setup_columns(), *sender_columns()]
        columns.append(models.Shop.storefront_rejections.label("rejected"))
        columns.append(is_anything_held().label("is_held"))
        columns.append(template_fault_count().scalar_subquery().label("template_faults"))
    return columns


def _people_columns(ports: Ports) -> list[ColumnElement[Any]]:
    return [
        staff_without_sign_on().label("staff_without_sign_on"),
        staff_sessions(ports).label("staff_sessions"),
        blocked_count(ports).label("blocked_ips"),
        untrusted_peers(ports).label("untrusted_peers"),
        staff_without_second_factor().label("staff_without_second_factor"),
        models.Shop.second_factor_from.label("second_factor_from"),
    ]


def _people(row: NamedRow) -> PeopleCounts:
    return record_from(PeopleCounts, row)


def _traffic(rows: Sequence[NamedRow]) -> TrafficCounts:
    _day_before, *hours = rows
    return TrafficCounts(
        tuple(map(read_traffic_hour, hours)), rows[0].from_outside, rows[0].rejected
    )


def _provider(ports: Ports, provider: Provider) -> ProviderStatus:
    memory = ports.cache.providers
    url = provider.json_web_key_set_url
    cached = memory.keys.get(url)
    return ProviderStatus(
        provider.slug,
        provider.name,
        provider.active,
        None if cached is None else datetime.fromtimestamp(cached.fetched, UTC),
        ports.clock.timestamp() < (memory.paused.get(url) or 0.0),
        provider.waits,
        serves_any_client(provider),
    )
