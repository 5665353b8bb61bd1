"""Filling carts, and ordering what is in them."""

from collections.abc import Mapping, Sequence
from typing import Any

import graphene
from graphql import GraphQLResolveInfo

from app.graphql.context import RequestContext
from app.graphql.mutations.payloads import MutationPayload, answers, errors_of
from app.services.commerce.cart_lines import LineInput
from app.services.commerce.checkout_completion import complete_checkout
from app.services.commerce.checkouts import (
    add_checkout_lines,
    attach_checkout,
    create_checkout,
    delete_checkout_lines,
    update_checkout_email,
    update_checkout_lines,
)

_ID = graphene.NonNull(graphene.ID)


class CheckoutLineInput(graphene.InputObjectType):
    """So many more of a product."""

    product_id = _ID
    quantity = graphene.NonNull(graphene.Int)


class CheckoutLineUpdateInput(graphene.InputObjectType):
    """How many of a product there are to be; 0 takes it out."""

    product_id = _ID
    quantity = graphene.NonNull(graphene.Int)


class CheckoutCreateInput(graphene.InputObjectType):
    """A new cart."""

    lines = graphene.List(graphene.NonNull(CheckoutLineInput))
    email = graphene.String(description="A person's own stands in where it is left out.")
    channel = graphene.String(description="Accepted and not used.")


class _CheckoutErrors(MutationPayload):
    class Meta:
        abstract = True

    errors = errors_of("sale_problems.CheckoutError")


class _CheckoutPayload(_CheckoutErrors):
    class Meta:
        abstract = True

    checkout = graphene.Field("app.graphql.types.checkouts.Checkout")


class CheckoutCreate(_CheckoutPayload):
    """The new cart."""


class CheckoutLinesAdd(_CheckoutPayload):
    """The cart as it is now."""


class CheckoutLinesUpdate(_CheckoutPayload):
    """The cart as it is now."""


class CheckoutLinesDelete(_CheckoutPayload):
    """The cart as it is now."""


class CheckoutEmailUpdate(_CheckoutPayload):
    """The cart as it is now."""


class CheckoutCustomerAttach(_CheckoutPayload):
    """The cart, which is the caller's own now: its id alone opens it no more."""


class CheckoutComplete(_CheckoutErrors):
    """The order that the cart has become; the same one, however often it is asked for."""

    order = graphene.Field("app.graphql.types.orders.Order")


def _lines(inputs: object) -> graphene.NonNull:
    return graphene.NonNull(graphene.List(graphene.NonNull(inputs)))


class CheckoutMutations(graphene.ObjectType):
    """Carts."""

    checkout_create = graphene.Field(
        CheckoutCreate,
        description=(
            "Begins a cart; anybody may. A signed-in person's is their own; any other is open to "
            "whoever knows its id."
        ),
        input=graphene.NonNull(CheckoutCreateInput),
    )
    checkout_lines_add = graphene.Field(
        CheckoutLinesAdd,
        description=(
            "Puts more products into a cart, one's own or nobody's. Other people's need "
            "MANAGE_CHECKOUTS or HANDLE_CHECKOUTS."
        ),
        id=_ID,
        lines=_lines(CheckoutLineInput),
    )
    checkout_lines_update = graphene.Field(
        CheckoutLinesUpdate,
        description=(
            "Says how many of each product a cart is to hold, one's own or nobody's; 0 takes it "
            "out. Other people's need MANAGE_CHECKOUTS or HANDLE_CHECKOUTS."
        ),
        id=_ID,
        lines=_lines(CheckoutLineUpdateInput),
    )
    checkout_lines_delete = graphene.Field(
        CheckoutLinesDelete,
        description=(
            "Takes lines out of a cart, one's own or nobody's. Other people's need "
            "MANAGE_CHECKOUTS or HANDLE_CHECKOUTS."
        ),
        id=_ID,
        lines_ids=_lines(graphene.ID),
    )
    checkout_email_update = graphene.Field(
        CheckoutEmailUpdate,
        description=(
            "Says where to write to about a cart, one's own or nobody's. Other people's need "
            "MANAGE_CHECKOUTS or HANDLE_CHECKOUTS."
        ),
        id=_ID,
        email=graphene.NonNull(graphene.String),
    )
    checkout_customer_attach = graphene.Field(
        CheckoutCustomerAttach,
        description=(
            "Makes nobody's cart the caller's own, as after signing in; its id alone opens it no "
            "more. For signed-in people."
        ),
        id=_ID,
    )
    checkout_complete = graphene.Field(
        CheckoutComplete,
        description=(
            "Orders what is in a cart, one's own or nobody's, at the prices that it shows; asked "
            "again, it answers with the same order. Other people's need MANAGE_CHECKOUTS or "
            "HANDLE_CHECKOUTS."
        ),
        id=_ID,
    )

    @staticmethod
    @answers(CheckoutCreate)
    def resolve_checkout_create(
        _root: object, info: GraphQLResolveInfo, input: dict[str, Any]
    ) -> CheckoutCreate:
        context: RequestContext = info.context
        new_lines = _line_quantities(input.get("lines") or ())
        checkout = create_checkout(context.ports, context.actor, new_lines, input.get("email"))
        return CheckoutCreate(checkout=checkout)

    @staticmethod
    @answers(CheckoutLinesAdd)
    def resolve_checkout_lines_add(
        _root: object, info: GraphQLResolveInfo, id: str, lines: Sequence[Mapping[str, Any]]
    ) -> CheckoutLinesAdd:
        context: RequestContext = info.context
        checkout = add_checkout_lines(context.ports, context.actor, id, _line_quantities(lines))
        return CheckoutLinesAdd(checkout=checkout)

    @staticmethod
    @answers(CheckoutLinesUpdate)
    def resolve_checkout_lines_update(
        _root: object, info: GraphQLResolveInfo, id: str, lines: Sequence[Mapping[str, Any]]
    ) -> CheckoutLinesUpdate:
        context: RequestContext = info.context
        checkout = update_checkout_lines(context.ports, context.actor, id, _line_quantities(lines))
        return CheckoutLinesUpdate(checkout=checkout)

    @staticmethod
    @answers(CheckoutLinesDelete)
    def resolve_checkout_lines_delete(
        _root: object, info: GraphQLResolveInfo, id: str, lines_ids: Sequence[str]
    ) -> CheckoutLinesDelete:
        context: RequestContext = info.context
        checkout = delete_checkout_lines(context.ports, context.actor, id, lines_ids)
        return CheckoutLinesDelete(checkout=checkout)

    @staticmethod
    @answers(CheckoutEmailUpdate)
    def resolve_checkout_email_update(
        _root: object, info: GraphQLResolveInfo, id: str, email: str
    ) -> CheckoutEmailUpdate:
        context: RequestContext = info.context
        checkout = update_checkout_email(context.ports, context.actor, id, email)
        return CheckoutEmailUpdate(checkout=checkout)

    @staticmethod
    @answers(CheckoutCustomerAttach)
    def resolve_checkout_customer_attach(
        _root: object, info: GraphQLResolveInfo, id: str
    ) -> CheckoutCustomerAttach:
        context: RequestContext = info.context
        checkout = attach_checkout(context.ports, context.actor, id)
        return CheckoutCustomerAttach(checkout=checkout)

    @staticmethod
    @answers(CheckoutComplete)
    def resolve_checkout_complete(
        _root: object, info: GraphQLResolveInfo, id: str
    ) -> CheckoutComplete:
        context: RequestContext = info.context
        return CheckoutComplete(order=complete_checkout(context.ports, context.actor, id))


def _line_quantities(lines: Sequence[Mapping[str, Any]]) -> tuple[LineInput, ...]:
    return tuple(LineInput(line["product_id"], line["quantity"]) for line in lines)
