"""A shop in which every value is fixed, for samples that are the same at every printing."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory

from app.composition.settings import Settings
from app.composition.wiring import connect
from app.domain.accounts.addresses import AddressChange, DefaultAddresses
from app.domain.authorization.actor import OPERATOR
from app.domain.authorization.permissions import Permission
from app.domain.values.ids import to_global_id
from app.ports import Ports
from app.services.apps.app_changes import NewApp, create_app
from app.services.commerce.checkouts import LineInput, create_checkout
from app.services.commerce.orders import complete_checkout
from app.services.commerce.products import ProductInput, create_product
from app.services.people.customers import NewCustomer, create_customer
from app.services.people.groups import NewGroup, create_group
from app.services.people.staff import NewStaff, create_staff

SHOP = "https://shop.example.com"
API_URL = f"{SHOP}/graphql/"
NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
"""When everything in the samples happens."""

_CUSTOMER = "ada@example.com"


class _StoppedClock:
    """A clock that always tells the same time."""

    def now(self) -> datetime:
        return NOW

    def timestamp(self) -> float:
        return NOW.timestamp()


class _Counter:
    """Numbers in place of random values: different ones, and the same at every printing."""

    def __init__(self) -> None:
        self._given = 0

    def token(self, length: int) -> str:
        self._given += 1
        return f"{self._given:0{length}}"[-length:]

    def secret(self, size: int) -> bytes:
        self._given += 1
        return self._given.to_bytes(size, "big")


@contextmanager
def sample_shop() -> Iterator[Ports]:
    """A shop with one object of each type that events are about, until the end of the block."""
    with TemporaryDirectory(prefix="latchkey-docs-") as folder:
        settings = Settings(
            database_url=f"sqlite:///{Path(folder) / 'shop.sqlite3'}",
            secret_key="the secret of a shop in a folder",  # noqa: S106
            public_url=SHOP,
        )
        ports = replace(connect(settings), clock=_StoppedClock(), randomness=_Counter())
        try:
            ports.schema.upgrade()
            _fill(ports)
            yield ports
        finally:
            ports.database.close()


def _fill(ports: Ports) -> None:
    permissions = frozenset({Permission.MANAGE_ORDERS})
    create_group(ports, OPERATOR, NewGroup("Order desk", permissions))
    create_staff(ports, OPERATOR, NewStaff("grace@example.com", "Grace", "Hopper"))
    home = AddressChange(
        first_name="Ada",
        last_name="Lovelace",
        street_address_1="12 St James's Square",
        city="London",
        postal_code="SW1Y 4JH",
        country="GB",
    )
    addresses = DefaultAddresses(shipping=home)
    ada = NewCustomer(_CUSTOMER, "Ada", "Lovelace", addresses=addresses)
    create_customer(ports, OPERATOR, ada)
    create_app(ports, OPERATOR, NewApp("Parcel Post", permissions))
    bowl = ProductInput(name="Ash bowl", price=Decimal("12.50"), is_published=True)
    product = create_product(ports, OPERATOR, bowl)
    lines = [LineInput(to_global_id("Product", product.id), 2)]
    ordered = create_checkout(ports, OPERATOR, lines, _CUSTOMER)
    complete_checkout(ports, OPERATOR, to_global_id("Checkout", ordered.token))
    create_checkout(ports, OPERATOR, lines, _CUSTOMER)
