"""Check what the installation depends on apart from its database, with advice.

Readiness is for a load balancer; proxies are checked for clients' IP addresses and large requests,
Saleor's dashboard for the settings that it needs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select, text

from app import models
from app.domain.accounts.users import MAX_AVATAR_SIZE
from app.domain.authorization.actor import Actor
from app.domain.deliveries.deliveries import RETENTION
from app.domain.mails.mail import sender_setting
from app.domain.mails.mail_log import kind_label
from app.domain.values.ids import to_global_id
from app.domain.values.installation import (
    CheckResult,
    CheckState,
    DatabaseUnavailable,
    KeyUnreadable,
    SchemaBehind,
    Unreachable,
)
from app.domain.values.ip_addresses import Network, parse_address
from app.ports import Ports
from app.ports.http import CallFailed, CallFault, HttpRequest
from app.ports.mail import MailUndeliverable
from app.ports.throttle import ThrottleUnavailable
from app.services.accounts.email_links import redirect_refusal
from app.services.authorization.register import building_block, internal
from app.services.deliveries.backlog import EndpointBacklog, read_endpoint_backlogs, read_waiting
from app.services.identity.providers import known_providers
from app.services.keys import ring
from app.services.mails.mail_templates import broken_templates
from app.services.operations.background_work import MAX_COUNTED, read_worker_status
from app.services.single_sign_on.provider_checks import check_provider
from app.services.webhooks.subscribers import mails_without_app

REPLICA = "replica"
"""The subject of the replica's finding."""

_ALIVE = timedelta(seconds=60)
"""Four times as long as a worker lets pass between two signs of life."""

_SLOW = timedelta(minutes=1)
_STUCK = timedelta(minutes=10)
_LATELY = timedelta(days=1)
_MAX_PEERS = 3
_MAX_ENDPOINTS = 5
_START = "Start one with `flask serve` (server and worker) or `flask worker` (worker only)."

_REVISION = text("SELECT version_num FROM alembic_version")
UPGRADE = "Run `flask db upgrade`."

_EVENTS_READ = 100
_MIN_EVENTS = 3
_MAX_SHOWN = 3
_SMALLEST_QUERY = b'{"query": "{ __typename }"}'
_UPLOAD = (
    b'--b\r\nContent-Disposition: form-data; name="operations"\r\n\r\n'
    b'{"query": "query ($image: Upload) { __typename }", "variables": {"image": null}}\r\n'
    b'--b\r\nContent-Disposition: form-data; name="map"\r\n\r\n'
    b'{"0": ["variables.image"]}\r\n'
    b'--b\r\nContent-Disposition: form-data; name="0"; filename="check"\r\n\r\n'
    b"%b\r\n--b--\r\n"
)
_TOO_LARGE = 413
_REQUEST_SIZE = "request size"
_REMEDIES = {
    CallFault.CERTIFICATE: "Apps and clients refuse that certificate too. Let the proxy send the "
    "certificate for this host together with its intermediates, and renew it if it has expired. "
    "If a private authority signed it, set OUTGOING_CA_FILE to the certificate of that authority.",
    CallFault.FORBIDDEN: "PUBLIC_URL is in a private network from here: add that network to "
    "OUTGOING_ALLOWED_NETWORKS.",
    CallFault.MALFORMED: "Check the scheme and the port of PUBLIC_URL, and what answers there.",
}
_UNREACHABLE = (
    "Check that the proxy is running, and run `flask doctor` on a machine that can connect to "
    "PUBLIC_URL."
)
_PROXIES = "proxies"
_DASHBOARD = "dashboard"


@building_block
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


@building_block
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


@building_block
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


@building_block
def template_findings(ports: Ports) -> Iterator[CheckResult]:
    """Yield each email template of the shop that can't be used."""
    subject = "email templates"
    remedy = "Fix the file. Until then, the default is sent."
    for fault in ports.own_templates.faults():
        line = f":{fault.problem.lines[0]}" if fault.problem.lines else ""
        message = f"{fault.path}{line}: {fault.problem.message}"
        yield CheckResult(subject, CheckState.WARNING, message, remedy)
    remedy = "Edit it in the console under Emails. Until then, the default is sent."
    for name, fault_text in broken_templates(ports):
        yield CheckResult(subject, CheckState.WARNING, f"{name}: {fault_text}", remedy)


@building_block
def sender_finding(ports: Ports) -> Iterator[CheckResult]:
    """Yield a warning about emails that an app is to send, if no active app can."""
    with ports.database.reading() as session:
        shop = session.get_one(models.Shop, models.SHOP_ID)
    kinds = mails_without_app(ports, shop)
    if kinds:
        names = ", ".join(kind_label(kind) for kind in kinds)
        message = f"No active app gets the links of: {names}. This shop sends these emails."
        settings = " or ".join(sender_setting(kind).replace("_", "-") for kind in kinds)
        remedy = f"Subscribe an app to their events, or run `flask shop set {settings} OURS`."
        yield CheckResult("emails from apps", CheckState.WARNING, message, remedy)


@building_block
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


@building_block
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
            "These don't wait for their endpoints. Check the worker's log. Additional workers, on "
            "other machines too, increase throughput."
        )
        yield CheckResult("worker", state, f"Running, but falling behind.{delay}", remedy)
    else:
        yield CheckResult("worker", CheckState.FINE, f"Running; {_waiting(ports)}.")


def _waiting(ports: Ports) -> str:
    """Return what is left in the queue while nothing waits for the worker."""
    waiting = read_waiting(ports, MAX_COUNTED)
    found = []
    if waiting.due:
        found.append(f"{_deliveries(waiting.due)} due at endpoints that are slow or fail")
    if waiting.retrying:
        found.append(f"{_deliveries(waiting.retrying)} waiting for another attempt")
    return ", ".join(found) or "the queue is empty"


def _deliveries(count: int) -> str:
    return "1 delivery" if count == 1 else f"{count:,} deliveries"


@building_block
def endpoint_findings(ports: Ports, actor: Actor) -> Iterator[CheckResult]:
    """Report webhooks whose deliveries wait: for an endpoint, a rate, or the end of a pause."""
    now = ports.shared_clock.now()
    backlogs = read_endpoint_backlogs(ports, actor)
    paused = [backlog for backlog in backlogs if backlog.paused_since is not None]
    others = [backlog for backlog in backlogs if backlog.paused_since is None]
    for backlog in (*others[:_MAX_ENDPOINTS], *paused[:_MAX_ENDPOINTS]):
        if backlog.paused_since is not None:
            yield _paused_finding(backlog, backlog.paused_since, now)
        elif backlog.failing_since is not None:
            yield _failing_finding(backlog, backlog.failing_since, now)
        elif backlog.oldest_due > _SLOW.total_seconds():
            yield _slow_finding(backlog, now)


def _failing_finding(backlog: EndpointBacklog, since: datetime, now: datetime) -> CheckResult:
    return CheckResult(
        f"webhook {backlog.webhook_name}",
        CheckState.WARNING,
        f"Failing for {_span(now, since)}: {_counted(backlog)}. Last: {backlog.last_failure}.",
        "Mend the endpoint. Its waiting deliveries are sent once it works again, or at once by "
        f"`flask webhook send-waiting {_id(backlog)}`.",
    )


def _slow_finding(backlog: EndpointBacklog, now: datetime) -> CheckResult:
    oldest = now - timedelta(seconds=backlog.oldest_due)
    cause = "Responds too slowly"
    remedy = "Have the endpoint answer at once and work afterwards."
    if backlog.max_rate:
        cause = f"Limited to {backlog.max_rate:,} a second, or responds too slowly"
        remedy = f"Raise the limit: `flask webhook edit {_id(backlog)} --max-rate N`."
    message = f"{cause}: {_counted(backlog)}, the oldest for {_span(now, oldest)}."
    subject = f"webhook {backlog.webhook_name}"
    return CheckResult(subject, CheckState.WARNING, message, remedy)


def _counted(backlog: EndpointBacklog) -> str:
    return f"{_deliveries(backlog.due)} due, {backlog.retrying:,} waiting for a retry"


def _id(backlog: EndpointBacklog) -> str:
    return to_global_id("Webhook", backlog.webhook_id)


def _paused_finding(backlog: EndpointBacklog, since: datetime, now: datetime) -> CheckResult:
    waiting = _deliveries(backlog.due + backlog.retrying)
    return CheckResult(
        f"webhook {backlog.webhook_name}",
        CheckState.WARNING,
        f"Paused for {_span(now, since)}: {waiting} waiting. Those older than {RETENTION.days} "
        "days are deleted.",
        f"Resume it: `flask webhook resume {_id(backlog)}`.",
    )


@building_block
def forwarding_findings(ports: Ports) -> Iterator[CheckResult]:
    """Report peers that forwarded requests in the last day without being trusted proxies."""
    lately = (
        select(models.Forwarding.peer)
        .where(models.Forwarding.last_seen_at > ports.clock.now() - _LATELY)
        .order_by(models.Forwarding.requests.desc())
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
    """Return how long that has been, roughly."""
    seconds = int((now - moment).total_seconds())
    for size, unit in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds // size} {unit}"
    return f"{seconds} seconds"


@internal
def check_readiness(ports: Ports, actor: Actor) -> tuple[CheckResult, ...]:
    """Check database, tables, signing keys and Redis, each only if those before it haven't failed.

    A failure is what no request can be served without. The rest is a warning: the primary answers
    in place of a replica, and without Redis only passwords can't be checked.
    Tables of a newer version are fine: during an upgrade, the previous version keeps serving.
    """
    findings: list[CheckResult] = []
    for finding in _findings(ports):
        findings.append(finding)
        if finding.state is CheckState.FAILED:
            break
    return tuple(findings)


def _findings(ports: Ports) -> Iterator[CheckResult]:
    yield _database(ports)
    yield from replica_findings(ports)
    yield _signing_keys(ports)
    yield _throttle(ports)


def _database(ports: Ports) -> CheckResult:
    try:
        with ports.database.reading() as session:
            current = str(session.scalar(_REVISION) or "")
    except Unreachable as error:
        remedy = "Check DATABASE_URL and that the database server is running."
        return CheckResult("database", CheckState.FAILED, str(error), remedy)
    except SchemaBehind as error:
        return CheckResult("schema", CheckState.FAILED, str(error), UPGRADE)
    newest = ports.schema.newest() or ""
    if current < newest:
        message = str(SchemaBehind(current or None, newest))
        return CheckResult("schema", CheckState.FAILED, message, UPGRADE)
    return CheckResult("database", CheckState.FINE, f"Responding; its revision is {current}.")


def _signing_keys(ports: Ports) -> CheckResult:
    subject = "signing keys"
    try:
        signer = ring(ports).signer
        ports.keys.sign(signer, {})
    except KeyUnreadable as error:
        return CheckResult(subject, CheckState.FAILED, str(error), "Restore SECRET_KEY.")
    except Unreachable as error:
        return CheckResult(subject, CheckState.FAILED, str(error), "Check DATABASE_URL.")
    return CheckResult(subject, CheckState.FINE, f"{signer.public.kid} signs.")


def _throttle(ports: Ports) -> CheckResult:
    subject = "login throttle"
    try:
        ports.throttle.eviction()  # one short command; none without REDIS_URL
    except ThrottleUnavailable as error:
        message = f"{error} Until it responds, nobody can sign in with a password."
        remedy = "Check REDIS_URL and that Redis is running."
        return CheckResult(subject, CheckState.WARNING, message, remedy)
    return CheckResult(subject, CheckState.FINE, "Responding.")


@dataclass(frozen=True, slots=True)
class ProxySettings:
    """Networks of TRUSTED_PROXIES, the largest request that the server reads, in bytes.

    ``upload_max`` is the largest file. ``requests_are_buffered`` is whether they are expected from
    a proxy that reads them whole.
    """

    trusted: Sequence[Network]
    body_max: int
    upload_max: int
    requests_are_buffered: bool = False


@internal
def check_proxies(ports: Ports, actor: Actor, settings: ProxySettings) -> tuple[CheckResult, ...]:
    """Check what recent sign-ins and a request to PUBLIC_URL show about proxies."""
    if not settings.trusted:
        findings = [_untrusted(ports)]
    else:
        findings = [_forwarding(ports, settings.trusted)]
    return (*findings, *_buffering(settings), *_body_limits(ports, settings))


def _untrusted(ports: Ports) -> CheckResult:
    if ports.configuration.development:
        return CheckResult(_PROXIES, CheckState.FINE, "X-Forwarded-For is ignored.")
    return CheckResult(
        _PROXIES,
        CheckState.WARNING,
        "X-Forwarded-For is ignored. Behind a proxy, all clients share one IP address.",
        "If there is a proxy, add its network to TRUSTED_PROXIES.",
    )


def _buffering(settings: ProxySettings) -> Iterator[CheckResult]:
    """Check that a proxy is in front where slow clients would each hold a thread."""
    if settings.requests_are_buffered and not settings.trusted:
        yield CheckResult(
            _PROXIES,
            CheckState.WARNING,
            "REQUESTS_ARE_BUFFERED is on without TRUSTED_PROXIES. Each slow client that reaches "
            "the port holds a thread, so a few of them stop the server.",
            "Add the proxy's network to TRUSTED_PROXIES, or turn REQUESTS_ARE_BUFFERED off.",
        )


def _forwarding(ports: Ports, trusted: Sequence[Network]) -> CheckResult:
    """Check that recent sign-ins have IP addresses of clients, not of a proxy."""
    addresses = _recent_addresses(ports)
    proxies = [address for address in addresses if _is_in(address, trusted)]
    if len(addresses) >= _MIN_EVENTS and len(proxies) == len(addresses):
        shown = ", ".join(sorted(set(proxies))[:_MAX_SHOWN])
        return CheckResult(
            _PROXIES,
            CheckState.WARNING,
            f"The last {len(addresses)} sign-ins all came from the IP address of a trusted proxy "
            f"({shown}), as if it sent no X-Forwarded-For. Then all clients share one IP address.",
            "Let the proxy set X-Forwarded-For to the client's IP address. In nginx: "
            "proxy_set_header X-Forwarded-For $remote_addr;",
        )
    networks = ", ".join(str(network) for network in trusted)
    return CheckResult(_PROXIES, CheckState.FINE, f"X-Forwarded-For is trusted from {networks}.")


def _recent_addresses(ports: Ports) -> list[str]:
    lately = (
        select(models.SignInEvent.address)
        .where(models.SignInEvent.at > ports.clock.now() - _LATELY)
        .where(models.SignInEvent.address != "")
        .order_by(models.SignInEvent.at.desc(), models.SignInEvent.id.desc())
        .limit(_EVENTS_READ)
    )
    with ports.database.reading() as session:
        return list(session.scalars(lately))


def _is_in(address: str, networks: Sequence[Network]) -> bool:
    parsed = parse_address(address)
    return parsed is not None and any(parsed in network for network in networks)


def _body_limits(ports: Ports, settings: ProxySettings) -> Iterator[CheckResult]:
    """Send the largest request and the largest picture through PUBLIC_URL, as clients do."""
    url = ports.configuration.public_url
    if not url or ports.configuration.development:
        return
    picture_max = min(MAX_AVATAR_SIZE, settings.upload_max)
    accepted = []
    for what, limit, headers, body in (
        (
            f"{settings.body_max:,} bytes",
            "GRAPHQL_BODY_MAX",
            {"Content-Type": "application/json"},
            _SMALLEST_QUERY.ljust(settings.body_max),
        ),
        (
            f"a picture of {picture_max:,} bytes",
            "UPLOAD_MAX",
            {"Content-Type": "multipart/form-data; boundary=b", "GraphQL-Require-Preflight": "1"},
            _UPLOAD % bytes(picture_max),
        ),
    ):
        request = HttpRequest(
            f"{url}/graphql/", method="POST", headers=headers, body=body, status_suffices=True
        )
        finding = _body_finding(ports, request, what, limit)
        if finding is not None:
            yield finding
            return
        accepted.append(what)
    message = f"PUBLIC_URL accepts {' and '.join(accepted)}."
    yield CheckResult(_REQUEST_SIZE, CheckState.FINE, message)


def _body_finding(ports: Ports, request: HttpRequest, what: str, limit: str) -> CheckResult | None:
    """Return what is wrong with PUBLIC_URL for a request with that body; ``None`` if accepted."""
    try:
        if ports.http.send(request).status != _TOO_LARGE:
            return None
    except CallFailed as error:
        if error.fault is not CallFault.INTERRUPTED:
            message = f"Can't check whether PUBLIC_URL accepts {what}: {error}"
            remedy = _REMEDIES.get(error.fault, _UNREACHABLE)
            return CheckResult(_REQUEST_SIZE, CheckState.WARNING, message, remedy)
    return CheckResult(
        _REQUEST_SIZE,
        CheckState.FAILED,
        f"PUBLIC_URL refused {what}: a proxy's limit is below {limit}.",
        "Raise the proxy's limit above the sum of GRAPHQL_BODY_MAX and UPLOAD_MAX. In nginx: "
        "client_max_body_size",
    )


@internal
def check_dashboard(
    ports: Ports, actor: Actor, origin: str, allowed: Sequence[str]
) -> tuple[CheckResult, ...]:
    """Check that Saleor's dashboard can call the API from ``origin``, empty if there is none.

    ``allowed`` is ALLOWED_GRAPHQL_ORIGINS. The dashboard sends every request with credentials, so
    browsers need its origin by name.
    """
    if not origin:
        return ()
    findings: list[CheckResult] = []
    if origin not in allowed:
        findings.append(
            CheckResult(
                _DASHBOARD,
                CheckState.WARNING,
                f"Browsers refuse the dashboard at {origin} the API's answers: its origin isn't "
                "listed by name.",
                f"Add {origin} to ALLOWED_GRAPHQL_ORIGINS. * alone isn't enough.",
            )
        )
    if redirect_refusal(ports, origin) is not None:
        findings.append(
            CheckResult(
                _DASHBOARD,
                CheckState.WARNING,
                f"Invitations and single sign-on can't lead to the dashboard at {origin}.",
                "Add its host to ALLOWED_CLIENT_HOSTS.",
            )
        )
    return tuple(findings) or (
        CheckResult(_DASHBOARD, CheckState.FINE, f"{origin} can call the API."),
    )
