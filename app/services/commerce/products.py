"""Products, as those manage them who may."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.domain.accounts.search import fold
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.commerce.money import CURRENCY, Money, price, price_problem
from app.domain.commerce.products import (
    MAX_DESCRIPTION_LENGTH,
    Product,
    name_problem,
    slug_of,
    slug_problem,
    snapshot_of,
)
from app.domain.events import ProductCreated, ProductDeleted, ProductUpdated
from app.domain.values.errors import Problem, Refused, refuse_any
from app.domain.values.ids import key_of
from app.domain.values.inputs import ABSENT, Absent
from app.domain.values.text_rules import prose_problem
from app.models import ProductRecord
from app.models.commerce import NO_PRICE
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import requires
from app.services.commerce.stored_products import free_slug, locked_product, product_of
from app.services.outbox.publisher import add_event

_AUDITED = ("name", "slug", "price", "is_published")
_UNIQUE = Problem("UNIQUE", "This slug is already in use.", "slug")


@dataclass(frozen=True, slots=True)
class ProductInput:
    """A product's input; ``ABSENT`` for fields left out, ``None`` for null.

    ``price`` is in ``currency``, the shop's own by default.
    """

    name: str | Absent | None = ABSENT
    slug: str | Absent | None = ABSENT
    description: str | Absent | None = ABSENT
    price: Decimal | Absent | None = ABSENT
    currency: str | None = None
    is_published: bool | None = None


@requires(Permission.MANAGE_PRODUCTS)
def create_product(ports: Ports, actor: Actor, input_: ProductInput) -> Product:
    """Make a product (`productCreate`): only the name is required, unpublished unless said.

    Refuses REQUIRED and INVALID on ``name``, INVALID and UNIQUE on ``slug`` (made from the name
    when it is missing), INVALID on ``description``, ``price`` and ``currency``.
    """
    now = ports.clock.now()
    product = _applied(
        Product(0, "", "", "", None, is_published=False, created_at=now, updated_at=now),
        replace(input_, name=_text(input_.name), slug=_text(input_.slug) or ABSENT),
    )
    try:
        return _store(ports, actor, product, is_contested=False)
    except IntegrityError:  # the slug was taken by somebody who was quicker by a moment
        if product.slug:
            raise Refused(_UNIQUE) from None
        return _store(ports, actor, product, is_contested=True)


@requires(Permission.MANAGE_PRODUCTS)
def update_product(ports: Ports, actor: Actor, product_id: str, input_: ProductInput) -> Product:
    """Change a product (`productUpdate`); absent fields stay, null clears optional ones.

    Refuses NOT_FOUND on ``id``, REQUIRED on ``name`` and ``slug``, and what ``create_product``
    refuses.
    """
    key = key_of(product_id, "Product")
    try:
        with ports.database.transaction() as session:
            stored = locked_product(session, key)
            before = product_of(stored)
            after = _applied(before, input_)
            if after != before:
                after = replace(after, updated_at=ports.clock.now())
                for name, value in _columns(after).items():
                    setattr(stored, name, value)
                add_event(ports, actor, session, ProductUpdated(key))
                _audit(ports, actor, session, "product.update", before, after)
            return after
    except IntegrityError:
        raise Refused(_UNIQUE) from None


@requires(Permission.MANAGE_PRODUCTS)
def delete_product(ports: Ports, actor: Actor, product_id: str) -> Product:
    """Delete a product (`productDelete`); returns what it was. Refuses NOT_FOUND on ``id``.

    Orders and carts keep what they say of it; a cart that holds it can no longer be completed.
    """
    key = key_of(product_id, "Product")
    with ports.database.transaction() as session:
        stored = locked_product(session, key)
        product = product_of(stored)
        session.delete(stored)
        add_event(ports, actor, session, ProductDeleted(key, snapshot=snapshot_of(product)))
        _audit(ports, actor, session, "product.delete", product, None)
        return product


def _text(value: str | Absent | None) -> str:
    return value if isinstance(value, str) else ""


def _applied(product: Product, input_: ProductInput) -> Product:
    """``product`` with what was said, or the refusal of it."""
    name = product.name if input_.name is ABSENT else _text(input_.name).strip()
    slug = product.slug if input_.slug is ABSENT else _text(input_.slug)
    description = (
        product.description if input_.description is ABSENT else _text(input_.description)
    )
    problems = [name_problem(name), _slug_problem(slug, input_)]
    problems.append(prose_problem(description, "description", max_length=MAX_DESCRIPTION_LENGTH))
    if isinstance(input_.price, Decimal) or input_.currency is not None:
        amount = input_.price if isinstance(input_.price, Decimal) else Decimal(0)
        problems.append(price_problem(amount, input_.currency))
    refuse_any(*problems)
    return replace(
        product,
        name=name,
        slug=slug,
        description=description,
        price=_price(product.price, input_.price),
        is_published=product.is_published if input_.is_published is None else input_.is_published,
    )


def _slug_problem(slug: str, input_: ProductInput) -> Problem | None:
    if input_.slug is ABSENT:
        return None
    return slug_problem(slug) if slug else Problem("REQUIRED", "Give it a slug.", "slug")


def _price(before: Money | None, new: Decimal | Absent | None) -> Money | None:
    if isinstance(new, Absent):
        return before
    return None if new is None else price(new)


def _store(ports: Ports, actor: Actor, product: Product, *, is_contested: bool) -> Product:
    with ports.database.transaction() as session:
        slug = product.slug or free_slug(
            ports, session, slug_of(product.name), is_contested=is_contested
        )
        new_product = replace(product, slug=slug)
        stored = ProductRecord(created_at=new_product.created_at, **_columns(new_product))
        session.add(stored)
        session.flush()
        new_product = replace(new_product, id=stored.id)
        add_event(ports, actor, session, ProductCreated(new_product.id))
        _audit(ports, actor, session, "product.create", None, new_product)
        return new_product


def _columns(product: Product) -> dict[str, object]:
    return {
        "name": product.name,
        "slug": product.slug,
        "description": product.description,
        "price": NO_PRICE if product.price is None else product.price.units,
        "currency": CURRENCY if product.price is None else product.price.currency,
        "is_published": product.is_published,
        "updated_at": product.updated_at,
        "folded": fold(product.name),
    }


def _audit(
    ports: Ports,
    actor: Actor,
    session: Session,
    action: str,
    before: Product | None,
    after: Product | None,
) -> None:
    """A row when what the public gets to see, or pays, has changed."""
    was, now = _audit_values(before), _audit_values(after)
    differ = [name for name in _AUDITED if was.get(name) != now.get(name)]
    product = after or before
    if product is None or not differ:
        return
    parts = [{name: side[name] for name in differ if name in side} for side in (was, now)]
    change = Change(action, "Product", product.id, product.name, *parts)
    record(ports, actor, session, change)


def _audit_values(product: Product | None) -> Mapping[str, object]:
    if product is None:
        return {}
    price = product.price
    return {
        "name": product.name,
        "slug": product.slug,
        "price": None if price is None else f"{price.amount} {price.currency}",
        "is_published": product.is_published,
    }
