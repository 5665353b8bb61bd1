"""Customers: the list, and a customer's page with sessions and orders."""

from flask import request
from werkzeug.wrappers import Response as BaseResponse

from app.console.exports import export_list
from app.console.lists import active_filters, query_params, requested_page, turns
from app.console.navigation import Entry, Heading, PageGroup
from app.console.page_layout import done, go, page, refused_page
from app.console.people.customer_pages import (
    COLUMNS,
    COUNT,
    SORTS,
    Viewer,
    customer_row,
    make_customer_page,
)
from app.console.people.directory import (
    CONVERTERS,
    NAMES,
    PersonForm,
    filter_words,
    form_of,
    people_order,
    requested_people,
)
from app.console.people.mails import newest_mails
from app.console.people.person_page import STATUSES, name_of, person_metadata_card
from app.console.people.sign_in_checks import make_sign_in_card
from app.console.session import actor, now, ports
from app.domain.accounts.directory import UserSort
from app.domain.authorization.grants import is_manageable
from app.domain.authorization.permissions import Permission
from app.domain.commerce.orders import OrderSummary
from app.domain.values.errors import PermissionDenied, Problem, Refused
from app.domain.values.ids import to_global_id
from app.domain.values.pages import PageRequest
from app.services.accounts.addresses import addresses_of_users
from app.services.authorization.register import may
from app.services.commerce.order_lists import list_newest_orders_of
from app.services.console.sign_in_diagnosis import SignInDiagnosis, diagnose_sign_in
from app.services.metadata.user_metadata import public_metadata_of_users
from app.services.operations.mail_log import list_mails
from app.services.people.customers import delete_customer, update_customer
from app.services.people.directory import list_customers, show_user
from app.services.people.user_sessions import Person
from app.web.translation import text, texts

_SORTS = {
    "newest": (UserSort.CREATED_AT, True),
    "email": (UserSort.EMAIL, False),
    "name": (UserSort.LAST_NAME, False),
}
_ORDERS = 10
_MISSING = Refused(Problem("NOT_FOUND", "This customer doesn't exist. It may have been removed."))

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
)


@blueprint.get("/")
def index() -> BaseResponse:
    """List customers; search results are sorted by match."""
    filter_ = requested_people(_SORTS)
    found = list_customers(ports(), actor(), requested_page(), filter_)
    return page(
        "customers/index.html",
        rows=[customer_row(user) for user in found.items],
        summary=COUNT.of(found.counts),
        statuses=texts(STATUSES),
        sorts=texts(SORTS),
        turns=turns(found, people_order(filter_)),
        params=query_params(*NAMES, "sort"),
        filters=active_filters(texts(NAMES), CONVERTERS, filter_words()),
    )


@blueprint.get("/export.csv")
def export() -> BaseResponse:
    """Export every matching customer, streamed while it is read."""
    filter_ = requested_people(_SORTS)
    return export_list(
        "customers", COLUMNS, lambda page: list_customers(ports(), actor(), page, filter_)
    )


@blueprint.get("/<key:key>")
def show(key: int) -> BaseResponse:
    """One customer; with ``ask`` the question before something is done to them."""
    person, diagnosis = _person(key)
    if person.user.is_staff:
        return go("console.staff.show", key=key)
    question_name = request.args.get("ask", "")
    return page("customers/show.html", **_values(person, question_name, diagnosis))


@blueprint.post("/<key:key>/details")
def save_details(key: int) -> BaseResponse:
    """Save name and email; a change of email is announced to the old one."""
    form = PersonForm()
    try:
        user = update_customer(ports(), actor(), to_global_id("User", key), form.details)
    except Refused as refused:
        form.refuse(refused)
        if form.form_errors:
            raise
        person, diagnosis = _person(key)
        values = {**_values(person, "", diagnosis), "form": form}
        return refused_page("customers/show.html", **values)
    message = text("Saved the details of {name}.", name=name_of(user))
    return done(message, "console.customers.show", key=key)


def _person(key: int) -> tuple[Person, SignInDiagnosis | None]:
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
        can_edit=may(actor(), delete_customer),
        is_manageable=is_manageable(actor(), user.permissions),
        sees_orders=may(actor(), list_newest_orders_of),
    )
    orders: tuple[OrderSummary, ...] = ()
    if viewer.sees_orders:
        orders = list_newest_orders_of(ports(), actor(), user.id, PageRequest(_ORDERS)).items
    if diagnosis is None:
        addresses = addresses_of_users(ports(), actor(), (user,))[user.id]
    else:
        addresses = diagnosis.addresses
    return {
        "user": user,
        "customer": make_customer_page(person, viewer, orders, addresses, question_name),
        "sign_in": diagnosis and make_sign_in_card(diagnosis, actor(), now()),
        "metadata": person_metadata_card(
            person,
            "console.customers.show",
            request.args,
            is_manageable=viewer.is_manageable,
        ),
        "form": form_of(person),
        "mails": newest_mails(user.id) if may(actor(), list_mails) else (),
    }
