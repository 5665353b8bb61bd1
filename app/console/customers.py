"""Customers: found among however many, and one's page with sessions and orders."""

from flask import Blueprint, request
from werkzeug.wrappers import Response as BaseResponse
from wtforms import EmailField, StringField

from app.console.forms import ConsoleForm
from app.console.frame import done, go, page, refused_page
from app.console.lists import asked_page, tags, told, turns
from app.console.people import name_of
from app.console.session import actor, ports
from app.domain.directory import UserFilter, UserSort
from app.domain.errors import PermissionDenied, Problem, Refused
from app.domain.grants import is_within_reach
from app.domain.ids import to_global_id
from app.domain.pages import PageRequest
from app.domain.permissions import Permission
from app.domain.users import User
from app.services.access import may
from app.services.customers import delete_customer, update_customer
from app.services.details import Details
from app.services.directory import list_customers, show_user
from app.services.order_lists import list_newest_orders_of
from app.services.user_sessions import Person, show_person

_NAMES = {"q": "Name or email", "status": "Status", "sort": "Sorted by"}
_STATUS = {"active": True, "inactive": False}
_SORTS = {
    "newest": (UserSort.CREATED_AT, True),
    "email": (UserSort.EMAIL, False),
    "name": (UserSort.LAST_NAME, False),
}
_ORDERS = 10
_ASKED = ("deactivate", "remove", "sign-out", "link")
_NOBODY = Refused(Problem("NOT_FOUND", "There is no such customer. They may have been removed."))

blueprint = Blueprint("customers", __name__, url_prefix="/customers")


class CustomerForm(ConsoleForm):
    """A customer's details."""

    first_name = StringField("First name")
    last_name = StringField("Last name")
    email = EmailField("Email")


@blueprint.get("/")
def index() -> BaseResponse:
    """Customers; a search goes by the beginnings of words and needs no sorting."""
    search = request.args.get("q", "").strip()
    sort, descending = _SORTS.get(request.args.get("sort", ""), _SORTS["newest"])
    wanted = UserFilter(
        search=search,
        is_active=_STATUS.get(request.args.get("status", "")),
        sort=None if search else sort,
        descending=descending and not search,
    )
    found = list_customers(ports(), actor(), asked_page(), wanted)
    return page(
        "customers/index.html",
        found=found,
        turns=turns(found, "Before", "More"),
        told=told(*_NAMES),
        tags=tags({name: _NAMES[name] for name in ("q", "status")}),
    )


@blueprint.get("/<int:key>")
def show(key: int) -> BaseResponse:
    """One customer; with ``ask`` the question before something is done to them."""
    person = _person(key)
    if person.user.is_staff:
        return go("console.staff.show", key=key)
    return page("customers/show.html", **_values(person, request.args.get("ask", "")))


@blueprint.post("/<int:key>/details")
def save_details(key: int) -> BaseResponse:
    """Another name or address; told to them at the old one."""
    form = CustomerForm()
    given = Details(
        first_name=form.first_name.data or "",
        last_name=form.last_name.data or "",
        email=form.email.data or "",
    )
    try:
        user = update_customer(ports(), actor(), to_global_id("User", key), given)
    except Refused as refused:
        form.refuse(refused)
        if form.form_errors:
            raise
        return refused_page("customers/show.html", **{**_values(_person(key)), "form": form})
    return done(f"The details of {name_of(user)} were saved.", "console.customers.show", key=key)


def _person(key: int) -> Person:
    """The customer; without their sessions for whoever manages orders alone."""
    if actor().holds(Permission.MANAGE_USERS):
        return show_person(ports(), actor(), key)
    if not actor().holds(Permission.MANAGE_ORDERS):
        raise PermissionDenied(Permission.MANAGE_USERS)
    user = show_user(ports(), actor(), user_id=to_global_id("User", key))
    if user is None:
        raise _NOBODY
    return Person(user, ())


def _values(person: Person, asked: str = "") -> dict[str, object]:
    user = person.user
    sees_orders = may(actor(), list_newest_orders_of)
    newest = PageRequest(_ORDERS)
    return {
        "user": user,
        "name": name_of(user),
        "sessions": person.sessions,
        "manages": may(actor(), delete_customer),
        "in_reach": is_within_reach(actor(), user.permissions),
        "asked": asked if asked in _ASKED else "",
        "form": _form(user),
        "sees_orders": sees_orders,
        "orders": list_newest_orders_of(ports(), actor(), user.id, newest).items
        if sees_orders
        else (),
    }


def _form(user: User) -> CustomerForm:
    return CustomerForm(
        formdata=None, first_name=user.first_name, last_name=user.last_name, email=user.email
    )
