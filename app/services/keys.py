"""The ring of signing keys: stored, read by every process, shown and rotated.

A ring is next, active and retired keys in the database, or the one key of ``RSA_PRIVATE_KEY``.
``shop.keys_version`` goes up with every change, and every request reads it, so a change holds in
every process from its next request on.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil, inf
from types import MappingProxyType

from sqlalchemy import Select, delete, select, true, update
from sqlalchemy.orm import Session

from app.domain.authorization.actor import WORKER, Actor
from app.domain.authorization.permissions import Permission
from app.domain.keys import CACHE_TIME, KeyState, PublicKey, Ring, SigningKey
from app.domain.values.errors import Problem, Refused
from app.domain.values.installation import DatabaseUnavailable, KeyUnreadable, SchemaBehind
from app.models import ShopRecord, SigningKeyRecord
from app.models.shop import SHOP_ID
from app.ports import Ports
from app.ports.keys import KeyPair
from app.ports.process_cache import CachedKeyRing
from app.services.audit.log import Change, record
from app.services.authorization.register import (
    building_block,
    fresh_proof,
    internal,
    requires_person,
)

_RING = (
    select(ShopRecord.keys_version, SigningKeyRecord)
    .select_from(ShopRecord)
    .outerjoin(SigningKeyRecord, true())
)


@dataclass(frozen=True, slots=True)
class StoredKey:
    """A key of the database; its private part is encrypted."""

    pair: KeyPair
    state: KeyState
    published_at: datetime
    activated_at: datetime | None
    retired_at: datetime | None


@dataclass(frozen=True, slots=True)
class StoredRing:
    """The ring as one statement found it: next, active, then retired keys, last retired first."""

    version: int
    keys: tuple[StoredKey, ...]

    def only(self, state: KeyState) -> StoredKey:
        """The one key in ``state``; every ring that has been used has a next and an active one."""
        return next(key for key in self.keys if key.state is state)


@building_block
def stored_ring(ports: Ports) -> StoredRing:
    """The ring in the database, ended keys included."""
    with ports.database.reading() as session:
        rows = session.execute(_RING).all()
    if not rows:
        raise SchemaBehind
    records: list[SigningKeyRecord | None] = [row.SigningKeyRecord for row in rows]
    keys = (_key(found) for found in records if found is not None)
    return StoredRing(rows[0].keys_version, tuple(sorted(keys, key=_place)))


@building_block
def increment_version(session: Session, version: int) -> bool:
    """Make ``version + 1`` the ring's version; false when it is no longer at ``version``.

    Of several that start from one version the database lets one through, and the others wait
    until it has committed.
    """
    advanced = session.scalar(
        update(ShopRecord)
        .where(ShopRecord.id == SHOP_ID, ShopRecord.keys_version == version)
        .values(keys_version=version + 1)
        .returning(ShopRecord.keys_version)
    )
    return advanced is not None


@building_block
def new_key(pair: KeyPair, state: KeyState, now: datetime) -> SigningKeyRecord:
    """The record of a key that is published from ``now`` on."""
    return SigningKeyRecord(
        kid=pair.public.kid,
        state=state.value,
        private_key=pair.encrypted,
        modulus=pair.public.n,
        exponent=pair.public.e,
        published_at=now,
        activated_at=now if state is KeyState.ACTIVE else None,
    )


@building_block
def verifying(ports: Ports, keys: Iterable[StoredKey]) -> tuple[StoredKey, ...]:
    """Those of ``keys`` that verify right now."""
    ended = last_retirement_of_ended_keys(ports)
    return tuple(key for key in keys if key.retired_at is None or key.retired_at > ended)


@building_block
def verifies_until(ports: Ports, key: StoredKey) -> datetime | None:
    """When a retired key verifies no more: the last token it may have signed has expired then."""
    return None if key.retired_at is None else key.retired_at + _span(ports)


@building_block
def last_retirement_of_ended_keys(ports: Ports) -> datetime:
    """Keys that were retired then or before verify nothing any more."""
    return ports.clock.now() - _span(ports)


def _span(ports: Ports) -> timedelta:
    return timedelta(seconds=ports.configuration.jwt_ttl_refresh)


def _key(record: SigningKeyRecord) -> StoredKey:
    public = PublicKey(record.kid, record.modulus, record.exponent)
    return StoredKey(
        KeyPair(public, record.private_key),
        KeyState(record.state),
        record.published_at,
        record.activated_at,
        record.retired_at,
    )


def _place(key: StoredKey) -> tuple[int, float]:
    retired = 0.0 if key.retired_at is None else key.retired_at.timestamp()
    return list(KeyState).index(key.state), -retired


# The shop is one row, so nothing has to choose among several.
_VERSION: Select[*tuple[object, ...]] = select(ShopRecord.keys_version.label("version"))


@building_block
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


@building_block
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


_FIXED = Problem(
    "KEYS_FIXED",
    "The signing key comes from RSA_PRIVATE_KEY. Set another key there and "
    "restart, or leave the setting empty to manage keys in the database.",
)
_CHANGED = Problem(
    "KEYS_CHANGED", "The signing keys were changed in the meantime. Check them before you rotate."
)


@fresh_proof("You're about to rotate the signing key.")
@requires_person(Permission.MANAGE_SETTINGS)
def rotate_keys(ports: Ports, actor: Actor, *, force: bool = False) -> tuple[SigningKey, ...]:
    """Let the next key sign and retire the active one; returns the ring as it is then.

    Refuses KEYS_FIXED with ``RSA_PRIVATE_KEY``; KEYS_CHANGED when another rotation was quicker;
    and, unless ``force``, KEY_TOO_NEW while verifiers may not have seen the next key yet, and
    KEY_UNREADABLE when it was encrypted with another ``SECRET_KEY``, which ``force`` replaces.
    """
    if ports.keys.fixed() is not None:
        raise Refused(_FIXED)
    ring(ports)
    before = stored_ring(ports)
    promoted = _key_to_activate(ports, before.only(KeyState.NEXT), force=force)
    fresh = ports.keys.generate()
    with ports.database.transaction() as session:
        if not increment_version(session, before.version):
            raise Refused(_CHANGED)
        _rotate(ports, session, before, promoted, fresh)
        kids = {"active": promoted.public.kid, "next": fresh.public.kid}
        change = Change(
            "keys.rotate",
            "SigningKey",
            promoted.public.kid,
            before={
                "active": before.only(KeyState.ACTIVE).pair.public.kid,
                "next": before.only(KeyState.NEXT).pair.public.kid,
            },
            after=kids,
        )
        record(ports, actor, session, change)
    return list_keys(ports, actor)


@internal
def delete_old_keys(ports: Ports, actor: Actor) -> int:
    """Delete the retired keys that verify nothing any more; returns how many there were."""
    ended = last_retirement_of_ended_keys(ports)
    with ports.database.transaction() as session:
        forgotten = session.scalars(
            delete(SigningKeyRecord)
            .where(
                SigningKeyRecord.state == KeyState.RETIRED.value,
                SigningKeyRecord.retired_at <= ended,
            )
            .returning(SigningKeyRecord.kid)
        ).all()
        if forgotten:
            session.execute(update(ShopRecord).values(keys_version=ShopRecord.keys_version + 1))
        for kid in forgotten:
            record(ports, actor, session, Change("keys.forget", "SigningKey", kid))
    return len(forgotten)


def _key_to_activate(ports: Ports, upcoming: StoredKey, *, force: bool) -> KeyPair:
    """The key that is to sign: the next one, or a new one where that cannot be decrypted."""
    try:
        ports.keys.sign(upcoming.pair, {})
    except KeyUnreadable as unreadable:
        if force:
            return ports.keys.generate()
        raise Refused(Problem("KEY_UNREADABLE", str(unreadable))) from unreadable
    wait = (upcoming.published_at + CACHE_TIME - ports.clock.now()).total_seconds()
    if wait > 0 and not force:
        raise Refused(
            Problem(
                "KEY_TOO_NEW",
                "Verifiers may not have fetched the next key yet and would "
                "reject its tokens. Rotate in {wait} s, or force the rotation.",
                values={"wait": ceil(wait)},
            )
        )
    return upcoming.pair


def _rotate(
    ports: Ports, session: Session, before: StoredRing, promoted: KeyPair, fresh: KeyPair
) -> None:
    # Each state is emptied before it is filled: the database allows one active and one next key.
    now = ports.clock.now()
    keys = update(SigningKeyRecord)
    session.execute(
        keys.where(SigningKeyRecord.state == KeyState.ACTIVE.value).values(
            state=KeyState.RETIRED.value, retired_at=now
        )
    )
    upcoming = SigningKeyRecord.state == KeyState.NEXT.value
    if promoted == before.only(KeyState.NEXT).pair:
        session.execute(keys.where(upcoming).values(state=KeyState.ACTIVE.value, activated_at=now))
    else:
        session.execute(delete(SigningKeyRecord).where(upcoming))
        session.add(new_key(promoted, KeyState.ACTIVE, now))
    session.add(new_key(fresh, KeyState.NEXT, now))
