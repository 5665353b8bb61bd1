"""Providers' key sets: kept per process, fetched anew when a token names a key nobody knows."""

from app.domain.foreign_jws import read_foreign_token
from app.domain.provider_tokens import ALGORITHMS, SignedToken
from app.domain.providers import Provider
from app.ports import Ports
from app.ports.http import CallFailed
from app.ports.identity_provider import ProviderKey
from app.ports.provider_memory import KnownKeys
from app.services.access import part
from app.services.provider_calls import calling

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
    memory = ports.remembered.providers
    known = memory.keys.get(url)
    if known is None or _is_due(ports, known, kid):
        try:
            with calling(ports, url), memory.lock:
                # Whoever held the lock may have fetched them.
                known = memory.keys.get(url)
                if known is None or _is_due(ports, known, kid):
                    keys = ports.identity_provider.fetch_keys(url)
                    known = KnownKeys(keys, ports.clock.timestamp())
                    memory.keys.put(url, known)
        except CallFailed:
            if known is None or _age(ports, known) > _AT_LONGEST:
                raise
    return known.keys


def _is_due(ports: Ports, known: KnownKeys, kid: str | None) -> bool:
    age = _age(ports, known)
    return age >= _GOOD_FOR or (age >= COOL_DOWN and not known.has(kid))


def _age(ports: Ports, known: KnownKeys) -> float:
    return ports.clock.timestamp() - known.fetched
