"""Loads what belongs to users, for all users of a response at once."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import TypeVar

from graphql import GraphQLResolveInfo

from app.domain.accounts.addresses import Address
from app.domain.accounts.users import User, sees_account
from app.domain.authorization.actor import Actor
from app.domain.values.errors import PermissionDenied
from app.domain.values.metadata import Metadata
from app.graphql.loaders.lists import MAX_AT_ONCE, ListedKeys
from app.ports import Ports
from app.services.accounts.addresses import addresses_of_users
from app.services.metadata import (
    private_metadata_of_addresses,
    private_metadata_of_users,
    public_metadata_of_addresses,
    public_metadata_of_users,
)
from app.services.people.directory import external_references_of_users, notes_of_users
from app.services.second_factors.stored_factors import ListedFactor, second_factors_of_users

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
