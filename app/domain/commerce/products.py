"""Products, with rules for names, slugs and visibility, and lines of carts and orders."""

import re
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum

from app.domain.accounts.search import fold
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.commerce.money import Money
from app.domain.values.errors import Problem
from app.domain.values.text_rules import line_problem

MAX_NAME_LENGTH = 250
MAX_SLUG_LENGTH = 255
MAX_DESCRIPTION_LENGTH = 20_000

_SLUG = re.compile(r"[\w-]+")
_BETWEEN_WORDS = re.compile(r"[\W_]+")
_NAMELESS = "product"
_ROOM = 20
"""What a slug made from a name leaves for the number that tells it from others."""


class ProductSortField(StrEnum):
    """The sort orders of products."""

    NAME = "NAME"
    PRICE = "PRICE"
    CREATED_AT = "CREATED_AT"
    LAST_MODIFIED_AT = "LAST_MODIFIED_AT"


@dataclass(frozen=True, slots=True)
class Product:
    """A product; without a ``price`` it can't be added to a cart."""

    id: int
    name: str
    slug: str
    description: str
    price: Money | None
    is_published: bool
    created_at: datetime
    updated_at: datetime

    @property
    def is_available(self) -> bool:
        """Whether customers can buy it."""
        return self.is_published and self.price is not None


def sees_unpublished(actor: Actor) -> bool:
    """Whether ``actor`` gets to see products that are not published."""
    return actor.holds(Permission.MANAGE_PRODUCTS)


def name_problem(name: str) -> Problem | None:
    """Why a product cannot be called ``name`` (without the space around it), or ``None``."""
    if not name:
        return Problem("REQUIRED", "Give the product a name.", "name")
    return line_problem(name, "name", max_length=MAX_NAME_LENGTH)


def slug_problem(slug: str) -> Problem | None:
    """Return why ``slug`` is invalid, or ``None``: letters, digits, ``-`` and ``_``."""
    if len(slug) > MAX_SLUG_LENGTH:
        message = "Use at most {max_slug_length} characters; this has {count}."
        values = {"max_slug_length": MAX_SLUG_LENGTH, "count": len(slug)}
        return Problem("INVALID", message, "slug", values=values)
    if not _SLUG.fullmatch(slug):
        message = "Use only letters, digits, hyphens and underscores."
        return Problem("INVALID", message, "slug")
    return None


def slug_of(name: str) -> str:
    """Return the slug of a product that is called ``name``: "Crème Brûlée" is ``creme-brulee``."""
    words = _BETWEEN_WORDS.sub("-", fold(name)).strip("-")
    return words[: MAX_SLUG_LENGTH - _ROOM].strip("-") or _NAMELESS


def snapshot_of(product: Product) -> dict[str, object]:
    """Return the JSON snapshot of ``product`` for the event of its deletion."""
    price = product.price
    return {
        **asdict(product),
        "price": None if price is None else price.units,
        "currency": None if price is None else price.currency,
        "created_at": product.created_at.isoformat(),
        "updated_at": product.updated_at.isoformat(),
    }


@dataclass(frozen=True, slots=True)
class Line:
    """A quantity of a product in a cart or order; ``product`` is ``None`` once deleted."""

    id: int
    product: Product | None
    product_name: str
    quantity: int
    unit_price: Money

    @property
    def total(self) -> Money:
        return self.unit_price.times(self.quantity)
