"""The ring of signing keys at work: read by every process, made at first use, shown.

A ring is next, active and retired keys in the database, or the one key of ``RSA_PRIVATE_KEY``.
``shop.keys_version`` goes up with every change, and every request reads it, so a change holds in
every process from its next request on.
"""

from collections.abc import Iterable
from math import inf
from types import MappingProxyType

from sqlalchemy import Select, select

from app.domain.authorization.actor import WORKER, Actor
from app.domain.authorization.permissions import Permission
from app.domain.keys import KeyState, PublicKey, Ring, SigningKey
from app.domain.values.installation import DatabaseUnavailable
from app.models import ShopRecord
from app.ports import Ports
from app.ports.keys import KeyPair
from app.ports.process_cache import CachedKeyRing
from app.services.audit.log import Change, record
from app.services.authorization.register import part, requires_person
from app.services.keys.stored_keys import (
    increment_version,
    new_key,
    stored_ring,
    verifies_until,
    verifying,
)

# The shop is one row, so nothing has to choose among several.
_VERSION: Select[*tuple[object, ...]] = select(ShopRecord.keys_version.label("version"))


@part
def ring(ports: Ports, version: int | None = None) -> CachedKeyRing:
    """The ring at ``version``, which the caller has just read from the shop's row, or the present.

    Reads the ring only when this process remembers another version, or when a retired key has
    come to its end since. The first use of all makes the ring; so ask outside of transactions.
    """
    fixed = ports.keys.fixed()
    if fixed is not None:
        return _fixed_ring(ports, fixed)
    if version is None and ports.cache.ring is not None:
        version = int(ports.database.read(_VERSION, {})[0].version)
    cached = _cached(ports, version)
    if cached is not None:
        return cached
    with ports.cache.ring_lock:
        return _cached(ports, version) or _reload(ports)


@part
def published_keys(ports: Ports) -> tuple[PublicKey, ...]:
    """The keys that verify right now, the active one first: what the key set lists.

    While the database does not answer, those that this process read last, until one of them ends.
    """
    try:
        cached = ring(ports)
    except DatabaseUnavailable:
        last = ports.cache.ring
        if last is None or ports.clock.timestamp() >= last.good_until:
            raise
        cached = last
    return tuple(cached.ring.published.values())


@requires_person(Permission.MANAGE_SETTINGS)
def list_keys(ports: Ports, actor: Actor) -> tuple[SigningKey, ...]:
    """The keys of the ring: next, active, then the retired ones that verify still."""
    fixed = ports.keys.fixed()
    if fixed is not None:
        return (SigningKey(fixed.public.kid, KeyState.ACTIVE, None, None, None, None),)
    ring(ports)
    return tuple(
        SigningKey(
            key.pair.public.kid,
            key.state,
            key.published_at,
            key.activated_at,
            key.retired_at,
            verifies_until(ports, key),
        )
        for key in verifying(ports, stored_ring(ports).keys)
    )


def _fixed_ring(ports: Ports, pair: KeyPair) -> CachedKeyRing:
    cached = ports.cache.ring
    if cached is None or cached.signer != pair:
        kid = pair.public.kid
        cached = CachedKeyRing(Ring(0, kid, MappingProxyType({kid: pair.public})), pair)
        _cache(ports, cached)
    return cached


def _cached(ports: Ports, version: int | None) -> CachedKeyRing | None:
    cached = ports.cache.ring
    if cached is None or cached.ring.version != version:
        return None
    return cached if ports.clock.timestamp() < cached.good_until else None


def _cache(ports: Ports, cached: CachedKeyRing) -> None:
    before = ports.cache.ring
    ports.cache.ring = cached
    if before is None or before.ring != cached.ring:
        ports.cache.verified.clear()


def _reload(ports: Ports) -> CachedKeyRing:
    stored = stored_ring(ports)
    missing = {KeyState.NEXT, KeyState.ACTIVE} - {key.state for key in stored.keys}
    if missing:
        _make(ports, stored.version, sorted(missing))
        stored = stored_ring(ports)
    keys = verifying(ports, stored.keys)
    ends = [end.timestamp() for end in (verifies_until(ports, key) for key in keys) if end]
    signer = stored.only(KeyState.ACTIVE).pair
    # The active key leads: some verifiers look no further than the first of a key set.
    listed = sorted(keys, key=lambda key: key.state is not KeyState.ACTIVE)
    published = MappingProxyType({key.pair.public.kid: key.pair.public for key in listed})
    cached = CachedKeyRing(
        Ring(stored.version, signer.public.kid, published), signer, min(ends, default=inf)
    )
    _cache(ports, cached)
    return cached


def _make(ports: Ports, version: int, missing: Iterable[KeyState]) -> None:
    """Store the keys that are missing, unless another process has been quicker."""
    if ports.database.in_transaction:
        raise RuntimeError("The first use of the signing keys is inside a transaction.")
    pairs = {state: ports.keys.generate() for state in missing}
    now = ports.clock.now()
    with ports.database.transaction() as session:
        if not increment_version(session, version):
            return
        for state, pair in pairs.items():
            session.add(new_key(pair, state, now))
            change = Change("keys.create", "SigningKey", pair.public.kid, after={"state": state})
            record(ports, WORKER, session, change)
