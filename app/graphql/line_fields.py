"""The fields that checkout lines and order lines share."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import graphene

from app.domain.commerce.sales import OrderStatus
from app.domain.values.pages import Range, moment_range
from app.graphql.connections import chosen_in, ids_in, where_in
from app.graphql.fields import attribute
from app.services.commerce.orders import OrderFilter
from app.services.lists.filters import Where

_MONEY = "app.graphql.types.money.TaxedMoney"


class Line:
    """The fields of a line, for the type that it is."""

    id = graphene.NonNull(graphene.ID)
    product = graphene.Field(
        "app.graphql.types.products.Product", description="Null if the product was deleted."
    )
    product_name = graphene.NonNull(graphene.String)
    quantity = graphene.NonNull(graphene.Int)
    unit_price = graphene.NonNull(_MONEY)
    total_price = graphene.NonNull(_MONEY, resolver=attribute("total"))


def order_where(sent: Mapping[str, Any]) -> Where[OrderFilter]:
    """Return the conditions that an ``OrderWhereInput`` or ``CustomerOrderWhereInput`` means."""
    return where_in(sent, _order_filter)


def _order_filter(sent: Mapping[str, Any]) -> OrderFilter:
    ids = sent.get("ids")
    return OrderFilter(
        ids=None if ids is None else tuple(ids),
        emails=chosen_in(sent.get("user_email")),
        **_numbers(sent.get("number")),
        channel_ids=ids_in(sent.get("channel_id")),
        statuses=_statuses(sent.get("status")),
        created_at=_time_range(sent.get("created_at")),
        updated_at=_time_range(sent.get("updated_at")),
    )


def _numbers(sent: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the conditions of an ``IntFilterInput`` on the order's number."""
    if sent is None:
        return {}
    range_ = sent.get("range")
    if range_ is not None:
        return {"number_range": Range(range_.get("gte"), range_.get("lte"))}
    return {"numbers": chosen_in(sent)}


def _statuses(sent: Mapping[str, Any] | None) -> tuple[OrderStatus, ...] | None:
    chosen = chosen_in(sent)
    if chosen is None:
        return None
    names = {one.value for one in chosen}
    return tuple(status for status in OrderStatus if status.value in names)


def _time_range(sent: Mapping[str, Any] | None) -> Range[datetime] | None:
    return None if sent is None else moment_range(sent.get("gte"), sent.get("lte"))
