"""Addresses of users: read and changed by their owner, and by those who manage customers."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts import addresses
from app.domain.accounts.users import User, require_sees_account
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Caller, Permission
from app.domain.events import AddressUpdated
from app.domain.values.errors import PermissionDenied, Problem, Refused
from app.domain.values.ids import key_of
from app.ports import Ports
from app.ports.database import account
from app.services.accounts import stored_addresses
from app.services.accounts.account_details import (
    add_user_updated,
    key_acted_for,
    load_acted_for,
    lock_acted_for,
)
from app.services.audit.log import record, user_change
from app.services.authorization.register import (
    account_owner_only,
    clients_with,
    public,
    requires,
    users_or,
)
from app.services.identity.stored_metadata import save_sent_metadata
from app.services.outbox.publisher import add_event
from app.services.sign_in.reauthentication import own_id

BeforeDeletion = Callable[[addresses.Address], object]
"""What a use case that deletes an address calls first, to read what the answer shows of it."""


def _read_nothing(_address: addresses.Address) -> None: ...


@dataclass(frozen=True, slots=True)
class ChangedAddress:
    """An address, and its user, after a change; a deleted one as it was."""

    address: addresses.Address
    user: User


@clients_with("profile", "email", "address")
@public
def addresses_of_users(
    ports: Ports, actor: Actor, users: Collection[User], proven: Collection[int] = ()
) -> Mapping[int, tuple[addresses.Address, ...]]:
    """Return the addresses of each of ``users``, the oldest first, in one statement.

    Raises ``PermissionDenied`` unless the caller sees each of them, see ``sees_account``.
    """
    for user in users:
        require_sees_account(actor, user.id, is_staff=user.is_staff, proven=proven)
    with ports.database.reading() as session:
        return stored_addresses.addresses_by_user(session, [user.id for user in users])


@public
def show_address_rules(
    _ports: Ports,
    _actor: Actor,
    country: str,
    *,
    country_area: str = "",
    city: str = "",
    city_area: str = "",
) -> addresses.AddressRules:
    """Return what an address of that country needs (`addressValidationRules`)."""
    return addresses.address_rules(
        country, country_area=country_area, city=city, city_area=city_area
    )


@users_or(Permission.MANAGE_USERS)
def show_address(ports: Ports, actor: Actor, address_id: str) -> addresses.Address | None:
    """Return the address of a global ID (`address`): one's own, or a customer's.

    ``None`` if there is none, or the caller can't see it. Refuses NOT_FOUND on ``id`` for an ID of
    another type.
    """
    return next(iter(_visible(ports, actor, [key_of(address_id, "Address")])), None)


@users_or(Permission.MANAGE_USERS)
def addresses_by_key(
    ports: Ports, actor: Actor, keys: Collection[int]
) -> tuple[addresses.Address, ...]:
    """Return those addresses that ``show_address`` shows the caller, in one statement."""
    return _visible(ports, actor, keys)


@users_or(Permission.IMPERSONATE_USER)
def create_address(
    ports: Ports,
    actor: Actor,
    change: addresses.AddressChange,
    *,
    customer_id: str | None = None,
    kind: addresses.AddressKind | None = None,
) -> ChangedAddress:
    """Add an address to the caller's account, or to that of the customer an app acts for.

    (`accountAddressCreate`.) ``kind`` makes it a default. Refuses as ``key_acted_for``,
    ``lock_acted_for`` and ``checked_address`` do.
    """
    key = key_acted_for(actor, customer_id)
    with ports.database.transaction(account(key)) as session:
        user = lock_acted_for(actor, session, key)
        return _create(ports, actor, session, user, change, kind)


@users_or(Permission.MANAGE_USERS)
def update_address(
    ports: Ports, actor: Actor, address_id: str, change: addresses.AddressChange
) -> ChangedAddress:
    """Change one's own address or, with MANAGE_USERS, a customer's.

    (`accountAddressUpdate`.) Refuses NOT_FOUND on ``id``, and as ``checked_address`` does; only
    MANAGE_USERS skips validation.
    """
    _require_writer(actor)
    return _update(ports, actor, address_id, change)


@users_or(Permission.MANAGE_USERS)
def delete_address(
    ports: Ports, actor: Actor, address_id: str, *, before: BeforeDeletion = _read_nothing
) -> ChangedAddress:
    """Delete one's own address or, with MANAGE_USERS, a customer's.

    (`accountAddressDelete`.) Refuses NOT_FOUND on ``id``.
    """
    _require_writer(actor)
    return _delete(ports, actor, address_id, before)


@account_owner_only
def set_default_address(
    ports: Ports, actor: Actor, address_id: str, kind: addresses.AddressKind
) -> User:
    """Make an address of the caller's their default (`accountSetDefaultAddress`).

    Refuses NOT_FOUND on ``id``.
    """
    with ports.database.transaction() as session:
        stored, user = _find(session, actor, address_id)
        if user.id != own_id(actor):
            raise Refused(_missing("id"))
        return _set_default(ports, actor, session, stored, user, kind)


@requires(Permission.MANAGE_USERS)
def create_user_address(
    ports: Ports, actor: Actor, user_id: str, change: addresses.AddressChange
) -> ChangedAddress:
    """Add an address to a customer (`addressCreate`); to staff with MANAGE_STAFF, too.

    Refuses NOT_FOUND on ``userId``, and as ``checked_address`` does.
    """
    key = key_of(user_id, "User", field="userId")
    with ports.database.transaction(account(key)) as session:
        user = _owner(session, actor, key, "userId")
        return _create(ports, actor, session, user, change, None)


@requires(Permission.MANAGE_USERS)
def update_user_address(
    ports: Ports, actor: Actor, address_id: str, change: addresses.AddressChange
) -> ChangedAddress:
    """Change an address of a customer (`addressUpdate`); of staff with MANAGE_STAFF, too.

    Refuses NOT_FOUND on ``id``, and as ``checked_address`` does.
    """
    return _update(ports, actor, address_id, change)


@requires(Permission.MANAGE_USERS)
def delete_user_address(
    ports: Ports, actor: Actor, address_id: str, *, before: BeforeDeletion = _read_nothing
) -> ChangedAddress:
    """Delete an address of a customer (`addressDelete`); of staff with MANAGE_STAFF, too.

    Refuses NOT_FOUND on ``id``.
    """
    return _delete(ports, actor, address_id, before)


@requires(Permission.MANAGE_USERS)
def set_user_default_address(
    ports: Ports, actor: Actor, address_id: str, user_id: str, kind: addresses.AddressKind
) -> User:
    """Make an address of a customer their default (`addressSetDefault`).

    Refuses NOT_FOUND on ``addressId`` and ``userId``, and for another user's address.
    """
    key = key_of(user_id, "User", field="userId")
    with ports.database.transaction(account(key)) as session:
        owner = _owner(session, actor, key, "userId")
        stored, user = _find(session, actor, address_id, "addressId")
        if user.id != owner.id:
            raise Refused(_missing("addressId"))
        return _set_default(ports, actor, session, stored, user, kind)


def _create(
    ports: Ports,
    actor: Actor,
    session: Session,
    user: models.User,
    change: addresses.AddressChange,
    kind: addresses.AddressKind | None,
) -> ChangedAddress:
    stored_addresses.require_validation(actor, change)
    skipped = change.skips_validation
    details = addresses.checked_address(
        change.applied_to(addresses.NO_DETAILS), skips_validation=skipped, kind=kind
    )
    stored = stored_addresses.store_address(
        ports, actor, session, user.id, details, validation_skipped=skipped
    )
    save_sent_metadata(session, models.Address, stored.id, change.metadata)
    if kind is not None:
        stored_addresses.make_default(session, stored, kind)
    _record_change(ports, actor, session, user, "address.create", stored.id)
    return _result(ports, session, actor, stored)


def _update(
    ports: Ports, actor: Actor, address_id: str, change: addresses.AddressChange
) -> ChangedAddress:
    stored_addresses.require_validation(actor, change)
    with ports.database.transaction() as session:
        stored, user = _find(session, actor, address_id)
        details = addresses.checked_address(
            change.applied_to(addresses.details_of(stored_addresses.to_address(stored))),
            skips_validation=change.skips_validation,
        )
        changed = stored_addresses.write_details(stored, details)
        stored.validation_skipped = change.skips_validation
        changed += tuple(save_sent_metadata(session, models.Address, stored.id, change.metadata))
        if changed:
            add_event(ports, actor, session, AddressUpdated(stored.id))
            _record_change(ports, actor, session, user, "address.update", stored.id, changed)
        session.flush()
        return _result(ports, session, actor, stored)


def _delete(ports: Ports, actor: Actor, address_id: str, before: BeforeDeletion) -> ChangedAddress:
    with ports.database.transaction() as session:
        stored, user = _find(session, actor, address_id)
        address = stored_addresses.to_address(stored)
        before(address)
        stored_addresses.delete_stored_address(ports, actor, session, stored)
        _record_change(ports, actor, session, user, "address.delete", address.id)
        session.flush()
        return ChangedAddress(address, load_acted_for(ports, session, actor, user.id))


def _set_default(
    ports: Ports,
    actor: Actor,
    session: Session,
    stored: models.Address,
    user: models.User,
    kind: addresses.AddressKind,
) -> User:
    stored_addresses.make_default(session, stored, kind)
    _record_change(
        ports, actor, session, user, "address.set_default", stored.id, (kind.value.lower(),)
    )
    return load_acted_for(ports, session, actor, user.id)


def _find(
    session: Session, actor: Actor, address_id: str, field: str = "id"
) -> tuple[models.Address, models.User]:
    """Return an address that the caller can change and its user, who is locked first."""
    key = key_of(address_id, "Address", field=field)
    found = session.get(models.Address, key)
    if found is None:
        raise Refused(_missing(field))
    user = session.get(models.User, found.user_id, with_for_update=True)
    if user is None or not (_is_own(actor, user) or _manages(actor, user)):
        raise Refused(_missing(field))
    stored = session.get(models.Address, key, with_for_update=True, populate_existing=True)
    if stored is None:
        raise Refused(_missing(field))
    return stored, user


def _owner(session: Session, actor: Actor, user_id: int, field: str) -> models.User:
    """Lock and return a user whose addresses the caller can change; refuses NOT_FOUND."""
    user = session.get(models.User, user_id, with_for_update=True)
    if user is not None and (_is_own(actor, user) or _manages(actor, user)):
        return user
    if user is None and actor.user_id == user_id:
        raise PermissionDenied(Caller.USER)
    raise Refused(Problem("NOT_FOUND", "There is no such user.", field))


def _visible(ports: Ports, actor: Actor, keys: Collection[int]) -> tuple[addresses.Address, ...]:
    query = (
        select(models.Address, models.User).join(models.User).where(models.Address.id.in_(keys))
    )
    if not actor.holds(Permission.MANAGE_USERS):
        query = query.where(models.User.id == actor.user_id)
    with ports.database.reading() as session:
        return tuple(
            stored_addresses.to_address(stored)
            for stored, owner in session.execute(query)
            if owner.id == actor.user_id or _manages(actor, owner)
        )


def _is_own(actor: Actor, user: models.User) -> bool:
    return actor.is_account_owner and actor.user_id == user.id


def _manages(actor: Actor, user: models.User) -> bool:
    """Whether ``actor`` manages customers and, for staff, as a person staff as well."""
    manages_staff = actor.holds(Permission.MANAGE_STAFF) and not actor.is_app
    return actor.holds(Permission.MANAGE_USERS) and (not user.is_staff or manages_staff)


def _require_writer(actor: Actor) -> None:
    """Raise for an extension that acts for a person without MANAGE_USERS."""
    if not actor.is_account_owner and not actor.holds(Permission.MANAGE_USERS):
        raise PermissionDenied(Caller.USER, Permission.MANAGE_USERS)


def _missing(field: str) -> Problem:
    return Problem("NOT_FOUND", "There is no such address.", field)


def _record_change(
    ports: Ports,
    actor: Actor,
    session: Session,
    user: models.User,
    action: str,
    address_id: int,
    changed: tuple[str, ...] = (),
) -> None:
    """Record which address and which of its details changed, not what they say."""
    user.updated_at = ports.clock.now()
    add_user_updated(ports, actor, session, user)
    after: dict[str, object] = {"address": address_id}
    if changed:
        after["changed"] = list(changed)
    record(ports, actor, session, user_change(action, user, after=after))


def _result(
    ports: Ports, session: Session, actor: Actor, stored: models.Address
) -> ChangedAddress:
    return ChangedAddress(
        stored_addresses.to_address(stored), load_acted_for(ports, session, actor, stored.user_id)
    )
