"""The ring of signing keys: stored, read by every process, shown and rotated.

A ring is next, active and retired keys in the database, or the one key of ``RSA_PRIVATE_KEY``
unless that was withdrawn. Withdrawn keys stay in the database, and verify nothing.
``shop.keys_version`` goes up with every change, and every request reads it, so a change holds in
every process from its next request on.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil, inf
from types import MappingProxyType

from sqlalchemy import ColumnElement, Select, and_, delete, false, func, or_, select, true, update
from sqlalchemy.orm import Session

from app import models
from app.domain.authorization.actor import WORKER, Actor
from app.domain.authorization.permissions import Permission
from app.domain.keys import CACHE_TIME, KEY_ID, KeyState, PublicKey, Ring, SigningKey, Withdrawal
from app.domain.values.errors import Problem, Refused
from app.domain.values.installation import DatabaseUnavailable, KeyUnreadable, SchemaBehind
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
from app.services.lists.paging import record_from

_RING = (
    select(models.Shop.keys_version, models.SigningKey)
    .select_from(models.Shop)
    .outerjoin(models.SigningKey, true())
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
    """The ring as one statement found it: next, active, retired, then withdrawn keys.

    Of each state, those that were retired last come first.
    """

    version: int
    keys: tuple[StoredKey, ...]

    @property
    def withdrawn(self) -> frozenset[str]:
        """The IDs of keys that must never verify again."""
        keys = (key for key in self.keys if key.state is KeyState.WITHDRAWN)
        return frozenset(key.pair.public.kid for key in keys)

    def only(self, state: KeyState) -> StoredKey:
        """The one key in ``state``; every ring that has been used has a next and an active one."""
        return next(key for key in self.keys if key.state is state)


@building_block
def stored_ring(ports: Ports) -> StoredRing:
    """Return the ring in the database, ended keys included."""
    with ports.database.reading() as session:
        rows = session.execute(_RING).all()
    if not rows:
        raise SchemaBehind
    records: list[models.SigningKey | None] = [row.SigningKey for row in rows]
    keys = (_key(found) for found in records if found is not None)
    return StoredRing(rows[0].keys_version, tuple(sorted(keys, key=_place)))


@building_block
def increment_version(session: Session, version: int) -> bool:
    """Make ``version + 1`` the ring's version; false when it is no longer at ``version``.

    Of several that start from one version the database lets one through, and the others wait
    until it has committed.
    """
    advanced = session.scalar(
        update(models.Shop)
        .where(models.Shop.id == models.SHOP_ID, models.Shop.keys_version == version)
        .values(keys_version=version + 1)
        .returning(models.Shop.keys_version)
    )
    return advanced is not None


@building_block
def new_key(pair: KeyPair, state: KeyState, now: datetime) -> models.SigningKey:
    """Return the record of a key that is published from ``now`` on."""
    return models.SigningKey(
        kid=pair.public.kid,
        state=state.value,
        private_key=pair.encrypted,
        modulus=pair.public.n,
        exponent=pair.public.e,
        published_at=now,
        activated_at=now if state is KeyState.ACTIVE else None,
    )


def _verifying(ports: Ports, keys: Iterable[StoredKey]) -> tuple[StoredKey, ...]:
    """Return those of ``keys`` that verify right now."""
    ended = last_retirement_of_ended_keys(ports)
    return tuple(
        key
        for key in keys
        if key.state is not KeyState.WITHDRAWN
        and (key.retired_at is None or key.retired_at > ended)
    )


@building_block
def verifies_until(ports: Ports, key: StoredKey) -> datetime | None:
    """When a retired key verifies no more: the last token it may have signed has expired then.

    A withdrawn key has verified nothing since it was withdrawn.
    """
    if key.retired_at is None or key.state is KeyState.WITHDRAWN:
        return key.retired_at
    return key.retired_at + _span(ports)


@building_block
def last_retirement_of_ended_keys(ports: Ports) -> datetime:
    """Keys that were retired then or before verify nothing any more."""
    return ports.clock.now() - _span(ports)


def _span(ports: Ports) -> timedelta:
    return timedelta(seconds=ports.configuration.jwt_ttl_refresh)


def _key(record: models.SigningKey) -> StoredKey:
    public = PublicKey(record.kid, record.modulus, record.exponent)
    pair = KeyPair(public, record.private_key)
    return record_from(StoredKey, record, pair=pair, state=KeyState(record.state))


def _place(key: StoredKey) -> tuple[int, float]:
    retired = 0.0 if key.retired_at is None else key.retired_at.timestamp()
    return list(KeyState).index(key.state), -retired


# The shop is one row, so nothing has to choose among several.
_VERSION: Select[*tuple[object, ...]] = select(models.Shop.keys_version.label("version"))


@building_block
def ring(ports: Ports, version: int | None = None) -> CachedKeyRing:
    """The ring at ``version``, which the caller has just read from the shop's row, or the present.

    Reads the ring only when this process remembers another version, or when a retired key has
    come to its end since. The first use of all makes the ring; so ask outside of transactions.
    """
    if version is None and ports.cache.ring is not None:
        version = int(ports.database.read(_VERSION, {})[0].version)
    cached = _cached(ports, version)
    if cached is not None:
        return cached
    with ports.cache.ring_lock:
        return _cached(ports, version) or _reload(ports)


@building_block
def published_keys(ports: Ports) -> tuple[PublicKey, ...]:
    """Return the keys that verify right now, the active one first: what the key set lists.

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
    """The keys of the ring: next, active, the retired ones that verify still, then withdrawn."""
    ring(ports)
    stored = stored_ring(ports)
    withdrawn = tuple(key for key in stored.keys if key.state is KeyState.WITHDRAWN)
    fixed = configured_key(ports, stored)
    if fixed is not None:
        only = SigningKey(fixed.public.kid, KeyState.ACTIVE, None, None, None, None)
        return (only, *_signing_keys(ports, withdrawn))
    return _signing_keys(ports, (*_verifying(ports, stored.keys), *withdrawn))


@building_block
def configured_key(ports: Ports, stored: StoredRing) -> KeyPair | None:
    """Return the key of ``RSA_PRIVATE_KEY``; ``None`` without one, or once it was withdrawn."""
    fixed = ports.keys.fixed()
    return None if fixed is None or fixed.public.kid in stored.withdrawn else fixed


def _signing_keys(ports: Ports, keys: Iterable[StoredKey]) -> tuple[SigningKey, ...]:
    return tuple(
        SigningKey(
            key.pair.public.kid,
            key.state,
            key.published_at,
            key.activated_at,
            key.retired_at,
            verifies_until(ports, key),
        )
        for key in keys
    )


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
    fixed = configured_key(ports, stored)
    if fixed is not None:
        kid = fixed.public.kid
        only = Ring(stored.version, kid, MappingProxyType({kid: fixed.public}))
        cached = CachedKeyRing(only, fixed)
        _cache(ports, cached)
        return cached
    missing = {KeyState.NEXT, KeyState.ACTIVE} - {key.state for key in stored.keys}
    if missing:
        _make(ports, stored.version, sorted(missing))
        stored = stored_ring(ports)
    keys = _verifying(ports, stored.keys)
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
    "KEYS_CHANGED", "The signing keys were changed in the meantime. Check them, then try again."
)


@fresh_proof("You're about to rotate the signing key.")
@requires_person(Permission.MANAGE_SETTINGS)
def rotate_keys(ports: Ports, actor: Actor, *, force: bool = False) -> tuple[SigningKey, ...]:
    """Let the next key sign and retire the active one; returns the ring as it is then.

    Refuses KEYS_FIXED with ``RSA_PRIVATE_KEY``; KEYS_CHANGED when another rotation was quicker;
    and, unless ``force``, KEY_TOO_NEW while verifiers may not have seen the next key yet, and
    KEY_UNREADABLE when it was encrypted with another ``SECRET_KEY``, which ``force`` replaces.
    """
    ring(ports)
    before = stored_ring(ports)
    if configured_key(ports, before) is not None:
        raise Refused(_FIXED)
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
            delete(models.SigningKey)
            .where(
                models.SigningKey.state == KeyState.RETIRED.value,
                models.SigningKey.retired_at <= ended,
            )
            .returning(models.SigningKey.kid)
        ).all()
        if forgotten:
            session.execute(update(models.Shop).values(keys_version=models.Shop.keys_version + 1))
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
        message = (
            "Verifiers may not have fetched the next key yet and would reject its tokens. Rotate "
            "in {wait} s, or force the rotation."
        )
        raise Refused(Problem("KEY_TOO_NEW", message, values={"wait": ceil(wait)}))
    return upcoming.pair


def _rotate(
    ports: Ports, session: Session, before: StoredRing, promoted: KeyPair, fresh: KeyPair
) -> None:
    # Each state is emptied before it is filled: the database allows one active and one next key.
    now = ports.clock.now()
    keys = update(models.SigningKey)
    session.execute(
        keys.where(models.SigningKey.state == KeyState.ACTIVE.value).values(
            state=KeyState.RETIRED.value, retired_at=now
        )
    )
    upcoming = models.SigningKey.state == KeyState.NEXT.value
    if promoted == before.only(KeyState.NEXT).pair:
        session.execute(keys.where(upcoming).values(state=KeyState.ACTIVE.value, activated_at=now))
    else:
        session.execute(delete(models.SigningKey).where(upcoming))
        session.add(new_key(promoted, KeyState.ACTIVE, now))
    session.add(new_key(fresh, KeyState.NEXT, now))


@requires_person(Permission.MANAGE_SETTINGS)
def preview_withdrawal(ports: Ports, actor: Actor, kids: Sequence[str]) -> Withdrawal:
    """Return what withdrawing the keys would do; refuses as ``withdraw_keys``."""
    kids = tuple(dict.fromkeys(kids))
    ring(ports)
    stored = stored_ring(ports)
    _require_withdrawable(stored, kids)
    with ports.database.reading() as session:
        return _withdrawal(ports, session, stored, kids)


@fresh_proof("You're about to withdraw a signing key.")
@requires_person(Permission.MANAGE_SETTINGS)
def withdraw_keys(ports: Ports, actor: Actor, kids: Sequence[str]) -> Withdrawal:
    """Never publish these keys again, in one transaction with what signs instead of them.

    Their tokens are invalid from the next request on, in every process, and the sessions whose
    refresh tokens they signed end. The next key becomes the active one; a new one replaces it if
    it is withdrawn, too, or can't be decrypted. A key that isn't in the ring is remembered: no
    restored backup and no ``RSA_PRIVATE_KEY`` brings it back. While that setting holds a withdrawn
    key, the keys in the database sign.

    Refuses KEY_ID_INVALID, KEY_WITHDRAWN, and KEYS_CHANGED when another change was quicker.
    """
    kids = tuple(dict.fromkeys(kids))
    ring(ports)
    before = stored_ring(ports)
    _require_withdrawable(before, kids)
    now = ports.clock.now()
    fresh = _replacements(ports, before, kids)
    with ports.database.transaction() as session:
        if not increment_version(session, before.version):
            raise Refused(_CHANGED)
        done = _withdrawal(ports, session, before, kids)
        mark_withdrawn(session, kids, now)
        for pair, state in fresh.items():
            _store_key(session, before, pair, state, now)
        if done.sessions:
            session.execute(delete(models.Session).where(_signed_with(ports, before, kids)))
        after: dict[str, object] = {"sessions": done.sessions}
        after |= {state.value: pair.public.kid for pair, state in fresh.items()}
        for kid in kids:
            record(ports, actor, session, Change("keys.withdraw", "SigningKey", kid, after=after))
    return done


@building_block
def mark_withdrawn(session: Session, kids: Iterable[str], now: datetime) -> None:
    """Delete the private parts of the keys, and remember that they are withdrawn."""
    for kid in kids:
        marked = session.scalar(
            update(models.SigningKey)
            .where(models.SigningKey.kid == kid)
            .values(state=KeyState.WITHDRAWN.value, private_key="", retired_at=now)
            .returning(models.SigningKey.kid)
        )
        if marked is None:
            nothing = KeyPair(PublicKey(kid, "", ""), "")
            kept = new_key(nothing, KeyState.WITHDRAWN, now)
            kept.retired_at = now
            session.add(kept)
            session.flush()


def _require_withdrawable(stored: StoredRing, kids: Sequence[str]) -> None:
    for kid in kids:
        if not KEY_ID.fullmatch(kid):
            wrong = "{kid} isn't the ID of a signing key. `flask keys list` shows the IDs."
            raise Refused(Problem("KEY_ID_INVALID", wrong, values={"kid": repr(kid)}))
        if kid in stored.withdrawn:
            done = "The key {kid} is withdrawn already."
            raise Refused(Problem("KEY_WITHDRAWN", done, values={"kid": kid}))


def _withdrawal(
    ports: Ports, session: Session, stored: StoredRing, kids: Sequence[str]
) -> Withdrawal:
    fixed = configured_key(ports, stored)
    configured = "" if fixed is None or fixed.public.kid not in kids else fixed.public.kid
    known = {key.pair.public.kid for key in stored.keys} | {configured}
    ending = select(func.count()).select_from(models.Session)
    return Withdrawal(
        tuple(kids),
        session.scalar(ending.where(_signed_with(ports, stored, kids))) or 0,
        tuple(kid for kid in kids if kid not in known),
        configured,
    )


def _signed_with(ports: Ports, stored: StoredRing, kids: Sequence[str]) -> ColumnElement[bool]:
    """Return the live sessions whose current refresh token one of the keys signed.

    When the key in ``RSA_PRIVATE_KEY`` came into use isn't recorded: it may have signed any.
    """
    signed_at = func.coalesce(models.Session.refreshed_at, models.Session.created_at)
    fixed = configured_key(ports, stored)
    spans: list[ColumnElement[bool]] = (
        [true()] if fixed is not None and fixed.public.kid in kids else []
    )
    spans += [
        and_(signed_at >= key.activated_at, signed_at <= (key.retired_at or ports.clock.now()))
        for key in stored.keys
        if key.pair.public.kid in kids and key.activated_at is not None
    ]
    lives = models.Session.expires_at > ports.clock.now()
    has_tokens = models.Session.in_console.is_(False), models.Session.is_hosted.is_(False)
    return and_(lives, *has_tokens, or_(false(), *spans))


def _replacements(
    ports: Ports, stored: StoredRing, kids: Sequence[str]
) -> Mapping[KeyPair, KeyState]:
    """What the ring needs once the keys are withdrawn: nothing while another key is configured."""
    fixed = ports.keys.fixed()
    if fixed is not None and fixed.public.kid not in {*kids, *stored.withdrawn}:
        return {}
    left = {key.state: key.pair for key in stored.keys if key.pair.public.kid not in kids}
    found: dict[KeyPair, KeyState] = {}
    upcoming = left.get(KeyState.NEXT)
    if KeyState.ACTIVE not in left:
        if upcoming is None or not _can_sign(ports, upcoming):
            found[ports.keys.generate()] = KeyState.ACTIVE
        else:
            found[upcoming] = KeyState.ACTIVE
            upcoming = None
    if upcoming is None:
        found[ports.keys.generate()] = KeyState.NEXT
    return found


def _can_sign(ports: Ports, pair: KeyPair) -> bool:
    try:
        ports.keys.sign(pair, {})
    except KeyUnreadable:
        return False
    return True


def _store_key(
    session: Session, before: StoredRing, pair: KeyPair, state: KeyState, now: datetime
) -> None:
    if pair not in (key.pair for key in before.keys):
        session.add(new_key(pair, state, now))
    else:
        session.execute(
            update(models.SigningKey)
            .where(models.SigningKey.kid == pair.public.kid)
            .values(state=state.value, activated_at=now)
        )
    session.flush()
