"""Check whether the installation is ready: database, secrets, and whether anyone can sign in.

Used before a start and for diagnosis; ``database_capacity`` compares processes' connections with
the database's.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import func, or_, select
from sqlalchemy import text as statement

from app import models
from app.domain.accounts.emails import normalize_email
from app.domain.authorization.actor import Actor
from app.domain.shop.lockouts import SettingsManagers
from app.domain.shop.settings import PasswordLoginMode
from app.domain.values import installation
from app.domain.values.text import text
from app.ports import Ports
from app.services.authorization.register import building_block, internal
from app.services.identity.providers import has_sign_on
from app.services.keys import ring
from app.services.operations import environment_checks
from app.services.operations.holds import hold_findings
from app.services.operations.stored_secrets import count_secrets
from app.services.shop.impact import staff_without_second_factor
from app.services.shop.lockout_guard import read_settings_managers, settings_manager_columns

_SUBJECT = "sign-in"
_FACTOR = "second factor"
_EMAIL = "emails"
_NAMED = 5
"""Twins that a finding names: more don't help."""
_NO_FACTOR = "flask shop set staff-second-factor OPTIONAL"
_ENABLE = "flask shop set password-login-mode ENABLED"
_NO_PROVIDER = {
    PasswordLoginMode.DISABLED: (
        "No one can sign in: password login is disabled and no identity provider works."
    ),
    PasswordLoginMode.CUSTOMERS_ONLY: (
        "No staff can sign in: password login is for customers only, and no identity provider "
        "works."
    ),
}


@dataclass(frozen=True, slots=True)
class _StaffSignIns:
    """Counts of active staff; ``with_password`` and ``with_sign_on`` can sign in that way."""

    mode: PasswordLoginMode
    active: int
    with_either: int
    with_sign_on: int
    managers: SettingsManagers

    @property
    def sign_in_count(self) -> int:
        """How many can sign in as staff."""
        is_open = self.mode is PasswordLoginMode.ENABLED
        return self.with_either if is_open else self.with_sign_on

    @property
    def able_managers(self) -> int:
        """How many of them can manage settings."""
        if self.mode is PasswordLoginMode.ENABLED:
            return self.managers.people
        return self.managers.by_sign_on + self.managers.by_grant


@building_block
def sign_in_finding(ports: Ports, *, has_working_provider: bool) -> installation.CheckResult:
    """Whether staff can sign in with the current password login mode, and manage settings."""
    found = _count(ports)
    if found.mode is not PasswordLoginMode.ENABLED and not has_working_provider:
        return installation.CheckResult(
            _SUBJECT, installation.CheckState.FAILED, _NO_PROVIDER[found.mode], _ENABLE
        )
    if not found.active:
        message, remedy = "There are no active staff.", "flask user create EMAIL --superuser"
        return installation.CheckResult(_SUBJECT, installation.CheckState.WARNING, message, remedy)
    if not found.sign_in_count:
        return installation.CheckResult(
            _SUBJECT, installation.CheckState.WARNING, *_sign_in_problem(found)
        )
    if not found.able_managers:
        message = "No one who can sign in can manage settings."
        return installation.CheckResult(
            _SUBJECT,
            installation.CheckState.WARNING,
            message,
            "flask user create EMAIL --superuser",
        )
    message = text(
        "{able:,} of {active:,} active staff can sign in; {managers:,} can manage settings.",
        able=found.sign_in_count,
        active=found.active,
        managers=found.able_managers,
    )
    return installation.CheckResult(_SUBJECT, installation.CheckState.FINE, message)


@building_block
def second_factor_findings(ports: Ports) -> Iterator[installation.CheckResult]:
    """Whether all staff have the second factor that the shop requires; none while it doesn't."""
    query = select(models.Shop.second_factor_from, staff_without_second_factor().label("without"))
    with ports.database.reading() as session:
        row = session.execute(query).one()
    begins = row.second_factor_from
    if begins is None:
        return
    if not row.without:
        message = "All active staff have the second factor that is required of them."
        yield installation.CheckResult(_FACTOR, installation.CheckState.FINE, message)
        return
    message = text(
        "{count:,} active staff member has no second factor, which is required from "
        "{begins:%Y-%m-%d %H:%M} UTC.",
        "{count:,} active staff have no second factor, which is required from "
        "{begins:%Y-%m-%d %H:%M} UTC.",
        count=row.without,
        begins=begins,
    )
    remedy = f"Let them add one when they sign in to the console, or: {_NO_FACTOR}"
    yield installation.CheckResult(_FACTOR, installation.CheckState.WARNING, message, remedy)


@building_block
def email_twin_findings(ports: Ports) -> Iterator[installation.CheckResult]:
    """Report accounts that have the same email in two spellings; nothing without any.

    They are from when those were different emails.
    """
    encoded = select(models.User.email).where(models.User.email.like("%@%xn--%"))
    with ports.database.reading() as session:
        others = {normalize_email(email): email for email in session.scalars(encoded)}
        stored = select(models.User.email).where(models.User.email.in_(others))
        twins = sorted(email for email in session.scalars(stored) if others[email] != email)
    if not twins:
        return
    named = ", ".join(f"{email} and {others[email]}" for email in twins[:_NAMED])
    message = text(
        "{count:,} email has two accounts, in two spellings of its domain: {named}.",
        "{count:,} emails have two accounts each, in two spellings of the domain: {named}.",
        count=len(twins),
        named=named,
    )
    remedy = "Give one of them another email: flask user update EMAIL --email NEW, or delete it"
    yield installation.CheckResult(_EMAIL, installation.CheckState.WARNING, message, remedy)


def _sign_in_problem(found: _StaffSignIns) -> tuple[str, str]:
    """Return why no staff can sign in, and what to do."""
    if found.mode is PasswordLoginMode.ENABLED:
        message = text(
            "No staff can sign in: {count:,} active staff member has neither a password nor an "
            "SSO identity.",
            "No staff can sign in: {count:,} active staff have neither a password nor an SSO "
            "identity.",
            count=found.active,
        )
        return message, "flask user reset-password EMAIL"
    message = text(
        "No staff have signed in with SSO yet: {count:,} active staff member has no SSO identity.",
        "No staff have signed in with SSO yet: {count:,} active staff have no SSO identity.",
        count=found.active,
    )
    return message, f"Let staff sign in with SSO, or: {_ENABLE}"


def _count(ports: Ports) -> _StaffSignIns:
    staff = (
        select(func.count())
        .select_from(models.User)
        .where(models.User.is_staff, models.User.is_active)
    )
    has_either = or_(models.User.password_hash.is_not(None), has_sign_on())
    query = select(
        models.Shop.password_login_mode,
        staff.scalar_subquery().label("active"),
        staff.where(has_either).scalar_subquery().label("with_either"),
        staff.where(has_sign_on()).scalar_subquery().label("with_sign_on"),
        *settings_manager_columns(ports),
    )
    with ports.database.reading() as session:
        row = session.execute(query).one()
    mode = PasswordLoginMode(row.password_login_mode)
    managers = read_settings_managers(row)
    return _StaffSignIns(mode, row.active, row.with_either, row.with_sign_on, managers)


# Connections that an ordinary account can open: the least of the limits of the server, the
# database and the account (-1: unlimited). PostgreSQL 15 has no reserved_connections.
_ACCEPTED = statement("""
SELECT least(
  current_setting('max_connections')::int
    - current_setting('superuser_reserved_connections')::int
    - coalesce(current_setting('reserved_connections', true)::int, 0),
  (SELECT nullif(datconnlimit, -1) FROM pg_database WHERE datname = current_database()),
  (SELECT nullif(rolconnlimit, -1) FROM pg_roles WHERE rolname = current_user)
)""")


@dataclass(frozen=True, slots=True)
class Capacity:
    """Connections that one process opens at most, and those that the database accepts in all."""

    per_process: int
    accepted: int

    @property
    def processes(self) -> int:
        """How many processes can have all of their connections at the same time."""
        return self.accepted // self.per_process


@internal
def database_capacity(ports: Ports, actor: Actor) -> Capacity | None:
    """Return what the database can take; ``None`` for SQLite and behind a pooler.

    A pooler accepts far more connections than its server, which is what it is for.
    """
    if ports.configuration.database_transaction_pooling:
        return None
    with ports.database.reading() as session:
        if session.get_bind().dialect.name != "postgresql":
            return None
        accepted = session.execute(_ACCEPTED).scalar_one()
    return Capacity(ports.configuration.database_connections, int(accepted))


_MANY_ENTRIES = 5_000_000
"""They take 2.5 GiB of PostgreSQL's disk."""

_TOLERANCE = timedelta(seconds=30)
"""How far clocks may be apart; access tokens live for minutes."""


@internal
def require_ready(ports: Ports, actor: Actor) -> None:
    """Return when requests can be answered.

    Raises ``Unreachable`` for a database that does not answer, ``SchemaBehind`` for one whose
    tables are an older version's, ``SchemaAhead`` for a newer version's, ``KeyUnreadable`` when
    nothing could be signed.
    """
    ports.schema.check()
    # A real signature: that is what a key is for, and it needs the private part.
    ports.keys.sign(ring(ports).signer, {})


@internal
def run_checks(ports: Ports, actor: Actor) -> tuple[installation.CheckResult, ...]:
    """Check everything the installation depends on; skip checks that can't run."""
    return tuple(_findings(ports, actor))


def _findings(ports: Ports, actor: Actor) -> Iterator[installation.CheckResult]:
    database = _database(ports)
    yield database
    if database.state is installation.CheckState.FAILED:
        return
    yield _keys(ports)
    yield from _stored_secrets(ports, actor)
    yield from environment_checks.replica_findings(ports)
    yield from environment_checks.throttle_findings(ports)
    yield from _clock(ports)
    yield from hold_findings(ports)
    yield from environment_checks.worker_findings(ports)
    yield from environment_checks.endpoint_findings(ports, actor)
    yield environment_checks.mail_finding(ports)
    yield from environment_checks.template_findings(ports)
    yield from environment_checks.sender_finding(ports)
    providers = tuple(environment_checks.provider_findings(ports, actor))
    yield from providers
    broken = {
        finding.subject for finding in providers if finding.state is installation.CheckState.FAILED
    }
    works = any(finding.subject not in broken for finding in providers)
    yield sign_in_finding(ports, has_working_provider=works)
    yield from email_twin_findings(ports)
    yield from second_factor_findings(ports)
    yield from environment_checks.forwarding_findings(ports)
    yield from _audit_log(ports)


def _database(ports: Ports) -> installation.CheckResult:
    subject = "database"
    try:
        ports.schema.check()
        current = ports.schema.current()
    except installation.Unreachable as error:
        remedy = "Check DATABASE_URL and that the database server is running."
        return installation.CheckResult(
            subject, installation.CheckState.FAILED, str(error), remedy
        )
    except installation.SchemaBehind as error:
        return installation.CheckResult(
            subject, installation.CheckState.FAILED, str(error), environment_checks.UPGRADE
        )
    except installation.SchemaAhead as error:
        return installation.CheckResult(
            subject, installation.CheckState.FAILED, str(error), installation.SCHEMA_AHEAD_REMEDY
        )
    return installation.CheckResult(
        subject, installation.CheckState.FINE, f"Responding; its revision is {current}."
    )


def _keys(ports: Ports) -> installation.CheckResult:
    subject = "signing keys"
    try:
        key_ring = ring(ports)
        ports.keys.sign(key_ring.signer, {})
    except installation.KeyUnreadable as error:
        remedy = (
            "Restore SECRET_KEY, add its former value to SECRET_KEY_FALLBACKS, or run "
            "`flask keys rotate --force`."
        )
        return installation.CheckResult(
            subject, installation.CheckState.FAILED, str(error), remedy
        )
    active, count = key_ring.signer.public.kid, len(key_ring.ring.published)
    fixed = ports.keys.fixed()
    if fixed is not None and fixed.public.kid != active:
        message = f"RSA_PRIVATE_KEY holds a withdrawn key, which is ignored; {active} is active."
        remedy = "Set RSA_PRIVATE_KEY to another key, or remove it, and restart."
        return installation.CheckResult(subject, installation.CheckState.WARNING, message, remedy)
    return installation.CheckResult(
        subject, installation.CheckState.FINE, f"{active} is active; keys published: {count}."
    )


def _stored_secrets(ports: Ports, actor: Actor) -> Iterator[installation.CheckResult]:
    subject = "stored secrets"
    counts = count_secrets(ports, actor)
    unreadable = [f"{count.name}: {count.unreadable}" for count in counts if count.unreadable]
    outdated = [f"{count.name}: {count.resealed}" for count in counts if count.resealed]
    if unreadable:
        message = f"Not readable with this SECRET_KEY: {', '.join(unreadable)}."
        remedy = "Add the former SECRET_KEY to SECRET_KEY_FALLBACKS, or replace these secrets."
        yield installation.CheckResult(subject, installation.CheckState.FAILED, message, remedy)
    if outdated:
        message = f"Readable only with SECRET_KEY_FALLBACKS: {', '.join(outdated)}."
        yield installation.CheckResult(
            subject, installation.CheckState.WARNING, message, "Run `flask keys reseal`."
        )
    elif ports.encryption.has_former_keys() and not unreadable:
        message = "All secrets are encrypted with SECRET_KEY."
        remedy = "Remove SECRET_KEY_FALLBACKS once every process uses this SECRET_KEY."
        yield installation.CheckResult(subject, installation.CheckState.FINE, message, remedy)


def _audit_log(ports: Ports) -> Iterator[installation.CheckResult]:
    """Warn of a log that is kept forever and has become long, by its keys: counting takes long."""
    if ports.configuration.audit_log_days:
        return
    ends = (
        func.min(models.AuditEntry.id),
        func.max(models.AuditEntry.id),
        func.min(models.AuditEntry.at),
    )
    # Each is read from the end of an index; SQLite reads the table for several at once.
    with ports.database.reading() as session:
        first, last, since = session.execute(
            select(*(select(end).scalar_subquery() for end in ends))
        ).one()
    if last is not None and last - first >= _MANY_ENTRIES:
        message = f"It has up to {last - first + 1:,} entries, since {since:%F}, kept forever."
        remedy = "Export and delete old ones with `flask audit prune`, or set AUDIT_LOG_DAYS."
        yield installation.CheckResult(
            "audit log", installation.CheckState.WARNING, message, remedy
        )


def _clock(ports: Ports) -> Iterator[installation.CheckResult]:
    with ports.database.reading() as session:
        theirs = _moment(session.scalar(select(func.current_timestamp())))
        newest = session.scalar(select(func.max(models.AuditEntry.at)))
    now = ports.clock.now()
    remedy = "Synchronize the machines' clocks with NTP: tokens are valid for minutes only."
    subject = "clock"
    if abs(now - theirs) > _TOLERANCE:
        message = f"This machine's clock is {now:%F %T}, the database's {theirs:%F %T} (UTC)."
        yield installation.CheckResult(subject, installation.CheckState.FAILED, message, remedy)
    elif newest is not None and newest > now + _TOLERANCE:
        message = f"The clock is {now:%F %T}, but a record has the time {newest:%F %T} (UTC)."
        yield installation.CheckResult(subject, installation.CheckState.FAILED, message, remedy)
    else:
        yield installation.CheckResult(
            subject, installation.CheckState.FINE, f"{now:%F %T} (UTC), same as the database."
        )


def _moment(value: object) -> datetime:
    """Return the database's current time: aware, or SQLite's text in UTC."""
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
