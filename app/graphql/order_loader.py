"""Loads orders and carts of people, lines and buyers of orders, for all of a list at once."""

from collections.abc import Collection, Iterable, Mapping

from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.commerce.checkouts import Checkout
from app.domain.commerce.orders import OrderLine, OrderSummary
from app.domain.values.pages import Page, PageRequest
from app.graphql.account_loader import AccountLoader
from app.graphql.group_loader import GroupLoader
from app.graphql.page_loader import PageLoader
from app.ports import Ports
from app.services.commerce.checkout_lists import checkouts_of_users
from app.services.commerce.order_lists import (
    buyers_of_orders,
    lines_of_orders,
    orders_of_users,
)


class OrderLoader:
    """The orders of the lists under one root field; a list adds all of its orders first."""

    def __init__(
        self, ports: Ports, actor: Actor, accounts: AccountLoader, groups: GroupLoader
    ) -> None:
        self._ports = ports
        self._actor = actor
        self._accounts = accounts
        self._groups = groups
        self._buyer_ids: dict[int, int | None] = {}
        self._lines: dict[int, tuple[OrderLine, ...]] = {}
        self._buyers: dict[int, User | None] = {}
        self._orders: PageLoader[OrderSummary] = PageLoader()
        self._checkouts: PageLoader[Checkout] = PageLoader()

    def add_orders(self, orders: Iterable[OrderSummary]) -> None:
        """Note orders of one list, which the caller can see."""
        self._buyer_ids |= {order.id: order.user_id for order in orders}

    def orders(self, user_id: int, request: PageRequest) -> Page[OrderSummary]:
        """Return a person's page; raises ``PermissionDenied`` as ``orders_of_users`` does."""

        def read(user_ids: Collection[int]) -> Mapping[int, Page[OrderSummary]]:
            found = orders_of_users(self._ports, self._actor, user_ids, request)
            for page in found.values():
                self.add_orders(page.items)
            return found

        return self._orders.page(request, user_id, self._shown_with(user_id), read)

    def checkouts(self, user_id: int, request: PageRequest) -> Page[Checkout]:
        """Return a person's page; raises ``PermissionDenied`` as ``checkouts_of_users`` does."""

        def read(user_ids: Collection[int]) -> Mapping[int, Page[Checkout]]:
            return checkouts_of_users(self._ports, self._actor, user_ids, request)

        return self._checkouts.page(request, user_id, self._shown_with(user_id), read)

    def _shown_with(self, user_id: int) -> Collection[int]:
        """Return the people of whose list the caller sees as much as of that person.

        Everybody sees their own orders and carts. Who sees one other person's, sees them all.
        """
        if user_id == self._actor.user_id:
            return ()
        return self._accounts.user_ids - {self._actor.user_id}

    def lines(self, order: OrderSummary) -> tuple[OrderLine, ...]:
        """Return the lines of an order of a list."""
        if order.id not in self._lines:
            missing = self._buyer_ids.keys() - self._lines.keys()
            found = lines_of_orders(self._ports, self._actor, missing)
            self._lines |= {key: found.get(key, ()) for key in missing}
        return self._lines[order.id]

    def buyer(self, order: OrderSummary) -> User | None:
        """Return another person who placed an order of a list, if the caller can see them."""
        if order.user_id is None:
            return None
        if order.user_id not in self._buyers:
            known = {self._actor.user_id, *self._buyers}
            missing = {key for key in self._buyer_ids.values() if key is not None} - known
            found = buyers_of_orders(self._ports, self._actor, missing)
            self._buyers |= {key: found.get(key) for key in missing}
            self._accounts.add_users(found.values())
            self._groups.add_users(found.values())
        return self._buyers.get(order.user_id)
