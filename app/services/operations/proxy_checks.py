"""Check whether the proxies in front forward clients' IP addresses and large requests."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import select

from app.domain.authorization.actor import Actor
from app.domain.values.installation import CheckResult, CheckState
from app.domain.values.ip_addresses import Network, parse_address
from app.models import SignInEventRecord
from app.ports import Ports
from app.ports.http import CallFailed, CallFault, HttpRequest
from app.services.authorization.register import internal

_LATELY = timedelta(days=1)
_EVENTS = 100
_MIN_EVENTS = 3
_MAX_SHOWN = 3
_QUERY = b'{"query": "{ __typename }"}'
_TOO_LARGE = 413
_SUBJECT = "proxies"


@dataclass(frozen=True, slots=True)
class ProxySettings:
    """Networks of TRUSTED_PROXIES, the largest request that the server reads, in bytes.

    ``requests_are_buffered`` is whether they are expected from a proxy that reads them whole.
    """

    trusted: Sequence[Network]
    body_max: int
    requests_are_buffered: bool = False


@internal
def check_proxies(ports: Ports, actor: Actor, settings: ProxySettings) -> tuple[CheckResult, ...]:
    """Check what recent sign-ins and a request to PUBLIC_URL show about proxies."""
    if not settings.trusted:
        findings = [_untrusted(ports)]
    else:
        findings = [_forwarding(ports, settings.trusted)]
    return (*findings, *_buffering(settings), *_body_limits(ports, settings.body_max))


def _untrusted(ports: Ports) -> CheckResult:
    if ports.configuration.development:
        return CheckResult(_SUBJECT, CheckState.FINE, "X-Forwarded-For is ignored.")
    return CheckResult(
        _SUBJECT,
        CheckState.WARNING,
        "X-Forwarded-For is ignored. Behind a proxy, all clients share one IP address.",
        "If there is a proxy, add its network to TRUSTED_PROXIES.",
    )


def _buffering(settings: ProxySettings) -> Iterator[CheckResult]:
    """Check that a proxy is in front where slow clients would each hold a thread."""
    if settings.requests_are_buffered and not settings.trusted:
        yield CheckResult(
            _SUBJECT,
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
            _SUBJECT,
            CheckState.WARNING,
            f"The last {len(addresses)} sign-ins all came from the IP address of a trusted proxy "
            f"({shown}), as if it sent no X-Forwarded-For. Then all clients share one IP address.",
            "Let the proxy set X-Forwarded-For to the client's IP address. In nginx: "
            "proxy_set_header X-Forwarded-For $remote_addr;",
        )
    networks = ", ".join(str(network) for network in trusted)
    return CheckResult(_SUBJECT, CheckState.FINE, f"X-Forwarded-For is trusted from {networks}.")


def _recent_addresses(ports: Ports) -> list[str]:
    lately = (
        select(SignInEventRecord.address)
        .where(SignInEventRecord.at > ports.clock.now() - _LATELY)
        .where(SignInEventRecord.address != "")
        .order_by(SignInEventRecord.at.desc(), SignInEventRecord.id.desc())
        .limit(_EVENTS)
    )
    with ports.database.reading() as session:
        return list(session.scalars(lately))


def _is_in(address: str, networks: Sequence[Network]) -> bool:
    parsed = parse_address(address)
    return parsed is not None and any(parsed in network for network in networks)


def _body_limits(ports: Ports, body_max: int) -> Iterator[CheckResult]:
    """Send the largest request through PUBLIC_URL, as clients do."""
    url = ports.configuration.public_url
    if not url or ports.configuration.development:
        return
    request = HttpRequest(
        f"{url}/graphql/",
        method="POST",
        headers={"Content-Type": "application/json"},
        body=_QUERY.ljust(body_max),
        status_suffices=True,
    )
    subject = "request size"
    try:
        status = ports.http.send(request).status
    except CallFailed as error:
        if error.fault is not CallFault.INTERRUPTED:
            yield CheckResult(
                subject,
                CheckState.WARNING,
                f"Can't check whether PUBLIC_URL accepts requests of {body_max:,} bytes: {error}",
                "Run flask doctor on a machine that can connect to PUBLIC_URL. If that is in a "
                "private network, add it to OUTGOING_ALLOWED_NETWORKS.",
            )
            return
        status = _TOO_LARGE
    if status == _TOO_LARGE:
        yield CheckResult(
            subject,
            CheckState.FAILED,
            f"A request of {body_max:,} bytes to PUBLIC_URL was refused: a proxy's limit is below "
            "GRAPHQL_BODY_MAX.",
            "Raise the proxy's limit to UPLOAD_MAX. In nginx: client_max_body_size",
        )
    else:
        yield CheckResult(subject, CheckState.FINE, f"PUBLIC_URL accepts {body_max:,} bytes.")
