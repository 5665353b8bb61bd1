"""Addresses of users."""

import graphene
from graphql import GraphQLResolveInfo

from app.domain.accounts import addresses as domain
from app.domain.values.ids import to_global_id

_KINDS = {
    "BILLING": "Where invoices go.",
    "SHIPPING": "Where goods go.",
}
AddressTypeEnum = graphene.Enum.from_enum(
    domain.AddressKind,
    name="AddressTypeEnum",
    description=lambda kind: (
        "What an address can be the default for." if kind is None else _KINDS[kind.name]
    ),
)
CountryCode = graphene.Enum(
    "CountryCode",
    [(code, code) for code in domain.COUNTRY_NAMES],
    description=lambda code: (
        "A country by its code of ISO 3166-1." if code is None else f"{_name(code.value)}."
    ),
)


class CountryDisplay(graphene.ObjectType):
    """A country."""

    code = graphene.NonNull(graphene.String, description="Its code of ISO 3166-1.")
    country = graphene.NonNull(graphene.String, description="Its English name.")


class Address(graphene.ObjectType):
    """A postal address of a user."""

    id = graphene.NonNull(graphene.ID, description="The global ID.")
    first_name = graphene.NonNull(graphene.String, description="The recipient's given name.")
    last_name = graphene.NonNull(graphene.String, description="The recipient's family name.")
    company_name = graphene.NonNull(graphene.String, description="The company or organization.")
    street_address_1 = graphene.NonNull(graphene.String, description="Street and number.")
    street_address_2 = graphene.NonNull(
        graphene.String, description="What the street's line has no room for."
    )
    city = graphene.NonNull(graphene.String, description="The city, as the country's post wants.")
    city_area = graphene.NonNull(graphene.String, description="The district.")
    postal_code = graphene.NonNull(graphene.String, description="The postal code.")
    country = graphene.NonNull(CountryDisplay, description="The country.")
    country_area = graphene.NonNull(graphene.String, description="The state or province.")
    phone = graphene.String(description="The phone number in the form of E.164; null for none.")
    is_default_shipping_address = graphene.Boolean(
        description="Whether it is its user's default for goods."
    )
    is_default_billing_address = graphene.Boolean(
        description="Whether it is its user's default for invoices."
    )

    def resolve_id(self: domain.Address, _info: GraphQLResolveInfo) -> str:
        return to_global_id("Address", self.id)

    def resolve_country(self: domain.Address, _info: GraphQLResolveInfo) -> CountryDisplay:
        return CountryDisplay(code=self.country, country=_name(self.country))

    def resolve_phone(self: domain.Address, _info: GraphQLResolveInfo) -> str | None:
        return self.phone or None


def _name(code: str) -> str:
    return domain.country_name(code)
