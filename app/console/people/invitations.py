"""Inviting staff by mail; they choose a password themselves."""

from flask import request
from werkzeug.wrappers import Response as BaseResponse
from wtforms import EmailField, StringField
from wtforms.validators import InputRequired

from app.console.creations import Created, CreatingForm, create_once
from app.console.navigation import Entry, PageGroup
from app.console.page_layout import done, not_done, page, refused_page, set_password_url
from app.console.people.group_pages import group_choice
from app.console.people.groups import every_group
from app.console.session import actor, ports, require
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.services.people.invitations import create_invitation_link, resend_invitation
from app.services.people.staff import NewStaff, create_staff
from app.web.translation import lazy_text, text

blueprint = PageGroup(
    "invitations",
    __name__,
    Entry("Invite staff member", "envelope", "new staff add person someone", needs=create_staff),
    url_prefix="/invite",
)


class InvitationForm(CreatingForm):
    """The person to invite."""

    email = EmailField(
        lazy_text("Email"), validators=[InputRequired(lazy_text("Enter an email."))]
    )
    first_name = StringField(lazy_text("First name"))
    last_name = StringField(lazy_text("Last name"))


@blueprint.route("/", methods=["GET", "POST"])
def index() -> BaseResponse:
    """Show the form; add the user and mail a link to choose a password."""
    require(Permission.MANAGE_STAFF)
    form = InvitationForm()
    ticked = tuple(request.form.getlist("groups"))
    if form.validate_on_submit():
        try:
            return create_once(form, lambda: _invite(form, ticked))
        except Refused as refused:
            form.refuse(refused)
    groups = every_group()
    chosen = [group.id for group in groups if to_global_id("Group", group.id) in ticked]
    show = refused_page if form.is_submitted() else page
    return show("staff/invite.html", form=form, groups=group_choice(groups, chosen, actor()))


@blueprint.post("/<key:key>/resend")
def resend(key: int) -> BaseResponse:
    """Mail the invitation again."""
    try:
        resend_invitation(ports(), actor(), key, set_password_url())
    except Refused as refused:
        return not_done(refused, "console.staff.show", key=key)
    return done(
        text("Invitation sent again. Earlier links stopped working."),
        "console.staff.show",
        key=key,
    )


@blueprint.post("/<key:key>/link")
def make_link(key: int) -> BaseResponse:
    """Create a link to copy, which the person's page shows once."""
    try:
        return create_once(CreatingForm(), lambda: _link(key))
    except Refused as refused:
        return not_done(refused, "console.staff.show", key=key)


def _invite(form: InvitationForm, groups: tuple[str, ...]) -> Created:
    new = NewStaff(
        form.email.data,
        form.first_name.data or "",
        form.last_name.data or "",
        groups=groups,
        redirect_url=set_password_url(),
    )
    user = create_staff(ports(), actor(), new)
    message = text("Invitation sent to {email}.", email=user.email)
    return Created(message, "console.staff.show", {"key": user.id})


def _link(key: int) -> Created:
    link = create_invitation_link(ports(), actor(), key, set_password_url())
    message = text("Invitation link created. Earlier links stopped working.")
    return Created(message, "console.staff.show", {"key": key}, link)
