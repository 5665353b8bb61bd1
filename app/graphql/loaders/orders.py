"""Loads orders and carts of people, lines and buyers of orders, for all of a list at once."""

from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet

from graphql import GraphQLResolveInfo

from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.commerce.checkouts import Checkout
from app.domain.commerce.orders import OrderLine, OrderSummary
from app.domain.values.pages import Page, PageRequest
from app.graphql.loaders.accounts import AccountLoader
from app.graphql.loaders.groups import GroupLoader
from app.graphql.loaders.lists import ListedKeys, batch_of
from app.graphql.loaders.pages import PageLoader
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
        self._listed = ListedKeys()
        self._buyer_ids: dict[int, int | None] = {}
        self._lines: dict[int, tuple[OrderLine, ...]] = {}
        self._buyers: dict[int, User | None] = {}
        self._orders: PageLoader[OrderSummary] = PageLoader()
        self._checkouts: PageLoader[Checkout] = PageLoader()

    def add_orders(self, info: GraphQLResolveInfo, orders: Iterable[OrderSummary]) -> None:
        """Note orders of the lists at the field of ``info``, which the caller can see."""
        buyer_ids = {order.id: order.user_id for order in orders}
        self._buyer_ids |= buyer_ids
        self._listed.add(info, buyer_ids)

    def orders(
        self, info: GraphQLResolveInfo, user_id: int, request: PageRequest
    ) -> Page[OrderSummary]:
        """Return a person's page; raises ``PermissionDenied`` as ``orders_of_users`` does."""

        def read(user_ids: Collection[int]) -> Mapping[int, Page[OrderSummary]]:
            found = orders_of_users(self._ports, self._actor, user_ids, request)
            self.add_orders(info, (order for page in found.values() for order in page.items))
            return found

        return self._orders.page(info, request, user_id, self._beside(info, user_id), read)

    def checkouts(
        self, info: GraphQLResolveInfo, user_id: int, request: PageRequest
    ) -> Page[Checkout]:
        """Return a person's page; raises ``PermissionDenied`` as ``checkouts_of_users`` does."""

        def read(user_ids: Collection[int]) -> Mapping[int, Page[Checkout]]:
            return checkouts_of_users(self._ports, self._actor, user_ids, request)

        return self._checkouts.page(info, request, user_id, self._beside(info, user_id), read)

    def lines(self, info: GraphQLResolveInfo, order: OrderSummary) -> tuple[OrderLine, ...]:
        """Return the lines of an order of a list."""
        if order.id not in self._lines:
            missing = batch_of(order.id, self._listed.beside(info, order.id), self._lines)
            found = lines_of_orders(self._ports, self._actor, missing)
            self._lines |= {key: found.get(key, ()) for key in missing}
        return self._lines[order.id]

    def buyer(self, info: GraphQLResolveInfo, order: OrderSummary) -> User | None:
        """Return another person who placed an order of a list, if the caller can see them."""
        if order.user_id is None:
            return None
        if not self._accounts.is_listed(info, order.user_id):
            orders = self._listed.beside(info, order.id)
            keys = {key for one in orders if (key := self._buyer_ids[one]) is not None}
            keys -= {self._actor.user_id}
            if order.user_id not in self._buyers:
                missing = batch_of(order.user_id, keys, self._buyers)
                found = buyers_of_orders(self._ports, self._actor, missing)
                self._buyers |= {key: found.get(key) for key in missing}
            buyers = [buyer for key in keys if (buyer := self._buyers.get(key)) is not None]
            self._accounts.add_users(info, buyers)
            self._groups.add_users(buyers)
        return self._buyers.get(order.user_id)

    def _beside(self, info: GraphQLResolveInfo, user_id: int) -> AbstractSet[int]:
        """Return the people listed with a person, as far as the caller sees as much of them.

        Everyone sees their own orders and carts. Callers who see one other person's see all.
        """
        own = self._actor.user_id
        if user_id == own:
            return frozenset()
        return self._accounts.beside(info, user_id) - {own}
