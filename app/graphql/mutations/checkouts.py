"""Filling carts, and ordering what is in them."""

from collections.abc import Mapping, Sequence
from typing import Any

import graphene

from app.graphql.context import Info
from app.graphql.mutations.payloads import MutationPayload, answers, errors_of
from app.services.commerce.checkouts import (
    LineInput,
    add_checkout_lines,
    attach_checkout,
    create_checkout,
    delete_checkout_lines,
    update_checkout_email,
    update_checkout_lines,
)
from app.services.commerce.orders import complete_checkout

_ID = graphene.NonNull(graphene.ID)


class CheckoutLineInput(graphene.InputObjectType):
    """A product and the quantity to add."""

    product_id = _ID
    quantity = graphene.NonNull(graphene.Int)


class CheckoutLineUpdateInput(graphene.InputObjectType):
    """The new quantity of a product; 0 removes it."""

    product_id = _ID
    quantity = graphene.NonNull(graphene.Int)


class CheckoutCreateInput(graphene.InputObjectType):
    """A new checkout."""

    lines = graphene.List(graphene.NonNull(CheckoutLineInput))
    email = graphene.String(description="Default: the email of the signed-in user.")
    channel = graphene.String(
        description="The slug of the channel; by default the only active one."
    )


class _CheckoutErrors(MutationPayload):
    class Meta:
        abstract = True

    errors = errors_of("problems.CheckoutError")


class _CheckoutPayload(_CheckoutErrors):
    class Meta:
        abstract = True

    checkout = graphene.Field("app.graphql.types.checkouts.Checkout")


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

    checkout_create = graphene.Field(
        CheckoutCreate,
        description=(
            "Creates a checkout. Anyone can call it. A signed-in user's checkout belongs to "
            "them; anyone with the ID of an anonymous checkout can access it."
        ),
        input=graphene.NonNull(CheckoutCreateInput),
    )
    checkout_lines_add = graphene.Field(
        CheckoutLinesAdd,
        description=(
            "Adds products to the caller's or an anonymous checkout. Checkouts of others "
            "require MANAGE_CHECKOUTS or HANDLE_CHECKOUTS."
        ),
        id=_ID,
        lines=_lines(CheckoutLineInput),
    )
    checkout_lines_update = graphene.Field(
        CheckoutLinesUpdate,
        description=(
            "Sets the quantities of products in the caller's or an anonymous checkout; 0 "
            "removes a product. Checkouts of others require MANAGE_CHECKOUTS or "
            "HANDLE_CHECKOUTS."
        ),
        id=_ID,
        lines=_lines(CheckoutLineUpdateInput),
    )
    checkout_lines_delete = graphene.Field(
        CheckoutLinesDelete,
        description=(
            "Removes lines from the caller's or an anonymous checkout. Checkouts of others "
            "require MANAGE_CHECKOUTS or HANDLE_CHECKOUTS."
        ),
        id=_ID,
        lines_ids=_lines(graphene.ID),
    )
    checkout_email_update = graphene.Field(
        CheckoutEmailUpdate,
        description=(
            "Sets the email of the caller's or an anonymous checkout. Checkouts of others "
            "require MANAGE_CHECKOUTS or HANDLE_CHECKOUTS."
        ),
        id=_ID,
        email=graphene.NonNull(graphene.String),
    )
    checkout_customer_attach = graphene.Field(
        CheckoutCustomerAttach,
        description=(
            "Attaches an anonymous checkout to the signed-in user, or to a customer, which "
            "requires IMPERSONATE_USER. From then on only that customer can access it."
        ),
        id=_ID,
        customer_id=graphene.ID(
            description="The customer, if it isn't the caller: required for apps. Requires "
            "IMPERSONATE_USER."
        ),
    )
    checkout_complete = graphene.Field(
        CheckoutComplete,
        description=(
            "Places the order of the caller's or an anonymous checkout at the prices shown. "
            "Repeated calls return the same order. Checkouts of others require "
            "MANAGE_CHECKOUTS or HANDLE_CHECKOUTS."
        ),
        id=_ID,
    )

    @staticmethod
    @answers(CheckoutCreate)
    def resolve_checkout_create(
        _root: object, info: Info, input: dict[str, Any]
    ) -> CheckoutCreate:
        new_lines = _line_quantities(input.get("lines") or ())
        checkout = create_checkout(
            info.context.ports,
            info.context.actor,
            new_lines,
            input.get("email"),
            input.get("channel") or "",
        )
        return CheckoutCreate(checkout=checkout)

    @staticmethod
    @answers(CheckoutLinesAdd)
    def resolve_checkout_lines_add(
        _root: object, info: Info, id: str, lines: Sequence[Mapping[str, Any]]
    ) -> CheckoutLinesAdd:
        checkout = add_checkout_lines(
            info.context.ports, info.context.actor, id, _line_quantities(lines)
        )
        return CheckoutLinesAdd(checkout=checkout)

    @staticmethod
    @answers(CheckoutLinesUpdate)
    def resolve_checkout_lines_update(
        _root: object, info: Info, id: str, lines: Sequence[Mapping[str, Any]]
    ) -> CheckoutLinesUpdate:
        checkout = update_checkout_lines(
            info.context.ports, info.context.actor, id, _line_quantities(lines)
        )
        return CheckoutLinesUpdate(checkout=checkout)

    @staticmethod
    @answers(CheckoutLinesDelete)
    def resolve_checkout_lines_delete(
        _root: object, info: Info, id: str, lines_ids: Sequence[str]
    ) -> CheckoutLinesDelete:
        checkout = delete_checkout_lines(info.context.ports, info.context.actor, id, lines_ids)
        return CheckoutLinesDelete(checkout=checkout)

    @staticmethod
    @answers(CheckoutEmailUpdate)
    def resolve_checkout_email_update(
        _root: object, info: Info, id: str, email: str
    ) -> CheckoutEmailUpdate:
        checkout = update_checkout_email(info.context.ports, info.context.actor, id, email)
        return CheckoutEmailUpdate(checkout=checkout)

    @staticmethod
    @answers(CheckoutCustomerAttach)
    def resolve_checkout_customer_attach(
        _root: object, info: Info, id: str, customer_id: str | None = None
    ) -> CheckoutCustomerAttach:
        checkout = attach_checkout(info.context.ports, info.context.actor, id, customer_id)
        return CheckoutCustomerAttach(checkout=checkout)

    @staticmethod
    @answers(CheckoutComplete)
    def resolve_checkout_complete(_root: object, info: Info, id: str) -> CheckoutComplete:
        return CheckoutComplete(
            order=complete_checkout(info.context.ports, info.context.actor, id)
        )


def _line_quantities(lines: Sequence[Mapping[str, Any]]) -> tuple[LineInput, ...]:
    return tuple(LineInput(line["product_id"], line["quantity"]) for line in lines)
