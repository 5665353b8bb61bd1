"""Queries about people."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import graphene

from app.domain.accounts.addresses import Address, AddressRules
from app.domain.accounts.search import UserFilter, UserSort
from app.domain.accounts.users import User
from app.domain.values.errors import Problem, Refused, TokenRejected
from app.domain.values.pages import Page, Range
from app.graphql.connections import (
    chosen_in,
    connection_arguments,
    make_connection,
    page_request,
    where_in,
)
from app.graphql.context import Info
from app.graphql.types.lists import (
    DateTimeRangeInput,
    IntFilterInput,
    StringFilterInput,
    days_in,
    moments_in,
)
from app.services.accounts.addresses import show_address, show_address_rules
from app.services.people.directory import list_customers, list_staff, show_user

_USER = "app.graphql.types.users.User"
_COUNTRY = "app.graphql.types.addresses.CountryCode"
_SEARCH = (
    "Matches the beginnings of words in email, name and addresses, ignoring case and accents."
)

UserCountableConnection = make_connection("User", _USER)
UserSortField = graphene.Enum.from_enum(UserSort, name="UserSortField")


class StaffMemberStatus(graphene.Enum):
    """Whether a staff member is active."""

    ACTIVE = "active"
    DEACTIVATED = "deactivated"


class UserSortingInput(graphene.InputObjectType):
    """Sort order of users."""

    direction = graphene.InputField("app.graphql.types.lists.OrderDirection", required=True)
    field = graphene.InputField(UserSortField, required=True)


class StaffUserInput(graphene.InputObjectType):
    """Filters for staff."""

    status = graphene.InputField(StaffMemberStatus)
    search = graphene.String(description=_SEARCH)
    ids = graphene.List(graphene.NonNull(graphene.ID))


class MetadataFilter(graphene.InputObjectType):
    """A key of public metadata, and its value; without a value, any."""

    key = graphene.NonNull(graphene.String)
    value = graphene.String()


class CustomerFilterInput(graphene.InputObjectType):
    """Filters for customers."""

    date_joined = graphene.InputField(
        "app.graphql.types.lists.DateRangeInput", description="The day of joining."
    )
    number_of_orders = graphene.InputField(
        "app.graphql.types.lists.IntRangeInput", description="How many orders they have."
    )
    placed_orders = graphene.InputField(
        "app.graphql.types.lists.DateRangeInput", description="The day of one of their orders."
    )
    search = graphene.String(description=_SEARCH)
    metadata = graphene.List(
        graphene.NonNull(MetadataFilter), description="Public metadata, all of which must match."
    )
    ids = graphene.List(graphene.NonNull(graphene.ID))
    updated_at = graphene.InputField("app.graphql.types.lists.DateTimeRangeInput")


class MetadataValueFilterInput(graphene.InputObjectType):
    """The value of a key of metadata."""

    eq = graphene.String(description="This value.")
    one_of = graphene.List(graphene.NonNull(graphene.String), description="One of these.")


class MetadataFilterInput(graphene.InputObjectType):
    """A key of public metadata, and its value; without a value, any."""

    key = graphene.NonNull(graphene.String)
    value = MetadataValueFilterInput()


class CountryCodeEnumFilterInput(graphene.InputObjectType):
    """A country."""

    eq = graphene.InputField(_COUNTRY, description="This country.")
    one_of = graphene.List(graphene.NonNull(_COUNTRY), description="One of these.")
    not_one_of = graphene.List(graphene.NonNull(_COUNTRY), description="None of these.")


class AddressFilterInput(graphene.InputObjectType):
    """What an address has, all of it."""

    phone_number = StringFilterInput(description="The phone number, in the form +33123456789.")
    country = CountryCodeEnumFilterInput(description="The country.")


class CustomerWhereInput(graphene.InputObjectType):
    """Conditions on customers, all of which must be met."""

    metadata = MetadataFilterInput(description="Public metadata.")
    ids = graphene.List(graphene.NonNull(graphene.ID))
    email = StringFilterInput(description="The email, ignoring case.")
    first_name = StringFilterInput()
    last_name = StringFilterInput()
    is_active = graphene.Boolean()
    date_joined = DateTimeRangeInput(description="When the account was created.")
    updated_at = DateTimeRangeInput()
    placed_orders_at = DateTimeRangeInput(description="When one of their orders was placed.")
    addresses = AddressFilterInput(description="What one of their addresses has.")
    number_of_orders = IntFilterInput(description="How many orders they have.")
    AND = graphene.List(graphene.NonNull(lambda: CustomerWhereInput), description="All of these.")
    OR = graphene.List(graphene.NonNull(lambda: CustomerWhereInput), description="One of these.")


class UserQueries(graphene.ObjectType):
    """Who the caller is, and who else there is."""

    me = graphene.Field(
        _USER,
        description="The signed-in user; null for anonymous callers and apps.",
    )
    user = graphene.Field(
        _USER,
        id=graphene.ID(),
        email=graphene.String(),
        external_reference=graphene.String(description="The ID that another system has."),
        description=(
            "A user by ID, email or external reference. MANAGE_STAFF is required for staff, "
            "MANAGE_USERS or MANAGE_ORDERS for customers; null without it."
        ),
    )
    address = graphene.Field(
        "app.graphql.types.addresses.Address",
        id=graphene.NonNull(graphene.ID, description="The global ID."),
        description=(
            "An address of the caller's or, with MANAGE_USERS, of a customer; null for others."
        ),
    )
    address_validation_rules = graphene.Field(
        "app.graphql.types.addresses.AddressValidationData",
        country_code=graphene.Argument(
            graphene.NonNull("app.graphql.types.addresses.CountryCode"), description="The country."
        ),
        country_area=graphene.String(description="A state or province, for what's inside it."),
        city=graphene.String(description="A city of that area, for what's inside it."),
        city_area=graphene.String(description="A district of that city."),
        description="Which fields an address has in a country, for forms. Anyone can call it.",
    )
    customers = graphene.Field(
        UserCountableConnection,
        filter=CustomerFilterInput(),
        where=CustomerWhereInput(description="Can't be combined with `filter`."),
        search=graphene.String(description=_SEARCH),
        sort_by=UserSortingInput(),
        **connection_arguments(),
        description="Customers, oldest account first. Requires MANAGE_USERS or MANAGE_ORDERS.",
    )
    staff_users = graphene.Field(
        UserCountableConnection,
        filter=StaffUserInput(),
        sort_by=UserSortingInput(),
        **connection_arguments(),
        description="Staff members, oldest account first. Requires MANAGE_STAFF.",
    )

    @staticmethod
    def resolve_me(_root: object, info: Info) -> User | None:
        if info.context.actor.fault is not None:
            raise TokenRejected(info.context.actor.fault)
        return info.context.identity.user

    @staticmethod
    def resolve_user(
        _root: object,
        info: Info,
        id: str | None = None,
        email: str | None = None,
        external_reference: str | None = None,
    ) -> User | None:
        return show_user(
            info.context.ports,
            info.context.actor,
            user_id=id,
            email=email,
            external_reference=external_reference,
        )

    @staticmethod
    def resolve_address(_root: object, info: Info, id: str) -> Address | None:
        return show_address(info.context.ports, info.context.actor, id)

    @staticmethod
    def resolve_address_validation_rules(
        _root: object,
        info: Info,
        country_code: Any,
        country_area: str | None = None,
        city: str | None = None,
        city_area: str | None = None,
    ) -> AddressRules:
        return show_address_rules(
            info.context.ports,
            info.context.actor,
            country_code.value,
            country_area=country_area or "",
            city=city or "",
            city_area=city_area or "",
        )

    @staticmethod
    def resolve_customers(_root: object, info: Info, **arguments: Any) -> Page[User]:
        if arguments.get("filter") is not None and arguments.get("where") is not None:
            raise Refused(Problem("GRAPHQL_ERROR", "Pass `filter` or `where`, not both.", "where"))
        sent = arguments.get("where")
        page = list_customers(
            info.context.ports,
            info.context.actor,
            page_request("customers", arguments),
            _customer_filter(arguments),
            None if sent is None else where_in(sent, _where),
        )
        return _load_together(info, page)

    @staticmethod
    def resolve_staff_users(_root: object, info: Info, **arguments: Any) -> Page[User]:
        user_filter = _filter(arguments, arguments.get("filter") or {})
        page = page_request("staffUsers", arguments)
        return _load_together(
            info, list_staff(info.context.ports, info.context.actor, page, user_filter)
        )


def _filter(arguments: dict[str, Any], filter_: dict[str, Any]) -> UserFilter:
    sort = arguments.get("sort_by") or {}
    status, ids = filter_.get("status"), filter_.get("ids")
    return UserFilter(
        search=filter_.get("search") or "",
        is_active=None if status is None else status is StaffMemberStatus.ACTIVE,
        ids=None if ids is None else tuple(ids),
        sort=sort.get("field"),
        descending=sort.get("direction") == "DESC",
    )


def _customer_filter(arguments: dict[str, Any]) -> UserFilter:
    sent = arguments.get("filter") or {}
    search = arguments.get("search") or sent.get("search")
    counted = sent.get("number_of_orders")
    return replace(
        _filter(arguments, {**sent, "search": search}),
        joined_at=days_in(sent.get("date_joined")),
        updated_at=moments_in(sent.get("updated_at")),
        ordered_at=days_in(sent.get("placed_orders")),
        order_count=None if counted is None else Range(counted.get("gte"), counted.get("lte")),
        metadata=tuple(map(_metadata, sent.get("metadata") or ())),
    )


def _metadata(sent: Mapping[str, Any]) -> tuple[str, tuple[str, ...] | None]:
    """Return what a ``MetadataFilter`` or ``MetadataFilterInput`` means."""
    value = sent.get("value")
    return sent["key"], (value,) if isinstance(value, str) else chosen_in(value)


def _where(sent: Mapping[str, Any]) -> UserFilter:
    """Return the conditions of a ``CustomerWhereInput`` but for its ``AND`` and ``OR``."""
    ids, metadata = sent.get("ids"), sent.get("metadata")
    counts, address = sent.get("number_of_orders"), sent.get("addresses") or {}
    range_ = None if counts is None else counts.get("range")
    country = address.get("country")
    excluded = None if country is None else country.get("not_one_of")
    return UserFilter(
        ids=None if ids is None else tuple(ids),
        is_active=sent.get("is_active"),
        emails=chosen_in(sent.get("email")),
        first_names=chosen_in(sent.get("first_name")),
        last_names=chosen_in(sent.get("last_name")),
        joined_at=moments_in(sent.get("date_joined")),
        updated_at=moments_in(sent.get("updated_at")),
        ordered_at=moments_in(sent.get("placed_orders_at")),
        order_count=None if range_ is None else Range(range_.get("gte"), range_.get("lte")),
        order_counts=None if range_ is not None else chosen_in(counts),
        phones=chosen_in(address.get("phone_number")),
        countries=None if excluded is not None else _codes(chosen_in(country)),
        other_countries=_codes(excluded),
        metadata=() if metadata is None else (_metadata(metadata),),
    )


def _codes(countries: Collection[Any] | None) -> tuple[str, ...] | None:
    return None if countries is None else tuple(country.value for country in countries)


def _load_together(info: Info, page: Page[User]) -> Page[User]:
    info.context.loaders(info).accounts.add_users(info, page.items)
    return page
