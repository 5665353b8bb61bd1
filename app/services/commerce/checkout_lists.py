"""The carts there are, for those whose they are."""

from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.commerce.checkouts import Checkout, manages_checkouts, may_open
from app.domain.values.errors import PermissionDenied
from app.domain.values.pages import Page, PageRequest, with_items
from app.models import CheckoutRecord
from app.ports import Ports
from app.services.authorization.register import public, users_or
from app.services.commerce.stored_checkouts import CHECKOUTS, to_checkouts, token_in
from app.services.lists.paging import Order, read_rows

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
def list_checkouts(ports: Ports, actor: Actor, user_id: int, page: PageRequest) -> Page[Checkout]:
    """List a person's carts that aren't ordered yet (`User.checkouts`), the newest first.

    Other people's need MANAGE_CHECKOUTS or HANDLE_CHECKOUTS.
    """
    if user_id != actor.user_id and not manages_checkouts(actor):
        raise PermissionDenied(Permission.MANAGE_CHECKOUTS, Permission.HANDLE_CHECKOUTS)
    query = _OPEN.where(CheckoutRecord.user_id == user_id)
    with ports.database.reading() as session:
        found = read_rows(ports, session, query, _NEWEST_FIRST, page)
        return with_items(found, to_checkouts(session, actor, found.items))
