"""Rotating the signing keys, and forgetting those that verify nothing any more."""

from math import ceil

from sqlalchemy import delete, update
from sqlalchemy.orm import Session

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.keys import CACHE_TIME, KeyState, SigningKey
from app.domain.values.errors import Problem, Refused
from app.domain.values.installation import KeyUnreadable
from app.models import ShopRecord, SigningKeyRecord
from app.ports import Ports
from app.ports.keys import KeyPair
from app.services.audit.log import Change, record
from app.services.authorization.register import fresh_proof, internal, requires_person
from app.services.keys.ring import list_keys, ring
from app.services.keys.stored_keys import (
    StoredKey,
    StoredRing,
    increment_version,
    last_retirement_of_ended_keys,
    new_key,
    stored_ring,
)

_FIXED = Problem(
    "KEYS_FIXED",
    "The signing key comes from RSA_PRIVATE_KEY. Set another key there and "
    "restart, or leave the setting empty to manage keys in the database.",
)
_CHANGED = Problem(
    "KEYS_CHANGED", "The signing keys were changed in the meantime. Check them before you rotate."
)


@fresh_proof("always", lambda *_args, **_options: True)
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
