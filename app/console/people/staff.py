"""Staff: the list, invitations, the permission matrix, and a member's page."""

from dataclasses import dataclass, replace

from flask import request
from werkzeug.wrappers import Response as BaseResponse
from wtforms import EmailField, SelectMultipleField, StringField
from wtforms.validators import InputRequired

from app.console.frame import page_layout
from app.console.frame.forms import EditForm
from app.console.frame.navigation import Entry, Heading, PageGroup
from app.console.frame.parts import make_tabs
from app.console.frame.permissions import PermissionsField
from app.console.frame.session import actor, ports, require
from app.console.frame.submissions import Created, CreatingForm, create_once, shown_once
from app.console.lists import list_page
from app.console.lists.filters import choice
from app.console.people import groups, person_page
from app.console.people.account_actions import proof_before
from app.console.people.groups import GroupChoice, every_group, group_choice, group_names
from app.console.people.mails import newest_mails
from app.console.people.staff_pages import SIGN_IN_METHODS, make_staff_page, staff_columns
from app.domain.accounts.search import SignInMethod, UserFilter
from app.domain.accounts.users import User
from app.domain.authorization.actor import is_manageable
from app.domain.authorization.permissions import (
    ALL_PERMISSIONS,
    Permission,
    in_order,
    known_permissions,
)
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.domain.values.pages import Page
from app.domain.values.text import translatable
from app.services.console.sign_in_methods import sign_in_methods_of_staff
from app.services.oauth.consents import list_programs_of_user
from app.services.people.directory import list_staff
from app.services.people.groups import list_groups
from app.services.people.staff import NewStaff, StaffChanges, create_staff, update_staff
from app.services.people.user_status import Person, show_person
from app.services.people.users import create_invitation_link, resend_invitation
from app.web.converters import row_key
from app.web.translation import enumeration, lazy_text, text

PEOPLE_COUNT = list_page.RowCount(
    none="No people",
    no_match="No matching people",
    one="1 person",
    many="{count} people",
    some="{matching} of {total} people",
)

MATRIX_COLUMNS = 6
"""Columns that fit on a page."""

matrix_blueprint = PageGroup(
    "permission_matrix",
    __name__,
    Entry("Permission matrix", "person-badge", "who may what", needs=list_groups),
    url_prefix="/matrix",
)


@dataclass(frozen=True, slots=True)
class MatrixColumn:
    id: int
    name: str
    permissions: frozenset[Permission]


@matrix_blueprint.get("/", endpoint="index")
def show_matrix() -> BaseResponse:
    """Permissions against groups, or against people (``by=people``)."""
    by_people = request.args.get("by") == "people"
    columns, found, count = _people_columns() if by_people else _group_columns()
    return page_layout.page(
        "staff/matrix.html",
        by_people=by_people,
        columns=columns,
        permissions=in_order(ALL_PERMISSIONS),
        held=actor().permissions,
        summary=count.sentence(found.counts),
        turns=list_page.pager_links(found),
    )


def _people_columns() -> tuple[list[MatrixColumn], Page[object], list_page.RowCount]:
    found = list_staff(ports(), actor(), list_page.requested_page(MATRIX_COLUMNS))
    return (
        [
            MatrixColumn(person.id, person_page.name_of(person), person.permissions)
            for person in found.items
        ],
        found,
        PEOPLE_COUNT,
    )


def _group_columns() -> tuple[list[MatrixColumn], Page[object], list_page.RowCount]:
    found = list_groups(ports(), actor(), list_page.requested_page(MATRIX_COLUMNS))
    return (
        [MatrixColumn(group.id, group.name, group.permissions) for group in found.items],
        found,
        groups.GROUPS.count,
    )


invitations_blueprint = PageGroup(
    "invitations",
    __name__,
    Entry("Invite staff member", "envelope", "new staff add person someone", needs=create_staff),
    url_prefix="/invite",
)


class InvitationForm(CreatingForm):
    email = EmailField(
        lazy_text("Email"), validators=[InputRequired(lazy_text("Enter an email."))]
    )
    first_name = StringField(lazy_text("First name"))
    last_name = StringField(lazy_text("Last name"))


@invitations_blueprint.route("/", methods=["GET", "POST"], endpoint="index")
def invite() -> BaseResponse:
    """Show the form; add the user and mail a link to choose a password."""
    require(Permission.MANAGE_STAFF)
    form = InvitationForm()
    ticked = tuple(request.form.getlist("groups"))
    if form.validate_on_submit():
        with form.catching_refusals():
            return create_once(form, lambda: _invite(form, ticked))
    groups = every_group()
    chosen = [group.id for group in groups if to_global_id("Group", group.id) in ticked]
    return page_layout.form_page(
        "staff/invite.html", form, groups=group_choice(groups, chosen, actor())
    )


@invitations_blueprint.post("/<key:key>/resend")
def resend(key: int) -> BaseResponse:
    try:
        resend_invitation(ports(), actor(), key, page_layout.set_password_url())
    except Refused as refused:
        return page_layout.redirect_with_error(refused, "console.staff.show", key=key)
    return page_layout.redirect_with_success(
        page_layout.mail_message(
            translatable("Invitation sent again. Earlier links stopped working."),
            translatable(
                "No mail server is set up. The invitation was written to a file on the server. "
                "Earlier links stopped working. Create an invitation link to copy."
            ),
        ),
        "console.staff.show",
        key=key,
    )


@invitations_blueprint.post("/<key:key>/link")
def make_link(key: int) -> BaseResponse:
    """Create a link to copy, which the person's page shows once."""
    try:
        return create_once(CreatingForm(), lambda: _create_link(key))
    except Refused as refused:
        return page_layout.redirect_with_error(refused, "console.staff.show", key=key)


def _invite(form: InvitationForm, groups: tuple[str, ...]) -> Created:
    new = NewStaff(
        form.email.data,
        form.first_name.data or "",
        form.last_name.data or "",
        groups=groups,
        redirect_url=page_layout.set_password_url(),
    )
    user = create_staff(ports(), actor(), new)
    message = page_layout.mail_message(
        translatable("Invitation sent to {email}."),
        translatable(
            "No mail server is set up. The invitation for {email} was written to a file on the "
            "server. Create an invitation link to copy."
        ),
        email=user.email,
    )
    return Created(message, "console.staff.show", {"key": user.id})


def _create_link(key: int) -> Created:
    link = create_invitation_link(ports(), actor(), key, page_layout.set_password_url())
    message = text("Invitation link created. Earlier links stopped working.")
    return Created(message, "console.staff.show", {"key": key}, link)


STAFF = list_page.ListPage[User](
    template="staff/index.html",
    title="Staff and groups",
    intro="People who run your shop. Groups give them permissions.",
    label="People",
    filter_label="Filter people",
    caption="Staff",
    count=PEOPLE_COUNT,
    read=list_page.reader(list_staff, UserFilter),
    filters=(
        *person_page.PEOPLE_FILTERS,
        choice("group", "Group", {}, row_key, argument="group_id"),
        choice("by", "Signs in with", SIGN_IN_METHODS, SignInMethod, argument="signs_in_by"),
    ),
    sorts=(person_page.OLDEST_PEOPLE, person_page.NEWEST_PEOPLE, *person_page.PEOPLE_BY_NAME),
    sorts_matches=True,
    file="staff",
    file_columns={
        "id": lambda user: to_global_id("User", user.id),
        "email": lambda user: user.email,
        "first_name": lambda user: user.first_name,
        "last_name": lambda user: user.last_name,
        "active": lambda user: user.is_active,
        "confirmed": lambda user: user.is_confirmed,
        "groups": lambda user: ", ".join(group.name for group in user.groups),
        "permissions": lambda user: ", ".join(one.value for one in in_order(user.permissions)),
        "joined_at": lambda user: user.date_joined,
        "last_sign_in_at": lambda user: user.last_login,
    },
    hint="Try another name, email or address, or remove a filter.",
    empty=list_page.EmptyState("people", "No people", ""),
)

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
    list_name="staff",
)
for part in (groups.blueprint, invitations_blueprint, matrix_blueprint):
    blueprint.register_blueprint(part)


_PAGE = "console.staff.show"


class GroupsForm(EditForm):
    """The groups of a staff member, by global id."""

    groups = SelectMultipleField(lazy_text("Groups"), validate_choice=False)


class DirectForm(EditForm):
    """The permissions that a staff member holds directly."""

    permissions = PermissionsField()


@blueprint.get("/")
def index() -> BaseResponse:
    """List the staff with their sign-in methods."""
    requested = STAFF.requested()
    found = STAFF.load_page(requested)
    methods = sign_in_methods_of_staff(ports(), actor(), [user.id for user in found.items])
    return STAFF.show(
        found,
        columns=staff_columns(methods, actor().user_id),
        words={"group": group_names(requested.values.get("group_id"))},
    )


blueprint.add_url_rule("/export.csv", "export", STAFF.export)


@blueprint.get("/<key:key>")
def show(key: int) -> BaseResponse:
    """One of the staff; with ``ask`` the question before something is done to them."""
    require(Permission.MANAGE_STAFF)
    person = show_person(ports(), actor(), key)
    if not person.user.is_staff:
        return page_layout.redirect_to("console.customers.show", key=key)
    question_name = request.args.get("ask", "")
    proof = proof_before(question_name, person.user)
    return proof or page_layout.page("staff/show.html", **_values(person, question_name))


@blueprint.post("/<key:key>/details")
def save_details(key: int) -> BaseResponse:
    """Save name and email; a change of email is announced to the old one."""
    person = show_person(ports(), actor(), key)
    stored = person_page.details_of(person)
    form = person_page.PersonForm.from_request(
        stored, person_page.edited_person(person.user, _PAGE)
    )
    if form.validate():
        changes = StaffChanges(details=replace(form.details, seen=stored))
        try:
            user = update_staff(ports(), actor(), to_global_id("User", key), changes)
        except Refused as refused:
            form.refuse(refused)
            if form.form_errors:
                raise
        else:
            message = text("Saved the details of {name}.", name=person_page.name_of(user))
            return page_layout.redirect_with_success(message, "console.staff.show", key=key)
    return page_layout.refused_page("staff/show.html", **{**_values(person), "form": form})


@blueprint.post("/<key:key>/groups")
def save_groups(key: int) -> BaseResponse:
    """Add the groups that were ticked since the page was shown, and remove the others."""
    person = show_person(ports(), actor(), key)
    choice = _choice_of(person)
    offered = {"groups": [(chip.id, chip.name) for chip in choice.chips]}
    form = GroupsForm.from_request(
        _chosen(choice), person_page.edited_person(person.user, _PAGE), offered
    )
    had, chosen = frozenset(_chosen(choice)["groups"]), frozenset(form.groups.data)
    if not form.validate():
        chips = tuple(replace(chip, is_chosen=chip.id in chosen) for chip in choice.chips)
        values = _values(person, choice=replace(choice, chips=chips))
        return page_layout.refused_page("staff/show.html", **values)
    changes = StaffChanges(add_groups=tuple(chosen - had), remove_groups=tuple(had - chosen))
    try:
        user = update_staff(ports(), actor(), to_global_id("User", key), changes)
    except Refused as refused:
        return page_layout.redirect_with_error(refused, "console.staff.show", key=key)
    message = text("{name} isn't in any group now.", name=person_page.name_of(user))
    if user.groups:
        names = enumeration(group.name for group in user.groups)
        message = text("Groups of {name}: {groups}.", name=person_page.name_of(user), groups=names)
    return page_layout.redirect_with_success(message, "console.staff.show", key=key)


@blueprint.post("/<key:key>/permissions")
def save_permissions(key: int) -> BaseResponse:
    """Remove the direct permissions that were unticked since the page was shown."""
    person = show_person(ports(), actor(), key)
    form = DirectForm.from_request(_direct(person), person_page.edited_person(person.user, _PAGE))
    had = known_permissions(_direct(person)["permissions"])
    changes = StaffChanges(remove_permissions=had - form.permissions.chosen)
    try:
        user = update_staff(ports(), actor(), to_global_id("User", key), changes)
    except Refused as refused:
        return page_layout.redirect_with_error(refused, "console.staff.show", key=key)
    message = text("Saved the direct permissions of {name}.", name=person_page.name_of(user))
    return page_layout.redirect_with_success(message, "console.staff.show", key=key)


def _choice_of(person: Person) -> GroupChoice:
    return group_choice(
        every_group(),
        frozenset(group.id for group in person.user.groups),
        actor(),
        is_editable=is_manageable(actor(), person.user.permissions),
    )


def _chosen(choice: GroupChoice) -> dict[str, list[str]]:
    """Return the groups that can be left, of those that are shown."""
    return {"groups": [chip.id for chip in choice.chips if chip.is_chosen and chip.is_editable]}


def _direct(person: Person) -> dict[str, list[str]]:
    return {"permissions": sorted(one.value for one in person.direct_permissions)}


def _values(
    person: Person, question_name: str = "", choice: GroupChoice | None = None
) -> dict[str, object]:
    user = person.user
    view = (
        person_page.asked_view(person_page.STAFF_VIEWS, question_name)
        if choice is None
        else "permissions"
    )
    counts = {"permissions": len(user.permissions)}
    stored_choice = _choice_of(person)
    groups = choice or stored_choice
    methods = sign_in_methods_of_staff(ports(), actor(), [user.id]).get(user.id)
    return {
        "view": view,
        "tabs": make_tabs(person_page.STAFF_VIEWS, view, counts, _PAGE, key=user.id),
        "user": user,
        "member": make_staff_page(person, actor(), groups, methods, question_name),
        "factors": person_page.factor_rows(user) if view == "sessions" else (),
        "programs": list_programs_of_user(ports(), actor(), user) if view == "account" else (),
        "metadata": person_page.person_metadata_card(
            person,
            "console.staff.show",
            request.args,
            is_manageable=is_manageable(actor(), user.permissions),
        ),
        "form": person_page.PersonForm.showing(person_page.details_of(person)),
        "groups_form": GroupsForm.showing(_chosen(stored_choice)),
        "direct_form": DirectForm.showing(_direct(person)),
        "link_form": CreatingForm(formdata=None),
        "link": shown_once(),
        "mails": newest_mails(user.id),
    }
