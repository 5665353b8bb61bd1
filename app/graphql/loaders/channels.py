"""Loads the channels of the shop, all at once: there are few."""

from collections.abc import Callable, Collection, Mapping
from functools import cached_property

from app.domain.authorization.actor import Actor
from app.domain.commerce.channels import Channel
from app.domain.values.metadata import Metadata
from app.ports import Ports
from app.services.commerce.channels import (
    all_channels,
    channels_with_orders,
    private_metadata_of_channels,
    public_metadata_of_channels,
)


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
