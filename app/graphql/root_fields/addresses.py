"""Adding, changing and deleting addresses."""

from typing import Any

import graphene

from app.domain.accounts.addresses import MAX_LENGTHS, AddressChange, AddressKind
from app.domain.values.inputs import ABSENT, Absent
from app.graphql.context import Info
from app.graphql.root_fields.metadata import metadata_input, pairs
from app.graphql.root_fields.payloads import AccountPayload, mutation
from app.services.accounts import addresses

_USER, _ADDRESS = "app.graphql.types.users.User", "app.graphql.types.addresses.Address"
_KIND = "app.graphql.types.addresses.AddressTypeEnum"
_ID = graphene.NonNull(graphene.ID, description="The global ID of the address.")
CUSTOMER_ID = (
    "The customer an app acts for: required for apps, which need IMPERSONATE_USER, and refused "
    "for users."
)
_STAFF = "of a customer. Addresses of staff are for people who manage staff"


class AddressInput(graphene.InputObjectType):
    """An address. In an update, omitted fields but the country keep their values."""

    first_name = graphene.String(description="The recipient's given name.")
    last_name = graphene.String(description="The recipient's family name.")
    company_name = graphene.String(description="The company or organization.")
    street_address_1 = graphene.String(description="Street and number.")
    street_address_2 = graphene.String(description="What the street's line has no room for.")
    city = graphene.String(description="The city.")
    city_area = graphene.String(description="The district.")
    postal_code = graphene.String(description="The postal code, checked by the country's rules.")
    country = graphene.InputField(
        "app.graphql.types.addresses.CountryCode",
        description="The country; required, in updates too.",
    )
    country_area = graphene.String(
        description="The state or province; one of the country's, if it has a list."
    )
    phone = graphene.String(
        description="A phone number; without a country code, one of the address's country."
    )
    metadata = metadata_input()
    skip_validation = graphene.Boolean(
        default_value=False,
        description="Store it without the country's rules. Requires MANAGE_USERS, or "
        "IMPERSONATE_USER for an app that acts for a customer.",
    )


class _OfUser(AccountPayload, abstract=True):
    user = graphene.Field(_USER, description="The user whose address it is.")


class _Changed(_OfUser, abstract=True):
    address = graphene.Field(_ADDRESS, description="The address.")


class AccountAddressCreate(_Changed):
    """The new address."""


class AccountAddressUpdate(_Changed):
    """The updated address."""


class AccountAddressDelete(_Changed):
    """The deleted address."""


class AccountSetDefaultAddress(_OfUser):
    """The user with their new default address."""


class AddressCreate(_Changed):
    """The new address."""


class AddressUpdate(_Changed):
    """The updated address."""


class AddressDelete(_Changed):
    """The deleted address."""


class AddressSetDefault(_OfUser):
    """The user with their new default address."""


class OwnAddressMutations(graphene.ObjectType):
    """Addresses of the caller's account."""

    @mutation(
        "Adds an address to the signed-in user's account, or to that of the customer "
        "an app with IMPERSONATE_USER acts for. If there are 100 addresses, the "
        "oldest that isn't a default is deleted. Not available to "
        "dashboard extensions.",
        input=graphene.NonNull(AddressInput),
        customer_id=graphene.ID(description=CUSTOMER_ID),
        type=graphene.Argument(_KIND, description="What to make it the default for."),
    )
    def account_address_create(
        _root: object,
        info: Info,
        input: dict[str, Any],
        customer_id: str | None = None,
        type: AddressKind | None = None,
    ) -> AccountAddressCreate:
        change = address_change(input)
        changed = addresses.create_address(
            *info.context.caller, change, customer_id=customer_id, kind=type
        )
        info.context.proven(changed.user, is_owner=False)
        return AccountAddressCreate(user=changed.user, address=changed.address)

    @mutation(
        "Updates an address of the signed-in user, or of a customer with "
        "MANAGE_USERS. Not available to dashboard extensions.",
        id=_ID,
        input=graphene.NonNull(AddressInput),
    )
    def account_address_update(
        _root: object, info: Info, id: str, input: dict[str, Any]
    ) -> AccountAddressUpdate:
        changed = addresses.update_address(*info.context.caller, id, address_change(input))
        return AccountAddressUpdate(user=changed.user, address=changed.address)

    @mutation(
        "Deletes an address of the signed-in user, or of a customer with "
        "MANAGE_USERS. Not available to dashboard extensions.",
        id=_ID,
    )
    def account_address_delete(_root: object, info: Info, id: str) -> AccountAddressDelete:
        keep = info.context.loaders(info).accounts.keep_address
        changed = addresses.delete_address(*info.context.caller, id, before=keep)
        return AccountAddressDelete(user=changed.user, address=changed.address)

    @mutation(
        "Sets the default address of the signed-in user. Not available to dashboard extensions.",
        id=_ID,
        type=graphene.Argument(graphene.NonNull(_KIND), description="What it's the default for."),
    )
    def account_set_default_address(
        _root: object, info: Info, id: str, type: AddressKind
    ) -> AccountSetDefaultAddress:
        user = addresses.set_default_address(*info.context.caller, id, type)
        return AccountSetDefaultAddress(user=user)


class CustomerAddressMutations(graphene.ObjectType):
    """Addresses of customers (MANAGE_USERS)."""

    @mutation(
        description=f"Adds an address {_STAFF}. Requires MANAGE_USERS.",
        input=graphene.NonNull(AddressInput),
        user_id=graphene.NonNull(graphene.ID, description="The global ID of the user."),
    )
    def address_create(
        _root: object, info: Info, input: dict[str, Any], user_id: str
    ) -> AddressCreate:
        changed = addresses.create_user_address(
            *info.context.caller, user_id, address_change(input)
        )
        return AddressCreate(user=changed.user, address=changed.address)

    @mutation(
        description=f"Updates an address {_STAFF}. Requires MANAGE_USERS.",
        id=_ID,
        input=graphene.NonNull(AddressInput),
    )
    def address_update(_root: object, info: Info, id: str, input: dict[str, Any]) -> AddressUpdate:
        changed = addresses.update_user_address(*info.context.caller, id, address_change(input))
        return AddressUpdate(user=changed.user, address=changed.address)

    @mutation(description=f"Deletes an address {_STAFF}. Requires MANAGE_USERS.", id=_ID)
    def address_delete(_root: object, info: Info, id: str) -> AddressDelete:
        keep = info.context.loaders(info).accounts.keep_address
        changed = addresses.delete_user_address(*info.context.caller, id, before=keep)
        return AddressDelete(user=changed.user, address=changed.address)

    @mutation(
        description=f"Sets the default address {_STAFF}. Requires MANAGE_USERS.",
        address_id=graphene.NonNull(graphene.ID, description="The global ID of the address."),
        type=graphene.Argument(graphene.NonNull(_KIND), description="What it's the default for."),
        user_id=graphene.NonNull(graphene.ID, description="The global ID of the user."),
    )
    def address_set_default(
        _root: object, info: Info, address_id: str, type: AddressKind, user_id: str
    ) -> AddressSetDefault:
        user = addresses.set_user_default_address(*info.context.caller, address_id, user_id, type)
        return AddressSetDefault(user=user)


def address_change(input: dict[str, Any]) -> AddressChange:
    """Read an address: a null text is empty, what is left out stays."""
    values: dict[str, Any] = {name: input[name] or "" for name in MAX_LENGTHS if name in input}
    if values.get("country"):
        values["country"] = values["country"].value
    return AddressChange(
        **values,
        skips_validation=bool(input.get("skip_validation")),
        metadata=pairs(input.get("metadata")),
    )


def sent_address(input: dict[str, Any], field: str) -> AddressChange | Absent:
    """An address that was sent; null leaves it as it is."""
    return address_change(input[field]) if input.get(field) else ABSENT
