"""Loads the members of groups, for all groups of a list at once."""

from collections.abc import Iterable

from graphql import GraphQLResolveInfo

from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import PermissionGroup
from app.graphql.loaders.accounts import AccountLoader
from app.graphql.loaders.lists import ListedKeys, Place, place
from app.ports import Ports
from app.services.people.groups import all_groups, list_members


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
