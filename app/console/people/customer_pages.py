"""The view models of customers: the list, and a customer's page."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from babel import Locale
from babel.numbers import format_decimal

from app.console.exports import Columns
from app.console.lists import RowCount
from app.console.parts import Pill, Question
from app.console.people.person_page import (
    AccountActions,
    OriginFacts,
    SessionsTable,
    account_actions,
    account_dialog,
    email_below_name,
    name_of,
    origin_facts,
    sessions_table,
    status_pill,
)
from app.domain.accounts.addresses import Address, postal_lines
from app.domain.accounts.users import User
from app.domain.commerce.orders import OrderStatus, OrderSummary
from app.domain.values.ids import to_global_id
from app.domain.values.languages import ENGLISH
from app.domain.values.text import translatable
from app.services.people.user_sessions import Person
from app.web.translation import page_language, text

SORTS = {"email": translatable("Email"), "name": translatable("Last name")}
"""The sort orders of the list besides newest first."""

COLUMNS: Columns[User] = {
    "id": lambda user: to_global_id("User", user.id),
    "email": lambda user: user.email,
    "first_name": lambda user: user.first_name,
    "last_name": lambda user: user.last_name,
    "active": lambda user: user.is_active,
    "confirmed": lambda user: user.is_confirmed,
    "joined_at": lambda user: user.date_joined,
    "last_sign_in_at": lambda user: user.last_login,
}
"""The columns of the list as a file."""

_ORDER_STATUSES = {
    OrderStatus.UNCONFIRMED: translatable("Unconfirmed"),
    OrderStatus.UNFULFILLED: translatable("Unfulfilled"),
    OrderStatus.FULFILLED: translatable("Fulfilled"),
    OrderStatus.CANCELED: translatable("Canceled"),
}

_SHOWN_ADDRESSES = 5

COUNT = RowCount(
    none="No customers",
    no_match="No matching customers",
    one="1 customer",
    many="{count} customers",
    some="{matching} of {total} customers",
)


@dataclass(frozen=True, slots=True)
class CustomerRow:
    """A customer in the list."""

    id: int
    name: str
    email: str
    status: Pill
    joined_at: datetime
    last_sign_in_at: datetime | None


@dataclass(frozen=True, slots=True)
class OrderRow:
    """One of a customer's newest orders."""

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


@dataclass(frozen=True, slots=True)
class CustomerPage:
    """A customer; ``orders`` is ``None`` for viewers who can't see orders."""

    name: str
    email: str
    pills: tuple[Pill, ...]
    email_status: str
    can_edit: bool
    can_end_sessions: bool
    sessions: SessionsTable
    actions: AccountActions
    origin: OriginFacts | None
    orders_caption: str
    orders: tuple[OrderRow, ...] | None
    addresses: AddressList
    dialog: Question | None


def customer_row(user: User) -> CustomerRow:
    """Return a row of the list."""
    return CustomerRow(
        id=user.id,
        name=name_of(user),
        email=email_below_name(user),
        status=_status(user),
        joined_at=user.date_joined,
        last_sign_in_at=user.last_login,
    )


def make_customer_page(
    person: Person,
    viewer: Viewer,
    orders: Sequence[OrderSummary] = (),
    addresses: Sequence[Address] = (),
    question_name: str = "",
) -> CustomerPage:
    """Return a customer's page, with the dialog that is ``question_name``."""
    user = person.user
    pills = [status_pill(user)]
    if not user.is_confirmed:
        pills.append(Pill("warn", text("Email not confirmed")))
    can_act = viewer.can_edit and viewer.is_manageable
    return CustomerPage(
        name=name_of(user),
        email=email_below_name(user),
        pills=tuple(pills),
        email_status=text("Confirmed") if user.is_confirmed else text("Not confirmed"),
        can_edit=viewer.can_edit,
        can_end_sessions=can_act,
        sessions=sessions_table(person),
        origin=origin_facts(person),
        actions=account_actions(person, is_manageable=viewer.is_manageable),
        orders_caption=text("Latest orders of {name}", name=name_of(user)),
        orders=tuple(_order(order) for order in orders) if viewer.sees_orders else None,
        addresses=_addresses(addresses),
        dialog=account_dialog(question_name, person) if can_act else None,
    )


def _status(user: User) -> Pill:
    if user.is_active and not user.is_confirmed:
        return Pill("", text("Not confirmed"))
    return status_pill(user)


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
        status=text(_ORDER_STATUSES[order.status]),
        payment=Pill("ok", text("Paid")) if order.is_paid else Pill("", text("Not paid")),
        placed_at=order.created_at,
        total=text(
            "{amount} {currency}",
            amount=format_decimal(order.total.amount, "0.00", page_language()),
            currency=order.total.currency,
        ),
    )
