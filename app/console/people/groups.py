"""Groups: what their members may do, who is in them; made, changed, deleted."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from flask import request, url_for
from markupsafe import Markup, escape
from werkzeug.wrappers import Response as BaseResponse
from wtforms import BooleanField, EmailField, SelectMultipleField, StringField
from wtforms.validators import InputRequired

from app.console.frame.formatting import amount, html_text
from app.console.frame.forms import ConsoleForm, EditedThing, EditForm
from app.console.frame.navigation import Entry, PageGroup
from app.console.frame.page_layout import (
    form_page,
    page,
    redirect_with_error,
    redirect_with_success,
    refused_page,
)
from app.console.frame.parts import Consequence, Question, icon, link, small
from app.console.frame.permissions import PermissionsField, chips
from app.console.frame.session import actor, ports, require
from app.console.frame.submissions import Created, CreatingForm, create_once
from app.console.lists import list_page
from app.console.lists.filters import Sort, search
from app.console.people.person_page import email_below_name, name_of
from app.domain.accounts.search import UserFilter
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor, is_manageable, manage_problem
from app.domain.authorization.permissions import Permission, PermissionGroup, in_order
from app.domain.values.errors import Problem, Refused
from app.domain.values.ids import to_global_id
from app.domain.values.pages import MAX_PAGE_SIZE, PageRequest
from app.services.commerce.channels import list_channels
from app.services.people.directory import find_user, list_staff
from app.services.people.groups import (
    GroupChanges,
    GroupFilter,
    NewGroup,
    create_group,
    delete_group,
    group_facts,
    list_groups,
    show_group,
    update_group,
)
from app.web.translation import lazy_text, problem_text, text

_LABELS = 4
"""Permissions that a row of the list names."""

_BOLD = Markup("<b>{}</b>")


@dataclass(frozen=True, slots=True)
class Member:
    """A group's member; ``remove_label`` names the button that removes them."""

    id: int
    name: str
    email: str
    is_active: bool
    remove_label: str


@dataclass(frozen=True, slots=True)
class GroupPage:
    """A group; ``why_not`` says why the viewer can't edit it."""

    summary: str
    why_not: str
    members: tuple[Member, ...]
    dialog: Question | None


@dataclass(frozen=True, slots=True)
class GroupChip:
    """A group that an account can be in; ``id`` is its global ID."""

    id: str
    name: str
    permissions: str
    is_chosen: bool
    is_editable: bool


@dataclass(frozen=True, slots=True)
class ChannelChip:
    """A channel that a group can be limited to; ``id`` is its global ID."""

    id: str
    name: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class GroupChoice:
    """The groups to choose from; ``note`` says which the viewer can't change."""

    chips: tuple[GroupChip, ...]
    note: str


def make_group_page(
    group: PermissionGroup, members: Sequence[User], actor: Actor, question_name: str = ""
) -> GroupPage:
    """Return a group's page; ``question_name`` is ``delete`` or empty."""
    problem = manage_problem(actor, group.permissions)
    can_delete = question_name == "delete" and problem is None
    return GroupPage(
        summary=_member_count(group.members),
        why_not="" if problem is None else problem_text(problem),
        members=tuple(_member(user) for user in members),
        dialog=_deletion(group) if can_delete else None,
    )


def group_choice(
    groups: Iterable[PermissionGroup],
    chosen: Collection[int],
    actor: Actor,
    *,
    is_editable: bool = True,
) -> GroupChoice:
    """Return ``groups`` to choose from; those with permissions the actor lacks are fixed."""
    chips, locked = [], []
    for group in groups:
        has_all = is_manageable(actor, group.permissions)
        chips.append(
            GroupChip(
                id=to_global_id("Group", group.id),
                name=group.name,
                permissions=_permission_list(group.permissions),
                is_chosen=group.id in chosen,
                is_editable=is_editable and has_all,
            )
        )
        if not has_all:
            locked.append(group.name)
    return GroupChoice(tuple(chips), _membership_note(locked))


def _membership_note(locked: Sequence[str]) -> str:
    if not locked:
        return text("Members get the group's permissions immediately.")
    return html_text(
        "You can't change who is in {groups}: it has permissions you don't have.",
        "You can't change who is in {groups}: they have permissions you don't have.",
        count=len(locked),
        groups=Markup(", ").join(_BOLD.format(name) for name in locked),
    )


def _member(user: User) -> Member:
    name = name_of(user)
    return Member(
        id=user.id,
        name=name,
        email=email_below_name(user),
        is_active=user.is_active,
        remove_label=text("Remove {name} from the group", name=name),
    )


def _member_count(members: int) -> str:
    if not members:
        return text("No members")
    return text("{count:,} member", "{count:,} members", count=members)


def _labels(permissions: Collection[Permission]) -> list[str]:
    return sorted(text(permission.label) for permission in permissions)


def _permission_list(permissions: Collection[Permission]) -> str:
    return ", ".join(_labels(permissions)) or text("No permissions")


def first_labels(permissions: Collection[Permission]) -> str:
    """Return the labels of a few of ``permissions``, and how many more there are."""
    if len(permissions) <= _LABELS:
        return _permission_list(permissions)
    return text(
        "{labels} +{more}",
        labels=", ".join(_labels(permissions)[:_LABELS]),
        more=len(permissions) - _LABELS,
    )


def _deletion(group: PermissionGroup) -> Question:
    loses: tuple[Consequence, ...] = ()
    if group.members and group.permissions:
        sentence = html_text(
            Markup(
                "<b>{count:,} member</b> loses these permissions unless another group grants "
                "them: {permissions}."
            ),
            Markup(
                "<b>{count:,} members</b> lose these permissions unless another group grants "
                "them: {permissions}."
            ),
            count=group.members,
            permissions=_permission_list(group.permissions),
        )
        loses = (Consequence("bad", sentence),)
    return Question(
        title=text("Delete the group {name}?", name=group.name),
        endpoint="console.staff.groups.delete",
        arguments={"key": group.id},
        consequences=(
            *loses,
            Consequence("warn", text("This can't be undone.")),
            Consequence("ok", text("No account is removed and no one is signed out.")),
        ),
        action=text("Delete group"),
    )


def _title(group: PermissionGroup) -> Markup:
    title = link(group.name, "console.staff.groups.show", key=group.id)
    if is_manageable(actor(), group.permissions):
        return title
    locked = icon("lock") + " " + escape(text("You can't edit this group"))
    return title + small(locked)


def _members_link(group: PermissionGroup) -> str:
    if not group.members:
        return "0"
    label = text("members of {name}", name=group.name)
    words = Markup('{}<span class="visually-hidden"> {}</span>').format(
        amount(group.members), label
    )
    return link(words, "console.staff.index", "lk-hit", group=group.id)


GROUPS = list_page.ListPage[PermissionGroup](
    template="groups/index.html",
    title="Groups",
    intro="Groups give their members permissions.",
    label="Groups",
    filter_label="Filter groups",
    caption="Groups",
    count=list_page.RowCount(
        none="No groups",
        no_match="No matching groups",
        one="1 group",
        many="{count} groups",
        some="{matching} of {total} groups",
    ),
    read=list_page.reader(list_groups, GroupFilter),
    filters=(search("Name"),),
    sorts=(
        Sort("name", "Name"),
        Sort("members", "Most members", {"by_members": True, "descending": True}),
    ),
    columns=(
        list_page.Column("Group", _title, ("is-cut",), is_title=True),
        list_page.Column(
            "Permissions", lambda group: first_labels(group.permissions), ("is-cut", "is-most")
        ),
        list_page.Column("Members", _members_link, ("is-num", "is-state")),
    ),
    file="groups",
    file_columns={
        "id": lambda group: to_global_id("Group", group.id),
        "name": lambda group: group.name,
        "permissions": lambda group: ", ".join(one.value for one in in_order(group.permissions)),
        "members": lambda group: group.members,
    },
    hint="Try another name.",
    empty=list_page.EmptyState(
        "people",
        "No groups yet",
        "Create a group for each role: Support manages orders, Developers manage apps.",
        endpoint="console.staff.groups.new",
        action="Create group",
    ),
)


_MISSING = Refused(Problem("NOT_FOUND", "This group doesn't exist. It may have been deleted."))

blueprint = PageGroup(
    "groups",
    __name__,
    Entry("Create group", "plus-lg", "new permissions add make", view="new", needs=create_group),
    Entry("Groups", "people", "permissions members roles", needs=list_groups),
    url_prefix="/groups",
    list_name="groups",
)


class GroupForm(EditForm):
    """A group's name, permissions and channels, these by global ID."""

    names = {  # noqa: RUF012
        "addPermissions": "permissions",
        "removePermissions": "permissions",
        "restrictedAccessToChannels": "restricted",
        "addChannels": "channels",
        "removeChannels": "channels",
    }
    name = StringField(lazy_text("Name"), validators=[InputRequired(lazy_text("Enter a name."))])
    permissions = PermissionsField()
    restricted = BooleanField(lazy_text("Limit to channels"))
    channels = SelectMultipleField(lazy_text("Channels"), choices=[], validate_choice=False)


class NewGroupForm(CreatingForm):
    names = GroupForm.names
    name = GroupForm.name
    permissions = GroupForm.permissions


class MemberForm(ConsoleForm):
    names = {"addUsers": "email"}  # noqa: RUF012
    email = EmailField(
        lazy_text("Email"), validators=[InputRequired(lazy_text("Enter an email."))]
    )


blueprint.add_url_rule("/", "index", GROUPS.show)
blueprint.add_url_rule("/export.csv", "export", GROUPS.export)


@blueprint.route("/new", methods=["GET", "POST"])
def new() -> BaseResponse:
    require(Permission.MANAGE_STAFF)
    form = NewGroupForm()
    if form.validate_on_submit():
        with form.catching_refusals():
            return create_once(form, lambda: _create(form))
    return form_page("groups/new.html", form, chips=chips(actor(), form.permissions.chosen))


@blueprint.get("/<key:key>")
def show(key: int) -> BaseResponse:
    """One group; with ``ask`` the question before it is deleted."""
    return page("groups/show.html", **_values(_group(key), request.args.get("ask", "")))


@blueprint.post("/<key:key>/save")
def save(key: int) -> BaseResponse:
    """Another name, other permissions; they count from the members' next request on."""
    group = _group(key)
    stored = _stored(group)
    form = GroupForm.from_request(stored, _edited_thing(group), {"channels": _channel_names()})
    permissions = form.permissions.chosen
    was_restricted, is_restricted = group.channel_ids is not None, form.restricted.data
    had, chosen = frozenset(_channels_of(group)), frozenset(form.channels.data or ())
    changes = GroupChanges(
        name=form.name.data or "",
        add_permissions=permissions - group.permissions,
        remove_permissions=group.permissions - permissions,
        is_restricted=None if is_restricted is was_restricted else is_restricted,
        add_channels=tuple(sorted(chosen - had)) if is_restricted else (),
        remove_channels=tuple(sorted(had - chosen)) if is_restricted else (),
        seen=_shown_facts(group),
    )
    if form.validate():
        with form.catching_refusals():
            saved = update_group(ports(), actor(), to_global_id("Group", key), changes)
            message = text("Saved the group {name}.", name=saved.name)
            return redirect_with_success(message, "console.staff.groups.show", key=key)
    values = {
        "form": form,
        "chips": chips(actor(), permissions),
        "channels": _channel_chips(group, form.channels.data or ()),
    }
    return refused_page("groups/show.html", **{**_values(group), **values})


@blueprint.post("/<key:key>/members")
def add_member(key: int) -> BaseResponse:
    group, form = _group(key), MemberForm()
    if form.validate():
        with form.catching_refusals():
            user = find_user(ports(), actor(), form.email.data)
            joining = GroupChanges(add_users=(to_global_id("User", user.id),))
            update_group(ports(), actor(), to_global_id("Group", key), joining)
            message = text("Added {name} to {group}.", name=name_of(user), group=group.name)
            return redirect_with_success(message, "console.staff.groups.show", key=key)
    return refused_page("groups/show.html", **{**_values(group), "member_form": form})


@blueprint.post("/<key:key>/members/<key:user_key>/leave")
def remove_member(key: int, user_key: int) -> BaseResponse:
    leaving = GroupChanges(remove_users=(to_global_id("User", user_key),))
    try:
        group = update_group(ports(), actor(), to_global_id("Group", key), leaving)
    except Refused as refused:
        return redirect_with_error(refused, "console.staff.groups.show", key=key)
    message = text("Removed a member from {group}.", group=group.name)
    return redirect_with_success(message, "console.staff.groups.show", key=key)


@blueprint.post("/<key:key>/delete")
def delete(key: int) -> BaseResponse:
    """Delete the group; its members lose what they hold by it alone."""
    try:
        group = delete_group(ports(), actor(), to_global_id("Group", key))
    except Refused as refused:
        return redirect_with_error(refused, "console.staff.groups.show", key=key)
    message = text("Deleted the group {name}.", name=group.name)
    return redirect_with_success(message, "console.staff.groups.index")


def every_group() -> tuple[PermissionGroup, ...]:
    """The groups that are offered as chips: the first hundred by name."""
    return list_groups(ports(), actor(), PageRequest(MAX_PAGE_SIZE)).items


def group_names(chosen: int | None) -> dict[str, str]:
    """Return the groups' names by key, as URLs have them; ``chosen`` included."""
    names = {str(group.id): group.name for group in every_group()}
    if chosen is not None and str(chosen) not in names:
        group = show_group(ports(), actor(), to_global_id("Group", chosen))
        names[str(chosen)] = text("Deleted group") if group is None else group.name
    return names


def _create(form: NewGroupForm) -> Created:
    new = NewGroup(form.name.data, form.permissions.chosen)
    group = create_group(ports(), actor(), new)
    message = text("Created the group {name}. Add its members below.", name=group.name)
    return Created(message, "console.staff.groups.show", {"key": group.id})


def _group(key: int) -> PermissionGroup:
    group = show_group(ports(), actor(), to_global_id("Group", key))
    if group is None:
        raise _MISSING
    return group


def _stored(group: PermissionGroup) -> dict[str, object]:
    return {
        "name": group.name,
        "permissions": sorted(one.value for one in group.permissions),
        "restricted": group.channel_ids is not None,
        "channels": _channels_of(group),
    }


def _shown_facts(group: PermissionGroup) -> dict[str, object]:
    facts = group_facts(group, ())
    return {name: facts[name] for name in ("name", "permissions", "channels")}


def _channels_of(group: PermissionGroup) -> list[str]:
    return [to_global_id("Channel", key) for key in sorted(group.channel_ids or ())]


def _channel_names() -> list[tuple[str, str]]:
    """Return the channels by global ID."""
    channels = list_channels(ports(), actor())
    return [(to_global_id("Channel", channel.id), channel.name) for channel in channels]


def _channel_chips(group: PermissionGroup, chosen: Collection[str]) -> tuple[ChannelChip, ...]:
    """Return the channels to choose from; none where there is nothing to choose."""
    names = _channel_names()
    has_choice = len(names) > 1 or group.channel_ids is not None
    return tuple(ChannelChip(id_, name, id_ in chosen) for id_, name in names if has_choice)


def _edited_thing(group: PermissionGroup) -> EditedThing:
    address = url_for("console.staff.groups.show", key=group.id)
    return EditedThing(group.name, address, "Group", group.id)


def _values(group: PermissionGroup, question_name: str = "") -> dict[str, object]:
    members = list_staff(
        ports(), actor(), list_page.requested_page(), UserFilter(group_id=group.id)
    )
    # The response to a form has no URL that could lead to other pages.
    turned = list_page.pager_links(members) if request.method == "GET" else list_page.Turns()
    return {
        "group": group,
        "shown": make_group_page(group, members.items, actor(), question_name),
        "turns": turned if turned.previous or turned.next else None,
        "chips": chips(actor(), group.permissions),
        "form": GroupForm.showing(_stored(group)),
        "member_form": MemberForm(formdata=None),
        "channels": _channel_chips(group, _channels_of(group)),
    }
