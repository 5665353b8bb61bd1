"""Read addresses for several users at once, and write them within a transaction."""

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict

from sqlalchemy import ScalarSelect, func, select, update
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.addresses import (
    MAX_ADDRESSES,
    MAX_LENGTHS,
    NO_DETAILS,
    Address,
    AddressChange,
    AddressDetails,
    AddressKind,
    DefaultAddresses,
    checked_address,
    details_of,
)
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.events import AddressCreated, AddressDeleted, AddressUpdated
from app.domain.values.errors import PermissionDenied
from app.domain.values.inputs import Absent
from app.models.json_arrays import json_array_text, json_object
from app.ports import Ports
from app.services.authorization.register import building_block
from app.services.identity.stored_metadata import save_sent_metadata
from app.services.outbox.publisher import add_event

_DEFAULTS = {
    AddressKind.SHIPPING: models.Address.is_default_shipping,
    AddressKind.BILLING: models.Address.is_default_billing,
}

_FLAGS = {
    "is_default_shipping_address": "is_default_shipping",
    "is_default_billing_address": "is_default_billing",
}
_COLUMNS = {name: name for name in ("id", "user_id", *MAX_LENGTHS)} | _FLAGS
"""The column of each field of an address."""


@building_block
def to_address(stored: models.Address) -> Address:
    return Address(
        **{name: getattr(stored, name) for name in MAX_LENGTHS},
        id=stored.id,
        user_id=stored.user_id,
        is_default_shipping_address=stored.is_default_shipping,
        is_default_billing_address=stored.is_default_billing,
    )


@building_block
def addresses_text(limit: int) -> ScalarSelect[str]:
    """Return a column for queries of users: their addresses as JSON, at most ``limit``.

    Defaults come first, then the oldest; ``read_addresses`` reads it.
    """
    is_default = models.Address.is_default_shipping | models.Address.is_default_billing
    shown = (
        select(models.Address)
        .where(models.Address.user_id == models.User.id)
        .order_by(is_default.desc(), models.Address.id)
        .limit(limit)
        .correlate(models.User)
        .subquery("address")
    )
    members = {name: shown.c[column] for name, column in _COLUMNS.items()}
    return select(json_array_text(json_object(**members))).scalar_subquery()


@building_block
def read_addresses(text: str) -> tuple[Address, ...]:
    """Return the addresses in a column of ``addresses_text``."""
    return tuple(
        Address(**one | {name: bool(one[name]) for name in _FLAGS}) for one in json.loads(text)
    )


@building_block
def addresses_by_user(
    session: Session, user_ids: Collection[int]
) -> Mapping[int, tuple[Address, ...]]:
    """Return the addresses of each of these users, the oldest first, in one statement."""
    query = select(models.Address).where(models.Address.user_id.in_(user_ids))
    found: dict[int, tuple[Address, ...]] = dict.fromkeys(user_ids, ())
    for stored in session.scalars(query.order_by(models.Address.user_id, models.Address.id)):
        found[stored.user_id] += (to_address(stored),)
    return found


@building_block
def address_snapshot(address: Address, *, of_staff: bool) -> dict[str, object]:
    return {**asdict(address), "of_staff": of_staff}


@building_block
def is_of_staff(session: Session, stored: models.Address) -> bool:
    query = select(models.User.is_staff).where(models.User.id == stored.user_id)
    return bool(session.scalar(query))


@building_block
def delete_stored_address(
    ports: Ports, actor: Actor, session: Session, stored: models.Address
) -> None:
    """Delete an address of a user whose row is locked, and note the event."""
    snapshot = address_snapshot(to_address(stored), of_staff=is_of_staff(session, stored))
    session.delete(stored)
    session.flush()
    add_event(ports, actor, session, AddressDeleted(stored.id, snapshot=snapshot))


@building_block
def store_address(
    ports: Ports,
    actor: Actor,
    session: Session,
    user_id: int,
    details: AddressDetails,
    *,
    validation_skipped: bool,
) -> models.Address:
    """Add an address to a user whose row is locked.

    The oldest one that is no default makes room for it, when there are ``MAX_ADDRESSES``.
    """
    of_user = models.Address.user_id == user_id
    count = session.scalar(select(func.count()).select_from(models.Address).where(of_user)) or 0
    if count >= MAX_ADDRESSES:
        is_default = models.Address.is_default_shipping | models.Address.is_default_billing
        oldest = select(models.Address).where(of_user, ~is_default).order_by(models.Address.id)
        replaced = session.scalar(oldest.limit(1))
        if replaced is not None:
            delete_stored_address(ports, actor, session, replaced)
    stored = models.Address(user_id=user_id, validation_skipped=validation_skipped)
    write_details(stored, details)
    session.add(stored)
    session.flush()
    add_event(ports, actor, session, AddressCreated(stored.id))
    return stored


def _save_default(
    ports: Ports,
    actor: Actor,
    session: Session,
    user_id: int,
    change: AddressChange,
    kind: AddressKind,
) -> models.Address:
    """Change the default address of a user whose row is locked, or add one.

    Refuses as ``checked_address`` does.
    """
    is_default = _DEFAULTS[kind].is_(True)
    of_user = select(models.Address).where(models.Address.user_id == user_id, is_default)
    stored = session.scalar(of_user.with_for_update())
    before = NO_DETAILS if stored is None else details_of(to_address(stored))
    skipped = change.skips_validation
    details = checked_address(change.applied_to(before), skips_validation=skipped, kind=kind)
    if stored is None:
        stored = store_address(ports, actor, session, user_id, details, validation_skipped=skipped)
        make_default(session, stored, kind)
        save_sent_metadata(session, models.Address, stored.id, change.metadata)
        return stored
    changed = write_details(stored, details)
    if changed:
        stored.validation_skipped = skipped
        session.flush()
    saved = save_sent_metadata(session, models.Address, stored.id, change.metadata)
    if changed or saved:
        add_event(ports, actor, session, AddressUpdated(stored.id))
    return stored


@building_block
def require_validation(actor: Actor, change: AddressChange) -> None:
    """Raise if ``change`` skips validation and the caller can't.

    Holders of MANAGE_USERS can, and apps that act for a customer.
    """
    impersonates = actor.is_app and actor.holds(Permission.IMPERSONATE_USER)
    if change.skips_validation and not (impersonates or actor.holds(Permission.MANAGE_USERS)):
        raise PermissionDenied(Permission.MANAGE_USERS)


@building_block
def save_defaults(
    ports: Ports, actor: Actor, session: Session, user_id: int, addresses: DefaultAddresses
) -> dict[str, object]:
    """Write the default addresses that were sent; return their keys for the audit log.

    The user's row is locked. Refuses as ``checked_address`` does, ``require_validation`` too.
    """
    saved: dict[str, object] = {}
    for kind, change in (
        (AddressKind.SHIPPING, addresses.shipping),
        (AddressKind.BILLING, addresses.billing),
    ):
        if isinstance(change, Absent):
            continue
        require_validation(actor, change)
        stored = _save_default(ports, actor, session, user_id, change, kind)
        saved[f"default_{kind.value.lower()}_address"] = stored.id
    return saved


@building_block
def write_details(stored: models.Address, details: AddressDetails) -> tuple[str, ...]:
    """Write ``details`` to a record; return the names of those that differ."""
    changed = [
        name for name in MAX_LENGTHS if (getattr(stored, name) or "") != getattr(details, name)
    ]
    for name in changed:
        setattr(stored, name, getattr(details, name))
    return tuple(changed)


@building_block
def make_default(session: Session, stored: models.Address, kind: AddressKind) -> None:
    """Make an address its user's default for ``kind``, instead of any other."""
    column = _DEFAULTS[kind]
    others = update(models.Address).where(
        models.Address.user_id == stored.user_id, models.Address.id != stored.id, column.is_(True)
    )
    session.execute(others.values({column: False}))
    setattr(stored, column.key, True)
    session.flush()
