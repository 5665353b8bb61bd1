"""Staff: the list, and a member's page with groups, permissions and sessions."""

from collections.abc import Mapping
from dataclasses import dataclass

from flask import flash, request
from werkzeug.wrappers import Response as BaseResponse

from app.console.lists import asked_page, tags, told, turns
from app.console.navigation import Entry, Heading, PageGroup
from app.console.page_layout import done, go, page, refused_page
from app.console.people import groups, invitations, permission_matrix
from app.console.people.account_actions import name_of
from app.console.people.directory import NAMES, WORDS, PersonForm, asked_people, form_of
from app.console.people.groups import every_group, group_chips, group_names
from app.console.session import actor, ports, require
from app.domain.accounts.directory import SignInMethod, UserSort
from app.domain.accounts.users import User
from app.domain.authorization.grants import is_manageable
from app.domain.authorization.permissions import Permission, in_order
from app.domain.values.errors import Refused, problem_text
from app.domain.values.ids import to_global_id
from app.services.console.sign_in_methods import sign_in_methods_of_staff
from app.services.people.directory import list_staff
from app.services.people.staff import StaffChanges, update_staff
from app.services.people.user_sessions import Person, show_person
from app.web.converters import row_key

_NAMES = {**NAMES, "group": "Group", "by": "Signs in by"}
_WAYS: Mapping[str, str] = {
    SignInMethod.PASSWORD: "Password",
    SignInMethod.SINGLE_SIGN_ON: "Single sign-on",
    SignInMethod.BOTH: "Both",
    SignInMethod.NEITHER: "Neither",
    SignInMethod.NO_SIGN_ON: "No single sign-on in use",
}
_SORTS = {
    "oldest": (UserSort.CREATED_AT, False),
    "newest": (UserSort.CREATED_AT, True),
    "email": (UserSort.EMAIL, False),
    "name": (UserSort.LAST_NAME, False),
}
_ASKED = ("deactivate", "remove", "sign-out", "link")

blueprint = PageGroup(
    "staff",
    __name__,
    Entry(
        "Staff and groups",
        "person-badge",
        "people permissions invite members matrix",
        Heading.PEOPLE,
    ),
    url_prefix="/staff",
)
for part in (groups, invitations, permission_matrix):
    blueprint.register_blueprint(part.blueprint)


@dataclass(frozen=True, slots=True)
class HeldPermission:
    """A user's permission, and the names of the groups that give it."""

    permission: Permission
    groups: tuple[str, ...]


@blueprint.get("/")
def index() -> BaseResponse:
    """List the staff with their sign-in methods."""
    group_id = request.args.get("group", type=row_key)
    way = request.args.get("by", type=SignInMethod)
    wanted = asked_people(_SORTS, group_id=group_id, signs_in_by=way)
    found = list_staff(ports(), actor(), asked_page(), wanted)
    ids = [user.id for user in found.items]
    names = group_names(group_id)
    return page(
        "staff/index.html",
        found=found,
        ways=sign_in_methods_of_staff(ports(), actor(), ids),
        turns=turns(found, "Before", "More"),
        told=told(*_NAMES, "sort"),
        tags=tags(_NAMES, {**WORDS, "by": _WAYS, "group": names}),
        groups=names,
        sign_in_ways=_WAYS,
    )


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
    return done(f"The details of {name_of(user)} were saved.", "console.staff.show", key=key)


@blueprint.post("/<key:key>/groups")
def save_groups(key: int) -> BaseResponse:
    """Other groups: what was ticked since the page was shown, and what was not any more."""
    had, ticked = (frozenset(request.form.getlist(name)) for name in ("had", "groups"))
    changes = StaffChanges(add_groups=tuple(ticked - had), remove_groups=tuple(had - ticked))
    try:
        user = update_staff(ports(), actor(), to_global_id("User", key), changes)
    except Refused as refused:
        reasons = " ".join(problem_text(problem) for problem in refused.problems)
        flash(f"{reasons} Nothing was changed.", "bad")
        return go("console.staff.show", key=key)
    names = ", ".join(group.name for group in user.groups) or "no group"
    return done(f"{name_of(user)} is in: {names}.", "console.staff.show", key=key)


def _values(person: Person, asked: str = "") -> dict[str, object]:
    user = person.user
    beyond = user.permissions - actor().permissions
    members = frozenset(group.id for group in user.groups)
    return {
        "user": user,
        "name": name_of(user),
        "sessions": person.sessions,
        "session_count": person.session_count,
        "is_self": user.id == actor().user_id,
        "in_reach": is_manageable(actor(), user.permissions),
        "beyond": [one.label for one in in_order(beyond)],
        "groups": group_chips(every_group(), members),
        "permissions": _held(user),
        "ways": sign_in_methods_of_staff(ports(), actor(), [user.id]).get(user.id),
        "asked": asked if asked in _ASKED else "",
        "form": form_of(user),
    }


def _held(user: User) -> tuple[HeldPermission, ...]:
    return tuple(
        HeldPermission(one, tuple(group.name for group in user.groups if one in group.permissions))
        for one in in_order(user.permissions)
    )
