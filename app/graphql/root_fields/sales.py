"""Carts and orders: find them, fill carts and order what is in them, mark orders as paid."""

from collections.abc import Mapping, Sequence
from typing import Any

import graphene

from app.domain.commerce.channels import Channel
from app.domain.commerce.sales import Checkout, Order, OrderSummary
from app.domain.values.pages import Page
from app.graphql import connections
from app.graphql.context import Info
from app.graphql.root_fields.payloads import MutationPayload, errors_of, mutation, query
from app.graphql.types.lists import DateRangeInput, DateTimeRangeInput, Direction
from app.services.commerce import checkouts, orders
from app.services.commerce.channels import list_channels, show_channel

_ID = graphene.NonNull(graphene.ID)


class CheckoutLineInput(graphene.InputObjectType):
    """A product and the quantity to add."""

    product_id = _ID
    quantity = graphene.NonNull(graphene.Int)


class CheckoutLineUpdateInput(CheckoutLineInput):
    """The new quantity of a product; 0 removes it."""


class CheckoutCreateInput(graphene.InputObjectType):
    """A new checkout."""

    lines = graphene.List(graphene.NonNull(CheckoutLineInput))
    email = graphene.String(description="Default: the email of the signed-in user.")
    channel = graphene.String(
        description="The slug of the channel; by default the only active one."
    )


class _CheckoutErrors(MutationPayload, abstract=True):
    errors = errors_of("problems.CheckoutError")


class _CheckoutPayload(_CheckoutErrors, abstract=True):
    checkout = graphene.Field("app.graphql.types.orders.Checkout")


class CheckoutCreate(_CheckoutPayload):
    """The new checkout."""


class CheckoutLinesAdd(_CheckoutPayload):
    """The updated checkout."""


class CheckoutLinesUpdate(_CheckoutPayload):
    """The updated checkout."""


class CheckoutLinesDelete(_CheckoutPayload):
    """The updated checkout."""


class CheckoutEmailUpdate(_CheckoutPayload):
    """The updated checkout."""


class CheckoutCustomerAttach(_CheckoutPayload):
    """The checkout, which now belongs to the caller."""


class CheckoutComplete(_CheckoutErrors):
    """The order placed. Repeated calls return the same order."""

    order = graphene.Field("app.graphql.types.orders.Order")


def _lines(inputs: object) -> graphene.NonNull:
    return graphene.NonNull(graphene.List(graphene.NonNull(inputs)))


class CheckoutMutations(graphene.ObjectType):
    """Carts."""

    @mutation(
        "Creates a checkout. Anyone can call it. A signed-in user's checkout belongs to "
        "them; anyone with the ID of an anonymous checkout can access it.",
        input=graphene.NonNull(CheckoutCreateInput),
    )
    def checkout_create(_root: object, info: Info, input: dict[str, Any]) -> CheckoutCreate:
        new_lines = _line_quantities(input.get("lines") or ())
        checkout = checkouts.create_checkout(
            *info.context.caller, new_lines, input.get("email"), input.get("channel") or ""
        )
        return CheckoutCreate(checkout=checkout)

    @mutation(
        "Adds products to the caller's or an anonymous checkout. Checkouts of others "
        "require MANAGE_CHECKOUTS or HANDLE_CHECKOUTS.",
        id=_ID,
        lines=_lines(CheckoutLineInput),
    )
    def checkout_lines_add(
        _root: object, info: Info, id: str, lines: Sequence[Mapping[str, Any]]
    ) -> CheckoutLinesAdd:
        checkout = checkouts.add_checkout_lines(*info.context.caller, id, _line_quantities(lines))
        return CheckoutLinesAdd(checkout=checkout)

    @mutation(
        "Sets the quantities of products in the caller's or an anonymous checkout; 0 "
        "removes a product. Checkouts of others require MANAGE_CHECKOUTS or "
        "HANDLE_CHECKOUTS.",
        id=_ID,
        lines=_lines(CheckoutLineUpdateInput),
    )
    def checkout_lines_update(
        _root: object, info: Info, id: str, lines: Sequence[Mapping[str, Any]]
    ) -> CheckoutLinesUpdate:
        checkout = checkouts.update_checkout_lines(
            *info.context.caller, id, _line_quantities(lines)
        )
        return CheckoutLinesUpdate(checkout=checkout)

    @mutation(
        "Removes lines from the caller's or an anonymous checkout. Checkouts of others "
        "require MANAGE_CHECKOUTS or HANDLE_CHECKOUTS.",
        id=_ID,
        lines_ids=_lines(graphene.ID),
    )
    def checkout_lines_delete(
        _root: object, info: Info, id: str, lines_ids: Sequence[str]
    ) -> CheckoutLinesDelete:
        checkout = checkouts.delete_checkout_lines(*info.context.caller, id, lines_ids)
        return CheckoutLinesDelete(checkout=checkout)

    @mutation(
        "Sets the email of the caller's or an anonymous checkout. Checkouts of others "
        "require MANAGE_CHECKOUTS or HANDLE_CHECKOUTS.",
        id=_ID,
        email=graphene.NonNull(graphene.String),
    )
    def checkout_email_update(
        _root: object, info: Info, id: str, email: str
    ) -> CheckoutEmailUpdate:
        checkout = checkouts.update_checkout_email(*info.context.caller, id, email)
        return CheckoutEmailUpdate(checkout=checkout)

    @mutation(
        "Attaches an anonymous checkout to the signed-in user, or to a customer, which "
        "requires IMPERSONATE_USER. From then on only that customer can access it.",
        id=_ID,
        customer_id=graphene.ID(
            description="The customer, if it isn't the caller: required for apps. Requires "
            "IMPERSONATE_USER."
        ),
    )
    def checkout_customer_attach(
        _root: object, info: Info, id: str, customer_id: str | None = None
    ) -> CheckoutCustomerAttach:
        checkout = checkouts.attach_checkout(*info.context.caller, id, customer_id)
        return CheckoutCustomerAttach(checkout=checkout)

    @mutation(
        "Places the order of the caller's or an anonymous checkout at the prices shown. "
        "Repeated calls return the same order. Checkouts of others require "
        "MANAGE_CHECKOUTS or HANDLE_CHECKOUTS.",
        id=_ID,
    )
    def checkout_complete(_root: object, info: Info, id: str) -> CheckoutComplete:
        return CheckoutComplete(order=orders.complete_checkout(*info.context.caller, id))


def _line_quantities(lines: Sequence[Mapping[str, Any]]) -> tuple[checkouts.LineInput, ...]:
    return tuple(checkouts.LineInput(line["product_id"], line["quantity"]) for line in lines)


class _OrderPayload(MutationPayload, abstract=True):
    order = graphene.Field("app.graphql.types.orders.Order")
    errors = errors_of("problems.OrderError")


class OrderConfirm(_OrderPayload):
    """The confirmed order: `UNCONFIRMED` becomes `UNFULFILLED`."""


class OrderMarkAsPaid(_OrderPayload):
    """The order, marked as paid."""


class OrderCancel(_OrderPayload):
    """The canceled order. Fulfilled orders can't be canceled."""


class OrderFulfill(_OrderPayload):
    """The fulfilled order: `UNFULFILLED` becomes `FULFILLED`."""


class OrderMutations(graphene.ObjectType):
    """The steps of an order; they need MANAGE_ORDERS."""

    @mutation("Confirms a new order. Requires MANAGE_ORDERS.", id=_ID)
    def order_confirm(_root: object, info: Info, id: str) -> OrderConfirm:
        return OrderConfirm(order=orders.confirm_order(*info.context.caller, id))

    @mutation(
        "Marks an order as paid outside the shop. No payment is made. Requires MANAGE_ORDERS.",
        id=_ID,
    )
    def order_mark_as_paid(_root: object, info: Info, id: str) -> OrderMarkAsPaid:
        return OrderMarkAsPaid(order=orders.mark_order_paid(*info.context.caller, id))

    @mutation("Cancels an order that hasn't been fulfilled. Requires MANAGE_ORDERS.", id=_ID)
    def order_cancel(_root: object, info: Info, id: str) -> OrderCancel:
        return OrderCancel(order=orders.cancel_order(*info.context.caller, id))

    @mutation("Marks a confirmed order as fulfilled. Requires MANAGE_ORDERS.", order=_ID)
    def order_fulfill(_root: object, info: Info, order: str) -> OrderFulfill:
        return OrderFulfill(order=orders.fulfill_order(*info.context.caller, order))


class OrderFilterInput(graphene.InputObjectType):
    """Filters for orders."""

    search = graphene.String(description="An order number, or the beginning of an email.")
    customer = graphene.String(description="The beginning of an email.")
    ids = graphene.List(graphene.NonNull(graphene.ID))
    status = graphene.List(graphene.NonNull("app.graphql.types.orders.OrderStatusFilter"))
    payment_status = graphene.List(
        graphene.NonNull("app.graphql.types.orders.PaymentChargeStatusEnum")
    )
    created = DateRangeInput()
    updated_at = DateTimeRangeInput()


OrderSortingInput = connections.sorting_input(
    "OrderSortingInput", "orders", "app.graphql.types.orders.OrderSortField"
)


class SaleQueries(graphene.ObjectType):
    """Channels, carts and orders."""

    @query(
        graphene.List(graphene.NonNull("app.graphql.types.shop.Channel")),
        description="All channels, by slug. For staff and apps.",
    )
    def channels(_root: object, info: Info) -> tuple[Channel, ...]:
        return list_channels(*info.context.caller)

    @query(
        "app.graphql.types.shop.Channel",
        id=graphene.ID(),
        slug=graphene.String(),
        description="A channel by ID or slug. Inactive ones are for staff and apps.",
    )
    def channel(
        _root: object, info: Info, id: str | None = None, slug: str | None = None
    ) -> Channel | None:
        return show_channel(*info.context.caller, channel_id=id, slug=slug)

    @query(
        "app.graphql.types.orders.Checkout",
        description="The caller's or an anonymous checkout by ID; null once the order is placed. "
        "Checkouts of others require MANAGE_CHECKOUTS or HANDLE_CHECKOUTS.",
        id=_ID,
    )
    def checkout(_root: object, info: Info, id: str) -> Checkout | None:
        return checkouts.show_checkout(*info.context.caller, id)

    @query(
        "app.graphql.types.orders.Order",
        id=_ID,
        description="An order of the caller, or any order with MANAGE_ORDERS.",
    )
    def order(_root: object, info: Info, id: str) -> Order | None:
        return orders.show_order(*info.context.caller, id)

    @query(
        "app.graphql.types.orders.OrderCountableConnection",
        filter=OrderFilterInput(),
        sort_by=OrderSortingInput(),
        where=graphene.Argument(
            "app.graphql.types.orders.OrderWhereInput",
            description="Return only orders that match.",
        ),
        search=graphene.String(description="Same as `search` in the filter."),
        channel=graphene.String(description="The slug of a channel that the caller can access."),
        **connections.connection_arguments(),
        description="The orders of all channels that the caller has access to, newest first. "
        "Requires MANAGE_ORDERS.",
    )
    def orders(_root: object, info: Info, **arguments: Any) -> Page[OrderSummary]:
        sort, where = arguments.get("sort_by") or {}, arguments.get("where")
        filter_ = arguments.get("filter") or {}
        search = arguments.get("search") or filter_.get("search")
        page = orders.list_orders(
            *info.context.caller,
            connections.page_request("orders", arguments),
            _order_filter({**filter_, "search": search}, arguments.get("channel")),
            sort.get("field"),
            where=None if where is None else connections.order_where(where),
            descending=sort.get("direction") is Direction.DESC,
        )
        info.context.loaders(info).orders.add_orders(info, page.items)
        return page

    @query(
        "app.graphql.types.orders.CheckoutCountableConnection",
        channel=graphene.String(description="The slug of a channel."),
        **connections.connection_arguments(),
        description="The open checkouts of all channels that the caller has access to, newest "
        "first. Requires MANAGE_CHECKOUTS or HANDLE_CHECKOUTS.",
    )
    def checkouts(_root: object, info: Info, **arguments: Any) -> Page[Checkout]:
        request = connections.page_request("checkouts", arguments)
        channel = arguments.get("channel") or ""
        return checkouts.list_checkouts(*info.context.caller, request, channel)


def _order_filter(filter_: dict[str, Any], channel: str | None) -> orders.OrderFilter:
    return orders.OrderFilter(
        search=filter_.get("search") or "",
        customer=filter_.get("customer") or "",
        ids=connections.values_in(filter_.get("ids")),
        statuses=connections.values_in(filter_.get("status")),
        payments=connections.values_in(filter_.get("payment_status")),
        created_at=connections.days_in(filter_.get("created")),
        updated_at=connections.times_in(filter_.get("updated_at")),
        channel=channel or "",
    )
