"""Loads orders and carts of people, lines and buyers of orders, for all of a list at once."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial

from graphql import GraphQLResolveInfo

from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.commerce.sales import Checkout, OrderLine, OrderSummary
from app.domain.values.pages import Page, PageRequest
from app.graphql.loaders.accounts import AccountLoader
from app.graphql.loaders.lists import ListedKeys, Place, place
from app.graphql.loaders.pages import PageLoader
from app.ports import Ports
from app.services.commerce.checkouts import checkouts_of_users
from app.services.commerce.orders import (
    OrderWhere,
    buyers_of_orders,
    lines_of_orders,
    orders_of_users,
)


class OrderLoader:
    """The orders of the lists under one root field; a list adds all of its orders first."""

    def __init__(self, ports: Ports, actor: Actor, accounts: AccountLoader) -> None:
        self._ports = ports
        self._actor = actor
        self._accounts = accounts
        self._listed = ListedKeys()
        self._buyer_ids: dict[int, int | None] = {}
        self._lines: dict[int, tuple[OrderLine, ...]] = {}
        self._buyers: dict[Place, dict[int, User | None]] = {}
        self._orders: PageLoader[OrderSummary] = PageLoader()
        self._checkouts: PageLoader[Checkout] = PageLoader()

    def add_orders(self, info: GraphQLResolveInfo, orders: Iterable[OrderSummary]) -> None:
        """Note orders of the lists at the field of ``info``, which the caller can see."""
        buyer_ids = {order.id: order.user_id for order in orders}
        self._buyer_ids |= buyer_ids
        self._listed.add(info, buyer_ids)

    def orders(
        self,
        info: GraphQLResolveInfo,
        user_id: int,
        request: PageRequest,
        where: OrderWhere | None = None,
    ) -> Page[OrderSummary]:
        """Return a person's page; raises ``PermissionDenied`` as ``orders_of_users`` does."""

        def read(user_ids: Collection[int]) -> Mapping[int, Page[OrderSummary]]:
            found = orders_of_users(self._ports, self._actor, user_ids, request, where)
            self.add_orders(info, (order for page in found.values() for order in page.items))
            return found

        people = partial(self._following, info, user_id)
        return self._orders.page(info, (request, where), user_id, people, read)

    def checkouts(
        self, info: GraphQLResolveInfo, user_id: int, request: PageRequest
    ) -> Page[Checkout]:
        """Return a person's page; raises ``PermissionDenied`` as ``checkouts_of_users`` does."""

        def read(user_ids: Collection[int]) -> Mapping[int, Page[Checkout]]:
            return checkouts_of_users(self._ports, self._actor, user_ids, request)

        people = partial(self._following, info, user_id)
        return self._checkouts.page(info, (request, None), user_id, people, read)

    def lines(self, info: GraphQLResolveInfo, order: OrderSummary) -> tuple[OrderLine, ...]:
        """Return the lines of an order of a list."""
        if order.id not in self._lines:
            orders = self._listed.following(info, order.id)
            missing = [key for key in orders if key not in self._lines]
            found = lines_of_orders(self._ports, self._actor, missing)
            self._lines |= {key: found.get(key, ()) for key in missing}
        return self._lines[order.id]

    def buyer(self, info: GraphQLResolveInfo, order: OrderSummary) -> User | None:
        """Return another person who placed an order of a list, if the caller can see them."""
        if order.user_id is None:
            return None
        loaded = self._buyers.setdefault(place(info), {})
        if order.user_id not in loaded:
            orders = self._listed.following(info, order.id)
            keys = dict.fromkeys((order.user_id, *map(self._buyer_ids.get, orders)))
            unneeded = {self._actor.user_id, *loaded}
            missing = [key for key in keys if key is not None and key not in unneeded]
            found = buyers_of_orders(self._ports, self._actor, missing)
            loaded |= {key: found.get(key) for key in missing}
            self._accounts.add_users(info, [found[key] for key in missing if key in found])
        return loaded.get(order.user_id)

    def _following(self, info: GraphQLResolveInfo, user_id: int, size: int) -> Sequence[int]:
        """Return a person and those listed after them, as far as the caller sees as much of them.

        Everyone sees their own orders and carts. Callers who see one other person's see all.
        """
        own = self._actor.user_id
        if user_id == own:
            return (user_id,)
        return [key for key in self._accounts.following(info, user_id, size) if key != own]
