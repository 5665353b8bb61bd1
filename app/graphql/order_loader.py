"""Loads lines and buyers of orders, for all orders of a list at once."""

from collections.abc import Iterable

from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.commerce.orders import OrderLine, OrderSummary
from app.graphql.account_loader import AccountLoader
from app.graphql.group_loader import GroupLoader
from app.ports import Ports
from app.services.commerce.order_lists import buyers_of_orders, lines_of_orders


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

    def add_orders(self, orders: Iterable[OrderSummary]) -> None:
        """Note orders of one list, which the caller can see."""
        self._buyer_ids |= {order.id: order.user_id for order in orders}

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
