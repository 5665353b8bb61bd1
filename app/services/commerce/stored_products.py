"""Products as they are stored: read, and found a slug for."""

from operator import attrgetter
from typing import Any

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from app.domain.commerce.money import of_units
from app.domain.commerce.products import Product
from app.domain.values.errors import Problem, Refused
from app.models import ProductRecord
from app.models.commerce import NO_PRICE
from app.ports import NamedRow, Ports
from app.services.authorization.register import part

_FIELDS = (
    "id",
    "name",
    "slug",
    "description",
    "price",
    "currency",
    "is_published",
    "created_at",
    "updated_at",
)
PRODUCT_COLUMNS = tuple(getattr(ProductRecord, name).label(f"product_{name}") for name in _FIELDS)
"""What ``to_product`` expects in a row."""

_values_in = attrgetter(*(column.name for column in PRODUCT_COLUMNS))
_fields_of = attrgetter(*_FIELDS)

PRODUCTS: Select[*tuple[object, ...]] = select(*PRODUCT_COLUMNS)

_NUMBERED = 10
_RANDOM_LENGTH = 8


@part
def to_product(row: NamedRow) -> Product:
    """The product in a row that has ``PRODUCT_COLUMNS``."""
    return _product(*_values_in(row))


@part
def product_of(stored: ProductRecord) -> Product:
    """The product in its record."""
    return _product(*_fields_of(stored))


def _product(
    id_: int, name: str, slug: str, description: str, units: int, currency: str, *others: Any
) -> Product:
    price = None if units == NO_PRICE else of_units(units, currency)
    return Product(id_, name, slug, description, price, *others)


@part
def locked_product(session: Session, product_id: int) -> ProductRecord:
    """Lock and return the product of that key.

    Refuses NOT_FOUND on ``id``.
    """
    stored = session.get(ProductRecord, product_id, with_for_update=True)
    if stored is None:
        raise Refused(Problem("NOT_FOUND", "There is no such product.", "id"))
    return stored


@part
def free_slug(ports: Ports, session: Session, preferred: str, *, is_contested: bool) -> str:
    """Return ``preferred``, with a number or random letters if a product has that slug.

    Another transaction can still take it first; when it has (``is_contested``), only random
    letters end the race.
    """
    candidates = [preferred, *(f"{preferred}-{number}" for number in range(2, _NUMBERED))]
    taken = set(
        session.scalars(select(ProductRecord.slug).where(ProductRecord.slug.in_(candidates)))
    )
    free = [slug for slug in candidates if slug not in taken]
    if free and not is_contested:
        return free[0]
    return f"{preferred}-{ports.randomness.token(_RANDOM_LENGTH).lower()}"
