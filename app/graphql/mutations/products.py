"""Making, changing and deleting products."""

from typing import Any

import graphene

from app.graphql.context import Info
from app.graphql.mutations.payloads import MutationPayload, answers, errors_of
from app.services.commerce.products import ProductInput as Said
from app.services.commerce.products import create_product, delete_product, update_product

_PRODUCT = "app.graphql.types.products.Product"
_ID = graphene.NonNull(graphene.ID)


class ProductInput(graphene.InputObjectType):
    """Fields to update. Omitted fields keep their values."""

    name = graphene.String()
    slug = graphene.String()
    description = graphene.String()
    price = graphene.InputField("app.graphql.types.money.PositiveDecimal")
    currency = graphene.String(description="Must be the shop's currency, which is the default.")
    is_published = graphene.Boolean()


class ProductCreateInput(ProductInput):
    """A new product. The slug is derived from the name. It isn't public until it's published."""

    name = graphene.String(description="Required.")


class _ProductPayload(MutationPayload):
    class Meta:
        abstract = True

    product = graphene.Field(_PRODUCT)
    errors = errors_of("problems.ProductError")


class ProductCreate(_ProductPayload):
    """The new product."""


class ProductUpdate(_ProductPayload):
    """The updated product."""


class ProductDelete(_ProductPayload):
    """The deleted product."""


class ProductMutations(graphene.ObjectType):
    """What the shop sells."""

    product_create = graphene.Field(
        ProductCreate,
        description="Creates a product, unpublished by default. Requires MANAGE_PRODUCTS.",
        input=graphene.NonNull(ProductCreateInput),
    )
    product_update = graphene.Field(
        ProductUpdate,
        description="Updates a product. Omitted fields keep their values. Requires "
        "MANAGE_PRODUCTS.",
        id=_ID,
        input=graphene.NonNull(ProductInput),
    )
    product_delete = graphene.Field(
        ProductDelete,
        description=(
            "Deletes a product. Orders keep its details, and checkouts that contain it can "
            "no longer be completed. Requires MANAGE_PRODUCTS."
        ),
        id=_ID,
    )

    @staticmethod
    @answers(ProductCreate)
    def resolve_product_create(_root: object, info: Info, input: dict[str, Any]) -> ProductCreate:
        product = create_product(info.context.ports, info.context.actor, Said(**input))
        return ProductCreate(product=product)

    @staticmethod
    @answers(ProductUpdate)
    def resolve_product_update(
        _root: object, info: Info, id: str, input: dict[str, Any]
    ) -> ProductUpdate:
        product = update_product(info.context.ports, info.context.actor, id, Said(**input))
        return ProductUpdate(product=product)

    @staticmethod
    @answers(ProductDelete)
    def resolve_product_delete(_root: object, info: Info, id: str) -> ProductDelete:
        return ProductDelete(product=delete_product(info.context.ports, info.context.actor, id))
