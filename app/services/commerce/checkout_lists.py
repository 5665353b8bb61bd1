"""The carts there are, for those whose they are."""

from collections.abc import Collection, Mapping

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.commerce.sales import Checkout, manages_checkouts, may_open
from app.domain.values.errors import PermissionDenied
from app.domain.values.pages import Page, PageRequest, with_items
from app.models import CheckoutRecord
from app.ports import Ports
from app.services.authorization.register import public, users_or
from app.services.commerce.stored_checkouts import CHECKOUTS, to_checkouts, token_in
from app.services.lists.paging import Order, Parents, read_rows_by_parent

_OPEN = CHECKOUTS.where(CheckoutRecord.completed_at.is_(None))
_NEWEST_FIRST = Order((CheckoutRecord.id,), descending=True)


@public
def show_checkout(ports: Ports, actor: Actor, checkout_id: str) -> Checkout | None:
    """Return the cart of that global id (`checkout`).

    ``None`` for another person's, an ordered or an unknown one.
    """
    query = _OPEN.where(CheckoutRecord.token == token_in(checkout_id))
    with ports.database.reading() as session:
        row = session.execute(query).one_or_none()
        if row is None or not may_open(actor, row.user_id):
            return None
        (found,) = to_checkouts(session, actor, [row])
        return found


@users_or(Permission.MANAGE_CHECKOUTS, Permission.HANDLE_CHECKOUTS)
def checkouts_of_users(
    ports: Ports, actor: Actor, user_ids: Collection[int], page: PageRequest
) -> Mapping[int, Page[Checkout]]:
    """Return the page of each person's carts that aren't ordered yet (`User.checkouts`).

    The newest first; two statements. Other people's need MANAGE_CHECKOUTS or HANDLE_CHECKOUTS.
    """
    if set(user_ids) - {actor.user_id} and not manages_checkouts(actor):
        raise PermissionDenied(Permission.MANAGE_CHECKOUTS, Permission.HANDLE_CHECKOUTS)
    with ports.database.reading() as session:
        found = read_rows_by_parent(
            ports, session, _OPEN, Parents(CheckoutRecord.user_id, user_ids), _NEWEST_FIRST, page
        )
        rows = [row for rows in found.values() for row in rows.items]
        carts = {cart.id: cart for cart in to_checkouts(session, actor, rows)}
    return {
        key: with_items(rows, [carts[row.id] for row in rows.items]) for key, rows in found.items()
    }
