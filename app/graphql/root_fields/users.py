"""Find people; invite, change and delete staff."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import graphene

from app.domain.accounts.addresses import Address, AddressRules
from app.domain.accounts.search import UserFilter, UserSort
from app.domain.accounts.users import User
from app.domain.values.errors import Problem, Refused, TokenRejected
from app.domain.values.pages import Page
from app.graphql import connections
from app.graphql.context import Info
from app.graphql.root_fields.metadata import metadata_input, pairs
from app.graphql.root_fields.payloads import (
    MutationPayload,
    count_field,
    errors_of,
    former_errors_of,
    mutation,
    query,
)
from app.graphql.types.lists import DateTimeRangeInput, IntFilterInput, StringFilterInput
from app.services.accounts.addresses import show_address, show_address_rules
from app.services.people import staff
from app.services.people.directory import list_customers, list_staff, show_user
from app.services.people.user_status import reset_second_factors
from app.services.people.users import Details

_USER = "app.graphql.types.users.User"
_COUNTRY = "app.graphql.types.addresses.CountryCode"
_SEARCH = (
    "Matches the beginnings of words in email, name and addresses, ignoring case and accents."
)

UserCountableConnection = connections.make_connection("User", _USER)
UserSortField = graphene.Enum.from_enum(UserSort, name="UserSortField")


class StaffMemberStatus(graphene.Enum):
    """Whether a staff member is active."""

    ACTIVE = "active"
    DEACTIVATED = "deactivated"


UserSortingInput = connections.sorting_input("UserSortingInput", "users", UserSortField)


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

    @query(_USER, description="The signed-in user; null for anonymous callers and apps.")
    def me(_root: object, info: Info) -> User | None:
        if info.context.actor.fault is not None:
            raise TokenRejected(info.context.actor.fault)
        return info.context.identity.user

    @query(
        _USER,
        id=graphene.ID(),
        email=graphene.String(),
        external_reference=graphene.String(description="The ID that another system has."),
        description="A user by ID, email or external reference. MANAGE_STAFF is required for "
        "staff, MANAGE_USERS or MANAGE_ORDERS for customers; null without it.",
    )
    def user(
        _root: object,
        info: Info,
        id: str | None = None,
        email: str | None = None,
        external_reference: str | None = None,
    ) -> User | None:
        return show_user(
            *info.context.caller, user_id=id, email=email, external_reference=external_reference
        )

    @query(
        "app.graphql.types.addresses.Address",
        id=graphene.NonNull(graphene.ID, description="The global ID."),
        description="An address of the caller's or, with MANAGE_USERS, of a customer; null for "
        "others.",
    )
    def address(_root: object, info: Info, id: str) -> Address | None:
        return show_address(*info.context.caller, id)

    @query(
        "app.graphql.types.addresses.AddressValidationData",
        country_code=graphene.Argument(
            graphene.NonNull("app.graphql.types.addresses.CountryCode"), description="The country."
        ),
        country_area=graphene.String(description="A state or province, for what's inside it."),
        city=graphene.String(description="A city of that area, for what's inside it."),
        city_area=graphene.String(description="A district of that city."),
        description="Which fields an address has in a country, for forms. Anyone can call it.",
    )
    def address_validation_rules(
        _root: object,
        info: Info,
        country_code: Any,
        country_area: str | None = None,
        city: str | None = None,
        city_area: str | None = None,
    ) -> AddressRules:
        return show_address_rules(
            *info.context.caller,
            country_code.value,
            country_area=country_area or "",
            city=city or "",
            city_area=city_area or "",
        )

    @query(
        UserCountableConnection,
        filter=CustomerFilterInput(),
        where=CustomerWhereInput(description="Can't be combined with `filter`."),
        search=graphene.String(description=_SEARCH),
        sort_by=UserSortingInput(),
        **connections.connection_arguments(),
        description="Customers, oldest account first. Requires MANAGE_USERS or MANAGE_ORDERS.",
    )
    def customers(_root: object, info: Info, **arguments: Any) -> Page[User]:
        if arguments.get("filter") is not None and arguments.get("where") is not None:
            raise Refused(Problem("GRAPHQL_ERROR", "Pass `filter` or `where`, not both.", "where"))
        sent = arguments.get("where")
        page = list_customers(
            *info.context.caller,
            connections.page_request("customers", arguments),
            _customer_filter(arguments),
            None if sent is None else connections.where_in(sent, _where_filter),
        )
        return _load_together(info, page)

    @query(
        UserCountableConnection,
        filter=StaffUserInput(),
        sort_by=UserSortingInput(),
        **connections.connection_arguments(),
        description="Staff members, oldest account first. Requires MANAGE_STAFF.",
    )
    def staff_users(_root: object, info: Info, **arguments: Any) -> Page[User]:
        user_filter = _filter(arguments, arguments.get("filter") or {})
        page = connections.page_request("staffUsers", arguments)
        return _load_together(info, list_staff(*info.context.caller, page, user_filter))


def _filter(arguments: dict[str, Any], filter_: dict[str, Any]) -> UserFilter:
    sort = arguments.get("sort_by") or {}
    status = filter_.get("status")
    return UserFilter(
        search=filter_.get("search") or "",
        is_active=None if status is None else status is StaffMemberStatus.ACTIVE,
        ids=connections.values_in(filter_.get("ids")),
        sort=sort.get("field"),
        descending=sort.get("direction") == "DESC",
    )


def _customer_filter(arguments: dict[str, Any]) -> UserFilter:
    sent = arguments.get("filter") or {}
    search = arguments.get("search") or sent.get("search")
    return replace(
        _filter(arguments, {**sent, "search": search}),
        joined_at=connections.days_in(sent.get("date_joined")),
        updated_at=connections.times_in(sent.get("updated_at")),
        ordered_at=connections.days_in(sent.get("placed_orders")),
        order_count=connections.range_in(sent.get("number_of_orders")),
        metadata=tuple(map(_metadata, sent.get("metadata") or ())),
    )


def _metadata(sent: Mapping[str, Any]) -> tuple[str, tuple[str, ...] | None]:
    """Return what a ``MetadataFilter`` or ``MetadataFilterInput`` means."""
    value = sent.get("value")
    return sent["key"], (value,) if isinstance(value, str) else connections.chosen_in(value)


def _where_filter(sent: Mapping[str, Any]) -> UserFilter:
    """Return the conditions of a ``CustomerWhereInput`` but for its ``AND`` and ``OR``."""
    metadata, address = sent.get("metadata"), sent.get("addresses") or {}
    order_count, order_counts = connections.range_or_chosen(sent.get("number_of_orders"))
    country = address.get("country")
    excluded = None if country is None else country.get("not_one_of")
    return UserFilter(
        ids=connections.values_in(sent.get("ids")),
        is_active=sent.get("is_active"),
        emails=connections.chosen_in(sent.get("email")),
        first_names=connections.chosen_in(sent.get("first_name")),
        last_names=connections.chosen_in(sent.get("last_name")),
        joined_at=connections.times_in(sent.get("date_joined")),
        updated_at=connections.times_in(sent.get("updated_at")),
        ordered_at=connections.times_in(sent.get("placed_orders_at")),
        order_count=order_count,
        order_counts=order_counts,
        phones=connections.chosen_in(address.get("phone_number")),
        countries=None if excluded is not None else _codes(connections.chosen_in(country)),
        other_countries=_codes(excluded),
        metadata=() if metadata is None else (_metadata(metadata),),
    )


def _codes(countries: Collection[Any] | None) -> tuple[str, ...] | None:
    return None if countries is None else tuple(country.value for country in countries)


def _load_together(info: Info, page: Page[User]) -> Page[User]:
    info.context.loaders(info).accounts.add_users(info, page.items)
    return page


_PERMISSION = "app.graphql.types.permissions.PermissionEnum"
_IDS = graphene.List(graphene.NonNull(graphene.ID))
_NOTE = "A note about the staff member, which staff with MANAGE_STAFF see."
_DETAILS = ("first_name", "last_name", "email", "is_active", "note")


class StaffCreateInput(graphene.InputObjectType):
    """The staff member to create."""

    first_name = graphene.String()
    last_name = graphene.String()
    email = graphene.String()
    is_active = graphene.Boolean()
    note = graphene.String(description=_NOTE)
    metadata = metadata_input()
    private_metadata = metadata_input("private")
    add_groups = _IDS
    redirect_url = graphene.String(
        description="URL of the invitation link. No email is sent without it."
    )


class StaffUpdateInput(graphene.InputObjectType):
    """Fields to update. Omitted fields keep their values."""

    first_name = graphene.String()
    last_name = graphene.String()
    email = graphene.String()
    is_active = graphene.Boolean()
    note = graphene.String(description=_NOTE)
    metadata = metadata_input()
    private_metadata = metadata_input("private")
    add_groups = _IDS
    remove_groups = _IDS
    add_permissions = graphene.List(
        graphene.NonNull(_PERMISSION),
        description="Permissions to grant directly, which the caller must have.",
    )
    remove_permissions = graphene.List(
        graphene.NonNull(_PERMISSION),
        description="Direct permissions to remove, which the caller must have. Permissions that a "
        "group grants stay.",
    )


class StaffPayload(MutationPayload, abstract=True):
    """``errors``, and the person."""

    errors = errors_of("problems.StaffError")
    staff_errors = former_errors_of("problems.StaffError")
    user = graphene.Field(_USER)


class StaffCreate(StaffPayload):
    """The new staff member, or the customer who became one."""


class StaffUpdate(StaffPayload):
    """The updated staff member."""


class StaffDelete(StaffPayload):
    """The deleted staff member."""


class StaffBulkDelete(MutationPayload):
    """The result for several staff members."""

    count = count_field("How many were deleted: all or none.")
    errors = errors_of("problems.StaffError")
    staff_errors = former_errors_of("problems.StaffError")


class UserSecondFactorReset(StaffPayload):
    """The user, who has no second factor and no session now."""


class StaffMutations(graphene.ObjectType):
    """The staff, managed by people who hold MANAGE_STAFF."""

    @mutation(
        "Creates a staff member, or makes the customer with that email one. With "
        "`redirectUrl`, a link to set a password is sent by email. For staff with "
        "MANAGE_STAFF, not for apps.",
        input=graphene.NonNull(StaffCreateInput),
    )
    def staff_create(_root: object, info: Info, input: dict[str, Any]) -> StaffCreate:
        new = staff.NewStaff(
            email=input.get("email") or "",
            first_name=input.get("first_name") or "",
            last_name=input.get("last_name") or "",
            is_active=input.get("is_active"),
            note=input.get("note") or "",
            groups=tuple(input.get("add_groups") or ()),
            redirect_url=input.get("redirect_url") or "",
            metadata=pairs(input.get("metadata")),
            private_metadata=pairs(input.get("private_metadata")),
        )
        return StaffCreate(user=staff.create_staff(*info.context.caller, new))

    @mutation(
        "Updates a staff member, their groups and direct permissions. A deactivated staff "
        "member is signed out everywhere. For staff with MANAGE_STAFF, not for apps.",
        id=graphene.ID(required=True),
        input=graphene.NonNull(StaffUpdateInput),
    )
    def staff_update(_root: object, info: Info, id: str, input: dict[str, Any]) -> StaffUpdate:
        changes = staff.StaffChanges(
            Details(
                **{name: input[name] for name in _DETAILS if name in input},
                metadata=pairs(input.get("metadata")),
                private_metadata=pairs(input.get("private_metadata")),
            ),
            add_groups=tuple(input.get("add_groups") or ()),
            remove_groups=tuple(input.get("remove_groups") or ()),
            add_permissions=frozenset(input.get("add_permissions") or ()),
            remove_permissions=frozenset(input.get("remove_permissions") or ()),
        )
        return StaffUpdate(user=staff.update_staff(*info.context.caller, id, changes))

    @mutation(
        "Deletes a staff member and all their data. For staff with MANAGE_STAFF, not for apps.",
        id=graphene.ID(required=True),
    )
    def staff_delete(_root: object, info: Info, id: str) -> StaffDelete:
        keep = info.context.loaders(info).accounts.keep
        return StaffDelete(user=staff.delete_staff(*info.context.caller, id, before=keep))

    @mutation(
        "Deletes staff members and all their data, at most 100; all or none. For staff with "
        "MANAGE_STAFF, not for apps.",
        ids=graphene.Argument(
            graphene.NonNull(graphene.List(graphene.NonNull(graphene.ID))),
            description="The global IDs of the staff members.",
        ),
    )
    def staff_bulk_delete(_root: object, info: Info, ids: list[str]) -> StaffBulkDelete:
        return StaffBulkDelete(count=staff.delete_several_staff(*info.context.caller, ids))

    @mutation(
        "Removes all second factors and recovery codes of a user who lost them, ends their "
        "sessions and mails them. For staff with MANAGE_STAFF (for staff) or MANAGE_USERS "
        "(for customers), not for apps, and not for the own account. Not available to "
        "dashboard extensions.",
        id=graphene.ID(required=True),
    )
    def user_second_factor_reset(_root: object, info: Info, id: str) -> UserSecondFactorReset:
        return UserSecondFactorReset(user=reset_second_factors(*info.context.caller, id))
