"""What the lists of staff and of customers share: how they are asked for, and a person's form."""

from collections.abc import Callable, Mapping

from flask import request
from wtforms import EmailField, Field, StringField, TextAreaField

from app.console.forms import ConsoleForm
from app.console.lists import ListOrder
from app.console.people.person_page import STATUSES
from app.domain.accounts.directory import SignInMethod, UserFilter, UserSort
from app.domain.values.text import translatable
from app.domain.values.unset import ABSENT, Absent
from app.services.people.user_details import Details
from app.services.people.user_sessions import Person
from app.web.converters import one_of
from app.web.translation import lazy_text, texts

NAMES = {"q": translatable("Name, email or address"), "status": translatable("Status")}
"""What both lists are narrowed by."""

CONVERTERS: Mapping[str, Callable[[str], object]] = {"status": one_of(STATUSES)}
"""The filters whose values can be invalid."""

_STATUS = {"active": True, "inactive": False}


class PersonForm(ConsoleForm):
    """The details of an account."""

    first_name = StringField(lazy_text("First name"))
    last_name = StringField(lazy_text("Last name"))
    email = EmailField(lazy_text("Email"))
    external_reference = StringField(lazy_text("External reference"))
    note = TextAreaField(lazy_text("Note"))

    @property
    def details(self) -> Details:
        """What was typed."""
        return Details(
            first_name=self.first_name.data or "",
            last_name=self.last_name.data or "",
            email=self.email.data or "",
            external_reference=_sent(self.external_reference),
            note=_sent(self.note),
        )


def _sent(field: Field) -> str | Absent:
    """Return what was typed, with line breaks as they are stored; ``ABSENT`` without the field."""
    return ABSENT if field.data is None else str(field.data).replace("\r\n", "\n")


def form_of(person: Person) -> PersonForm:
    """Return the form with the current values."""
    user = person.user
    return PersonForm(
        formdata=None,
        first_name=user.first_name,
        last_name=user.last_name,
        email=user.email,
        external_reference=person.external_reference,
        note=person.note,
    )


def requested_people(
    sorts: Mapping[str, tuple[UserSort, bool]],
    *,
    group_id: int | None = None,
    signs_in_by: SignInMethod | None = None,
) -> UserFilter:
    """Return the filter in the URL; ``sorts`` are the sort orders by name, the default first.

    Search results are ordered by the word that matched.
    """
    search = request.args.get("q", "").strip()
    sort, descending = sorts[request.args.get("sort", next(iter(sorts)), type=one_of(sorts))]
    return UserFilter(
        search=search,
        is_active=_STATUS.get(request.args.get("status", "")),
        group_id=group_id,
        signs_in_by=signs_in_by,
        sort=None if search else sort,
        descending=descending and not search,
    )


def filter_words() -> dict[str, dict[str, str]]:
    """Return what the values of those filters are called."""
    return {"status": texts(STATUSES)}


def people_order(filter_: UserFilter) -> ListOrder:
    """Return what a list with that filter is sorted by, as far as its pager tells."""
    if filter_.sort is not UserSort.CREATED_AT:
        return ListOrder.OTHER
    return ListOrder.NEWEST_FIRST if filter_.descending else ListOrder.OLDEST_FIRST
