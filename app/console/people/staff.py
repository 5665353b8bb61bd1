"""Staff: the list, and a member's page with groups, permissions and sessions."""

from flask import request
from werkzeug.wrappers import Response as BaseResponse

from app.console.creations import CreatingForm, shown_once
from app.console.exports import export_list
from app.console.lists import active_filters, query_params, requested_page, turns
from app.console.navigation import Entry, Heading, PageGroup
from app.console.page_layout import done, go, not_done, page, refused_page
from app.console.people import groups, invitations, permission_matrix
from app.console.people.directory import (
    CONVERTERS,
    NAMES,
    PersonForm,
    filter_words,
    form_of,
    people_order,
    requested_people,
)
from app.console.people.group_pages import group_choice
from app.console.people.groups import every_group, group_names
from app.console.people.mails import newest_mails
from app.console.people.person_page import STATUSES, name_of, person_metadata_card
from app.console.people.staff_pages import (
    COLUMNS,
    COUNT,
    SIGN_IN_METHODS,
    SORTS,
    make_staff_page,
    staff_row,
)
from app.console.session import actor, ports, require
from app.domain.accounts.directory import SignInMethod, UserFilter, UserSort
from app.domain.authorization.grants import is_manageable
from app.domain.authorization.permissions import Permission, known
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.domain.values.text import translatable
from app.services.console.sign_in_methods import sign_in_methods_of_staff
from app.services.people.directory import list_staff
from app.services.people.staff import StaffChanges, update_staff
from app.services.people.user_sessions import Person, show_person
from app.web.converters import row_key
from app.web.translation import enumeration, text, texts

_NAMES = {**NAMES, "group": translatable("Group"), "by": translatable("Signs in with")}
_CONVERTERS = {**CONVERTERS, "group": row_key, "by": SignInMethod}
_SORTS = {
    "oldest": (UserSort.CREATED_AT, False),
    "newest": (UserSort.CREATED_AT, True),
    "email": (UserSort.EMAIL, False),
    "name": (UserSort.LAST_NAME, False),
}

blueprint = PageGroup(
    "staff",
    __name__,
    Entry(
        "Staff and groups",
        "person-badge",
        "people permissions invite members matrix team users employees",
        Heading.PEOPLE,
        needs=list_staff,
    ),
    url_prefix="/staff",
)
for part in (groups, invitations, permission_matrix):
    blueprint.register_blueprint(part.blueprint)


@blueprint.get("/")
def index() -> BaseResponse:
    """List the staff with their sign-in methods."""
    filter_ = _filter()
    found = list_staff(ports(), actor(), requested_page(), filter_)
    methods = sign_in_methods_of_staff(ports(), actor(), [user.id for user in found.items])
    names, by = group_names(filter_.group_id), texts(SIGN_IN_METHODS)
    return page(
        "staff/index.html",
        rows=[staff_row(user, methods.get(user.id), actor().user_id) for user in found.items],
        summary=COUNT.of(found.counts),
        turns=turns(found, people_order(filter_)),
        params=query_params(*_NAMES, "sort"),
        filters=active_filters(
            texts(_NAMES), _CONVERTERS, {**filter_words(), "by": by, "group": names}
        ),
        statuses=texts(STATUSES),
        groups=names,
        methods=by,
        sorts=texts(SORTS),
    )


@blueprint.get("/export.csv")
def export() -> BaseResponse:
    """Export every matching member of the staff, streamed while it is read."""
    filter_ = _filter()
    return export_list("staff", COLUMNS, lambda page: list_staff(ports(), actor(), page, filter_))


@blueprint.get("/<key:key>")
def show(key: int) -> BaseResponse:
    """One of the staff; with ``ask`` the question before something is done to them."""
    require(Permission.MANAGE_STAFF)
    person = show_person(ports(), actor(), key)
    if not person.user.is_staff:
        return go("console.customers.show", key=key)
    return page("staff/show.html", **_values(person, request.args.get("ask", "")))


@blueprint.post("/<key:key>/details")
def save_details(key: int) -> BaseResponse:
    """Save name and email; a change of email is announced to the old one."""
    form = PersonForm()
    changes = StaffChanges(details=form.details)
    try:
        user = update_staff(ports(), actor(), to_global_id("User", key), changes)
    except Refused as refused:
        form.refuse(refused)
        if form.form_errors:
            raise
        person = show_person(ports(), actor(), key)
        return refused_page("staff/show.html", **{**_values(person), "form": form})
    message = text("Saved the details of {name}.", name=name_of(user))
    return done(message, "console.staff.show", key=key)


@blueprint.post("/<key:key>/groups")
def save_groups(key: int) -> BaseResponse:
    """Other groups: what was ticked since the page was shown, and what was not any more."""
    had, ticked = (frozenset(request.form.getlist(name)) for name in ("had", "groups"))
    changes = StaffChanges(add_groups=tuple(ticked - had), remove_groups=tuple(had - ticked))
    try:
        user = update_staff(ports(), actor(), to_global_id("User", key), changes)
    except Refused as refused:
        return not_done(refused, "console.staff.show", key=key)
    message = text("{name} isn't in any group now.", name=name_of(user))
    if user.groups:
        names = enumeration(group.name for group in user.groups)
        message = text("Groups of {name}: {groups}.", name=name_of(user), groups=names)
    return done(message, "console.staff.show", key=key)


@blueprint.post("/<key:key>/permissions")
def save_permissions(key: int) -> BaseResponse:
    """Remove the direct permissions that were unticked since the page was shown."""
    had, ticked = (known(request.form.getlist(name)) for name in ("had", "permissions"))
    changes = StaffChanges(remove_permissions=had - ticked)
    try:
        user = update_staff(ports(), actor(), to_global_id("User", key), changes)
    except Refused as refused:
        return not_done(refused, "console.staff.show", key=key)
    message = text("Saved the direct permissions of {name}.", name=name_of(user))
    return done(message, "console.staff.show", key=key)


def _filter() -> UserFilter:
    return requested_people(
        _SORTS,
        group_id=request.args.get("group", type=row_key),
        signs_in_by=request.args.get("by", type=SignInMethod),
    )


def _values(person: Person, question_name: str = "") -> dict[str, object]:
    user = person.user
    groups = group_choice(
        every_group(),
        frozenset(group.id for group in user.groups),
        actor(),
        is_editable=is_manageable(actor(), user.permissions),
    )
    methods = sign_in_methods_of_staff(ports(), actor(), [user.id]).get(user.id)
    return {
        "user": user,
        "member": make_staff_page(person, actor(), groups, methods, question_name),
        "metadata": person_metadata_card(
            person,
            "console.staff.show",
            request.args,
            is_manageable=is_manageable(actor(), user.permissions),
        ),
        "form": form_of(person),
        "link_form": CreatingForm(formdata=None),
        "link": shown_once(),
        "mails": newest_mails(user.id),
    }
