"""Addresses of users."""

from sqlalchemy import insert, select

from app import models
from app.domain.accounts.addresses import Address
from app.ports import Ports
from app.services.accounts.stored_addresses import to_address

DETAILS = {
    "first_name": "Ann",
    "last_name": "Lee",
    "street_address_1": "Tęczowa 7",
    "city": "WROCŁAW",
    "postal_code": "53-601",
    "country": "PL",
    "phone": "+48713448150",
}


def make_address(ports: Ports, user_id: int, *, is_default: bool = True, **values: object) -> int:
    """Store an address of a user, their default for everything; return the key."""
    with ports.database.transaction() as session:
        address = models.Address(
            user_id=user_id,
            is_default_shipping=is_default,
            is_default_billing=is_default,
            **(DETAILS | values),
        )
        session.add(address)
        session.flush()
        return address.id


def make_addresses(ports: Ports, user_id: int, count: int) -> list[int]:
    """Store addresses that are nobody's default; return their keys, the oldest first."""
    rows = [{"user_id": user_id, **DETAILS}] * count
    with ports.database.transaction() as session:
        made = insert(models.Address).returning(models.Address.id, sort_by_parameter_order=True)
        return list(session.scalars(made, rows))


def addresses_of(ports: Ports, user_id: int) -> list[Address]:
    """Return a user's addresses, the oldest first."""
    of_user = select(models.Address).where(models.Address.user_id == user_id)
    with ports.database.reading() as session:
        return [to_address(one) for one in session.scalars(of_user.order_by(models.Address.id))]
