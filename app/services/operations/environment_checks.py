"""Check what the installation depends on apart from its database, with advice."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from sqlalchemy import select

from app.domain.authorization.actor import Actor
from app.domain.mails.mail import sender_setting
from app.domain.mails.mail_log import kind_label
from app.domain.values.installation import CheckResult, CheckState, DatabaseUnavailable
from app.models import ForwardingRecord, ShopRecord
from app.models.shop import SHOP_ID
from app.ports import Ports
from app.ports.mail import MailUndeliverable
from app.ports.throttle import ThrottleUnavailable
from app.services.authorization.register import part
from app.services.identity.providers import known_providers
from app.services.operations.worker_heartbeat import read_worker_status
from app.services.shop.mail_templates import broken_templates
from app.services.single_sign_on.provider_checks import check_provider
from app.services.webhooks.link_apps import mails_without_app

REPLICA = "replica"
"""The subject of the replica's finding."""

_ALIVE = timedelta(seconds=60)
"""Four times as long as a worker lets pass between two signs of life."""

_SLOW = timedelta(minutes=1)
_STUCK = timedelta(minutes=10)
_LATELY = timedelta(days=1)
_MAX_PEERS = 3
_START = "Start one with flask serve (server and worker) or flask worker (worker only)."


@part
def replica_findings(ports: Ports) -> Iterator[CheckResult]:
    """Whether lists can be read from the replica, if there is one; the primary answers as well."""
    if ports.replica is None:
        return
    try:
        lag = ports.replica.check()
    except DatabaseUnavailable as error:
        message = f"Lists are read from the primary: {error.reason}"
        remedy = "Check DATABASE_REPLICA_URL and that the replica is running and streaming."
        yield CheckResult(REPLICA, CheckState.WARNING, message, remedy)
    else:
        yield CheckResult(
            REPLICA, CheckState.FINE, f"Responding; {lag:.1f} seconds behind the primary."
        )


@part
def throttle_findings(ports: Ports) -> Iterator[CheckResult]:
    """Whether logins can be counted, and whether their counters stay."""
    subject = "login throttle"
    try:
        blocked = ports.throttle.blocked(ports.throttle.timestamp(ports.shared_clock))
        eviction = ports.throttle.eviction()
    except ThrottleUnavailable as error:
        remedy = (
            "Check REDIS_URL and that Redis is running. Password login is unavailable until then."
        )
        yield CheckResult(subject, CheckState.FAILED, str(error), remedy)
        return
    if eviction:
        message = f"Redis drops counters when its memory is full ({eviction})."
        yield CheckResult(
            subject, CheckState.FAILED, message, "In Redis: maxmemory-policy noeviction"
        )
    else:
        yield CheckResult(
            subject, CheckState.FINE, f"Responding; blocked IP addresses: {len(blocked)}."
        )


@part
def mail_finding(ports: Ports) -> CheckResult:
    """Whether mails would be taken from us; none is sent."""
    try:
        leaves = ports.mailer.check()
    except MailUndeliverable as error:
        remedy = "Check MAIL_URL and that the mail server is running. No mail is lost."
        return CheckResult("mail", CheckState.FAILED, str(error), remedy)
    if leaves:
        return CheckResult("mail", CheckState.FINE, "The mail server accepts mail.")
    message = "Mail is written to a file instead of being sent."
    if ports.configuration.development:
        return CheckResult("mail", CheckState.FINE, message)
    return CheckResult("mail", CheckState.WARNING, message, "Set MAIL_URL to a mail server.")


@part
def template_findings(ports: Ports) -> Iterator[CheckResult]:
    """Yield each email template of the shop that can't be used."""
    subject = "email templates"
    remedy = "Fix the file. Until then, the default is sent."
    for fault in ports.own_templates.faults():
        line = f":{fault.problem.lines[0]}" if fault.problem.lines else ""
        message = f"{fault.path}{line}: {fault.problem.message}"
        yield CheckResult(subject, CheckState.WARNING, message, remedy)
    remedy = "Edit it in the console under Email templates. Until then, the default is sent."
    for name, fault_text in broken_templates(ports):
        yield CheckResult(subject, CheckState.WARNING, f"{name}: {fault_text}", remedy)


@part
def sender_finding(ports: Ports) -> Iterator[CheckResult]:
    """Yield a warning about emails that an app is to send, if no active app can."""
    with ports.database.reading() as session:
        shop = session.get_one(ShopRecord, SHOP_ID)
    kinds = mails_without_app(ports, shop)
    if kinds:
        names = ", ".join(kind_label(kind) for kind in kinds)
        message = f"No active app gets the links of: {names}. This shop sends these emails."
        settings = " or ".join(sender_setting(kind).replace("_", "-") for kind in kinds)
        remedy = f"Subscribe an app to their events, or run flask shop set {settings} OURS."
        yield CheckResult("emails from apps", CheckState.WARNING, message, remedy)


@part
def provider_findings(ports: Ports, actor: Actor) -> Iterator[CheckResult]:
    """Every identity provider that is active: one line, unless something is wrong with it."""
    active = [provider for provider in known_providers(ports) if provider.active]
    for provider in active:
        subject = f"provider {provider.slug}"
        findings = check_provider(ports, actor, provider.slug)
        wrong = [finding for finding in findings if finding.state is not CheckState.FINE]
        for finding in wrong:
            yield CheckResult(
                subject, finding.state, f"{finding.subject}: {finding.message}", finding.remedy
            )
        if not wrong:
            yield CheckResult(
                subject, CheckState.FINE, f"Responding; {len(findings)} checks passed."
            )


@part
def worker_findings(ports: Ports) -> Iterator[CheckResult]:
    """Whether a worker is alive, and whether it keeps up."""
    status = read_worker_status(ports)
    now = ports.shared_clock.now()
    waiting = {
        "A delivery": status.delivery_since,
        "An event": status.event_since,
        "A mail": status.mail_since,
    }
    since, what = min(
        ((moment, what) for what, moment in waiting.items() if moment is not None),
        default=(now, ""),
    )
    delay = f" {what} has been waiting for {_span(now, since)}." if now - since > _SLOW else ""
    if status.beat_at is None:
        state = CheckState.FAILED if delay else CheckState.WARNING
        yield CheckResult("worker", state, f"No background worker has run yet.{delay}", _START)
    elif now - status.beat_at > _ALIVE:
        message = f"Last heartbeat: {_span(now, status.beat_at)} ago.{delay}"
        yield CheckResult("worker", CheckState.FAILED, message, _START)
    elif delay:
        state = CheckState.FAILED if now - since > _STUCK else CheckState.WARNING
        remedy = (
            "Check the worker's log. Additional workers, on other machines too, "
            "increase throughput."
        )
        yield CheckResult("worker", state, f"Running, but falling behind.{delay}", remedy)
    else:
        yield CheckResult("worker", CheckState.FINE, "Running; the queue is empty.")


@part
def forwarding_findings(ports: Ports) -> Iterator[CheckResult]:
    """Report peers that forwarded requests in the last day without being trusted proxies."""
    lately = (
        select(ForwardingRecord.peer)
        .where(ForwardingRecord.last_seen_at > ports.clock.now() - _LATELY)
        .order_by(ForwardingRecord.requests.desc())
        .limit(_MAX_PEERS)
    )
    with ports.database.reading() as session:
        peers = session.scalars(lately).all()
    if peers:
        yield CheckResult(
            "forwarded headers",
            CheckState.WARNING,
            f"X-Forwarded-For came from {', '.join(peers)}, and was ignored.",
            "If this is your proxy, add it to TRUSTED_PROXIES. Otherwise, a "
            "client may be faking its IP address.",
        )


def _span(now: datetime, moment: datetime) -> str:
    """How long that has been, roughly."""
    seconds = int((now - moment).total_seconds())
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} seconds"
