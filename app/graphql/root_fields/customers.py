"""Adding, changing and deleting customers."""

from typing import Any

import graphene

from app.domain.accounts.addresses import DefaultAddresses
from app.graphql.context import Info
from app.graphql.fields import described_enum
from app.graphql.root_fields.accounts import language
from app.graphql.root_fields.addresses import AddressInput, sent_address
from app.graphql.root_fields.metadata import metadata_input, pairs
from app.graphql.root_fields.payloads import (
    AccountPayload,
    MutationPayload,
    UserPayload,
    count_field,
    errors_of,
    mutation,
)
from app.services.people.customers import (
    CustomerChange,
    ErrorPolicy,
    NewCustomer,
    create_customer,
    delete_customer,
    delete_customers,
    update_customer,
    update_customers,
)
from app.services.people.user_status import set_users_active
from app.services.people.users import Details

_USER = "app.graphql.types.users.User"
_LANGUAGE = "app.graphql.types.languages.LanguageCodeEnum"
_IDS = graphene.Argument(
    graphene.NonNull(graphene.List(graphene.NonNull(graphene.ID))),
    description="The global IDs of the users.",
)
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
        "themselves by setting a password."
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


class CustomerCreate(UserPayload):
    """The new customer."""


class CustomerUpdate(UserPayload):
    """The updated customer."""


class CustomerDelete(UserPayload):
    """The deleted customer."""


class CustomerBulkDelete(AccountPayload):
    """The result for several customers. Those that were deleted count."""

    count = count_field("How many were deleted.")


ErrorPolicyEnum = described_enum(
    ErrorPolicy,
    "ErrorPolicyEnum",
    "What to do with several changes when some are invalid.",
    {
        "IGNORE_FAILED": "Saves what is valid, also of a customer with invalid inputs.",
        "REJECT_EVERYTHING": "Saves nothing if anything is invalid.",
        "REJECT_FAILED_ROWS": "Saves the customers without invalid inputs.",
    },
)


class CustomerBulkUpdateInput(graphene.InputObjectType):
    """A customer, by ID or external reference, and the change."""

    id = graphene.ID(description="The customer's global ID.")
    external_reference = graphene.String(description="The customer's ID in another system.")
    input = graphene.NonNull(CustomerInput, description="What changes.")


class CustomerBulkResult(graphene.ObjectType):
    """One of several customers after the change."""

    customer = graphene.Field(_USER, description="Null if nothing of them was changed.")
    errors = graphene.List(
        graphene.NonNull("app.graphql.types.problems.CustomerBulkUpdateError"),
        description="Why the change or a part of it was refused.",
    )


class CustomerBulkUpdate(MutationPayload):
    """The result for several customers, in the order of the input."""

    count = count_field("How many were changed.")
    results = graphene.NonNull(
        graphene.List(graphene.NonNull(CustomerBulkResult)),
        description="The result for each customer.",
    )
    errors = errors_of("problems.CustomerBulkUpdateError")

    def resolve_results(self, _info: Info) -> list[CustomerBulkResult]:
        return self.results or []


class UserBulkSetActive(AccountPayload):
    """The result for several users. Those that are in the requested state now count."""

    count = count_field("How many are in that state now.")


class CustomerMutations(graphene.ObjectType):
    """Customers: create, update and delete (MANAGE_USERS)."""

    @mutation(
        "Creates a customer, who can sign in after setting a password. With "
        "`redirectUrl`, the link is sent by email. Requires MANAGE_USERS.",
        input=graphene.NonNull(UserCreateInput),
    )
    def customer_create(_root: object, info: Info, input: dict[str, Any]) -> CustomerCreate:
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
        return CustomerCreate(user=create_customer(*info.context.caller, new))

    @mutation(
        "Updates a customer. A deactivated customer is signed out everywhere. Requires "
        "MANAGE_USERS.",
        id=graphene.ID(),
        external_reference=graphene.String(description="The customer's, instead of `id`."),
        input=graphene.NonNull(CustomerInput),
    )
    def customer_update(
        _root: object,
        info: Info,
        input: dict[str, Any],
        id: str | None = None,
        external_reference: str | None = None,
    ) -> CustomerUpdate:
        user = update_customer(
            *info.context.caller,
            id,
            _details(input),
            customer_type=input.get("customer_type"),
            addresses=_addresses(input),
            external_reference=external_reference,
        )
        return CustomerUpdate(user=user)

    @mutation(
        "Deletes a customer and all their data. Requires MANAGE_USERS.",
        id=graphene.ID(),
        external_reference=graphene.String(description="The customer's, instead of `id`."),
    )
    def customer_delete(
        _root: object, info: Info, id: str | None = None, external_reference: str | None = None
    ) -> CustomerDelete:
        keep = info.context.loaders(info).accounts.keep
        user = delete_customer(*info.context.caller, id, external_reference, before=keep)
        return CustomerDelete(user=user)

    @mutation(
        "Deletes customers and all their data, at most 100. Those that can't be deleted, such "
        "as staff, are in `errors`. Requires MANAGE_USERS.",
        ids=_IDS,
    )
    def customer_bulk_delete(_root: object, info: Info, ids: list[str]) -> CustomerBulkDelete:
        count, refusals = delete_customers(*info.context.caller, ids)
        return CustomerBulkDelete(count=count, errors=refusals)

    @mutation(
        "Updates customers, at most 100, in one transaction. What is refused is in `errors` "
        "of each result. Requires MANAGE_USERS.",
        customers=graphene.Argument(
            graphene.NonNull(graphene.List(graphene.NonNull(CustomerBulkUpdateInput))),
            description="The customers and their changes.",
        ),
        error_policy=ErrorPolicyEnum(description="Default: REJECT_EVERYTHING."),
    )
    def customer_bulk_update(
        _root: object,
        info: Info,
        customers: list[dict[str, Any]],
        error_policy: ErrorPolicy | None = None,
    ) -> CustomerBulkUpdate:
        done = update_customers(
            *info.context.caller,
            [_change(sent) for sent in customers],
            error_policy or ErrorPolicy.REJECT_EVERYTHING,
        )
        changed = [each.user for each in done if each.user is not None]
        info.context.loaders(info).accounts.add_users(info, changed)
        results = [CustomerBulkResult(customer=each.user, errors=each.problems) for each in done]
        return CustomerBulkUpdate(count=len(changed), results=results, errors=[])

    @mutation(
        "Activates or deactivates users, at most 100. Those that the caller can't manage are "
        "in `errors`. Requires MANAGE_USERS.",
        ids=_IDS,
        is_active=graphene.Argument(
            graphene.NonNull(graphene.Boolean), description="Whether they are to be active."
        ),
    )
    def user_bulk_set_active(
        _root: object,
        info: Info,
        ids: list[str],
        is_active: bool,  # noqa: FBT001 - the schema's argument
    ) -> UserBulkSetActive:
        count, refusals = set_users_active(*info.context.caller, ids, active=is_active)
        return UserBulkSetActive(count=count, errors=refusals)


def _change(sent: dict[str, Any]) -> CustomerChange:
    change = sent["input"]
    return CustomerChange(
        sent.get("id"),
        sent.get("external_reference"),
        _details(change),
        change.get("customer_type"),
        _addresses(change),
    )


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
