"""Loads deliveries of webhooks and attempts at them, for all webhooks of a list at once."""

from collections.abc import Collection, Iterable, Mapping

from app.domain.authorization.actor import Actor
from app.domain.deliveries.deliveries import Attempt, EventDelivery
from app.domain.values.pages import Page, PageRequest
from app.graphql.page_loader import PageLoader
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
        self._webhook_ids: set[int] = set()
        self._delivery_ids: set[int] = set()
        self._deliveries: PageLoader[EventDelivery] = PageLoader()
        self._attempts: PageLoader[Attempt] = PageLoader()

    def add_webhooks(self, keys: Iterable[int]) -> None:
        """Note webhooks of one list."""
        self._webhook_ids.update(keys)

    def deliveries(
        self, webhook: int, request: PageRequest, filter_: DeliveryFilter
    ) -> Page[EventDelivery]:
        """Return a page; raises ``PermissionDenied`` as ``deliveries_of_webhooks`` does."""

        def read(webhooks: Collection[int]) -> Mapping[int, Page[EventDelivery]]:
            found = deliveries_of_webhooks(self._ports, self._actor, webhooks, request, filter_)
            self._delivery_ids.update(one.id for page in found.values() for one in page.items)
            return found

        return self._deliveries.page((request, filter_), webhook, self._webhook_ids, read)

    def attempts(self, delivery: int, request: PageRequest) -> Page[Attempt]:
        """Return a page; raises ``PermissionDenied`` as ``attempts_of_deliveries`` does."""

        def read(deliveries: Collection[int]) -> Mapping[int, Page[Attempt]]:
            return attempts_of_deliveries(self._ports, self._actor, deliveries, request)

        return self._attempts.page(request, delivery, self._delivery_ids, read)
