"""Loads what belongs to users and groups, and pages of nested lists, for all of a list at once."""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Generic, TypeVar

from graphql import GraphQLResolveInfo

from app.domain.accounts.addresses import Address
from app.domain.accounts.users import User, sees_account
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import PermissionGroup
from app.domain.values.errors import PermissionDenied
from app.domain.values.metadata import Metadata
from app.domain.values.pages import Page, PageRequest
from app.ports import Ports
from app.services.accounts.addresses import addresses_of_users
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
        self._public: dict[int, Metadata] = {}
        self._private: dict[int, Metadata] = {}
        self._addresses: dict[int, tuple[Address, ...]] = {}
        self._address_public: dict[int, Metadata] = {}
        self._address_private: dict[int, Metadata] = {}
        self._notes: dict[int, str] = {}
        self._references: dict[int, str] = {}
        self._factors: dict[int, tuple[ListedFactor, ...]] = {}

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

        def read(users: Collection[User]) -> Mapping[int, Metadata]:
            return public_metadata_of_users(self._ports, self._actor, users, self._proven)

        return self._load(user, self._public, read) or {}

    def private_metadata(self, user: User) -> Metadata:
        """Return it; raises ``PermissionDenied`` as ``private_metadata_of_users`` does."""

        def read(users: Collection[User]) -> Mapping[int, Metadata]:
            return private_metadata_of_users(self._ports, self._actor, users)

        return self._load(user, self._private, read) or {}

    def addresses(self, user: User) -> tuple[Address, ...]:
        """Return them; raises ``PermissionDenied`` as ``addresses_of_users`` does."""

        def read(users: Collection[User]) -> Mapping[int, tuple[Address, ...]]:
            return addresses_of_users(self._ports, self._actor, users, self._proven)

        return self._load(user, self._addresses, read) or ()

    def address_metadata(self, address: Address) -> Metadata:
        """Return the public metadata; raises as ``public_metadata_of_addresses`` does."""

        def read(keys: Collection[int]) -> Mapping[int, Metadata]:
            return public_metadata_of_addresses(self._ports, self._actor, keys, self._proven)

        return self._load_address(address, self._address_public, read)

    def private_address_metadata(self, address: Address) -> Metadata:
        """Return the private metadata; raises as ``private_metadata_of_addresses`` does."""

        def read(keys: Collection[int]) -> Mapping[int, Metadata]:
            return private_metadata_of_addresses(self._ports, self._actor, keys)

        return self._load_address(address, self._address_private, read)

    def keep_address(self, address: Address) -> None:
        """Load what the caller sees of an address that is deleted next."""
        for read in (self.address_metadata, self.private_address_metadata):
            with suppress(PermissionDenied):
                read(address)

    def note(self, user: User) -> str | None:
        """Return it; raises ``PermissionDenied`` as ``notes_of_users`` does."""

        def read(users: Collection[User]) -> Mapping[int, str]:
            return notes_of_users(self._ports, self._actor, users)

        return self._load(user, self._notes, read) or None

    def external_reference(self, user: User) -> str | None:
        """Return it; raises ``PermissionDenied`` as ``external_references_of_users`` does."""

        def read(users: Collection[User]) -> Mapping[int, str]:
            return external_references_of_users(self._ports, self._actor, users, self._proven)

        return self._load(user, self._references, read) or None

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
        self._public[user.id] = dict(sorted(metadata.items()))
        self._references[user.id] = ""

    def keep_reference(self, user: User, external_reference: str) -> None:
        """Note the external reference of a deleted user, if the caller saw it."""
        if sees_account(self._actor, user, self._proven):
            self._references[user.id] = external_reference

    def second_factors(self, user: User) -> tuple[ListedFactor, ...]:
        """Return them; raises ``PermissionDenied`` as ``second_factors_of_users`` does."""

        def read(users: Collection[User]) -> Mapping[int, tuple[ListedFactor, ...]]:
            return second_factors_of_users(self._ports, self._actor, users, self._owners)

        return self._load(user, self._factors, read) or ()

    def _load_address(
        self,
        address: Address,
        loaded: dict[int, Metadata],
        read: Callable[[Collection[int]], Mapping[int, Metadata]],
    ) -> Metadata:
        if address.id not in loaded:
            keys = dict.fromkeys((address.id, *self._addresses_like(address)))
            missing = [key for key in keys if key not in loaded][:MAX_AT_ONCE]
            found = read(missing)
            loaded |= {key: found.get(key, {}) for key in missing}
        return loaded[address.id]

    def _addresses_like(self, address: Address) -> Iterator[int]:
        """Yield the loaded addresses that callers see who see ``address``."""
        owner = self._users.get(address.user_id)
        for user_id, addresses in self._addresses.items():
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
        self,
        user: User,
        loaded: dict[int, Loaded],
        read: Callable[[Collection[User]], Mapping[int, Loaded]],
    ) -> Loaded | None:
        if user.id not in loaded:
            # Callers who see one of the customers, or of the staff, see them all.
            others = self._users.values() if user.id in self._users else ()
            missing = (
                one
                for one in others
                if one.is_staff == user.is_staff and one.id != user.id and one.id not in loaded
            )
            loaded |= read([user, *islice(missing, MAX_AT_ONCE - 1)])
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
