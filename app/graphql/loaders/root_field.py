"""The loaders of one root field, among them those of channels, carts, orders and deliveries."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from graphql import GraphQLResolveInfo

from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.commerce.channels import Channel
from app.domain.commerce.sales import Checkout, OrderLine, OrderSummary
from app.domain.deliveries.deliveries import Attempt, EventDelivery
from app.domain.values.metadata import Metadata
from app.domain.values.pages import Page, PageRequest
from app.graphql.loaders.accounts import (
    AccountLoader,
    GroupLoader,
    ListedKeys,
    PageLoader,
    Place,
    place,
)
from app.ports import Ports
from app.services.apps.installation_requests import show_manifest_logo
from app.services.commerce.channels import (
    all_channels,
    channels_with_orders,
    private_metadata_of_channels,
    public_metadata_of_channels,
)
from app.services.commerce.checkouts import checkouts_of_users
from app.services.commerce.orders import (
    OrderFilter,
    buyers_of_orders,
    lines_of_orders,
    orders_of_users,
)
from app.services.deliveries.lists import (
    DeliveryFilter,
    attempts_of_deliveries,
    deliveries_of_webhooks,
)
from app.services.lists.filters import Where


class ChannelLoader:
    """The channels under one root field, read when the first one is needed."""

    def __init__(self, ports: Ports, actor: Actor) -> None:
        self._ports = ports
        self._actor = actor
        self._public: dict[int, Metadata] = {}
        self._private: dict[int, Metadata] = {}

    @cached_property
    def all(self) -> tuple[Channel, ...]:
        """Return every channel by slug."""
        return all_channels(self._ports)

    @cached_property
    def with_orders(self) -> frozenset[int]:
        """Return the keys of those with orders; raises as ``channels_with_orders`` does."""
        return channels_with_orders(self._ports, self._actor)

    def of_keys(self, keys: Collection[int] | None) -> tuple[Channel, ...]:
        """Return the channels with these keys by slug, all of them for ``None``."""
        return tuple(one for one in self.all if keys is None or one.id in keys)

    def of(self, key: int) -> Channel:
        """Return the channel of a cart or an order; if it was deleted meanwhile, another one."""
        return next((one for one in self.all if one.id == key), self.all[0])

    def named(self, slug: str) -> Channel | None:
        """Return the channel of a slug; the only active one without a slug."""
        if slug:
            return next((one for one in self.all if one.slug == slug), None)
        active = [one for one in self.all if one.is_active]
        return active[0] if len(active) == 1 else None

    def public_metadata(self, channel: Channel) -> Metadata:
        """Return it; empty for a deleted channel."""
        return self._metadata(channel, self._public, public_metadata_of_channels)

    def private_metadata(self, channel: Channel) -> Metadata:
        """Return it; raises ``PermissionDenied`` as ``private_metadata_of_channels`` does."""
        return self._metadata(channel, self._private, private_metadata_of_channels)

    def _metadata(
        self,
        channel: Channel,
        loaded: dict[int, Metadata],
        read: Callable[[Ports, Actor, Collection[int]], Mapping[int, Metadata]],
    ) -> Metadata:
        if channel.id not in loaded:
            keys = {channel.id, *(one.id for one in self.all)}
            found = read(self._ports, self._actor, sorted(keys))
            loaded |= {key: found.get(key, {}) for key in keys}
        return loaded[channel.id]


class DeliveryLoader:
    """The webhooks under one root field; a list adds all of its webhooks first."""

    def __init__(self, ports: Ports, actor: Actor) -> None:
        self._ports = ports
        self._actor = actor
        self._webhooks = ListedKeys()
        self._listed = ListedKeys()
        self._deliveries: PageLoader[EventDelivery] = PageLoader()
        self._attempts: PageLoader[Attempt] = PageLoader()

    def add_webhooks(self, info: GraphQLResolveInfo, keys: Iterable[int]) -> None:
        """Note the webhooks of the lists at the field of ``info``."""
        self._webhooks.add(info, keys)

    def deliveries(
        self,
        info: GraphQLResolveInfo,
        webhook: int,
        request: PageRequest,
        filter_: DeliveryFilter,
        *,
        oldest_first: bool = False,
    ) -> Page[EventDelivery]:
        """Return a page; raises ``PermissionDenied`` as ``deliveries_of_webhooks`` does."""

        def read(webhooks: Collection[int]) -> Mapping[int, Page[EventDelivery]]:
            found = deliveries_of_webhooks(
                self._ports, self._actor, webhooks, request, filter_, oldest_first=oldest_first
            )
            self._listed.add(info, (one.id for page in found.values() for one in page.items))
            return found

        webhooks = partial(self._webhooks.following, info, webhook)
        return self._deliveries.page(
            info, (request, (filter_, oldest_first)), webhook, webhooks, read
        )

    def attempts(
        self,
        info: GraphQLResolveInfo,
        delivery: int,
        request: PageRequest,
        *,
        oldest_first: bool = False,
    ) -> Page[Attempt]:
        """Return a page; raises ``PermissionDenied`` as ``attempts_of_deliveries`` does."""

        def read(deliveries: Collection[int]) -> Mapping[int, Page[Attempt]]:
            return attempts_of_deliveries(
                self._ports, self._actor, deliveries, request, oldest_first=oldest_first
            )

        deliveries = partial(self._listed.following, info, delivery)
        return self._attempts.page(info, (request, oldest_first), delivery, deliveries, read)


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
        where: Where[OrderFilter] | None = None,
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


class LogoLoader:
    """The logos that manifests name, each fetched once however often it is asked for."""

    def __init__(self, ports: Ports, actor: Actor) -> None:
        self._ports = ports
        self._actor = actor
        self._found: dict[str, Mapping[int, bytes]] = {}

    def of(self, url: str) -> Mapping[int, bytes]:
        """Return the logo at ``url`` by size; empty for none."""
        if url not in self._found:
            self._found[url] = show_manifest_logo(self._ports, self._actor, url)
        return self._found[url]


@dataclass(frozen=True, slots=True)
class Loaders:
    """What loads the objects of the lists under a root field."""

    accounts: AccountLoader
    channels: ChannelLoader
    groups: GroupLoader
    orders: OrderLoader
    deliveries: DeliveryLoader
    logos: LogoLoader


def make_loaders(
    ports: Ports, actor: Actor, proven: Collection[int], owners: Collection[int]
) -> Loaders:
    """Return loaders that have read nothing; ``AccountLoader`` explains the arguments."""
    accounts = AccountLoader(ports, actor, proven, owners)
    groups = GroupLoader(ports, actor, accounts)
    orders = OrderLoader(ports, actor, accounts)
    channels = ChannelLoader(ports, actor)
    deliveries, logos = DeliveryLoader(ports, actor), LogoLoader(ports, actor)
    return Loaders(accounts, channels, groups, orders, deliveries, logos)
