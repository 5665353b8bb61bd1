"""Loads the members of groups in one statement per response."""

from collections.abc import Iterable

from graphql import GraphQLResolveInfo

from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.authorization.groups import PermissionGroup
from app.graphql.loaders.accounts import AccountLoader
from app.ports import Ports
from app.services.people.group_lists import all_groups, list_members


class GroupLoader:
    """The groups under one root field.

    A list adds all of its groups first, so that their members are read together.
    """

    def __init__(self, ports: Ports, actor: Actor, accounts: AccountLoader) -> None:
        self._ports = ports
        self._actor = actor
        self._accounts = accounts
        self._group_ids: set[int] = set()
        self._members: dict[int, tuple[User, ...]] = {}
        self._every_group: tuple[PermissionGroup, ...] | None = None

    def add_groups(self, groups: Iterable[int]) -> None:
        """Note groups whose members may be read."""
        self._group_ids.update(groups)

    def add_users(self, users: Iterable[User]) -> None:
        """Note the groups of users, whose members may be read."""
        self.add_groups(group.id for user in users for group in user.groups)

    def members(self, info: GraphQLResolveInfo, group: int) -> tuple[User, ...]:
        """Return the members; raises ``PermissionDenied`` as ``list_members`` does."""
        if group not in self._members:
            missing = {group, *self._group_ids} - self._members.keys()
            by_group = list_members(self._ports, self._actor, missing)
            self._members |= by_group
            members = [user for users in by_group.values() for user in users]
            self.add_users(members)
            self._accounts.add_users(info, members)
        self._accounts.add_users(info, self._members[group])
        return self._members[group]

    def editable_by(self, user: User) -> tuple[PermissionGroup, ...]:
        """Return the groups whose permissions ``user`` has."""
        if self._every_group is None:
            self._every_group = all_groups(self._ports)
        return tuple(group for group in self._every_group if group.permissions <= user.permissions)
