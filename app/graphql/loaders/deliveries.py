"""Loads deliveries of webhooks and attempts at them, for all webhooks of a list at once."""

from collections.abc import Collection, Iterable, Mapping
from functools import partial

from graphql import GraphQLResolveInfo

from app.domain.authorization.actor import Actor
from app.domain.deliveries.deliveries import Attempt, EventDelivery
from app.domain.values.pages import Page, PageRequest
from app.graphql.loaders.lists import ListedKeys
from app.graphql.loaders.pages import PageLoader
from app.ports import Ports
from app.services.deliveries.lists import (
    DeliveryFilter,
    attempts_of_deliveries,
    deliveries_of_webhooks,
)


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
