"""Addresses of users."""

import graphene

from app.domain.accounts import addresses as domain
from app.graphql.compatibility import constant
from app.graphql.connections import Node
from app.graphql.context import Info
from app.graphql.fields import ObjectType, described_enum, own_id, text_or_null
from app.graphql.metadata_fields import ObjectWithMetadata

AddressTypeEnum = described_enum(
    domain.AddressKind,
    "AddressTypeEnum",
    "What an address can be the default for.",
    {"BILLING": "Where invoices go.", "SHIPPING": "Where goods go."},
)
CountryCode = graphene.Enum(
    "CountryCode",
    [(code, code) for code in sorted({*domain.COUNTRY_NAMES, domain.EUROPEAN_UNION})],
    description=lambda code: (
        "A country by its code of ISO 3166-1."
        if code is None
        else f"{domain.country_name(code.value)}."
    ),
)


class CountryDisplay(graphene.ObjectType):
    """A country."""

    code = graphene.NonNull(graphene.String, description="Its code of ISO 3166-1.")
    country = graphene.NonNull(graphene.String, description="Its English name.")
    vat = constant("CountryDisplay.vat", "app.graphql.unavailable.VAT", "Taxes are set elsewhere.")


class Address(ObjectType, interfaces=(Node, ObjectWithMetadata)):
    """A postal address of a user."""

    id = own_id("Address", description="The global ID.")
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
    phone = text_or_null(
        "phone", description="The phone number in the form of E.164; null for none."
    )
    is_default_shipping_address = graphene.Boolean(
        description="Whether it is its user's default for goods."
    )
    is_default_billing_address = graphene.Boolean(
        description="Whether it is its user's default for invoices."
    )

    def resolve_country(self: domain.Address, _info: Info) -> domain.Country:
        return domain.country_of(self.country)


class ChoiceValue(graphene.ObjectType):
    """A value of an address's field."""

    raw = graphene.String(description="The value to send.")
    verbose = graphene.String(description="How to show it.")


def _text(description: str) -> graphene.NonNull:
    return graphene.NonNull(graphene.String, description=description)


def _texts(description: str) -> graphene.NonNull:
    of_texts = graphene.List(graphene.NonNull(graphene.String))
    return graphene.NonNull(of_texts, description=description)


def _choices(description: str) -> graphene.NonNull:
    of_choices = graphene.List(graphene.NonNull(ChoiceValue))
    return graphene.NonNull(of_choices, description=description)


class AddressValidationData(graphene.ObjectType):
    """The rules for addresses of a country, for building a form."""

    country_code = _text("The country's code of ISO 3166-1.")
    country_name = _text("The country's name in capitals.")
    address_format = _text("The order of lines: %A is the street, %C the city, %n a new line, …")
    address_latin_format = _text("The same for addresses in Latin letters.")
    allowed_fields = _texts("Fields of `AddressInput` that the country's addresses have.")
    required_fields = _texts("Fields that must not be empty.")
    upper_fields = _texts("Fields that are written in capitals.")
    country_area_type = _text("What to call `countryArea`: state, province, …")
    country_area_choices = _choices("Values of `countryArea`; empty if any text is valid.")
    city_type = _text("What to call `city`: city, suburb, …")
    city_choices = _choices("Values of `city` in the requested `countryArea`.")
    city_area_type = _text("What to call `cityArea`: suburb, district, …")
    city_area_choices = _choices("Values of `cityArea` in the requested `city`.")
    postal_code_type = _text("What to call `postalCode`: postal, zip, pin, …")
    postal_code_matchers = _texts("Regular expressions, all of which a postal code must match.")
    postal_code_examples = _texts("Valid postal codes.")
    postal_code_prefix = _text("What is written before a postal code.")
