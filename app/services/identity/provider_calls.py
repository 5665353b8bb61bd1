"""Call identity providers: for key sets and user info, few at once, and not while a URL fails.

Key sets are cached per process and fetched again for an unknown ``kid``.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from app.domain.sign_in.jws import read_foreign_token
from app.domain.single_sign_on.provider_tokens import (
    ALGORITHMS,
    ProviderTokenRejected,
    SignedToken,
    read_user_info,
    reason_of,
)
from app.domain.single_sign_on.providers import Provider
from app.domain.values.errors import TokenFault, TokenRejected
from app.ports import Ports
from app.ports.http import CallFailed, CallFault
from app.ports.identity_provider import ProviderKey
from app.ports.monitoring import PROVIDER_CALLS, PROVIDER_SECONDS, SpanKind
from app.ports.process_cache import CachedProviderKeys, CallPurpose
from app.services.authorization.register import building_block
from app.services.keys import ring

QUEUE_SECONDS = 0.5
"""How long a request waits for its turn to call; password logins need the same threads."""

MAX_FAILURES = 3
"""Failures in a row after which a URL is paused."""

FAILED_PAUSE = 5.0
"""Seconds for which a URL is paused, or a token isn't tried again, after a failure."""


@building_block
@contextmanager
def calling(ports: Ports, url: str, purpose: CallPurpose) -> Iterator[None]:
    """Whatever the block calls at ``url``, with few others of that ``purpose`` at the same time.

    Raises ``CallFailed`` NOT_CALLED when too many others wait, and while the URL is paused: after
    ``MAX_FAILURES`` failed connections in a row, and never for verified callers. An answer of
    whatever status is no failure of the URL: it may be about the one token alone.
    """
    if purpose is not CallPurpose.VERIFIED:
        _require_not_paused(ports, url)
    lane = ports.cache.providers.lanes[purpose]
    if not lane.enter(QUEUE_SECONDS):
        ports.metrics.count(PROVIDER_CALLS, purpose.value, CallFault.NOT_CALLED.value)
        raise CallFailed(CallFault.NOT_CALLED, f"Too many requests are waiting for {url}.")
    is_connected, result, started = True, "ok", time.perf_counter()
    try:
        with ports.traces.span(f"identity provider {purpose.value}", SpanKind.CLIENT):
            yield
    except CallFailed as failed:
        is_connected, result = not failed.is_connection, failed.fault.value
        raise
    except Exception:
        result = "refused"  # it answered, but with no token or person
        raise
    finally:
        lane.leave()
        ports.metrics.count(PROVIDER_CALLS, purpose.value, result)
        seconds = time.perf_counter() - started
        ports.metrics.observe(PROVIDER_SECONDS, seconds, purpose.value)
        _record_outcome(ports, url, is_good=is_connected)


def _require_not_paused(ports: Ports, url: str) -> None:
    if ports.clock.timestamp() < (ports.cache.providers.paused.get(url) or 0.0):
        raise CallFailed(CallFault.NOT_CALLED, f"{url} failed several times recently.")


def _record_outcome(ports: Ports, url: str, *, is_good: bool) -> None:
    """Count failures in a row at ``url``, and pause it when they are ``MAX_FAILURES``."""
    memory = ports.cache.providers
    failures = 0 if is_good else (memory.failures.get(url) or 0) + 1
    if failures or memory.failures.get(url):
        memory.failures.put(url, failures)
    if is_good and memory.paused.get(url):
        memory.paused.put(url, 0.0)
    if failures >= MAX_FAILURES:
        memory.paused.put(url, ports.clock.timestamp() + FAILED_PAUSE)


COOL_DOWN = 30.0
"""Seconds between two fetches of one set, however many tokens name unknown keys."""

_GOOD_FOR = 10 * 60.0
"""Seconds after which a set is fetched again, so that a removed key stops counting."""

_AT_LONGEST = 24 * 3600.0
"""Seconds for which a set is believed while its provider does not answer."""


@building_block
def verify_with(ports: Ports, provider: Provider, token: str) -> SignedToken:
    """``token`` after its signature by one of the provider's keys.

    Raises ``TokenRejected`` as the port's ``verify`` does, INVALID for what this installation
    signed itself, wherever the provider says that its keys are, and ``CallFailed`` when they
    cannot be had.
    """
    kid = read_foreign_token(token, ALGORITHMS).kid
    # Its own key's name is the thumbprint, so no other key has it.
    if kid is not None and kid in ring(ports).ring.published:
        raise TokenRejected(TokenFault.INVALID)
    keys = _keys(ports, provider.json_web_key_set_url, kid)
    return ports.identity_provider.verify(keys, token)


def _keys(ports: Ports, url: str, kid: str | None) -> tuple[ProviderKey, ...]:
    """The set's keys; fetched by one thread at a time, while all others go on with the last ones.

    Only those whose key isn't among the last ones wait for it, a few of them and not for long.
    """
    memory = ports.cache.providers
    cached = memory.keys.get(url)
    if cached is not None and not _is_due(ports, cached, kid):
        return cached.keys
    lane = memory.key_lanes.lane_of(url)
    waits = QUEUE_SECONDS if cached is None or not cached.has(kid) else 0.0
    if not lane.enter(waits):
        return _last_known(
            ports, url, CallFailed(CallFault.NOT_CALLED, f"{url} is being fetched.")
        )
    try:
        # The previous caller may have fetched them.
        cached = memory.keys.get(url)
        if cached is not None and not _is_due(ports, cached, kid):
            return cached.keys
        return _fetch(ports, url)
    except CallFailed as failed:
        return _last_known(ports, url, failed)
    finally:
        lane.leave()


def _fetch(ports: Ports, url: str) -> tuple[ProviderKey, ...]:
    """Fetch the set; any error counts against the URL, because no token is sent there."""
    _require_not_paused(ports, url)
    is_good = False
    try:
        keys = ports.identity_provider.fetch_keys(url)
        is_good = True
    finally:
        _record_outcome(ports, url, is_good=is_good)
    ports.cache.providers.keys.put(url, CachedProviderKeys(keys, ports.clock.timestamp()))
    return keys


def _last_known(ports: Ports, url: str, failed: CallFailed) -> tuple[ProviderKey, ...]:
    cached = ports.cache.providers.keys.get(url)
    if cached is None or _age(ports, cached) > _AT_LONGEST:
        raise failed
    return cached.keys


def _is_due(ports: Ports, cached: CachedProviderKeys, kid: str | None) -> bool:
    age = _age(ports, cached)
    return age >= _GOOD_FOR or (age >= COOL_DOWN and not cached.has(kid))


def _age(ports: Ports, cached: CachedProviderKeys) -> float:
    return ports.clock.timestamp() - cached.fetched


@building_block
def unusable_response(failed: CallFailed) -> str:
    return f"The provider's response couldn't be used. {failed}"


@building_block
def fetch_user_info(
    ports: Ports, provider: Provider, access_token: str, purpose: CallPurpose
) -> Mapping[str, object]:
    """Return the claims of the user info, sent as JSON or as a JWT signed by the provider.

    Raises ``ProviderTokenRejected`` when the provider refuses the token or has no user info URL,
    and ``CallFailed`` without a usable response, such as a JWT that none of its keys verifies.
    """
    if not provider.user_info_url:
        raise ProviderTokenRejected("Access tokens aren't accepted without a user info URL.")
    with calling(ports, provider.user_info_url, purpose):
        info = ports.identity_provider.fetch_person(provider.user_info_url, access_token)
    if not isinstance(info, str):
        return info
    try:
        signed = verify_with(ports, provider, info)
        return read_user_info(signed, provider, now=ports.clock.timestamp())
    except TokenRejected as rejected:
        message = f"The user info was sent as a JWT that isn't valid. {reason_of(rejected)}"
        raise CallFailed(CallFault.MALFORMED, message) from rejected
