"""Create and change carts."""

from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.domain.accounts.emails import email_problem, normalize_email
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Caller, Permission
from app.domain.commerce.sales import CHECKOUT_TOKEN_LENGTH, Checkout, lines_problem
from app.domain.events import CheckoutCreated, CheckoutUpdated
from app.domain.values.errors import PermissionDenied, Problem, Refused
from app.domain.values.ids import key_of
from app.models import CheckoutLineRecord, CheckoutRecord, UserRecord
from app.ports import Ports
from app.services.audit.log import Change, record
from app.services.authorization.register import public, users_or
from app.services.commerce.cart_lines import LineInput, put_lines, read_quantities, refuse
from app.services.commerce.stored_checkouts import cart_in, gone, load_checkout, open_checkout
from app.services.outbox.publisher import add_event


@public
def create_checkout(
    ports: Ports, actor: Actor, lines: Sequence[LineInput] = (), email: str | None = None
) -> Checkout:
    """Create a cart (`checkoutCreate`), a person's own or one identified by its token.

    ``email`` defaults to the person's. Refuses INVALID on ``email`` and ``lines``, ZERO_QUANTITY
    and QUANTITY_GREATER_THAN_LIMIT on ``quantity``, NOT_FOUND, PRODUCT_NOT_PUBLISHED and
    PRODUCT_UNAVAILABLE_FOR_PURCHASE on ``productId``.
    """
    quantities = read_quantities(lines, is_total=False)
    address = _address(email) if email else ""
    now = ports.clock.now()
    with ports.database.transaction() as session:
        own = "" if actor.user_id is None else _own_email(session, actor.user_id)
        stored = CheckoutRecord(
            token=ports.randomness.token(CHECKOUT_TOKEN_LENGTH),
            user_id=actor.user_id,
            email=address or own,
            created_at=now,
            updated_at=now,
        )
        session.add(stored)
        session.flush()
        put_lines(session, actor, stored, quantities, is_total=False)
        add_event(ports, actor, session, CheckoutCreated(stored.id))
        return _loaded(session, actor, stored)


@public
def add_checkout_lines(
    ports: Ports, actor: Actor, checkout_id: str, lines: Sequence[LineInput]
) -> Checkout:
    """Put more products into a cart (`checkoutLinesAdd`).

    What it holds already of a product takes the present price. Refuses NOT_FOUND on ``id``, and
    what ``create_checkout`` refuses.
    """
    refuse(lines_problem(len(lines)))
    quantities = read_quantities(lines, is_total=False)
    with ports.database.transaction(cart_in(checkout_id)) as session:
        stored = open_checkout(session, actor, checkout_id)
        put_lines(session, actor, stored, quantities, is_total=False)
        return _changed(ports, actor, session, stored)


@public
def update_checkout_lines(
    ports: Ports, actor: Actor, checkout_id: str, lines: Sequence[LineInput]
) -> Checkout:
    """Say how many of each product a cart is to hold (`checkoutLinesUpdate`); 0 takes it out.

    Refuses as ``add_checkout_lines`` does, and DUPLICATED_INPUT_ITEM on ``lines``.
    """
    refuse(lines_problem(len(lines)))
    quantities = read_quantities(lines, is_total=True)
    with ports.database.transaction(cart_in(checkout_id)) as session:
        stored = open_checkout(session, actor, checkout_id)
        put_lines(session, actor, stored, quantities, is_total=True)
        return _changed(ports, actor, session, stored)


@public
def delete_checkout_lines(
    ports: Ports, actor: Actor, checkout_id: str, line_ids: Sequence[str]
) -> Checkout:
    """Take lines out of a cart (`checkoutLinesDelete`).

    Refuses NOT_FOUND on ``id`` and, for what is no line of this cart, on ``linesIds``.
    """
    refuse(lines_problem(len(line_ids), "linesIds"))
    keys = {key_of(line_id, "CheckoutLine", field="linesIds") for line_id in line_ids}
    with ports.database.transaction(cart_in(checkout_id)) as session:
        stored = open_checkout(session, actor, checkout_id)
        query = select(CheckoutLineRecord).where(
            CheckoutLineRecord.checkout_id == stored.id, CheckoutLineRecord.id.in_(keys)
        )
        lines = session.scalars(query).all()
        if len(lines) < len(keys):
            raise Refused(Problem("NOT_FOUND", "There is no such line.", "linesIds"))
        for line in lines:
            session.delete(line)
        return _changed(ports, actor, session, stored)


@public
def update_checkout_email(ports: Ports, actor: Actor, checkout_id: str, email: str) -> Checkout:
    """Say where to write to about a cart (`checkoutEmailUpdate`).

    Refuses NOT_FOUND on ``id``, REQUIRED and INVALID on ``email``.
    """
    address = _address(email)
    with ports.database.transaction(cart_in(checkout_id)) as session:
        stored = open_checkout(session, actor, checkout_id)
        if stored.email == address:
            return _loaded(session, actor, stored)
        stored.email = address
        return _changed(ports, actor, session, stored)


@users_or(Permission.IMPERSONATE_USER)
def attach_checkout(
    ports: Ports, actor: Actor, checkout_id: str, customer_id: str | None = None
) -> Checkout:
    """Make an anonymous cart the caller's own, or a customer's (`checkoutCustomerAttach`).

    Its token alone no longer gives access. ``customer_id``, a global ID, needs IMPERSONATE_USER
    unless it is the caller's. Refuses NOT_FOUND on ``id``, for other people's carts too; on
    ``customerId`` REQUIRED to an app that names none, NOT_FOUND unless it's a customer's.
    """
    owner = _future_owner(actor, customer_id)
    with ports.database.transaction(cart_in(checkout_id)) as session:
        if owner == actor.user_id:
            email = _own_email(session, owner)
        else:
            email = _customer_email(session, owner)
        stored = open_checkout(session, actor, checkout_id)
        if stored.user_id not in (None, owner):
            raise gone()
        if stored.user_id is not None:
            return _loaded(session, actor, stored)
        stored.user_id = owner
        stored.email = stored.email or email
        if owner != actor.user_id:
            after: dict[str, object] = {"checkout": stored.id}
            change = Change("checkout.attach", "User", owner, email, after=after)
            record(ports, actor, session, change)
        return _changed(ports, actor, session, stored)


def _future_owner(actor: Actor, customer_id: str | None) -> int:
    if customer_id:
        key = key_of(customer_id, "User", field="customerId")
        if key != actor.user_id and not actor.holds(Permission.IMPERSONATE_USER):
            raise PermissionDenied(Permission.IMPERSONATE_USER)
        return key
    if actor.user_id is None:
        message = "Apps must name the customer they act for."
        raise Refused(Problem("REQUIRED", message, "customerId"))
    return actor.user_id


def _customer_email(session: Session, user_id: int) -> str:
    """Return a customer's email; the account is not deleted until this transaction is done."""
    query = select(UserRecord.email).where(UserRecord.id == user_id, ~UserRecord.is_staff)
    email = session.scalar(query.with_for_update(read=True, key_share=True))
    if email is None:
        raise Refused(Problem("NOT_FOUND", "No customer has this ID.", "customerId"))
    return email


def _address(email: str) -> str:
    address = normalize_email(email)
    refuse(email_problem(address))
    return address


def _own_email(session: Session, user_id: int) -> str:
    """The caller's email; the account is not deleted until this transaction is done."""
    query = select(UserRecord.email).where(UserRecord.id == user_id)
    email = session.scalar(query.with_for_update(read=True, key_share=True))
    if email is None:
        raise PermissionDenied(Caller.USER)
    return email


def _changed(ports: Ports, actor: Actor, session: Session, stored: CheckoutRecord) -> Checkout:
    stored.updated_at = ports.clock.now()
    add_event(ports, actor, session, CheckoutUpdated(stored.id))
    return _loaded(session, actor, stored)


def _loaded(session: Session, actor: Actor, stored: CheckoutRecord) -> Checkout:
    session.flush()
    checkout = load_checkout(session, actor, stored.id)
    if checkout is None:
        raise gone()
    return checkout
