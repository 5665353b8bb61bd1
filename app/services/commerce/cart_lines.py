"""Putting products into a cart, inside the transaction that changes it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.domain.authorization.actor import Actor
from app.domain.commerce.products import Product
from app.domain.commerce.sales import product_problem, quantity_problem, size_problem
from app.domain.values.errors import Problem, Refused
from app.domain.values.ids import key_of
from app.models import CheckoutLineRecord, CheckoutRecord, ProductRecord
from app.services.authorization.register import part
from app.services.commerce.stored_products import PRODUCTS, to_product


@dataclass(frozen=True, slots=True)
class LineInput:
    """So many of the product of that global id."""

    product_id: str
    quantity: int


@part
def read_quantities(lines: Sequence[LineInput], *, is_total: bool) -> dict[int, int]:
    """How many of which product, by key.

    Without ``is_total`` they are more of what the cart holds, and a product may be named twice.
    Refuses what no cart can hold.
    """
    refuse(size_problem(len(lines)))
    quantities: dict[int, int] = {}
    for line in lines:
        key = key_of(line.product_id, "Product", field="productId")
        refuse(quantity_problem(line.quantity, minimum=0 if is_total else 1))
        if is_total and key in quantities:
            message = "Name each product once."
            raise Refused(Problem("DUPLICATED_INPUT_ITEM", message, "lines"))
        quantities[key] = quantities.get(key, 0) + line.quantity
    return quantities


@part
def put_lines(
    session: Session,
    actor: Actor,
    cart: CheckoutRecord,
    quantities: Mapping[int, int],
    *,
    is_total: bool,
) -> None:
    """Make ``cart``, which is locked, hold ``quantities`` of each product at its present price."""
    lines = {
        line.product_id: line
        for line in session.scalars(
            select(CheckoutLineRecord).where(CheckoutLineRecord.checkout_id == cart.id)
        )
    }
    if is_total:
        for key in quantities.keys() & lines.keys():
            if not quantities[key]:
                session.delete(lines.pop(key))
        quantities = {key: quantity for key, quantity in quantities.items() if quantity}
        session.flush()
    refuse(size_problem(len(lines.keys() | quantities.keys())))
    products = _products(session, quantities)
    for key, quantity in quantities.items():
        product = products.get(key)
        refuse(product_problem(product, actor))
        line = lines.get(key)
        already = 0 if line is None or is_total else line.quantity
        refuse(quantity_problem(already + quantity))
        if line is None:
            line = CheckoutLineRecord(checkout_id=cart.id, product_id=key)
            session.add(line)
        _write(line, product, already + quantity)
    session.flush()


@part
def refuse(problem: Problem | None) -> None:
    """Raise ``problem`` unless it is ``None``."""
    if problem is not None:
        raise Refused(problem)


def _products(session: Session, keys: Iterable[int]) -> dict[int, Product]:
    """The products of these keys, none of which is deleted until this transaction is done."""
    query = PRODUCTS.where(ProductRecord.id.in_(list(keys))).order_by(ProductRecord.id)
    rows = session.execute(query.with_for_update(read=True, key_share=True))
    return {product.id: product for product in map(to_product, rows)}


def _write(line: CheckoutLineRecord, product: Product | None, quantity: int) -> None:
    if product is None or product.price is None:
        raise TypeError("only a product with a price can be put in")
    line.product_name = product.name
    line.quantity = quantity
    line.unit_price = product.price.units
    line.currency = product.price.currency
