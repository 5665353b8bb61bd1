"""The signing key ring in the database."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select, true, update
from sqlalchemy.orm import Session

from app.domain.keys import KeyState, PublicKey
from app.domain.values.installation import SchemaBehind
from app.models import ShopRecord, SigningKeyRecord
from app.models.shop import SHOP_ID
from app.ports import Ports
from app.ports.keys import KeyPair
from app.services.authorization.register import part

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


@part
def stored_ring(ports: Ports) -> StoredRing:
    """The ring in the database, ended keys included."""
    with ports.database.reading() as session:
        rows = session.execute(_RING).all()
    if not rows:
        raise SchemaBehind
    records: list[SigningKeyRecord | None] = [row.SigningKeyRecord for row in rows]
    keys = (_key(found) for found in records if found is not None)
    return StoredRing(rows[0].keys_version, tuple(sorted(keys, key=_place)))


@part
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


@part
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


@part
def verifying(ports: Ports, keys: Iterable[StoredKey]) -> tuple[StoredKey, ...]:
    """Those of ``keys`` that verify right now."""
    ended = last_retirement_of_ended_keys(ports)
    return tuple(key for key in keys if key.retired_at is None or key.retired_at > ended)


@part
def verifies_until(ports: Ports, key: StoredKey) -> datetime | None:
    """When a retired key verifies no more: the last token it may have signed has expired then."""
    return None if key.retired_at is None else key.retired_at + _span(ports)


@part
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
