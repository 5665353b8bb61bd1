"""What is read for whole lists of a response, not once for each item.

Each root field has its own loaders: a mutation must see the changes of the one before it.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from itertools import islice
from typing import Any, Generic, TypeVar

from graphql import GraphQLResolveInfo

from app.domain.accounts.addresses import Address
from app.domain.accounts.users import User, sees_account
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import PermissionGroup
from app.domain.commerce.channels import Channel
from app.domain.commerce.sales import Checkout, OrderLine, OrderSummary
from app.domain.deliveries.deliveries import Attempt, EventDelivery
from app.domain.values.errors import PermissionDenied
from app.domain.values.metadata import Metadata
from app.domain.values.pages import Page, PageRequest
from app.ports import Ports
from app.services.accounts.addresses import addresses_of_users
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
from app.services.metadata import (
    private_metadata_of_addresses,
    private_metadata_of_users,
    public_metadata_of_addresses,
    public_metadata_of_users,
)
from app.services.people.directory import external_references_of_users, notes_of_users
from app.services.people.groups import all_groups, list_members
from app.services.second_factors.stored_factors import ListedFactor, second_factors_of_users

MAX_AT_ONCE = 1000
"""Keys that a statement looks for, and rows that it may find.

A group has any number of members and an app of webhooks. Databases limit a statement's parameters,
and what is read stays in memory.
"""
_EDGES = 2
"""Fields between a list and the items of its pages: `edges` and `node`."""

Place = tuple[str, ...]


class ListedKeys:
    """The keys of the objects of one kind, in order, by the place of their list in the document.

    A query selects the same fields of all items at the same place, so what one of them needs is
    read for those after it, too.
    """

    def __init__(self) -> None:
        self._keys: dict[Place, list[int]] = {}
        self._positions: dict[Place, dict[int, int]] = {}

    def add(self, info: GraphQLResolveInfo, keys: Iterable[int]) -> None:
        """Note objects of the list, or the lists, at the field of ``info``."""
        at = place(info)
        listed, positions = self._keys.setdefault(at, []), self._positions.setdefault(at, {})
        for key in keys:
            if key not in positions:
                positions[key] = len(listed)
                listed.append(key)

    def has(self, info: GraphQLResolveInfo, key: int) -> bool:
        """Whether the object of that key is noted at the field of ``info``."""
        return key in self._positions.get(place(info), ())

    def following(
        self, info: GraphQLResolveInfo, key: int, size: int = MAX_AT_ONCE
    ) -> Sequence[int]:
        """Return the key of the object whose field ``info`` is about, and those after it.

        At most ``size`` keys; the first alone if no list with it is noted.
        """
        path = place(info)[:-1]
        for length in range(len(path), max(0, len(path) - _EDGES - 1), -1):
            position = self._positions.get(path[:length], {}).get(key)
            if position is not None:
                return self._keys[path[:length]][position : position + size]
        return (key,)


def place(info: GraphQLResolveInfo) -> Place:
    """Return the path of a field without the positions in lists."""
    return tuple(key for key in info.path.as_list() if isinstance(key, str))


Loaded = TypeVar("Loaded")


class AccountLoader:
    """The users under one root field; a list adds all of its users first.

    ``proven`` are keys of users whose password, token or link the request has proven, ``owners``
    those of them whose token isn't an extension's.
    """

    def __init__(
        self, ports: Ports, actor: Actor, proven: Collection[int], owners: Collection[int]
    ) -> None:
        self._ports = ports
        self._actor = actor
        self._proven = proven
        self._owners = owners
        self._users: dict[int, User] = {}
        self._listed = ListedKeys()
        self._loaded: dict[Callable[..., object], dict[int, Any]] = defaultdict(dict)

    def add_users(self, info: GraphQLResolveInfo, users: Iterable[User]) -> None:
        """Note users of the lists at the field of ``info``, which the caller can see."""
        by_key = {user.id: user for user in users}
        self._users |= by_key
        self._listed.add(info, by_key)

    def following(
        self, info: GraphQLResolveInfo, user_id: int, size: int = MAX_AT_ONCE
    ) -> Sequence[int]:
        """Return the key of the user whose field ``info`` is about, and of those listed after."""
        return self._listed.following(info, user_id, size)

    def users_following(self, info: GraphQLResolveInfo, user: User) -> Sequence[User]:
        """Return the user whose field ``info`` is about, and those listed after them."""
        _, *others = self.following(info, user.id)
        return [user, *(self._users[key] for key in others)]

    def public_metadata(self, user: User) -> Metadata:
        """Return it; raises ``PermissionDenied`` as ``public_metadata_of_users`` does."""
        return self._load(user, public_metadata_of_users, self._proven) or {}

    def private_metadata(self, user: User) -> Metadata:
        """Return it; raises ``PermissionDenied`` as ``private_metadata_of_users`` does."""
        return self._load(user, private_metadata_of_users) or {}

    def addresses(self, user: User) -> tuple[Address, ...]:
        """Return them; raises ``PermissionDenied`` as ``addresses_of_users`` does."""
        return self._load(user, addresses_of_users, self._proven) or ()

    def address_metadata(self, address: Address) -> Metadata:
        """Return the public metadata; raises as ``public_metadata_of_addresses`` does."""
        return self._load_address(address, public_metadata_of_addresses, self._proven)

    def private_address_metadata(self, address: Address) -> Metadata:
        """Return the private metadata; raises as ``private_metadata_of_addresses`` does."""
        return self._load_address(address, private_metadata_of_addresses)

    def keep_address(self, address: Address) -> None:
        """Load what the caller sees of an address that is deleted next."""
        for read in (self.address_metadata, self.private_address_metadata):
            with suppress(PermissionDenied):
                read(address)

    def note(self, user: User) -> str | None:
        """Return it; raises ``PermissionDenied`` as ``notes_of_users`` does."""
        return self._load(user, notes_of_users) or None

    def external_reference(self, user: User) -> str | None:
        """Return it; raises ``PermissionDenied`` as ``external_references_of_users`` does."""
        return self._load(user, external_references_of_users, self._proven) or None

    def keep(self, user: User) -> None:
        """Load what the caller sees of ``user``, who is deleted next."""
        for read in (
            self.public_metadata,
            self.private_metadata,
            self.note,
            self.external_reference,
        ):
            with suppress(PermissionDenied):
                read(user)

    def keep_registered(self, user: User, metadata: Metadata) -> None:
        """Note what a user has who is shown without being read."""
        self._loaded[public_metadata_of_users][user.id] = dict(sorted(metadata.items()))
        self._loaded[external_references_of_users][user.id] = ""

    def keep_reference(self, user: User, external_reference: str) -> None:
        """Note the external reference of a deleted user, if the caller saw it."""
        if sees_account(self._actor, user.id, is_staff=user.is_staff, proven=self._proven):
            self._loaded[external_references_of_users][user.id] = external_reference

    def second_factors(self, user: User) -> tuple[ListedFactor, ...]:
        """Return them; raises ``PermissionDenied`` as ``second_factors_of_users`` does."""
        return self._load(user, second_factors_of_users, self._owners) or ()

    def _load_address(
        self,
        address: Address,
        read: Callable[..., Mapping[int, Metadata]],
        *proven: Collection[int],
    ) -> Metadata:
        loaded: dict[int, Metadata] = self._loaded[read]
        if address.id not in loaded:
            keys = dict.fromkeys((address.id, *self._addresses_like(address)))
            missing = [key for key in keys if key not in loaded][:MAX_AT_ONCE]
            found = read(self._ports, self._actor, missing, *proven)
            loaded |= {key: found.get(key, {}) for key in missing}
        return loaded[address.id]

    def _addresses_like(self, address: Address) -> Iterator[int]:
        """Yield the loaded addresses that callers see who see ``address``."""
        owner = self._users.get(address.user_id)
        for user_id, addresses in self._loaded[addresses_of_users].items():
            other = self._users.get(user_id)
            is_like = (
                owner is not None
                and other is not None
                and owner.is_staff == other.is_staff
                and self._actor.user_id not in (owner.id, other.id)
            )
            if is_like or user_id == address.user_id:
                yield from (one.id for one in addresses)

    def _load(
        self, user: User, read: Callable[..., Mapping[int, Loaded]], *proven: Collection[int]
    ) -> Loaded | None:
        loaded: dict[int, Loaded] = self._loaded[read]
        if user.id not in loaded:
            # Callers who see one of the customers, or of the staff, see them all.
            others = self._users.values() if user.id in self._users else ()
            missing = (
                one
                for one in others
                if one.is_staff == user.is_staff and one.id != user.id and one.id not in loaded
            )
            users = [user, *islice(missing, MAX_AT_ONCE - 1)]
            loaded |= read(self._ports, self._actor, users, *proven)
        return loaded.get(user.id)


class GroupLoader:
    """The groups under one root field; a list adds all of its groups first."""

    def __init__(self, ports: Ports, actor: Actor, accounts: AccountLoader) -> None:
        self._ports = ports
        self._actor = actor
        self._accounts = accounts
        self._listed = ListedKeys()
        self._members: dict[Place, dict[int, tuple[User, ...]]] = {}
        self._every_group: tuple[PermissionGroup, ...] | None = None

    def add_groups(self, info: GraphQLResolveInfo, groups: Iterable[int]) -> None:
        """Note the groups of the lists at the field of ``info``."""
        self._listed.add(info, groups)

    def add_groups_of(self, info: GraphQLResolveInfo, user: User) -> None:
        """Note the groups of a user, and of the users listed after them, at the same field."""
        if not all(self._listed.has(info, group.id) for group in user.groups):
            users = self._accounts.users_following(info, user)
            self.add_groups(info, (group.id for one in users for group in one.groups))

    def members(self, info: GraphQLResolveInfo, group: int) -> tuple[User, ...]:
        """Return the members; raises ``PermissionDenied`` as ``list_members`` does."""
        loaded = self._members.setdefault(place(info), {})
        if group not in loaded:
            missing = [key for key in self._listed.following(info, group) if key not in loaded]
            found = list_members(self._ports, self._actor, missing)
            loaded |= found
            self._accounts.add_users(info, (one for users in found.values() for one in users))
        return loaded[group]

    def editable_by(self, user: User) -> tuple[PermissionGroup, ...]:
        """Return the groups whose permissions ``user`` has."""
        if self._every_group is None:
            self._every_group = all_groups(self._ports)
        return tuple(group for group in self._every_group if group.permissions <= user.permissions)


Item = TypeVar("Item")


class PageLoader(Generic[Item]):
    """The pages of one field, by its place in the document, its arguments and its parent's key.

    Only the pages that were read last are kept: the items of a response mostly come in order. A
    parent that comes again later, as the buyer of several orders, is read by itself.
    """

    def __init__(self) -> None:
        self._loaded: dict[Hashable, Mapping[int, Page[Item]]] = {}
        self._read: dict[Hashable, set[int]] = {}

    def page(
        self,
        info: GraphQLResolveInfo,
        arguments: tuple[PageRequest, Hashable],
        parent: int,
        parents: Callable[[int], Sequence[int]],
        read: Callable[[Collection[int]], Mapping[int, Page[Item]]],
    ) -> Page[Item]:
        """Return the page of ``parent``, read with those of parents after it.

        ``parents`` returns the keys of so many of them, ``parent`` first; ``arguments`` are those
        of the page and of its filter.
        """
        name = (place(info), arguments)
        loaded = self._loaded.get(name, {})
        if parent in loaded:
            return loaded[parent]
        known = self._read.setdefault(name, set())
        if parent in known:
            return read([parent])[parent]
        request, _ = arguments
        following = parents(max(1, MAX_AT_ONCE // (request.size + 1)))
        new = [key for key in following if key not in known]
        known.update(new)
        self._loaded[name] = read(new)
        return self._loaded[name][parent]


class ChannelLoader:
    """The channels under one root field, read when the first one is needed."""

    def __init__(self, ports: Ports, actor: Actor) -> None:
        self._ports = ports
        self._actor = actor
        self._loaded: dict[Callable[..., object], dict[int, Any]] = defaultdict(dict)

    @cached_property
    def _channels(self) -> tuple[Channel, ...]:
        """Return every channel by slug."""
        return all_channels(self._ports)

    @cached_property
    def with_orders(self) -> frozenset[int]:
        """Return the keys of those with orders; raises as ``channels_with_orders`` does."""
        return channels_with_orders(self._ports, self._actor)

    def of_keys(self, keys: Collection[int] | None) -> tuple[Channel, ...]:
        """Return the channels with these keys by slug, all of them for ``None``."""
        return tuple(one for one in self._channels if keys is None or one.id in keys)

    def by_key(self, key: int) -> Channel:
        """Return the channel of a cart or an order; if it was deleted meanwhile, another one."""
        return next((one for one in self._channels if one.id == key), self._channels[0])

    def named(self, slug: str) -> Channel | None:
        """Return the channel of a slug; the only active one without a slug."""
        if slug:
            return next((one for one in self._channels if one.slug == slug), None)
        active = [one for one in self._channels if one.is_active]
        return active[0] if len(active) == 1 else None

    def public_metadata(self, channel: Channel) -> Metadata:
        """Return it; empty for a deleted channel."""
        return self._metadata(channel, public_metadata_of_channels)

    def private_metadata(self, channel: Channel) -> Metadata:
        """Return it; raises ``PermissionDenied`` as ``private_metadata_of_channels`` does."""
        return self._metadata(channel, private_metadata_of_channels)

    def _metadata(
        self,
        channel: Channel,
        read: Callable[[Ports, Actor, Collection[int]], Mapping[int, Metadata]],
    ) -> Metadata:
        loaded: dict[int, Metadata] = self._loaded[read]
        if channel.id not in loaded:
            keys = {channel.id, *(one.id for one in self._channels)}
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

    def by_url(self, url: str) -> Mapping[int, bytes]:
        """Return the logo at ``url`` by size; empty for none."""
        if url not in self._found:
            self._found[url] = show_manifest_logo(self._ports, self._actor, url)
        return self._found[url]


class Loaders:
    """What loads the objects of the lists under a root field; nothing is read yet.

    ``AccountLoader`` explains the arguments.
    """

    def __init__(
        self, ports: Ports, actor: Actor, proven: Collection[int], owners: Collection[int]
    ) -> None:
        self.accounts = AccountLoader(ports, actor, proven, owners)
        self.groups = GroupLoader(ports, actor, self.accounts)
        self.orders = OrderLoader(ports, actor, self.accounts)
        self.channels = ChannelLoader(ports, actor)
        self.deliveries = DeliveryLoader(ports, actor)
        self.logos = LogoLoader(ports, actor)
