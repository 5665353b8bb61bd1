"""What the pages of customers say, without HTTP."""

from dataclasses import replace
from decimal import Decimal

from app.console.frame.parts import Pill
from app.console.people.customers import (
    AddressRow,
    OrderRow,
    Viewer,
    customer_status,
    make_customer_page,
)
from app.domain.accounts.addresses import Address
from app.domain.accounts.users import User
from app.domain.commerce.money import Money
from app.domain.commerce.sales import OrderStatus, OrderSummary
from app.services.people.user_status import Person
from tests.console.example_people import ADA, NOW
from tests.fixtures.cases import cases

EDITOR = Viewer(can_edit=True, is_manageable=True, sees_orders=True)
ORDER = OrderSummary(
    id=1988,
    status=OrderStatus.UNFULFILLED,
    is_paid=True,
    user_id=1,
    channel_id=1,
    user_email=ADA.email,
    total=Money(Decimal("9.50")),
    created_at=NOW,
    updated_at=NOW,
)


@cases(
    ("user", "status"),
    [
        (ADA, Pill("ok", "Active")),
        (replace(ADA, is_confirmed=False), Pill("", "Not confirmed")),
        (replace(ADA, is_confirmed=False, is_active=False), Pill("off", "Deactivated")),
    ],
)
def test_row_shows_one_status(user: User, status: Pill) -> None:
    assert customer_status(user) == status


def test_page_shows_that_the_email_is_not_confirmed() -> None:
    page = make_customer_page(Person(replace(ADA, is_confirmed=False)), EDITOR)
    assert page.pills == (Pill("ok", "Active"), Pill("warn", "Email not confirmed"))
    assert page.email_status == "Not confirmed"
    assert make_customer_page(Person(ADA), EDITOR).pills == (Pill("ok", "Active"),)


def test_orders_are_in_words() -> None:
    orders = [ORDER, replace(ORDER, status=OrderStatus.CANCELED, is_paid=False)]
    page = make_customer_page(Person(ADA), EDITOR, orders)
    currency = ORDER.total.currency
    assert page.orders == (
        OrderRow("#1988", "Unfulfilled", Pill("ok", "Paid"), NOW, f"9.50 {currency}"),
        OrderRow("#1988", "Canceled", Pill("", "Not paid"), NOW, f"9.50 {currency}"),
    )


def test_every_status_of_an_order_has_a_word() -> None:
    orders = [replace(ORDER, status=status) for status in OrderStatus]
    page = make_customer_page(Person(ADA), EDITOR, orders)
    assert page.orders is not None
    assert all(order.status.istitle() for order in page.orders)


@cases(
    ("viewer", "can_act"),
    [
        (EDITOR, True),
        (replace(EDITOR, is_manageable=False), False),
        (replace(EDITOR, can_edit=False), False),
        (replace(EDITOR, sees_orders=False), True),
    ],
)
def test_dialogs_are_for_those_who_can_act(viewer: Viewer, *, can_act: bool) -> None:
    page = make_customer_page(Person(ADA), viewer, question_name="remove")
    assert (page.dialog is not None) is can_act
    assert page.can_end_sessions is can_act
    assert (page.orders is None) is not viewer.sees_orders


HOME = Address(
    id=1,
    user_id=1,
    first_name="Ada",
    last_name="King",
    street_address_1="1 St James's Square",
    city="LONDON",
    postal_code="SW1Y 4JH",
    country="GB",
)


def test_default_addresses_come_first_and_say_so() -> None:
    default = replace(
        HOME,
        first_name="",
        last_name="",
        company_name="Engines",
        is_default_shipping_address=True,
        is_default_billing_address=True,
    )
    page = make_customer_page(Person(ADA), EDITOR, addresses=[HOME, default])
    where = "1 St James's Square, LONDON, SW1Y 4JH, United Kingdom"
    pills = (Pill("info", "Default shipping"), Pill("info", "Default billing"))
    assert page.addresses.rows == (
        AddressRow("Engines", where, pills),
        AddressRow("Ada King", where, ()),
    )
    assert page.addresses.note == ""


def test_page_says_that_it_shows_only_some_addresses() -> None:
    page = make_customer_page(Person(ADA), EDITOR, addresses=[HOME] * 6)
    assert (len(page.addresses.rows), page.addresses.note) == (5, "Only 5 addresses are shown.")
