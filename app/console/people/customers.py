"""Customers: the list, and a customer's page with sessions and orders."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from babel import Locale
from babel.numbers import format_decimal
from flask import request
from werkzeug.wrappers import Response as BaseResponse

from app.console.frame.navigation import Entry, Heading, PageGroup
from app.console.frame.page_layout import page, redirect_to, redirect_with_success, refused_page
from app.console.frame.parts import Pill, Question, make_tabs, moment, pill
from app.console.frame.session import actor, now, ports, require
from app.console.lists.list_page import Column, EmptyState, ListPage, RowCount, reader
from app.console.people import person_page
from app.console.people.account_actions import proof_before
from app.console.people.mails import newest_mails
from app.console.people.sign_in_checks import make_sign_in_card
from app.domain.accounts.addresses import Address, postal_lines
from app.domain.accounts.languages import ENGLISH
from app.domain.accounts.search import UserFilter
from app.domain.accounts.users import User
from app.domain.authorization.actor import holds_all_permissions, is_manageable
from app.domain.authorization.permissions import Permission
from app.domain.commerce.sales import OrderStatus, OrderSummary
from app.domain.values.errors import PermissionDenied, Problem, Refused
from app.domain.values.ids import to_global_id
from app.domain.values.pages import PageRequest
from app.domain.values.text import translatable
from app.services.accounts.addresses import addresses_of_users
from app.services.authorization.register import can_call
from app.services.commerce.orders import list_newest_orders_of
from app.services.console.sign_in_methods import SignInDiagnosis, diagnose_sign_in
from app.services.mails.mail_log import list_mails
from app.services.metadata import public_metadata_of_users
from app.services.oauth.consents import list_programs_of_user
from app.services.people.customers import delete_customer, update_customer
from app.services.people.directory import list_customers, show_user
from app.services.people.user_status import Person
from app.web.translation import page_language, text

ORDER_STATUSES = {
    OrderStatus.UNCONFIRMED: translatable("Unconfirmed"),
    OrderStatus.UNFULFILLED: translatable("Unfulfilled"),
    OrderStatus.FULFILLED: translatable("Fulfilled"),
    OrderStatus.CANCELED: translatable("Canceled"),
}

_SHOWN_ADDRESSES = 5


@dataclass(frozen=True, slots=True)
class OrderRow:
    number: str
    status: str
    payment: Pill
    placed_at: datetime
    total: str


@dataclass(frozen=True, slots=True)
class AddressRow:
    """A postal address: who gets what is sent there, where, and what it is the default for."""

    recipient: str
    lines: str
    pills: tuple[Pill, ...]


@dataclass(frozen=True, slots=True)
class AddressList:
    """A customer's postal addresses, defaults first; ``note`` says that there are more."""

    rows: tuple[AddressRow, ...]
    note: str


@dataclass(frozen=True, slots=True)
class Viewer:
    """What the viewer can do: edit this customer, see orders; ``is_manageable`` is by rank."""

    can_edit: bool
    is_manageable: bool
    sees_orders: bool
    holds_all: bool = False


@dataclass(frozen=True, slots=True)
class CustomerPage:
    """A customer; ``orders`` is ``None`` for viewers who can't see orders."""

    name: str
    email: str
    pills: tuple[Pill, ...]
    email_status: str
    can_edit: bool
    can_end_sessions: bool
    sessions: person_page.SessionsTable
    actions: person_page.AccountActions
    origin: person_page.OriginFacts | None
    orders_caption: str
    orders: tuple[OrderRow, ...] | None
    addresses: AddressList
    dialog: Question | None


def make_customer_page(
    person: Person,
    viewer: Viewer,
    orders: Sequence[OrderSummary] = (),
    addresses: Sequence[Address] = (),
    question_name: str = "",
) -> CustomerPage:
    user = person.user
    pills = [person_page.status_pill(user)]
    if not user.is_confirmed:
        pills.append(Pill("warn", text("Email not confirmed")))
    can_act = viewer.can_edit and viewer.is_manageable
    return CustomerPage(
        name=person_page.name_of(user),
        email=person_page.email_below_name(user),
        pills=tuple(pills),
        email_status=text("Confirmed") if user.is_confirmed else text("Not confirmed"),
        can_edit=viewer.can_edit,
        can_end_sessions=can_act,
        sessions=person_page.sessions_table(person),
        origin=person_page.origin_facts(person),
        actions=person_page.account_actions(
            person, is_manageable=viewer.is_manageable, holds_all=viewer.holds_all
        ),
        orders_caption=text("Latest orders of {name}", name=person_page.name_of(user)),
        orders=tuple(_order(order) for order in orders) if viewer.sees_orders else None,
        addresses=_addresses(addresses),
        dialog=person_page.account_dialog(question_name, person) if can_act else None,
    )


def customer_status(user: User) -> Pill:
    """Return whether a customer can sign in, as far as their account goes."""
    if user.is_active and not user.is_confirmed:
        return Pill("", text("Not confirmed"))
    return person_page.status_pill(user)


def _addresses(addresses: Sequence[Address]) -> AddressList:
    ordered = sorted(addresses, key=_is_no_default)
    is_more = len(ordered) > _SHOWN_ADDRESSES
    return AddressList(
        rows=tuple(map(_address, ordered[:_SHOWN_ADDRESSES])),
        note=text(
            "Only {count} address is shown.",
            "Only {count} addresses are shown.",
            count=_SHOWN_ADDRESSES,
        )
        if is_more
        else "",
    )


def _is_no_default(address: Address) -> bool:
    return not (address.is_default_shipping_address or address.is_default_billing_address)


def _address(address: Address) -> AddressRow:
    name = text("{first} {last}", first=address.first_name, last=address.last_name).strip()
    pills = (
        Pill("info", text("Default shipping")) if address.is_default_shipping_address else None,
        Pill("info", text("Default billing")) if address.is_default_billing_address else None,
    )
    return AddressRow(
        recipient=", ".join(filter(None, (name, address.company_name))),
        lines=", ".join(_lines(address)),
        pills=tuple(pill for pill in pills if pill is not None),
    )


def _lines(address: Address) -> tuple[str, ...]:
    """Return the lines of an address, whose country is named in the language of the page."""
    *lines, country = postal_lines(address)
    if page_language() != ENGLISH:
        country = Locale.parse(page_language()).territories.get(address.country, country)
    return (*lines, country)


def _order(order: OrderSummary) -> OrderRow:
    return OrderRow(
        number=text("#{number}", number=order.number),
        status=text(ORDER_STATUSES[order.status]),
        payment=Pill("ok", text("Paid")) if order.is_paid else Pill("", text("Not paid")),
        placed_at=order.created_at,
        total=text(
            "{amount} {currency}",
            amount=format_decimal(order.total.amount, "0.00", page_language()),
            currency=order.total.currency,
        ),
    )


_ORDERS = 10
_MISSING = Refused(Problem("NOT_FOUND", "This customer doesn't exist. It may have been removed."))


CUSTOMERS = ListPage[User](
    title="Customers",
    intro="Find customers, see their sessions and help them sign in.",
    label="Customers",
    filter_label="Filter customers",
    caption="Customers",
    count=RowCount(
        none="No customers",
        no_match="No matching customers",
        one="1 customer",
        many="{count} customers",
        some="{matching} of {total} customers",
    ),
    read=reader(list_customers, UserFilter),
    filters=person_page.PEOPLE_FILTERS,
    sorts=(person_page.NEWEST_PEOPLE, *person_page.PEOPLE_BY_NAME),
    sorts_matches=True,
    columns=(
        Column(
            "Customer",
            lambda user: person_page.person_cell(user, "console.customers.show"),
            ("is-cut", "is-most"),
            is_title=True,
        ),
        Column("Status", lambda user: pill(customer_status(user)), ("is-state",)),
        Column("Joined", lambda user: moment(user.date_joined), ("is-num", "is-wide")),
        Column(
            "Last sign-in",
            lambda user: moment(user.last_login, text("Never")),
            ("is-num", "is-when"),
        ),
    ),
    file="customers",
    file_columns={
        "id": lambda user: to_global_id("User", user.id),
        "email": lambda user: user.email,
        "first_name": lambda user: user.first_name,
        "last_name": lambda user: user.last_name,
        "active": lambda user: user.is_active,
        "confirmed": lambda user: user.is_confirmed,
        "joined_at": lambda user: user.date_joined,
        "last_sign_in_at": lambda user: user.last_login,
    },
    hint="Try another name, email or address, or remove a filter.",
    empty=EmptyState(
        "people", "No customers yet", "People who register in your shop appear here."
    ),
)

blueprint = PageGroup(
    "customers",
    __name__,
    Entry(
        "Customers",
        "people",
        "accounts buyers users orders reset link",
        Heading.PEOPLE,
        needs=list_customers,
    ),
    url_prefix="/customers",
    list_name="customers",
)


blueprint.add_url_rule("/", "index", CUSTOMERS.show)
blueprint.add_url_rule("/export.csv", "export", CUSTOMERS.export)


@blueprint.get("/<key:key>")
def show(key: int) -> BaseResponse:
    """One customer; with ``ask`` the question before something is done to them."""
    person, diagnosis = _load_customer(key)
    if person.user.is_staff:
        return redirect_to("console.staff.show", key=key)
    question_name = request.args.get("ask", "")
    proof = proof_before(question_name, person.user)
    return proof or page("customers/show.html", **_values(person, question_name, diagnosis))


@blueprint.post("/<key:key>/details")
def save_details(key: int) -> BaseResponse:
    """Save name and email; a change of email is announced to the old one."""
    require(Permission.MANAGE_USERS)
    person, diagnosis = _load_customer(key)
    stored = person_page.details_of(person)
    form = person_page.PersonForm.from_request(
        stored, person_page.edited_person(person.user, "console.customers.show")
    )
    if form.validate():
        customer_id, details = to_global_id("User", key), replace(form.details, seen=stored)
        try:
            user = update_customer(ports(), actor(), customer_id, details)
        except Refused as refused:
            form.refuse(refused)
            if form.form_errors:
                raise
        else:
            message = text("Saved the details of {name}.", name=person_page.name_of(user))
            return redirect_with_success(message, "console.customers.show", key=key)
    return refused_page("customers/show.html", **{**_values(person, "", diagnosis), "form": form})


def _load_customer(key: int) -> tuple[Person, SignInDiagnosis | None]:
    """Show a customer; without sessions and sign-ins for callers with MANAGE_ORDERS only."""
    if actor().holds(Permission.MANAGE_USERS):
        diagnosis = diagnose_sign_in(ports(), actor(), key)
        return diagnosis.person, diagnosis
    if not actor().holds(Permission.MANAGE_ORDERS):
        raise PermissionDenied(Permission.MANAGE_USERS)
    user = show_user(ports(), actor(), user_id=to_global_id("User", key))
    if user is None:
        raise _MISSING
    seen = public_metadata_of_users(ports(), actor(), (user,))[user.id]
    return Person(user, public_metadata=seen), None


def _values(
    person: Person, question_name: str, diagnosis: SignInDiagnosis | None
) -> dict[str, object]:
    user = person.user
    viewer = Viewer(
        can_edit=can_call(actor(), delete_customer),
        is_manageable=is_manageable(actor(), user.permissions),
        sees_orders=can_call(actor(), list_newest_orders_of),
        holds_all=holds_all_permissions(actor()),
    )
    orders: tuple[OrderSummary, ...] = ()
    if viewer.sees_orders:
        orders = list_newest_orders_of(ports(), actor(), user.id, PageRequest(_ORDERS)).items
    if diagnosis is None:
        addresses = addresses_of_users(ports(), actor(), (user,))[user.id]
    else:
        addresses = diagnosis.addresses
    view = (
        person_page.asked_view(person_page.CUSTOMER_VIEWS, question_name)
        if viewer.can_edit
        else "overview"
    )
    return {
        "view": view,
        "tabs": make_tabs(
            person_page.CUSTOMER_VIEWS, view, {}, "console.customers.show", key=user.id
        )
        if viewer.can_edit
        else (),
        "user": user,
        "customer": make_customer_page(person, viewer, orders, addresses, question_name),
        "factors": person_page.factor_rows(user) if view == "sessions" else (),
        "programs": list_programs_of_user(ports(), actor(), user) if view == "account" else (),
        "sign_in": diagnosis and make_sign_in_card(diagnosis, actor(), now()),
        "metadata": person_page.person_metadata_card(
            person, "console.customers.show", request.args, is_manageable=viewer.is_manageable
        ),
        "form": person_page.PersonForm.showing(person_page.details_of(person)),
        "mails": newest_mails(user.id) if can_call(actor(), list_mails) else None,
    }
