"""Adding, changing and deleting customers."""

from typing import Any

import graphene
from graphql import GraphQLResolveInfo

from app.domain.accounts.addresses import DefaultAddresses
from app.graphql.context import RequestContext
from app.graphql.mutations.accounts import language
from app.graphql.mutations.addresses import AddressInput, sent_address
from app.graphql.mutations.metadata import metadata_input, pairs
from app.graphql.mutations.payloads import AccountPayload, answers
from app.services.people.customers import (
    NewCustomer,
    create_customer,
    delete_customer,
    update_customer,
)
from app.services.people.users import Details

_USER = "app.graphql.types.users.User"
_LANGUAGE = "app.graphql.types.languages.LanguageCodeEnum"
_NO_TYPES = "Not supported: any ID is refused."
_NOTE = "A note about the customer, which only staff see."
_REFERENCE = "The ID that another system has for the customer; no two users have the same."
_DETAILS = (
    "first_name",
    "last_name",
    "email",
    "is_active",
    "is_confirmed",
    "note",
    "external_reference",
)


class UserCreateInput(graphene.InputObjectType):
    """The customer to create."""

    first_name = graphene.String()
    last_name = graphene.String()
    email = graphene.String()
    is_active = graphene.Boolean()
    note = graphene.String(description=_NOTE)
    external_reference = graphene.String(description=_REFERENCE)
    language_code = graphene.InputField(
        _LANGUAGE, description="The customer's language; by default the shop's."
    )
    default_shipping_address = graphene.InputField(
        AddressInput, description="The default shipping address."
    )
    default_billing_address = graphene.InputField(
        AddressInput, description="The default billing address."
    )
    customer_type = graphene.ID(description=_NO_TYPES)
    metadata = metadata_input()
    private_metadata = metadata_input("private")
    is_confirmed = graphene.Boolean(
        description="Accepted but ignored, as in Saleor: customers confirm their account "
        "themselves by setting a password.",
    )
    redirect_url = graphene.String(
        description="URL of the invitation link. No email is sent without it."
    )
    channel = graphene.String(description="Accepted but ignored.")


class CustomerInput(graphene.InputObjectType):
    """Fields to update. Omitted fields keep their values."""

    first_name = graphene.String()
    last_name = graphene.String()
    email = graphene.String()
    is_active = graphene.Boolean()
    is_confirmed = graphene.Boolean()
    note = graphene.String(description=_NOTE)
    external_reference = graphene.String(description=_REFERENCE)
    language_code = graphene.InputField(_LANGUAGE, description="The customer's language.")
    default_shipping_address = graphene.InputField(
        AddressInput, description="Changes the default shipping address, or adds it."
    )
    default_billing_address = graphene.InputField(
        AddressInput, description="Changes the default billing address, or adds it."
    )
    customer_type = graphene.ID(description=_NO_TYPES)
    metadata = metadata_input()
    private_metadata = metadata_input("private")


class CustomerCreate(AccountPayload):
    """The new customer."""

    user = graphene.Field(_USER)


class CustomerUpdate(AccountPayload):
    """The updated customer."""

    user = graphene.Field(_USER)


class CustomerDelete(AccountPayload):
    """The deleted customer."""

    user = graphene.Field(_USER)


class CustomerMutations(graphene.ObjectType):
    """Customers: create, update and delete (MANAGE_USERS)."""

    customer_create = graphene.Field(
        CustomerCreate,
        description=(
            "Creates a customer, who can sign in after setting a password. With "
            "`redirectUrl`, the link is sent by email. Requires MANAGE_USERS."
        ),
        input=graphene.NonNull(UserCreateInput),
    )
    customer_update = graphene.Field(
        CustomerUpdate,
        description=(
            "Updates a customer. A deactivated customer is signed out everywhere. Requires "
            "MANAGE_USERS."
        ),
        id=graphene.ID(),
        external_reference=graphene.String(description="The customer's, instead of `id`."),
        input=graphene.NonNull(CustomerInput),
    )
    customer_delete = graphene.Field(
        CustomerDelete,
        description="Deletes a customer and all their data. Requires MANAGE_USERS.",
        id=graphene.ID(),
        external_reference=graphene.String(description="The customer's, instead of `id`."),
    )

    @staticmethod
    @answers(CustomerCreate)
    def resolve_customer_create(
        _root: object, info: GraphQLResolveInfo, input: dict[str, Any]
    ) -> CustomerCreate:
        context: RequestContext = info.context
        new = NewCustomer(
            email=input.get("email") or "",
            first_name=input.get("first_name") or "",
            last_name=input.get("last_name") or "",
            is_active=input.get("is_active") is not False,
            redirect_url=input.get("redirect_url") or "",
            customer_type=input.get("customer_type"),
            language_code=language(input),
            addresses=_addresses(input),
            note=input.get("note") or "",
            external_reference=input.get("external_reference") or "",
            metadata=pairs(input.get("metadata")),
            private_metadata=pairs(input.get("private_metadata")),
        )
        return CustomerCreate(user=create_customer(context.ports, context.actor, new))

    @staticmethod
    @answers(CustomerUpdate)
    def resolve_customer_update(
        _root: object,
        info: GraphQLResolveInfo,
        input: dict[str, Any],
        id: str | None = None,
        external_reference: str | None = None,
    ) -> CustomerUpdate:
        context: RequestContext = info.context
        user = update_customer(
            context.ports,
            context.actor,
            id,
            _details(input),
            customer_type=input.get("customer_type"),
            addresses=_addresses(input),
            external_reference=external_reference,
        )
        return CustomerUpdate(user=user)

    @staticmethod
    @answers(CustomerDelete)
    def resolve_customer_delete(
        _root: object,
        info: GraphQLResolveInfo,
        id: str | None = None,
        external_reference: str | None = None,
    ) -> CustomerDelete:
        context: RequestContext = info.context
        keep = context.loaders(info).accounts.keep
        user = delete_customer(context.ports, context.actor, id, external_reference, before=keep)
        return CustomerDelete(user=user)


def _details(input: dict[str, Any]) -> Details:
    return Details(
        **{name: input[name] for name in _DETAILS if name in input},
        language_code=language(input),
        metadata=pairs(input.get("metadata")),
        private_metadata=pairs(input.get("private_metadata")),
    )


def _addresses(input: dict[str, Any]) -> DefaultAddresses:
    return DefaultAddresses(
        sent_address(input, "default_shipping_address"),
        sent_address(input, "default_billing_address"),
    )
