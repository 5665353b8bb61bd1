"""Identity providers' key sets, cached per process and refetched for an unknown ``kid``."""

from app.domain.sign_in.jws import read_foreign_token
from app.domain.single_sign_on.provider_tokens import ALGORITHMS, SignedToken
from app.domain.single_sign_on.providers import Provider
from app.ports import Ports
from app.ports.http import CallFailed, CallFault
from app.ports.identity_provider import ProviderKey
from app.ports.process_cache import CachedProviderKeys
from app.services.authorization.register import part
from app.services.identity.provider_calls import QUEUE_SECONDS, note_outcome, require_not_paused

COOL_DOWN = 30.0
"""Seconds between two fetches of one set, however many tokens name unknown keys."""

_GOOD_FOR = 10 * 60.0
"""Seconds after which a set is fetched again, so that a key that was taken out is gone."""

_AT_LONGEST = 24 * 3600.0
"""Seconds for which a set is believed while its provider does not answer."""


@part
def verify_with(ports: Ports, provider: Provider, token: str) -> SignedToken:
    """``token`` after its signature by one of the provider's keys.

    Raises ``TokenRejected`` as the port's ``verify`` does, and ``CallFailed`` when the provider's
    keys cannot be had.
    """
    kid = read_foreign_token(token, ALGORITHMS).kid
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
    lane = memory.key_lanes.of(url)
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
    """Fetch the set; whatever goes wrong is the URL's fault, for no token is sent there."""
    require_not_paused(ports, url)
    is_good = False
    try:
        keys = ports.identity_provider.fetch_keys(url)
        is_good = True
    finally:
        note_outcome(ports, url, is_good=is_good)
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
