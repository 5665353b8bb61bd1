"""The loaders of one root field."""

from collections.abc import Collection
from dataclasses import dataclass

from app.domain.authorization.actor import Actor
from app.graphql.loaders.accounts import AccountLoader
from app.graphql.loaders.channels import ChannelLoader
from app.graphql.loaders.deliveries import DeliveryLoader
from app.graphql.loaders.groups import GroupLoader
from app.graphql.loaders.orders import OrderLoader
from app.ports import Ports


@dataclass(frozen=True, slots=True)
class Loaders:
    """What loads the objects of the lists under a root field."""

    accounts: AccountLoader
    channels: ChannelLoader
    groups: GroupLoader
    orders: OrderLoader
    deliveries: DeliveryLoader


def make_loaders(
    ports: Ports, actor: Actor, proven: Collection[int], owners: Collection[int]
) -> Loaders:
    """Return loaders that have read nothing; ``AccountLoader`` explains the arguments."""
    accounts = AccountLoader(ports, actor, proven, owners)
    groups = GroupLoader(ports, actor, accounts)
    orders = OrderLoader(ports, actor, accounts)
    channels = ChannelLoader(ports, actor)
    return Loaders(accounts, channels, groups, orders, DeliveryLoader(ports, actor))
